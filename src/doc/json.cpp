// JSON in: nlohmann's SAX parser checks the grammar and decodes; it does not say where a value
// stands. So the handler follows with a cursor of its own. On each event everything before the
// cursor has been accepted by the parser, so skipping blanks, commas and colons leads to the first
// character of the token that the event reports.

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "node_factory.hpp"
#include "place.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"
#include "tree_builder.hpp"

namespace trainyard::doc {

namespace {

using Json = nlohmann::json;

class Handler : public nlohmann::json_sax<Json> {
  public:
    Handler(std::string_view text, std::string_view file)
        : text_(text), file_(file), cursor_(text, file) {}

    TreeBuilder& builder() { return builder_; }

    bool null() override { return scalar(Node()); }
    bool boolean(bool value) override { return scalar(Node::boolean(value)); }
    bool number_integer(number_integer_t value) override { return scalar(Node::integer(value)); }
    bool number_unsigned(number_unsigned_t value) override {
        if (value > static_cast<number_unsigned_t>(std::numeric_limits<std::int64_t>::max())) {
            return scalar(Node::number(static_cast<double>(value)));
        }
        return scalar(Node::integer(static_cast<std::int64_t>(value)));
    }
    bool number_float(number_float_t value, const string_t& /*text*/) override {
        return scalar(Node::number(value));
    }
    bool string(string_t& value) override {
        const Location where = token();
        skip_string();
        return builder_.value(NodeFactory::at(Node::string(std::move(value)), where));
    }
    bool binary(binary_t& /*value*/) override { return false; }
    bool start_object(std::size_t /*size*/) override { return open(Node::map()); }
    bool start_array(std::size_t /*size*/) override { return open(Node::list()); }
    bool end_object() override { return close(); }
    bool end_array() override { return close(); }
    bool key(string_t& name) override {
        const Location where = token();
        skip_string();
        return builder_.key(std::move(name), where);
    }
    bool parse_error(std::size_t position, const std::string& last_token,
                     const Json::exception& error) override;

  private:
    Location token() {
        while (!cursor_.at_end() &&
               std::string_view(" \t\r\n,:").find(cursor_.peek()) != std::string_view::npos) {
            cursor_.advance();
        }
        return cursor_.where();
    }

    void skip_string() {
        cursor_.advance();
        while (!cursor_.at_end() && cursor_.peek() != '"') {
            if (cursor_.peek() == '\\') {
                cursor_.advance();
            }
            cursor_.advance();
        }
        cursor_.advance();
    }

    bool scalar(Node value) {
        Location where = token();
        const std::size_t start = cursor_.offset();
        const std::size_t end = std::min(text_.find_first_of(" \t\r\n,:]}", start), text_.size());
        cursor_.advance_to(end);
        return builder_.value(NodeFactory::scalar(
            std::move(value), std::string(text_.substr(start, end - start)), std::move(where)));
    }

    bool open(Node container) {
        container.where = token();
        cursor_.advance();
        return builder_.open(std::move(container));
    }

    bool close() {
        token();
        cursor_.advance();
        return builder_.close();
    }

    std::string_view text_;
    std::string_view file_;
    Cursor cursor_;
    TreeBuilder builder_;
};

/// "[json.exception.parse_error.101] parse error at line 1, column 5: syntax error while parsing
/// value - invalid literal; last read: 'NaN'" -> "syntax error while parsing value - invalid
/// literal".
std::string plain_reason(std::string_view message) {
    if (const std::size_t colon = message.find(": "); colon != std::string_view::npos) {
        message.remove_prefix(colon + 2);
    }
    return std::string(message.substr(0, message.find("; last read")));
}

bool Handler::parse_error(std::size_t position, const std::string& last_token,
                          const Json::exception& error) {
    constexpr int kNumberOverflow = 406;
    if (error.id == kNumberOverflow) {
        return builder_.refuse(
            {.where = token(),
             .what = fmt::format("number {} is out of range", in_quotes(last_token)),
             .why = "it does not fit into 64-bit floating point",
             .fix = "write a smaller number"});
    }
    // The parser counts the end of the text as one more character.
    if (position > text_.size()) {
        return builder_.refuse({.where = place_of(text_, file_, text_.size()),
                                .what = "the JSON text ends too early",
                                .why = plain_reason(error.what()),
                                .fix = "the file is truncated: copy it again"});
    }
    const Location where = token();
    const std::string_view rest = text_.substr(cursor_.offset());
    if (rest.starts_with("NaN") || rest.starts_with("Infinity") || rest.starts_with("-Infinity")) {
        return builder_.refuse({.where = where,
                                .what = "NaN and Infinity are not numbers that can be used here",
                                .why = "JSON has no such values (RFC 8259, section 6)",
                                .fix = "write a finite number or null"});
    }
    constexpr std::string_view kBetweenTokens = " \t\r\n,:[]{}\"";
    std::size_t start = position == 0 ? 0 : position - 1;
    while (start > 0 && kBetweenTokens.find(text_[start]) == std::string_view::npos &&
           kBetweenTokens.find(text_[start - 1]) == std::string_view::npos) {
        --start;
    }
    const std::size_t end = text_.find_first_of(kBetweenTokens, start + 1);
    return builder_.refuse(
        {.where = place_of(text_, file_, start),
         .what = fmt::format("not valid JSON at {}", in_quotes(text_.substr(start, end - start))),
         .why = plain_reason(error.what()),
         .fix = "write it as JSON (RFC 8259): no comments, no trailing commas, double quotes"});
}

}  // namespace

Result<Node> parse_json(std::string_view text, std::string_view file) {
    text = without_byte_order_mark(text);
    if (std::optional<Diagnostic> refused = refuse_text(text, file, kMaxTextBytes)) {
        return bad_input(*std::move(refused));
    }
    Handler handler(text, file);
    try {
        if (!Json::sax_parse(text.begin(), text.end(), &handler)) {
            return bad_input(handler.builder().failure());
        }
    } catch (const Json::exception& e) {
        return bad_input(Diagnostic{.where = {std::string(file), 0, 0},
                                    .what = "not valid JSON",
                                    .why = plain_reason(e.what()),
                                    .fix = {}});
    }
    return handler.builder().take_root();
}

}  // namespace trainyard::doc
