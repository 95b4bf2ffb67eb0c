#pragma once
// What only the parsers may do to a node: set the text as written and the place it came from.

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

/// Guards of every parser; the header of parse_json states them to users.
inline constexpr std::size_t kMaxTextBytes = 16U << 20U;
inline constexpr std::size_t kMaxDepth = 64;
inline constexpr std::size_t kMaxNodes = 1'000'000;

struct NodeFactory {
    static Node scalar(Node value, std::string text, Location where) {
        value.text_ = std::move(text);
        value.where = std::move(where);
        return value;
    }
    static Node at(Node value, Location where) {
        value.where = std::move(where);
        return value;
    }
    static std::vector<Node>& items(Node& list) { return list.items_; }
    static std::vector<std::pair<std::string, Node>>& members(Node& map) { return map.members_; }
};

}  // namespace trainyard::doc
