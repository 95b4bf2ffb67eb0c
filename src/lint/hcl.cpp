#include "hcl.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "said.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' ||
           (c & 0x80) != 0;
}

class HclReader {
  public:
    HclReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

    Result<Node> read() {
        Node root = body(0, here());
        if (failure_) return bad_input(*failure_);
        return root;
    }

  private:
    static constexpr int kMaxDepth = 64;
    static constexpr std::size_t kMaxMembers = 1'000;
    using Blocks = std::map<std::string, Node>;

    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }
    bool at_end() const { return at_ >= text_.size(); }
    Location here() const { return {file_, line_, column_}; }

    char advance() {
        if (at_end()) return '\0';
        const char c = text_[at_++];
        if (c == '\n') {
            ++line_;
            column_ = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
            ++column_;
        }
        return c;
    }

    void skip(bool lines) {
        while (!at_end()) {
            const char c = peek();
            if (c == '#' || (c == '/' && peek(1) == '/')) {
                while (!at_end() && peek() != '\n') advance();
            } else if (c == '/' && peek(1) == '*') {
                while (!at_end() && (peek() != '*' || peek(1) != '/')) advance();
                if (!at_end()) advance();
                if (!at_end()) advance();
            } else if (c == ' ' || c == '\t' || c == '\r' || (lines && c == '\n')) {
                advance();
            } else {
                return;
            }
        }
    }

    /// Keeps the first mistake and goes to the end of the text, where every loop stops.
    void refuse(const Location& where, std::string what, std::string fix) {
        if (!failure_) {
            failure_ = {Severity::error, where, std::move(what), {}, std::move(fix)};
        }
        at_ = text_.size();
    }

    void guard(int depth) {
        if (depth > kMaxDepth) {
            refuse(here(), "nested deeper than 64 levels", "check that this is the file you meant");
        }
    }

    std::string word() {
        std::string name;
        while (is_word(peek()) || (peek() == '.' && is_word(peek(1)))) name += advance();
        return name;
    }

    Node body(int depth, const Location& opened) {
        guard(depth);
        Node map = Node::map();
        map.where = opened;
        Blocks blocks;
        while (true) {
            skip(true);
            if (at_end()) {
                if (depth > 0) refuse(opened, "a block is not closed", "add the missing \"}\"");
                break;
            }
            if (peek() == '}') {
                advance();
                if (depth == 0) refuse(here(), "a \"}\" closes nothing", "remove it");
                break;
            }
            member(map, blocks, depth);
        }
        for (auto& [name, list] : blocks) map.set(name, std::move(list));
        return map;
    }

    void member(Node& map, Blocks& blocks, int depth) {
        const Location where = here();
        std::string name = peek() == '"' ? quoted().text() : word();
        if (name.empty()) {
            advance();
            return;
        }
        skip(false);
        if (peek() == '=' || peek() == ':') {
            advance();
            skip(false);
            Node value = expression(depth + 1);
            value.key_line = where.line;
            value.key_column = where.column;
            if (map.members().size() < kMaxMembers) map.set(std::move(name), std::move(value));
            return;
        }
        Node labels = Node::list();
        while (peek() == '"' || is_word(peek())) {
            if (peek() == '"') {
                labels.append(quoted());
            } else {
                labels.append(located(Node::string(word()), here()));
            }
            skip(false);
        }
        if (peek() != '{') return;
        advance();
        Node block = body(depth + 1, where);
        block.key_line = where.line;
        block.key_column = where.column;
        if (!labels.items().empty()) block.set("#labels", std::move(labels));
        auto& list = blocks.try_emplace(name, Node::list()).first->second;
        if (list.items().empty()) list.where = where;
        list.append(std::move(block));
    }

    static Node located(Node n, const Location& where) {
        n.where = where;
        return n;
    }

    Node quoted() {
        const Location where = here();
        std::string text;
        advance();
        int depth = 0;
        while (!at_end() && (depth > 0 || peek() != '"') && peek() != '\n') {
            if (peek() == '\\' && depth == 0) {
                advance();
                if (at_end()) break;
                text += advance();
                continue;
            }
            if (peek() == '$' && peek(1) == '{') ++depth;
            if (peek() == '}' && depth > 0) --depth;
            text += advance();
        }
        if (peek() == '"') advance();
        return located(Node::string(text), where);
    }

    Node heredoc() {
        const Location where = here();
        while (!at_end() && (peek() == '<' || peek() == '-')) advance();
        const std::string tag = word();
        const std::size_t start = std::min(text_.find('\n', at_), text_.size());
        std::size_t line = start;
        while (line < text_.size()) {
            const std::size_t end = std::min(text_.find('\n', line + 1), text_.size());
            if (trim(text_.substr(line + 1, end - line - 1)) == tag) {
                Node text = located(Node::string(std::string(text_.substr(start, line - start))),
                                    {file_, where.line + 1, 1});
                while (at_ < end) advance();
                return text;
            }
            line = end;
        }
        refuse(where, "a here-document is not closed", "add the line " + tag);
        return {};
    }

    Node expression(int depth) {
        guard(depth);
        const Location where = here();
        const std::size_t start = at_;
        Node value = operand(depth);
        skip(false);
        if (ends_expression()) return value;
        std::size_t end = at_;
        while (!ends_expression()) {  // an operator, an index, a call: keep the text
            const char c = peek();
            if (c == '"') {
                quoted();
            } else if (c == '[' || c == '{' || c == '(') {
                group(depth);
            } else {
                advance();
            }
            end = at_;  // a comment behind it does not belong to it
            skip(false);
        }
        const std::string_view text = trim(text_.substr(start, std::min(end, at_) - start));
        return located(Node::string(std::string(text)), where);
    }

    bool ends_expression() const {
        return at_end() || std::string_view("\n,]})").find(peek()) != std::string_view::npos;
    }

    /// Any bracketed text of an expression, to its end.
    void group(int depth) {
        guard(depth);
        const Location where = here();
        const char open = advance();
        const char close = open == '[' ? ']' : open == '{' ? '}' : ')';
        while (!at_end() && peek() != close) {
            const char c = peek();
            if (c == '"') {
                quoted();
            } else if (c == '[' || c == '{' || c == '(') {
                group(depth + 1);
            } else {
                advance();
            }
        }
        if (at_end()) refuse(where, "a bracket is not closed", "add the missing bracket");
        advance();
    }

    Node operand(int depth) {
        const Location where = here();
        const char c = peek();
        if (c == '"') return quoted();
        if (c == '<' && peek(1) == '<') return heredoc();
        if (c == '[') return list(depth);
        if (c == '{') {
            advance();
            return body(depth + 1, where);
        }
        std::string text = word();
        if (text == "true" || text == "false") return located(Node::boolean(text == "true"), where);
        if (text == "null") return located(Node(), where);
        if (const auto whole = whole_number(text)) return located(Node::integer(*whole), where);
        if (const auto real = parse_number(text)) return located(Node::number(*real), where);
        return located(Node::string(std::move(text)), where);
    }

    Node list(int depth) {
        const Location where = here();
        Node result = located(Node::list(), where);
        advance();
        while (true) {
            skip(true);
            if (at_end()) refuse(where, "a list is not closed", "add the missing \"]\"");
            if (at_end() || peek() == ']') break;
            const std::size_t before = at_;
            result.append(expression(depth + 1));
            skip(true);
            if (peek() == ',') advance();
            if (at_ == before) advance();
        }
        advance();
        return result;
    }

    std::string_view text_;
    std::string file_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
    std::optional<Diagnostic> failure_;
};

}  // namespace

Result<Node> read_hcl(std::string_view text, std::string_view file) {
    return HclReader(text, file).read();
}

}  // namespace trainyard::lint
