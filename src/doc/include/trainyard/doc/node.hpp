#pragma once
// One tree for YAML and JSON, in and out. Every parsed node knows file:line:column; built nodes
// have none.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "trainyard/base/diagnostic.hpp"
#include "trainyard/base/result.hpp"

namespace trainyard::doc {

class Node {
  public:
    enum class Kind { null, boolean, integer, number, string, list, map };

    Node() = default;
    static Node boolean(bool v);
    static Node integer(std::int64_t v);
    static Node number(double v);  ///< NaN and infinity become null on output
    static Node string(std::string v);
    static Node list();
    static Node map();

    Kind kind() const { return kind_; }
    bool is(Kind k) const { return kind_ == k; }
    bool is_numeric() const { return kind_ == Kind::integer || kind_ == Kind::number; }
    /// The scalar as written ("300B", "4096", "true"); empty for lists and maps.
    const std::string& text() const { return text_; }
    bool as_bool() const { return boolean_; }
    double as_number() const { return number_; }          ///< valid for integer and number
    std::int64_t as_integer() const { return integer_; }  ///< valid for integer

    const std::vector<Node>& items() const { return items_; }
    const std::vector<std::pair<std::string, Node>>& members() const { return members_; }
    const Node* find(std::string_view key) const;  ///< map member or nullptr

    /// Builders (insertion order is kept). set() replaces an existing member.
    Node& set(std::string key, Node value);
    Node& set(std::string key, std::string_view value) {
        return set(std::move(key), string(std::string(value)));
    }
    Node& set(std::string key, const char* value) { return set(std::move(key), string(value)); }
    Node& set(std::string key, double value) { return set(std::move(key), number(value)); }
    Node& set(std::string key, std::int64_t value) { return set(std::move(key), integer(value)); }
    Node& set(std::string key, int value) { return set(std::move(key), integer(value)); }
    Node& set(std::string key, bool value) { return set(std::move(key), boolean(value)); }
    Node& append(Node value);

    Location where;    ///< set by the parsers
    int key_line = 0;  ///< of a map's member: where its key stands, set by the parsers; 0: unknown
    int key_column = 0;  ///< likewise

  private:
    friend struct NodeFactory;
    Kind kind_ = Kind::null;
    bool boolean_ = false;
    std::int64_t integer_ = 0;
    double number_ = 0;
    std::string text_;
    std::vector<Node> items_;
    std::vector<std::pair<std::string, Node>> members_;
};

/// Refuses, with one diagnostic at the exact place (columns count characters, not bytes): over 16
/// MiB, invalid UTF-8, NUL bytes, nesting over 64, over a million nodes (alias expansion included),
/// duplicate keys, NaN/Infinity, truncated text, trailing text. A byte order mark is skipped.
Result<Node> parse_json(std::string_view text, std::string_view file);
/// YAML 1.2 core schema scalars; one document only, scalar keys only; tabs and bad anchors are
/// diagnosed by yaml-cpp's own words. Empty text is a null node.
Result<Node> parse_yaml(std::string_view text, std::string_view file);
struct YamlDialect {
    int first_line = 1;  ///< the text is a part of a file and begins there
    /// Tags such as CloudFormation's: !Ref x becomes {Ref: x}; others are dropped, the value stays.
    bool foreign_tags = false;
};
Result<Node> parse_yaml(std::string_view text, std::string_view file, const YamlDialect& dialect);
/// TOML 1.0. Tables are maps with their keys sorted; dates are strings. The guards of JSON; toml++
/// itself refuses nesting beyond 256.
Result<Node> parse_toml(std::string_view text, std::string_view file);
/// JSON if the file ends in .json, or starts with '{' or '[' and does not end in .yaml or .yml;
/// all else is YAML.
Result<Node> parse_any(std::string_view text, std::string_view file);

/// Pretty JSON (2 spaces, trailing newline); numbers in the shortest form that reads back the same.
std::string write_json(const Node& root);

}  // namespace trainyard::doc
