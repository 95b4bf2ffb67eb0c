#include "said.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

namespace trainyard::lint {

using doc::Node;

const Node* get(const Node* node, std::string_view key) {
    if (node == nullptr || !node->is(Node::Kind::map)) return nullptr;
    const Node* found = node->find(key);
    return found == nullptr || found->is(Node::Kind::null) ? nullptr : found;
}

const Node* get(const Node* node, std::initializer_list<std::string_view> path) {
    for (const std::string_view key : path) node = get(node, key);
    return node;
}

Said said(const Node* node) {
    if (node == nullptr || node->is(Node::Kind::list) || node->is(Node::Kind::null)) return {};
    if (node->is(Node::Kind::map)) {
        const Node* call = node->find("()");
        return call == nullptr ? Said{} : Said{"${" + call->text() + "}", node->where};
    }
    return {node->text(), node->where};
}

Said said(const Node* node, std::initializer_list<std::string_view> path) {
    return said(get(node, path));
}

Location key_of(const Node& member) {
    if (member.key_line <= 0) return member.where;
    return {member.where.file, member.key_line, member.key_column};
}

Said key_said(const Node& member, std::string_view name) {
    return {std::string(name), key_of(member)};
}

bool is_true(const Node* node) {
    return node != nullptr &&
           is_one_of(node->text(), {"true", "True", "TRUE", "yes", "Yes", "on", "1"});
}

bool is_false(const Node* node) {
    return node != nullptr &&
           is_one_of(node->text(), {"false", "False", "FALSE", "no", "No", "off", "0"});
}

std::optional<std::int64_t> whole_number(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [last, failure] = std::from_chars(text.data(), end, value);
    if (failure != std::errc{} || last != end || text.empty()) return std::nullopt;
    return value;
}

std::optional<Count> count(const Node* node) {
    const Said word = said(node);
    if (!word) return std::nullopt;
    const auto value = whole_number(word.text);
    if (!value) return std::nullopt;
    return Count{*value, word.where};
}

std::optional<Count> count(const Node* node, std::initializer_list<std::string_view> path) {
    return count(get(node, path));
}

std::vector<const Node*> each(const Node* node) {
    std::vector<const Node*> all;
    if (node == nullptr || node->is(Node::Kind::null)) return all;
    if (!node->is(Node::Kind::list)) return {node};
    for (const Node& item : node->items()) all.push_back(&item);
    return all;
}

std::vector<Said> all_said(const Node* node) {
    std::vector<Said> all;
    for (const Node* item : each(node)) {
        if (Said word = said(item)) all.push_back(std::move(word));
    }
    return all;
}

bool is_open(std::string_view text) {
    for (const std::string_view mark : {"${", "{{", "$(", "<", "PLACEHOLDER", "REPLACE"}) {
        if (text.find(mark) != std::string_view::npos) return true;
    }
    for (const std::string_view start : {"$", "var.", "local.", "data.", "module.", "each.", "!"}) {
        if (text.starts_with(start)) return true;
    }
    return false;
}

bool contains(std::string_view text, std::string_view part) {
    const auto same = [](char a, char b) {
        return std::tolower(static_cast<unsigned char>(a)) ==
               std::tolower(static_cast<unsigned char>(b));
    };
    return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words) {
    return std::find(words.begin(), words.end(), text) != words.end();
}

}  // namespace trainyard::lint
