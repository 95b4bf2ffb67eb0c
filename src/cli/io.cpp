#include "io.hpp"

namespace trainyard::cli {

namespace {

std::string_view escape(Tone tone) {
    switch (tone) {
        case Tone::bold:
            return "\033[1m";
        case Tone::good:
            return "\033[32m";
        case Tone::warn:
            return "\033[33m";
        case Tone::bad:
            return "\033[31m";
        case Tone::dim:
            return "\033[2m";
    }
    return "";
}

std::string painted(Tone tone, std::string_view text) {
    return std::string(escape(tone)) + std::string(text) + "\033[0m";
}

Tone tone_of(Severity severity) {
    return severity == Severity::error ? Tone::bad
                                       : (severity == Severity::warning ? Tone::warn : Tone::dim);
}

/// Colours the first "error:", "warning:" or "note:" of a formatted diagnostic.
std::string with_colour(std::string text, Severity severity) {
    const std::string_view word = severity == Severity::error     ? "error:"
                                  : severity == Severity::warning ? "warning:"
                                                                  : "note:";
    const std::size_t at = text.find(word);
    if (at != std::string::npos) {
        text.replace(at, word.size(), painted(tone_of(severity), word));
    }
    return text;
}

}  // namespace

std::string Io::paint(Tone tone, std::string_view text) const {
    return color_out ? painted(tone, text) : std::string(text);
}

void Io::report(const std::vector<Diagnostic>& diagnostics) {
    for (const Diagnostic& d : diagnostics) {
        const std::string text = format(d);
        err << (color_err ? with_colour(text, d.severity) : text);
    }
}

}  // namespace trainyard::cli
