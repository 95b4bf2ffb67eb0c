#include <fmt/format.h>

#include <cmath>

#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

namespace {

void append_escaped(std::string& out, std::string_view text) {
    for (const char c : text) {
        switch (c) {
            case '"':
                out += "\\\"";
                break;
            case '\\':
                out += "\\\\";
                break;
            case '\n':
                out += "\\n";
                break;
            case '\r':
                out += "\\r";
                break;
            case '\t':
                out += "\\t";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out += c;
                }
        }
    }
}

/// Malformed UTF-8 becomes U+FFFD, byte by byte: the output is always valid JSON.
void append_string(std::string& out, std::string_view text) {
    out += '"';
    while (true) {
        const std::size_t good = valid_utf8_prefix(text);
        append_escaped(out, text.substr(0, good));
        if (good == text.size()) {
            break;
        }
        out += "\xEF\xBF\xBD";
        text.remove_prefix(good + 1);
    }
    out += '"';
}

void append_node(std::string& out, const Node& node, std::size_t indent);

void append_list(std::string& out, const Node& node, std::size_t indent) {
    if (node.items().empty()) {
        out += "[]";
        return;
    }
    out += "[";
    for (std::size_t i = 0; i < node.items().size(); ++i) {
        out += i == 0 ? "\n" : ",\n";
        out.append(indent + 2, ' ');
        append_node(out, node.items()[i], indent + 2);
    }
    out += '\n';
    out.append(indent, ' ');
    out += ']';
}

void append_map(std::string& out, const Node& node, std::size_t indent) {
    if (node.members().empty()) {
        out += "{}";
        return;
    }
    out += "{";
    for (std::size_t i = 0; i < node.members().size(); ++i) {
        const auto& [name, value] = node.members()[i];
        out += i == 0 ? "\n" : ",\n";
        out.append(indent + 2, ' ');
        append_string(out, name);
        out += ": ";
        append_node(out, value, indent + 2);
    }
    out += '\n';
    out.append(indent, ' ');
    out += '}';
}

void append_node(std::string& out, const Node& node, std::size_t indent) {
    switch (node.kind()) {
        case Node::Kind::null:
            out += "null";
            break;
        case Node::Kind::boolean:
            out += node.as_bool() ? "true" : "false";
            break;
        case Node::Kind::integer:
            out += std::to_string(node.as_integer());
            break;
        case Node::Kind::number:
            // Node::number makes the shortest text that reads back the same; JSON has no NaN or
            // infinity.
            out += std::isfinite(node.as_number()) ? Node::number(node.as_number()).text() : "null";
            break;
        case Node::Kind::string:
            append_string(out, node.text());
            break;
        case Node::Kind::list:
            append_list(out, node, indent);
            break;
        case Node::Kind::map:
            append_map(out, node, indent);
            break;
    }
}

}  // namespace

std::string write_json(const Node& root) {
    std::string out;
    append_node(out, root, 0);
    out += '\n';
    return out;
}

}  // namespace trainyard::doc
