#pragma once
// A value that a file states, and the place where it does: what findings point at.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/doc/node.hpp"

namespace trainyard::lint {

struct Said {
    std::string text;
    Location where;
    explicit operator bool() const { return where.line > 0; }
    bool is(std::string_view word) const { return text == word; }
};

struct Count {
    std::int64_t value = 0;
    Location where;
};

struct EnvVar {
    std::string name;
    Said value;  ///< where: of the name if there is one, else of the value
};

/// Walks map members; nullptr if one is missing or a null.
const doc::Node* get(const doc::Node* node, std::initializer_list<std::string_view> path);
const doc::Node* get(const doc::Node* node, std::string_view key);
/// The scalar at the end of a path; a call of Python is open, "${name}"; empty Said if there is
/// none.
Said said(const doc::Node* node);
Said said(const doc::Node* node, std::initializer_list<std::string_view> path);
/// Where the key of a member stands; the value's place if it has no key.
Location key_of(const doc::Node& member);
/// The key as a Said, to point at a whole block.
Said key_said(const doc::Node& member, std::string_view name);
/// true, "true", "True", "yes", 1.
bool is_true(const doc::Node* node);
bool is_false(const doc::Node* node);
/// An integer, or a text of digits.
std::optional<Count> count(const doc::Node* node);
std::optional<Count> count(const doc::Node* node, std::initializer_list<std::string_view> path);
std::optional<std::int64_t> whole_number(std::string_view text);
/// Items of a list, the node itself if it is a scalar or a map, nothing if null.
std::vector<const doc::Node*> each(const doc::Node* node);
std::vector<Said> all_said(const doc::Node* node);

/// A placeholder or an expression that only a tool can resolve: ${X}, $X, {{ x }}, <x>, var.x.
bool is_open(std::string_view text);
/// Case-insensitive.
bool contains(std::string_view text, std::string_view part);
bool is_one_of(std::string_view text, std::initializer_list<std::string_view> words);

}  // namespace trainyard::lint
