#pragma once
// Texts in, findings out. All texts of a call are one case: rules see across files. Pure: reading
// files and walking directories is the caller's business.

#include <optional>
#include <string>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/lint/finding.hpp"

namespace trainyard::workload {
struct Model;
}

namespace trainyard::lint {

class Performance;

struct SourceText {
    std::string path;  ///< as shown in findings
    std::string text;
    /// The user named this file; a file that a directory walk met is skipped in silence if it is
    /// nothing that we know.
    bool named = true;
};

/// What a file turned out to be.
struct Recognised {
    std::string path;
    std::string kind;  ///< "ParallelCluster", "Kubernetes PyTorchJob", …
    int line = 1;      ///< of the document in the file
};

struct Report {
    std::vector<Finding> findings;        ///< by file, line, column; allowed ones included
    std::vector<Recognised> recognised;   ///< every document that rules looked at
    std::vector<Diagnostic> diagnostics;  ///< files that could not be read, or that nobody knows
};

/// Rules switched off, or given another severity, by trainyard.yaml.
struct Override {
    std::string rule;
    enum class To { off, error, warning, note } to = To::off;
    std::string reason;
    std::string files;  ///< only findings in files whose path contains this; empty: all
};

struct CheckOptions {
    std::vector<Override> overrides;
    /// A plan.json that the files should follow. One that cannot be read is a diagnostic.
    std::optional<SourceText> plan;
    /// Must outlive the call; nullptr: no findings on memory, none with lost efficiency.
    const Performance* performance = nullptr;
    /// What the files train, if they do not say; must outlive the call.
    const workload::Model* model = nullptr;
};

Report check(const std::vector<SourceText>& texts, const CheckOptions& options = {});

}  // namespace trainyard::lint
