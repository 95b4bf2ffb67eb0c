// TOML in, by toml++. Its trees become ours, with the places of values and keys.

#define TOML_EXCEPTIONS 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

#include <sstream>

#include "node_factory.hpp"
#include "place.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

namespace {

class Converter {
  public:
    explicit Converter(std::string_view file) : file_(file) {}

    // NOLINTNEXTLINE(misc-no-recursion): toml++ itself refuses nesting over its limit
    Node convert(const toml::node& n) {
        Location at = where(n.source());
        if (const auto* table = n.as_table()) {
            Node map = NodeFactory::at(Node::map(), std::move(at));
            for (const auto& [key, value] : *table) {
                Node member = convert(value);
                member.key_line = static_cast<int>(key.source().begin.line);
                member.key_column = static_cast<int>(key.source().begin.column);
                map.set(std::string(key.str()), std::move(member));
            }
            return map;
        }
        if (const auto* array = n.as_array()) {
            Node list = NodeFactory::at(Node::list(), std::move(at));
            for (const toml::node& item : *array) list.append(convert(item));
            return list;
        }
        return scalar(n, std::move(at));
    }

  private:
    Location where(const toml::source_region& region) const {
        return {std::string(file_), static_cast<int>(region.begin.line),
                static_cast<int>(region.begin.column)};
    }

    static Node scalar(const toml::node& n, Location at) {
        if (const auto* text = n.as_string()) {
            return NodeFactory::scalar(Node::string(text->get()), text->get(), std::move(at));
        }
        if (const auto* yes = n.as_boolean()) {
            return NodeFactory::scalar(Node::boolean(yes->get()), yes->get() ? "true" : "false",
                                       std::move(at));
        }
        if (const auto* whole = n.as_integer()) {
            return NodeFactory::scalar(Node::integer(whole->get()), std::to_string(whole->get()),
                                       std::move(at));
        }
        std::ostringstream words;
        if (const auto* real = n.as_floating_point()) {
            words << real->get();
            return NodeFactory::scalar(Node::number(real->get()), words.str(), std::move(at));
        }
        n.visit([&](const auto& value) {
            using Value = std::decay_t<decltype(value)>;
            if constexpr (!toml::is_table<Value> && !toml::is_array<Value>) words << value.get();
        });
        return NodeFactory::scalar(Node::string(words.str()), words.str(), std::move(at));
    }

    std::string_view file_;
};

}  // namespace

Result<Node> parse_toml(std::string_view text, std::string_view file) {
    if (auto refused = refuse_text(text, file, kMaxTextBytes))
        return bad_input(*std::move(refused));
    try {
        const toml::table root = toml::parse(text, file);
        return Converter(file).convert(root);
    } catch (const toml::parse_error& error) {
        const auto& place = error.source().begin;
        return bad_input(Diagnostic{
            Severity::error,
            {std::string(file), static_cast<int>(place.line), static_cast<int>(place.column)},
            std::string(error.description()),
            "",
            "correct the TOML"});
    }
}

}  // namespace trainyard::doc
