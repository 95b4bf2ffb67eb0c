// YAML in: yaml-cpp's event interface, so that no graph of its nodes is built and the limits on
// depth, count and alias expansion act while the text is read. Scalars follow the YAML 1.2 core
// schema (section 10.3.2 of the specification).

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <unordered_map>

#include "node_factory.hpp"
#include "place.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "tree_builder.hpp"

namespace trainyard::doc {

namespace {

/// Leaves yaml-cpp's parser; the diagnostic is in the builder.
struct Refused {};

struct Size {
    std::size_t nodes = 0;
    std::size_t bytes = 0;
};

Size size_of(const Node& node) {
    Size size{1, node.text().size()};
    for (const Node& item : node.items()) {
        const Size inner = size_of(item);
        size.nodes += inner.nodes;
        size.bytes += inner.bytes;
    }
    for (const auto& [name, value] : node.members()) {
        const Size inner = size_of(value);
        size.nodes += inner.nodes;
        size.bytes += inner.bytes + name.size();
    }
    return size;
}

/// nullopt if the digits are not all of this base, or need more than 64 bits.
std::optional<Node> integer_from(std::string_view digits, int base, bool is_negative) {
    std::uint64_t value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, failure] = std::from_chars(digits.data(), end, value, base);
    constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    if (failure != std::errc{} || last != end || value > kMax) {
        return std::nullopt;
    }
    const auto magnitude = static_cast<std::int64_t>(value);
    return Node::integer(is_negative ? -magnitude : magnitude);
}

/// A number too large for 64 bits is infinite here and refused by the caller; one too small is 0.
std::optional<Node> number_from(const std::string& digits, bool is_negative) {
    double value = 0;
    const char* const end = digits.data() + digits.size();
    const auto [last, failure] = std::from_chars(digits.data(), end, value);
    // from_chars would also take "nan", "inf" and a second sign.
    const bool starts_well = digits.starts_with('.') || (digits[0] >= '0' && digits[0] <= '9');
    if (digits.empty() || !starts_well || last != end || failure == std::errc::invalid_argument) {
        return std::nullopt;
    }
    if (failure == std::errc::result_out_of_range) {
        value = std::strtod(digits.c_str(), nullptr);
    }
    return Node::number(is_negative ? -value : value);
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

bool is_not_finite(std::string_view text) {
    if (text.starts_with('-') || text.starts_with('+')) {
        text.remove_prefix(1);
    }
    return is_one_of(text, {".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"});
}

/// A plain (unquoted) scalar by the core schema; the text as written is put in by the caller.
Node resolve_plain(std::string_view text) {
    if (is_one_of(text, {"", "~", "null", "Null", "NULL"})) {
        return {};
    }
    if (is_one_of(text, {"true", "True", "TRUE"})) {
        return Node::boolean(true);
    }
    if (is_one_of(text, {"false", "False", "FALSE"})) {
        return Node::boolean(false);
    }
    if (text.starts_with("0x") || text.starts_with("0o")) {
        const int base = text[1] == 'x' ? 16 : 8;
        const std::optional<Node> integer = integer_from(text.substr(2), base, false);
        return integer ? *integer : Node::string(std::string(text));
    }
    const bool is_signed = text.starts_with('-') || text.starts_with('+');
    const std::string_view digits = is_signed ? text.substr(1) : text;
    if (const std::optional<Node> integer = integer_from(digits, 10, text[0] == '-')) {
        return *integer;
    }
    if (const std::optional<Node> number = number_from(std::string(digits), text[0] == '-')) {
        return *number;
    }
    return Node::string(std::string(text));
}

class Handler : public YAML::EventHandler {
  public:
    Handler(std::string_view text, std::string_view file, const YamlDialect& dialect)
        : text_(text), file_(file), dialect_(dialect) {
        for (std::size_t at = text.find('\n'); at != std::string_view::npos;
             at = text.find('\n', at + 1)) {
            line_starts_.push_back(at + 1);
        }
    }

    TreeBuilder& builder() { return builder_; }
    Location place(const YAML::Mark& mark) const;

    void OnDocumentStart(const YAML::Mark& /*mark*/) override {}
    void OnDocumentEnd() override {}

    void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        plain_value(mark, "", anchor);
    }

    void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
        const Location where = place(mark);
        if (builder_.awaits_key()) {
            refuse_key(where);
        }
        const auto found = anchors_.find(anchor);
        if (found == anchors_.end()) {
            refuse({.where = where,
                    .what = "an alias refers to the value that contains it",
                    .why = {},
                    .fix = "write the value out"});
        }
        const Size size = size_of(found->second);
        require(builder_.charge(size.nodes, size.bytes, where));
        require(builder_.value(found->second));
    }

    void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  const std::string& value) override {
        require_closing_quote(mark);
        if (is_one_of(tag, {"!", "tag:yaml.org,2002:str"})) {
            const Location where = place(mark);
            if (builder_.awaits_key()) {
                require(builder_.key(value, where));
                return;
            }
            keep(NodeFactory::at(Node::string(value), where), anchor);
            return;
        }
        const bool is_foreign =
            refuse_foreign(tag, mark,
                           {"", "?", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float",
                            "tag:yaml.org,2002:bool", "tag:yaml.org,2002:null"});
        if (is_foreign && !builder_.awaits_key()) {
            foreign_value(mark, tag, value, anchor);
            return;
        }
        plain_value(mark, value, anchor);
    }

    void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value /*style*/) override {
        refuse_foreign(tag, mark, {"", "?", "!", "tag:yaml.org,2002:seq"});
        open(NodeFactory::at(Node::list(), place(mark)), anchor);
    }
    void OnSequenceEnd() override { close(); }

    void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                    YAML::EmitterStyle::value /*style*/) override {
        refuse_foreign(tag, mark, {"", "?", "!", "tag:yaml.org,2002:map"});
        open(NodeFactory::at(Node::map(), place(mark)), anchor);
    }
    void OnMapEnd() override { close(); }

  private:
    static void require(bool accepted) {
        if (!accepted) {
            throw Refused{};
        }
    }

    [[noreturn]] void refuse(Diagnostic why) {
        builder_.refuse(std::move(why));
        throw Refused{};
    }

    [[noreturn]] void refuse_key(const Location& where) {
        refuse({.where = where,
                .what = "a key of a map must be plain text",
                .why = {},
                .fix = "write \"name: value\""});
    }

    /// Whether the tag is foreign, where the dialect allows that.
    bool refuse_foreign(const std::string& tag, const YAML::Mark& mark,
                        std::initializer_list<std::string_view> known) {
        if (!is_one_of(tag, known)) {
            if (dialect_.foreign_tags) {
                return true;
            }
            refuse({.where = place(mark),
                    .what = fmt::format("tag {} is not supported", in_quotes(tag)),
                    .why = {},
                    .fix = "remove the tag"});
        }
        return false;
    }

    void foreign_value(const YAML::Mark& mark, const std::string& tag, const std::string& value,
                       YAML::anchor_t anchor) {
        const Location where = place(mark);
        Node text = NodeFactory::at(Node::string(value), where);
        if (tag != "!Ref") {
            keep(std::move(text), anchor);
            return;
        }
        Node reference = NodeFactory::at(Node::map(), where);
        NodeFactory::members(reference).emplace_back("Ref", std::move(text));
        keep(std::move(reference), anchor);
    }

    void plain_value(const YAML::Mark& mark, const std::string& text, YAML::anchor_t anchor) {
        const Location where = place(mark);
        if (builder_.awaits_key()) {
            if (text.empty()) {
                refuse_key(where);
            }
            require(builder_.key(text, where));
            return;
        }
        Node value = resolve_plain(text);
        const bool overflows = value.is(Node::Kind::number) && !std::isfinite(value.as_number());
        if (is_not_finite(text) || overflows) {
            refuse({.where = where,
                    .what = "NaN and infinity are not numbers that can be used here",
                    .why = {},
                    .fix = "write a finite number or null"});
        }
        keep(NodeFactory::scalar(std::move(value), text, where), anchor);
    }

    void keep(Node value, YAML::anchor_t anchor) {
        remember(value, anchor);
        require(builder_.value(std::move(value)));
    }

    void open(Node container, YAML::anchor_t anchor) {
        if (builder_.awaits_key()) {
            refuse_key(container.where);
        }
        require(builder_.open(std::move(container)));
        open_anchors_.push_back(anchor);
    }

    void close() {
        remember(builder_.innermost(), open_anchors_.back());
        open_anchors_.pop_back();
        require(builder_.close());
    }

    /// yaml-cpp takes a quoted scalar that ends with the text for a whole one if a newline comes
    /// before the end.
    void require_closing_quote(const YAML::Mark& mark) {
        std::size_t at = offset(mark);
        // Anchor and tag stand before the value, and the mark is theirs.
        while (at < text_.size() && (text_[at] == '&' || text_[at] == '!')) {
            at = std::min(text_.find_first_of(" \r\n\t", at), text_.size());
            at = std::min(text_.find_first_not_of(" \r\n\t", at), text_.size());
        }
        const char quote = at < text_.size() ? text_[at] : '\0';
        if (quote != '"' && quote != '\'') {
            return;
        }
        // Two single quotes stand for one: the text closes and opens again, which comes to the same
        // here.
        for (++at; at < text_.size() && text_[at] != quote; ++at) {
            at += quote == '"' && text_[at] == '\\' ? 1U : 0U;
        }
        if (at >= text_.size()) {
            refuse({.where = place(mark),
                    .what = "a quoted text has no closing quote",
                    .why = {},
                    .fix = "the file may be truncated: copy it again, or close the quote"});
        }
    }

    std::size_t offset(const YAML::Mark& mark) const {
        const auto line = static_cast<std::size_t>(std::max(mark.line, 0));
        return line < line_starts_.size()
                   ? line_starts_[line] + static_cast<std::size_t>(std::max(mark.column, 0))
                   : text_.size();
    }

    /// An anchored value is copied for its aliases; the copy counts like an alias does.
    void remember(const Node& value, YAML::anchor_t anchor) {
        if (anchor == YAML::NullAnchor) {
            return;
        }
        const Size size = size_of(value);
        require(builder_.charge(size.nodes, size.bytes, value.where));
        anchors_[anchor] = value;
    }

    std::string_view text_;
    std::string_view file_;
    YamlDialect dialect_;
    TreeBuilder builder_;
    std::vector<YAML::anchor_t> open_anchors_;
    std::unordered_map<YAML::anchor_t, Node> anchors_;
    std::vector<std::size_t> line_starts_ = {0};
};

/// yaml-cpp counts bytes from 0, we count characters from 1. Far right in a line the difference is
/// left alone: counting from the start of a very long line for each of its values would take
/// quadratic time.
Location Handler::place(const YAML::Mark& mark) const {
    constexpr std::size_t kExactBytes = 1000;
    const auto line = static_cast<std::size_t>(mark.line);
    auto column = static_cast<std::size_t>(mark.column);
    if (mark.is_null() || line >= line_starts_.size()) {
        return {std::string(file_), 0, 0};
    }
    if (column < kExactBytes) {
        const std::string_view before = text_.substr(line_starts_[line], column);
        column = static_cast<std::size_t>(place_of(before, file_, before.size()).column) - 1;
    }
    return {std::string(file_), mark.line + dialect_.first_line, static_cast<int>(column) + 1};
}

Diagnostic more_than_one(std::string_view file) {
    return {.where = {std::string(file), 0, 0},
            .what = "the file holds more than one YAML document",
            .why = "only the first would be read",
            .fix = "keep one document: remove the \"---\" lines"};
}

Result<Node> parse_documents(std::string_view text, std::string_view file,
                             const YamlDialect& dialect) {
    Handler first(text, file, dialect);
    Handler second(text, file, dialect);
    try {
        std::istringstream stream{std::string(text)};
        YAML::Parser parser(stream);
        if (!parser.HandleNextDocument(first)) {
            return NodeFactory::at(Node(), {std::string(file), dialect.first_line, 1});
        }
        if (parser.HandleNextDocument(second)) {
            return bad_input(more_than_one(file));
        }
    } catch (const Refused&) {
        return bad_input(first.builder().is_refused() ? first.builder().failure()
                                                      : more_than_one(file));
    } catch (const YAML::Exception& e) {
        return bad_input(
            {.where = first.place(e.mark),
             .what = "not valid YAML: " + e.msg,
             .why = {},
             .fix = "indent with spaces, and put text with special characters in quotes"});
    }
    return first.builder().take_root();
}

}  // namespace

Result<Node> parse_yaml(std::string_view text, std::string_view file) {
    return parse_yaml(text, file, YamlDialect{});
}

Result<Node> parse_yaml(std::string_view text, std::string_view file, const YamlDialect& dialect) {
    text = without_byte_order_mark(text);
    if (std::optional<Diagnostic> refused = refuse_text(text, file, kMaxTextBytes)) {
        return bad_input(*std::move(refused));
    }
    return parse_documents(text, file, dialect);
}

}  // namespace trainyard::doc
