#include "python_calls.hpp"

#include <algorithm>
#include <cctype>
#include <map>
#include <vector>

#include "said.hpp"
#include "trainyard/base/text.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

enum class Form { name, number, string, op, newline, end };

struct Token {
    Form form = Form::end;
    std::string text;
    int line = 0;
    int column = 0;
    bool is_open = false;  ///< an f-string with something in it
};

bool is_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || (c & 0x80) != 0;
}

class Lexer {
  public:
    explicit Lexer(std::string_view text) : text_(text) {}

    std::vector<Token> all() {
        std::vector<Token> tokens;
        do {
            tokens.push_back(next());
        } while (tokens.back().form != Form::end);
        return tokens;
    }

  private:
    char peek(std::size_t ahead = 0) const {
        return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
    }

    char advance() {
        const char c = text_[at_++];
        if (c == '\n') {
            ++line_;
            column_ = 1;
        } else if ((static_cast<unsigned char>(c) & 0xC0U) != 0x80U) {
            ++column_;
        }
        return c;
    }

    void skip_blank() {
        while (at_ < text_.size()) {
            const char c = peek();
            if (c == '#') {
                while (at_ < text_.size() && peek() != '\n') advance();
            } else if (c == '\\' && (peek(1) == '\n' || peek(1) == '\r')) {
                advance();
                advance();
            } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && depth_ > 0)) {
                advance();
            } else {
                return;
            }
        }
    }

    Token next() {
        skip_blank();
        Token t{Form::end, {}, line_, column_};
        if (at_ >= text_.size()) return t;
        const char c = peek();
        if (c == '\n') {
            advance();
            t.form = Form::newline;
            return t;
        }
        if (is_string_start()) return string(t);
        if (std::isdigit(static_cast<unsigned char>(c)) != 0) return number(t);
        if (is_word(c)) {
            t.form = Form::name;
            while (is_word(peek())) t.text += advance();
            return t;
        }
        t.form = Form::op;
        t.text += advance();
        if (t.text == "(" || t.text == "[" || t.text == "{") ++depth_;
        if ((t.text == ")" || t.text == "]" || t.text == "}") && depth_ > 0) --depth_;
        if (t.text == "*" && peek() == '*') t.text += advance();
        if (t.text == "=" && peek() == '=') t.text += advance();
        return t;
    }

    Token number(Token t) {
        t.form = Form::number;
        while (is_word(peek()) || peek() == '.') {
            const char c = advance();
            if (c != '_') t.text += c;
        }
        return t;
    }

    bool is_string_start() const {
        std::size_t ahead = 0;
        while (ahead < 2 &&
               std::string_view("rRbBuUfF").find(peek(ahead)) != std::string_view::npos &&
               peek(ahead) != '\0') {
            ++ahead;
        }
        return peek(ahead) == '"' || peek(ahead) == '\'';
    }

    Token string(Token t) {
        t.form = Form::string;
        bool is_raw = false;
        bool is_format = false;
        while (peek() != '"' && peek() != '\'') {
            const char prefix = advance();
            is_raw = is_raw || prefix == 'r' || prefix == 'R';
            is_format = is_format || prefix == 'f' || prefix == 'F';
        }
        const char quote = advance();
        const bool is_long = peek() == quote && peek(1) == quote;
        if (is_long) {
            advance();
            advance();
        } else if (peek() == quote) {
            advance();
            return t;
        }
        while (at_ < text_.size() && !closes(quote, is_long)) {
            if (peek() == '\n' && !is_long) break;
            char c = advance();
            if (c == '\\' && !is_raw && at_ < text_.size()) {
                c = advance();
                if (c == '\n') continue;
                c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
            }
            t.is_open = t.is_open || (is_format && c == '{');
            t.text += c;
        }
        for (int i = is_long ? 3 : 1; i > 0 && peek() == quote; --i) advance();
        return t;
    }

    bool closes(char quote, bool is_long) const {
        return peek() == quote && (!is_long || (peek(1) == quote && peek(2) == quote));
    }

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    int column_ = 1;
    int depth_ = 0;
};

class Reader {
  public:
    Reader(std::string_view text, std::string_view file)
        : tokens_(Lexer(text).all()), file_(file) {}

    Node read() {
        while (now().form != Form::end) statement();
        Node root = Node::map();
        root.where = {file_, 1, 1};
        root.set("imports", std::move(imports_)).set("calls", std::move(calls_));
        return root;
    }

  private:
    static constexpr int kMaxDepth = 64;
    /// Names that stand for large literals multiply them, and maps are searched from the start.
    static constexpr std::size_t kMaxNodes = 200'000;
    static constexpr std::size_t kMaxMembers = 1'000;

    static std::size_t size_of(const Node& node) {
        std::size_t size = 1;
        for (const Node& item : node.items()) size += size_of(item);
        for (const auto& [name, value] : node.members()) size += size_of(value);
        return size;
    }

    static void put(Node& map, std::string key, Node value) {
        if (map.members().size() < kMaxMembers) map.set(std::move(key), std::move(value));
    }

    const Token& now(std::size_t ahead = 0) const {
        return tokens_[std::min(at_ + ahead, tokens_.size() - 1)];
    }
    bool is_op(std::string_view op, std::size_t ahead = 0) const {
        return now(ahead).form == Form::op && now(ahead).text == op;
    }
    Location place(const Token& t) const { return {file_, t.line, t.column}; }

    Node open_at(const Token& t) const {
        Node n = Node::string("${" + t.text + "}");
        n.where = place(t);
        return n;
    }

    void statement() {
        const Token first = now();
        if (first.form == Form::name && (first.text == "import" || first.text == "from")) {
            import_line();
            return;
        }
        const bool binds = first.form == Form::name && is_op("=", 1);
        if (binds) at_ += 2;
        if (now().form == Form::newline || now().form == Form::end) {
            ++at_;
            return;
        }
        const std::size_t before = at_;
        Node value = expression(0);
        if (at_ == before) ++at_;
        if (binds) names_[first.text] = std::move(value);
    }

    void import_line() {
        Node line = Node::string({});
        std::string text;
        const Location where = place(now());
        while (now().form != Form::newline && now().form != Form::end) {
            const bool spaced = !text.empty() && now().form == Form::name && text.back() != '.';
            text += (spaced ? " " : "") + now().text;
            ++at_;
        }
        line = Node::string(text);
        line.where = where;
        imports_.append(std::move(line));
    }

    /// One operand and what follows it; an operator makes the whole open.
    Node expression(int depth) {
        const Token first = now();
        if (depth > kMaxDepth) {
            ++at_;
            return open_at(first);
        }
        Node value = operand(depth);
        bool is_plain = true;
        while (is_operator()) {
            ++at_;
            is_plain = false;
            if (ends_expression()) break;
            operand(depth);
        }
        return is_plain ? value : open_at(first);
    }

    bool is_operator() const {
        if (now().form == Form::name) {
            return is_one_of(now().text, {"if", "else", "or", "and", "not", "in", "is", "for"});
        }
        return now().form == Form::op &&
               !is_one_of(now().text, {",", ")", "]", "}", ":", "=", ";", "(", "[", "{"});
    }

    bool ends_expression() const {
        if (now().form == Form::newline || now().form == Form::end) return true;
        return now().form == Form::op && is_one_of(now().text, {",", ")", "]", "}", ":", "=", ";"});
    }

    Node operand(int depth) {
        const Token t = now();
        switch (t.form) {
            case Form::string:
                return strings();
            case Form::number:
                ++at_;
                return number(t);
            case Form::name:
                return name_or_call(depth);
            case Form::op:
                break;
            default:
                return open_at(t);
        }
        if (t.text == "{") return braces(depth);
        if (t.text == "[" || t.text == "(") return brackets(depth);
        ++at_;
        if (t.text == "-" && now().form == Form::number) {
            Token negative = now();
            negative.text = "-" + negative.text;
            ++at_;
            return number(negative);
        }
        return open_at(t);
    }

    Node strings() {
        const Token first = now();
        std::string text;
        bool is_plain = true;
        while (now().form == Form::string) {
            text += now().text;
            is_plain = is_plain && !now().is_open;
            ++at_;
        }
        Node n = Node::string(is_plain ? text : "${" + text + "}");
        n.where = place(first);
        return n;
    }

    Node number(const Token& t) const {
        Node n = Node::string(t.text);
        if (const auto whole = whole_number(t.text))
            n = Node::integer(*whole);
        else if (const auto real = parse_number(t.text))
            n = Node::number(*real);
        n.where = place(t);
        return n;
    }

    Node name_or_call(int depth) {
        const Token first = now();
        std::string name = first.text;
        ++at_;
        while (is_op(".") && now(1).form == Form::name) {
            name += "." + now(1).text;
            at_ += 2;
        }
        if (is_op("(")) return trailers(call(name, first, depth), depth);
        if (name == "True" || name == "False") return located(Node::boolean(name == "True"), first);
        if (name == "None") return located(Node(), first);
        if (is_op("[")) return trailers(open_at(first), depth);
        const auto bound = names_.find(name);
        if (bound == names_.end()) return open_at(first);
        copied_ += size_of(bound->second);
        return copied_ > kMaxNodes ? open_at(first) : bound->second;
    }

    Node located(Node n, const Token& t) const {
        n.where = place(t);
        return n;
    }

    /// .method(…), [index] and (…) behind a value: read for the calls in them.
    Node trailers(Node value, int depth) {
        while (true) {
            const Token t = now();
            if (is_op(".") && now(1).form == Form::name) {
                at_ += 2;
                if (is_op("(")) call(tokens_[at_ - 1].text, t, depth);
            } else if (is_op("[") || is_op("(")) {
                brackets(depth);
            } else {
                return value;
            }
        }
    }

    Node call(const std::string& name, const Token& first, int depth) {
        Node result = Node::map();
        result.where = place(first);
        result.set("()", located(Node::string(name), first));
        ++at_;
        int positional = 0;
        while (!is_op(")") && now().form != Form::end) {
            const std::size_t before = at_;
            argument(result, positional, depth);
            if (is_op(",")) ++at_;
            if (at_ == before) ++at_;
        }
        ++at_;
        copied_ += size_of(result);
        if (copied_ <= kMaxNodes) calls_.append(result);
        return result;
    }

    void argument(Node& result, int& positional, int depth) {
        const Token t = now();
        if (is_op("**")) {
            ++at_;
            const Node spread = expression(depth + 1);
            if (!spread.is(Node::Kind::map)) result.set("**", spread);
            for (const auto& [key, value] : spread.members()) {
                if (key != "()") put(result, key, value);
            }
            return;
        }
        if (t.form == Form::name && is_op("=", 1)) {
            at_ += 2;
            Node value = expression(depth + 1);
            value.key_line = t.line;
            value.key_column = t.column;
            put(result, t.text, std::move(value));
            return;
        }
        Node value = expression(depth + 1);
        if (positional < 16) result.set("#" + std::to_string(positional++), std::move(value));
    }

    Node braces(int depth) {
        Node map = located(Node::map(), now());
        ++at_;
        while (!is_op("}") && now().form != Form::end) {
            const std::size_t before = at_;
            const Token key = now();
            Node name = expression(depth + 1);
            if (is_op(":")) {
                ++at_;
                Node value = expression(depth + 1);
                value.key_line = key.line;
                value.key_column = key.column;
                put(map, name.text(), std::move(value));
            }
            if (is_op(",")) ++at_;
            if (at_ == before) ++at_;
        }
        ++at_;
        return map;
    }

    Node brackets(int depth) {
        const bool is_group = is_op("(");
        Node list = located(Node::list(), now());
        const std::string_view close = is_group ? ")" : "]";
        ++at_;
        while (!is_op(close) && now().form != Form::end) {
            const std::size_t before = at_;
            list.append(expression(depth + 1));
            if (is_op(",")) ++at_;
            if (at_ == before) ++at_;
        }
        ++at_;
        return is_group && list.items().size() == 1 ? list.items().front() : list;
    }

    std::vector<Token> tokens_;
    std::string file_;
    std::size_t at_ = 0;
    std::size_t copied_ = 0;  ///< nodes
    std::map<std::string, Node> names_;
    Node imports_ = Node::list();
    Node calls_ = Node::list();
};

}  // namespace

Node read_python(std::string_view text, std::string_view file) { return Reader(text, file).read(); }

}  // namespace trainyard::lint
