#include "tree_builder.hpp"

#include <fmt/format.h>

#include "node_factory.hpp"
#include "place.hpp"
#include "trainyard/base/contract.hpp"

namespace trainyard::doc {

bool TreeBuilder::refuse(Diagnostic why) {
    if (!failure_) {
        failure_ = std::move(why);
    }
    return false;
}

bool TreeBuilder::refuse_nul(const Location& where) {
    return refuse({.where = where,
                   .what = "a string contains an escaped NUL character",
                   .why = {},
                   .fix = "remove it"});
}

bool TreeBuilder::charge(std::size_t nodes, std::size_t bytes, const Location& where) {
    if (nodes > kMaxNodes - nodes_ || bytes > kMaxTextBytes - bytes_) {
        const bool is_count = nodes > kMaxNodes - nodes_;
        return refuse({.where = where,
                       .what = is_count
                                   ? fmt::format("the document has more than {} values", kMaxNodes)
                                   : fmt::format("the document has more than {} MiB of text",
                                                 kMaxTextBytes >> 20U),
                       .why = "aliases count as often as they are used",
                       .fix = "check that this is the file that you meant"});
    }
    nodes_ += nodes;
    bytes_ += bytes;
    return true;
}

bool TreeBuilder::awaits_key() const {
    return !open_.empty() && open_.back().node.is(Node::Kind::map) && !open_.back().key;
}

bool TreeBuilder::open(Node container) {
    if (open_.size() >= kMaxDepth) {
        return refuse({.where = container.where,
                       .what = fmt::format("nested deeper than {} levels", kMaxDepth),
                       .why = {},
                       .fix = "check that this is the file that you meant"});
    }
    if (!charge(1, 0, container.where)) {
        return false;
    }
    open_.push_back({std::move(container), {}, 0, 0, {}});
    return true;
}

bool TreeBuilder::close() {
    TRAINYARD_ASSERT(!open_.empty(), "the parser closes only what it opened");
    Node done = std::move(open_.back().node);
    open_.pop_back();
    return attach(std::move(done));
}

bool TreeBuilder::key(std::string name, const Location& where) {
    TRAINYARD_ASSERT(awaits_key(), "the parser gives keys only inside a map");
    if (name.find('\0') != std::string::npos) {
        return refuse_nul(where);
    }
    if (!open_.back().members.insert(name).second) {
        return refuse({.where = where,
                       .what = fmt::format("key {} appears twice in this map", in_quotes(name)),
                       .why = "it is unclear which of the two values counts",
                       .fix = "delete one of them"});
    }
    open_.back().key = std::move(name);
    open_.back().key_line = where.line;
    open_.back().key_column = where.column;
    return true;
}

bool TreeBuilder::value(Node node) {
    return charge(1, node.text().size(), node.where) && attach(std::move(node));
}

bool TreeBuilder::attach(Node node) {
    if (node.text().find('\0') != std::string::npos) {
        return refuse_nul(node.where);
    }
    if (open_.empty()) {
        root_ = std::move(node);
        return true;
    }
    Open& parent = open_.back();
    if (parent.node.is(Node::Kind::list)) {
        NodeFactory::items(parent.node).push_back(std::move(node));
        return true;
    }
    TRAINYARD_ASSERT(parent.key.has_value(), "the parser gives a key before each member");
    node.key_line = parent.key_line;
    node.key_column = parent.key_column;
    NodeFactory::members(parent.node).emplace_back(*std::move(parent.key), std::move(node));
    parent.key.reset();
    return true;
}

}  // namespace trainyard::doc
