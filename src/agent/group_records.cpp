// The objects that nodes leave for each other, and what one keeps of its place, as JSON;
// docs/reference/nodes.md.

#include <array>

#include "trainyard/agent/group.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::agent {

namespace {

using doc::Node;
using State = NodeRecord::State;

constexpr int kVersion = 1;
constexpr std::array<std::string_view, 5> kStates = {"ready", "working", "failed", "done", "left"};

Error refuse(const Node& at, std::string what) {
    return bad_input(Diagnostic{.where = at.where,
                                .what = std::move(what),
                                .why = {},
                                .fix = "was it written by another version of trainyard?"});
}

/// Takes members out of a map; the first that is missing or of another kind is remembered.
class Reader {
  public:
    explicit Reader(const Node& map) : map_(map) {}
    void text(const char* key, std::string& into) {
        if (const Node* n = find(key, Node::Kind::string)) into = n->text();
    }
    template <typename T>
    void integer(const char* key, T& into) {
        if (const Node* n = find(key, Node::Kind::integer)) into = static_cast<T>(n->as_integer());
    }
    void number(const char* key, double& into) {
        const Node* n = map_.find(key);
        if (n != nullptr && n->is_numeric()) {
            into = n->as_number();
        } else if (missing_.empty()) {
            missing_ = key;
        }
    }
    void flag(const char* key, bool& into) {
        if (const Node* n = find(key, Node::Kind::boolean)) into = n->as_bool();
    }
    const Node* find(const char* key, Node::Kind kind) {
        const Node* n = map_.find(key);
        if (n != nullptr && n->is(kind)) return n;
        if (missing_.empty()) missing_ = key;
        return nullptr;
    }
    const std::string& missing() const { return missing_; }

  private:
    const Node& map_;
    std::string missing_;
};

Result<Node> parse(std::string_view text, std::string_view file, std::string_view schema) {
    auto root = doc::parse_json(text, file);
    if (!root) return root.error();
    const Node* named = root->is(Node::Kind::map) ? root->find("schema") : nullptr;
    const Node* version = named != nullptr ? root->find("schema_version") : nullptr;
    if (version == nullptr || named->text() != schema || version->as_integer() != kVersion) {
        return refuse(*root, "this is no " + std::string(schema) + " of version 1");
    }
    return root;
}

Node head(const char* schema) {
    Node root = Node::map();
    root.set("schema", schema).set("schema_version", kVersion);
    return root;
}

}  // namespace

std::string write_node_record(const NodeRecord& r) {
    Node root = head("trainyard.node");
    root.set("name", r.name).set("token", r.token).set("address", r.address).set("port", r.port);
    root.set("state", kStates[static_cast<std::size_t>(r.state)]);
    root.set("generation", r.generation).set("prepared", r.prepared).set("step", r.step);
    root.set("saved", r.saved).set("saved_name", r.saved_name).set("committed", r.committed);
    root.set("is_uploading", r.is_uploading);
    root.set("leaves_in_s", r.leaves_in ? Node::number(*r.leaves_in / kSecond) : Node());
    root.set("grows", r.grows).set("cause", r.cause).set("ending", r.ending);
    root.set("ends_all", r.ends_all).set("cost_usd", r.cost_usd);
    Node names = Node::list();
    for (const std::string& name : r.neighbours) names.append(Node::string(name));
    root.set("neighbours", std::move(names));
    return doc::write_json(root);
}

Result<NodeRecord> read_node_record(std::string_view text, std::string_view file) {
    const auto root = parse(text, file, "trainyard.node");
    if (!root) return root.error();
    NodeRecord r;
    Reader in(*root);
    in.text("name", r.name);
    in.text("token", r.token);
    in.text("address", r.address);
    in.integer("port", r.port);
    in.integer("generation", r.generation);
    in.integer("prepared", r.prepared);
    in.integer("step", r.step);
    in.integer("saved", r.saved);
    in.text("saved_name", r.saved_name);
    in.integer("committed", r.committed);
    in.flag("is_uploading", r.is_uploading);
    in.integer("grows", r.grows);
    in.text("cause", r.cause);
    in.text("ending", r.ending);
    in.flag("ends_all", r.ends_all);
    in.number("cost_usd", r.cost_usd);
    const Node* leaves = root->find("leaves_in_s");
    if (leaves != nullptr && leaves->is_numeric()) r.leaves_in = leaves->as_number() * kSecond;
    if (const Node* names = in.find("neighbours", Node::Kind::list)) {
        for (const Node& name : names->items()) r.neighbours.push_back(name.text());
    }
    std::string state;
    in.text("state", state);
    if (!in.missing().empty()) return refuse(*root, "a node's record without " + in.missing());
    for (std::size_t i = 0; i < kStates.size(); ++i) {
        if (kStates[i] != state) continue;
        r.state = static_cast<State>(i);
        return r;
    }
    return refuse(*root, "unknown state of a node");
}

std::string write_generation(const Generation& g) {
    Node root = head("trainyard.generation");
    root.set("number", g.number).set("from", g.from).set("is_shared", g.is_shared);
    root.set("reason", g.reason).set("proposed_by", g.proposed_by);
    Node nodes = Node::list();
    for (const Generation::Node& n : g.nodes) {
        Node node = Node::map();
        node.set("name", n.name).set("token", n.token).set("address", n.address);
        node.set("port", n.port);
        nodes.append(std::move(node));
    }
    root.set("nodes", std::move(nodes));
    return doc::write_json(root);
}

Result<Generation> read_generation(std::string_view text, std::string_view file) {
    const auto root = parse(text, file, "trainyard.generation");
    if (!root) return root.error();
    Generation g;
    Reader in(*root);
    in.integer("number", g.number);
    in.integer("from", g.from);
    in.flag("is_shared", g.is_shared);
    in.text("reason", g.reason);
    in.text("proposed_by", g.proposed_by);
    std::string missing = in.missing();
    if (const Node* nodes = in.find("nodes", Node::Kind::list)) {
        for (const Node& node : nodes->items()) {
            Generation::Node n;
            Reader of_node(node);
            of_node.text("name", n.name);
            of_node.text("token", n.token);
            of_node.text("address", n.address);
            of_node.integer("port", n.port);
            if (missing.empty()) missing = of_node.missing();
            g.nodes.push_back(std::move(n));
        }
    }
    if (missing.empty()) missing = in.missing();
    if (!missing.empty()) return refuse(*root, "a generation without " + missing);
    return g;
}

std::string write_place(const GroupPlace& p) {
    Node root = head("trainyard.place");
    root.set("generation", p.generation).set("rank", p.rank).set("nodes", p.nodes);
    root.set("first_address", p.first_address).set("first_port", p.first_port);
    root.set("from", p.from).set("is_shared", p.is_shared).set("reason", p.reason);
    return doc::write_json(root);
}

Result<GroupPlace> read_place(std::string_view text, std::string_view file) {
    const auto root = parse(text, file, "trainyard.place");
    if (!root) return root.error();
    GroupPlace p;
    Reader in(*root);
    in.integer("generation", p.generation);
    in.integer("rank", p.rank);
    in.integer("nodes", p.nodes);
    in.text("first_address", p.first_address);
    in.integer("first_port", p.first_port);
    in.integer("from", p.from);
    in.flag("is_shared", p.is_shared);
    in.text("reason", p.reason);
    if (!in.missing().empty())
        return refuse(*root, "a place in a generation without " + in.missing());
    return p;
}

}  // namespace trainyard::agent
