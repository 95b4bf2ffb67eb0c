#include "trainyard/agent/progress.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>

#include "trainyard/base/text.hpp"

namespace trainyard::agent {

namespace {

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string without_colours(std::string_view line) {
    std::string plain;
    plain.reserve(line.size());
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\033' && i + 1 < line.size() && line[i + 1] == '[') {
            i += 2;
            while (i < line.size() && (line[i] < '@' || line[i] > '~')) ++i;
            continue;
        }
        plain += line[i];
    }
    return plain;
}

struct Number {
    double value = 0;
    std::size_t length = 0;
    bool is_whole = true;
};

/// "1,234", "1.5E-04", "nan", "-inf" at the start of the text.
std::optional<Number> number_at(std::string_view text) {
    const std::string lower = to_lower(text.substr(0, 9));
    const std::size_t sign = !lower.empty() && (lower[0] == '-' || lower[0] == '+') ? 1 : 0;
    const std::string_view word = std::string_view(lower).substr(sign);
    for (const std::string_view name : {"infinity", "inf", "nan"}) {
        if (!word.starts_with(name) || (word.size() > name.size() && is_word(word[name.size()]))) {
            continue;
        }
        const double value = name == "nan" ? std::numeric_limits<double>::quiet_NaN()
                                           : std::numeric_limits<double>::infinity();
        return Number{lower[0] == '-' ? -value : value, sign + name.size(), false};
    }
    std::string digits;
    std::size_t at = 0;
    Number number;
    for (; at < text.size(); ++at) {
        const char c = text[at];
        const char next = at + 1 < text.size() ? text[at + 1] : ' ';
        if (is_digit(c)) {
            digits += c;
        } else if (c == ',' && !digits.empty() && number.is_whole && at + 3 < text.size() &&
                   is_digit(next) && is_digit(text[at + 2]) && is_digit(text[at + 3]) &&
                   (at + 4 >= text.size() || !is_digit(text[at + 4]))) {
            continue;  // thousands
        } else if ((c == '-' || c == '+') && at == 0) {
            if (c == '-') digits += c;
        } else if (c == '.' && number.is_whole && is_digit(next)) {
            digits += c;
            number.is_whole = false;
        } else if ((c == 'e' || c == 'E') && !digits.empty() &&
                   (is_digit(next) || ((next == '-' || next == '+') && at + 2 < text.size() &&
                                       is_digit(text[at + 2])))) {
            digits += 'e';
            if (next == '-') digits += next;
            if (!is_digit(next)) ++at;
            number.is_whole = false;
        } else {
            break;
        }
    }
    const auto parsed = std::from_chars(digits.data(), digits.data() + digits.size(), number.value);
    if (parsed.ec != std::errc() || parsed.ptr != digits.data() + digits.size()) {
        return std::nullopt;
    }
    number.length = at;
    return number;
}

std::optional<std::int64_t> whole(const Number& number) {
    constexpr double kMost = 1e15;
    if (!number.is_whole || number.value < 0 || number.value > kMost) return std::nullopt;
    return static_cast<std::int64_t>(number.value);
}

/// The number behind `key` where it stands as a word of its own: "key: 1", "'key': 1", "key=1",
/// "key 1". `at` is left behind the number.
std::optional<Number> value_of(std::string_view line, std::string_view key, std::size_t& at) {
    for (std::size_t found = line.find(key); found != std::string_view::npos;
         found = line.find(key, found + 1)) {
        const std::size_t end = found + key.size();
        const bool starts = found == 0 || (!is_word(line[found - 1]) && line[found - 1] != '/');
        if (!starts || (end < line.size() && is_word(line[end]))) continue;
        std::size_t value = end;
        // A unit in parentheses may come before the value: "throughput (tokens/s): 5".
        while (value < line.size() &&
               (is_blank(line[value]) || line[value] == ':' || line[value] == '=' ||
                line[value] == '\'' || line[value] == '"')) {
            ++value;
        }
        if (value == end) continue;
        if (const auto number = number_at(line.substr(value))) {
            at = value + number->length;
            return number;
        }
    }
    return std::nullopt;
}

void read_step(std::string_view line, LogProgress& found) {
    static constexpr std::array<std::string_view, 7> kKeys = {
        "global_step", "iteration", "step", "iter", "steps", "train/step", "global step"};
    for (const std::string_view key : kKeys) {
        std::size_t at = 0;
        const auto number = value_of(line, key, at);
        if (!number || !whole(*number)) continue;
        found.step = whole(*number);
        while (at < line.size() && is_blank(line[at])) ++at;
        if (at < line.size() && line[at] == '/') {
            ++at;
            while (at < line.size() && is_blank(line[at])) ++at;
            const auto last = number_at(line.substr(at));
            if (last) found.last_step = whole(*last);
        }
        return;
    }
}

/// tqdm: "50/1000 [00:10<03:10,  5.00it/s]".
void read_bar(std::string_view line, LogProgress& found) {
    const std::size_t bracket = line.find(" [");
    if (bracket == std::string_view::npos || line.find('<', bracket) == std::string_view::npos) {
        return;
    }
    const std::string_view before = line.substr(0, bracket);
    const std::size_t slash = before.rfind('/');
    if (slash == std::string_view::npos || slash == 0) return;
    std::size_t first = slash;
    while (first > 0 && (is_digit(before[first - 1]) || before[first - 1] == ',')) --first;
    const auto step = number_at(before.substr(first, slash - first));
    const auto last = number_at(before.substr(slash + 1));
    if (!step || !last || !whole(*step) || !whole(*last)) return;
    found.step = whole(*step);
    found.last_step = whole(*last);
}

}  // namespace

LogProgress read_progress(std::string_view raw) {
    LogProgress found;
    const std::string line = to_lower(without_colours(raw));
    read_step(line, found);
    if (!found.step) read_bar(line, found);
    std::size_t at = 0;
    for (const std::string_view key : {"lm loss", "loss", "train_loss", "train loss", "train/loss",
                                       "train_loss_step", "loss/train"}) {
        if (const auto number = value_of(line, key, at)) {
            found.loss = number->value;
            break;
        }
    }
    for (const std::string_view key :
         {"tps", "tokens/s", "tokens/sec", "tok/s", "tok/sec", "tokens_per_second",
          "tokens per second", "tokens_per_sec", "train_tokens_per_second"}) {
        if (const auto number = value_of(line, key, at)) {
            found.speed = number->value * kTokensPerSecond;
            break;
        }
    }
    return found;
}

Result<ProgressPattern> ProgressPattern::parse(std::string_view text) {
    ProgressPattern pattern;
    using Kind = Piece::Kind;
    bool has_step = false;
    for (std::size_t i = 0; i < text.size();) {
        if (is_blank(text[i])) {
            while (i < text.size() && is_blank(text[i])) ++i;
            pattern.pieces_.push_back({Kind::blank, {}});
            continue;
        }
        if (text[i] == '{') {
            const std::size_t end = text.find('}', i);
            // Without its end it is no name that is known.
            const std::string_view name =
                end == std::string_view::npos ? text.substr(i) : text.substr(i + 1, end - i - 1);
            std::optional<Kind> kind;
            if (name == "step") kind = Kind::step;
            if (name == "loss") kind = Kind::loss;
            if (name == "tokens_per_second") kind = Kind::speed;
            if (name == "*") kind = Kind::any;
            if (!kind) {
                return bad_input(
                    Diagnostic{.where = {"--progress-pattern", 0, 0},
                               .what = "\"{" + printable(name, 40) + "}\" is not known",
                               .why = {},
                               .fix = "{step}, {loss}, {tokens_per_second} or {*} for anything"});
            }
            has_step = has_step || *kind == Kind::step;
            pattern.pieces_.push_back({*kind, {}});
            i = end + 1;
            continue;
        }
        std::string literal;
        while (i < text.size() && text[i] != '{' && !is_blank(text[i])) literal += text[i++];
        pattern.pieces_.push_back({Kind::text, std::move(literal)});
    }
    if (!has_step) {
        return bad_input(Diagnostic{.where = {"--progress-pattern", 0, 0},
                                    .what = "it has no {step}",
                                    .why = "progress is told by the step",
                                    .fix = "for example \"iter {step} {*} loss {loss}\""});
    }
    return pattern;
}

bool ProgressPattern::match(std::string_view line, std::size_t at, LogProgress& found) const {
    using Kind = Piece::Kind;
    for (std::size_t p = 0; p < pieces_.size(); ++p) {
        const Piece& piece = pieces_[p];
        const std::string_view rest = line.substr(at);
        if (piece.kind == Kind::text) {
            if (!rest.starts_with(piece.text)) return false;
            at += piece.text.size();
        } else if (piece.kind == Kind::blank) {
            while (at < line.size() && is_blank(line[at])) ++at;
        } else if (piece.kind == Kind::any) {
            // As little as possible: up to where the next literal stands.
            std::size_t next = p + 1;
            while (next < pieces_.size() && pieces_[next].kind == Kind::blank) ++next;
            if (next == pieces_.size() || pieces_[next].kind != Kind::text) continue;
            const std::size_t stands = line.find(pieces_[next].text, at);
            if (stands == std::string_view::npos) return false;
            at = stands;
        } else {
            const auto number = number_at(rest);
            if (!number) return false;
            if (piece.kind == Kind::step) {
                if (!whole(*number)) return false;
                found.step = whole(*number);
            }
            if (piece.kind == Kind::loss) found.loss = number->value;
            if (piece.kind == Kind::speed) found.speed = number->value * kTokensPerSecond;
            at += number->length;
        }
    }
    return true;
}

LogProgress ProgressPattern::read(std::string_view raw) const {
    const std::string line = without_colours(raw);
    for (std::size_t at = 0; at <= line.size(); ++at) {
        LogProgress found;
        if (match(line, at, found)) return found;
    }
    return {};
}

std::vector<std::string> LineSplitter::feed(std::string_view bytes) {
    constexpr std::size_t kMost = std::size_t{16} << 10U;
    std::vector<std::string> lines;
    for (const char c : bytes) {
        if (c == '\n' || c == '\r') {
            if (!rest_.empty()) lines.push_back(std::exchange(rest_, {}));
        } else if (rest_.size() < kMost) {
            rest_ += c;
        }
    }
    return lines;
}

}  // namespace trainyard::agent
