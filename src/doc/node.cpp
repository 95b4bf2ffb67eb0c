#include "trainyard/doc/node.hpp"

#include <array>
#include <charconv>

#include "trainyard/base/contract.hpp"

namespace trainyard::doc {

Node Node::boolean(bool v) {
    Node n;
    n.kind_ = Kind::boolean;
    n.boolean_ = v;
    n.text_ = v ? "true" : "false";
    return n;
}

Node Node::integer(std::int64_t v) {
    Node n;
    n.kind_ = Kind::integer;
    n.integer_ = v;
    n.number_ = static_cast<double>(v);
    n.text_ = std::to_string(v);
    return n;
}

Node Node::number(double v) {
    Node n;
    n.kind_ = Kind::number;
    n.number_ = v == 0 ? 0 : v;  // JSON readers take "-0" for an integer, which has no sign then
    std::array<char, 32> digits{};
    const auto [end, failure] =
        std::to_chars(digits.data(), digits.data() + digits.size(), n.number_);
    TRAINYARD_ASSERT(failure == std::errc{}, "the shortest form of a double fits in 32 characters");
    n.text_.assign(digits.data(), end);
    return n;
}

Node Node::string(std::string v) {
    Node n;
    n.kind_ = Kind::string;
    n.text_ = std::move(v);
    return n;
}

Node Node::list() {
    Node n;
    n.kind_ = Kind::list;
    return n;
}

Node Node::map() {
    Node n;
    n.kind_ = Kind::map;
    return n;
}

const Node* Node::find(std::string_view key) const {
    for (const auto& [name, value] : members_) {
        if (name == key) {
            return &value;
        }
    }
    return nullptr;
}

Node& Node::set(std::string key, Node value) {
    TRAINYARD_ASSERT(kind_ == Kind::map, "only a map has members");
    for (auto& [name, old] : members_) {
        if (name == key) {
            old = std::move(value);
            return *this;
        }
    }
    members_.emplace_back(std::move(key), std::move(value));
    return *this;
}

Node& Node::append(Node value) {
    TRAINYARD_ASSERT(kind_ == Kind::list, "only a list has items");
    items_.push_back(std::move(value));
    return *this;
}

}  // namespace trainyard::doc
