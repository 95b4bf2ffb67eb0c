// The process around cli::run: streams, signals, the date and the exit code.

#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <exception>
#include <iostream>
#include <system_error>

#include "command.hpp"
#include "descriptor_stream.hpp"
#include "trainyard/sys/environment.hpp"

namespace {

using trainyard::ErrorKind;
using trainyard::cli::DescriptorBuffer;
using trainyard::cli::Io;
using trainyard::sys::Stream;

/// https://no-color.org: set and not empty means no colour.
bool shows_colour(Stream stream) {
    const std::string no_color = trainyard::sys::get_env("NO_COLOR").value_or("");
    return no_color.empty() && trainyard::sys::get_env("TERM").value_or("") != "dumb" &&
           trainyard::sys::is_terminal(stream);
}

/// Into a pipe or a file as wide as the plan's page, unless COLUMNS says otherwise.
int width_of_output() {
    constexpr int kPage = 100;
    const bool said = trainyard::sys::get_env("COLUMNS").has_value();
    return said || trainyard::sys::is_terminal(Stream::out)
               ? trainyard::sys::terminal_width(Stream::out)
               : kPage;
}

/// A broken contract aborts: the message is out, the exit code says "internal error".
void exit_as_bug(int /*signal*/) { _exit(static_cast<int>(ErrorKind::bug)); }

int run(const std::vector<std::string>& words) {
    DescriptorBuffer buffer(STDOUT_FILENO);
    std::ostream out(&buffer);
    Io io{.out = out,
          .err = std::cerr,
          .today = {},
          .time_of_day = trainyard::sys::time_of_day(),
          .color_out = shows_colour(Stream::out),
          .color_err = shows_colour(Stream::err),
          .width = width_of_output()};
    const trainyard::Result<std::string> today = trainyard::sys::today();
    if (!today) {
        io.report(today.error().diagnostics);
        return static_cast<int>(today.error().kind);
    }
    io.today = *today;
    const int code = trainyard::cli::run(words, io);
    out.flush();
    // Whoever closed the pipe ("| head") has seen enough.
    if (buffer.failure() != 0 && buffer.failure() != EPIPE) {
        io.report({{.where = {"standard output", 0, 0},
                    .what = "the output cannot be written",
                    .why = std::generic_category().message(buffer.failure()),
                    .fix = {}}});
        return static_cast<int>(ErrorKind::world);
    }
    return code;
}

}  // namespace

int main(int argc, char** argv) {
    trainyard::sys::fill_missing_streams();
    std::signal(SIGPIPE, SIG_IGN);      // NOLINT(cert-err33-c)
    std::signal(SIGXFSZ, SIG_IGN);      // NOLINT(cert-err33-c): a file limit is an error of write
    std::signal(SIGABRT, exit_as_bug);  // NOLINT(cert-err33-c)
    try {
        return run({argv + (argc > 0 ? 1 : 0), argv + argc});
    } catch (const std::exception& e) {
        std::cerr << "trainyard: internal error: " << e.what() << "\n";
        return static_cast<int>(ErrorKind::bug);
    }
}
