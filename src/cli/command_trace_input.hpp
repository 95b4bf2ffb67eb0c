#pragma once
// Files, folders and options of `trainyard trace`.

#include <string>
#include <vector>

#include "command.hpp"
#include "trainyard/spot/trace.hpp"

namespace trainyard::cli {

struct TraceInput {
    spot::TraceSet traces;             ///< of all files that could be read
    std::vector<std::string> formats;  ///< each once
    std::size_t files = 0;             ///< read
    std::vector<Diagnostic> mistakes;  ///< of files that could not
    ErrorKind worst = ErrorKind::bad_input;
};

/// Reads every file, and every .json, .csv, .txt and .out file of every folder. A file that cannot
/// be read does not stop the others. Prints the importers' notes, equal ones once.
Result<TraceInput> read_traces(const Args& args, Io& io);

/// Equal notes of many files become one.
std::vector<Diagnostic> merged_notes(const std::vector<Diagnostic>& notes);

/// 0: not given.
Result<int> gang_of(const Args& args);

/// Writes to the file of --out, if it is given and every input could be read: a command that fails
/// leaves an older file as it was.
Result<Outcome> write_output(const Args& args, const std::string& text, const TraceInput& input);

/// Prints to stdout, or writes to the file of --out.
Result<Outcome> deliver(const Args& args, Io& io, const std::string& text, const TraceInput& input);

}  // namespace trainyard::cli
