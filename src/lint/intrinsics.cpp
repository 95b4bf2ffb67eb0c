#include "intrinsics.hpp"

#include <map>
#include <optional>
#include <string>

#include "said.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

constexpr int kMaxDepth = 64;

class Renderer {
  public:
    explicit Renderer(const Node& root)
        : parameters_(get(&root, "Parameters")), conditions_(get(&root, "Conditions")) {}

    Node render(const Node& n) const {
        if (n.is(Node::Kind::list)) return list(n);
        if (!n.is(Node::Kind::map)) return n;
        if (n.members().size() == 1) {
            if (const Node* chosen = branch(n)) return placed(render(*chosen), n);
            if (const auto value = parameter(said(&n, {"Ref"}).text)) return placed(*value, n);
        }
        Node map = placed(Node::map(), n);
        for (const auto& [key, value] : n.members()) {
            if (!is_no_value(value) && !gives_nothing(value)) map.set(key, render(value));
        }
        return map;
    }

  private:
    static Node placed(Node copy, const Node& at) {
        if (copy.where.line <= 0 || !copy.is(Node::Kind::map)) copy.where = at.where;
        copy.key_line = at.key_line;
        copy.key_column = at.key_column;
        return copy;
    }

    static bool is_no_value(const Node& n) { return said(&n, {"Ref"}).is("AWS::NoValue"); }

    bool gives_nothing(const Node& n) const {
        const Node* chosen = branch(n);
        return chosen != nullptr && is_no_value(*chosen);
    }

    Node list(const Node& n) const {
        Node result = placed(Node::list(), n);
        for (const Node& item : n.items()) {
            const Node* chosen = branch(item);
            if (chosen == nullptr) chosen = only_branch(item);
            if (chosen == nullptr) chosen = &item;
            if (!is_no_value(*chosen)) result.append(render(*chosen));
        }
        return result;
    }

    /// The default of a parameter, if it has one that says something.
    std::optional<Node> parameter(std::string_view name) const {
        const Node* value = get(get(parameters_, name), "Default");
        if (value == nullptr || said(value).text.empty()) return std::nullopt;
        return *value;
    }

    /// Of {Fn::If: [condition, yes, no]}, if the condition is known.
    const Node* branch(const Node& n) const {
        const Node* parts = get(&n, "Fn::If");
        if (parts == nullptr || parts->items().size() != 3) return nullptr;
        const auto holds = condition(parts->items()[0].text(), 0);
        if (!holds) return nullptr;
        return &parts->items()[*holds ? 1 : 2];
    }

    static const Node* only_branch(const Node& n) {
        const Node* parts = get(&n, "Fn::If");
        if (parts == nullptr || parts->items().size() != 3) return nullptr;
        return &parts->items()[is_no_value(parts->items()[1]) ? 2 : 1];
    }

    /// Each is worked out once; while it is, it is unknown to those that name it in a circle.
    std::optional<bool> condition(std::string_view name, int depth) const {
        const auto [known, is_new] = known_.try_emplace(std::string(name));
        const Node* n = is_new ? get(conditions_, name) : nullptr;
        if (n != nullptr) known->second = holds(*n, depth);
        return known->second;
    }

    std::optional<bool> holds(const Node& n, int depth) const {
        if (depth > kMaxDepth) return std::nullopt;  // a chain without end
        if (const Said other = said(&n, {"Condition"})) return condition(other.text, depth + 1);
        if (const Node* parts = get(&n, "Fn::Equals"); parts && parts->items().size() == 2) {
            const auto a = text_of(parts->items()[0]);
            const auto b = text_of(parts->items()[1]);
            if (a && b) return *a == *b;
            return std::nullopt;
        }
        if (const Node* inner = get(&n, "Fn::Not")) {
            const auto all = each(inner);
            const auto value = all.size() == 1 ? holds(*all.front(), depth + 1) : std::nullopt;
            return value ? std::optional(!*value) : std::nullopt;
        }
        if (const Node* all = get(&n, "Fn::And")) return joined(*all, false, depth);
        if (const Node* any = get(&n, "Fn::Or")) return joined(*any, true, depth);
        return std::nullopt;
    }

    /// One part that equals `decides` decides; all must be known otherwise.
    std::optional<bool> joined(const Node& parts, bool decides, int depth) const {
        bool is_known = true;
        for (const Node* part : each(&parts)) {
            const auto value = holds(*part, depth + 1);
            if (value && *value == decides) return decides;
            is_known = is_known && value.has_value();
        }
        return is_known ? std::optional(!decides) : std::nullopt;
    }

    /// A literal, or a default; an empty default counts here.
    std::optional<std::string> text_of(const Node& n) const {
        if (const Said name = said(&n, {"Ref"})) {
            const Node* value = get(get(parameters_, name.text), "Default");
            if (value == nullptr || value->is(Node::Kind::map)) return std::nullopt;
            return value->text();
        }
        if (n.is(Node::Kind::map) || n.is(Node::Kind::list)) return std::nullopt;
        return n.text();
    }

    const Node* parameters_;
    const Node* conditions_;
    mutable std::map<std::string, std::optional<bool>> known_;
};

}  // namespace

Node with_defaults(const Node& template_root) {
    Node result = template_root;
    if (const Node* resources = get(&template_root, "Resources")) {
        result.set("Resources", Renderer(template_root).render(*resources));
    }
    return result;
}

}  // namespace trainyard::lint
