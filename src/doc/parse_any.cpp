#include "place.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::doc {

Result<Node> parse_any(std::string_view text, std::string_view file) {
    const std::string name = to_lower(file);
    const std::string_view start = trim(without_byte_order_mark(text));
    const bool is_json_file = name.ends_with(".json");
    const bool is_yaml_file = name.ends_with(".yaml") || name.ends_with(".yml");
    const bool looks_like_json = start.starts_with('{') || start.starts_with('[');
    return is_json_file || (looks_like_json && !is_yaml_file) ? parse_json(text, file)
                                                              : parse_yaml(text, file);
}

}  // namespace trainyard::doc
