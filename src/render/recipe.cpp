#include "trainyard/render/recipe.hpp"

#include <array>
#include <utility>

namespace trainyard::render {

std::string_view to_string(Purchase p) {
    constexpr std::array<std::string_view, 5> kWords = {"on demand", "spot", "Capacity Block",
                                                        "mixed", "commitment"};
    return kWords.at(static_cast<std::size_t>(p));
}

bool Recipe::uses_efa() const {
    return is_gang() && instance.efa == catalog::Yes::yes && instance.efa_interfaces > 0;
}

int Recipe::ranks_per_node() const {
    const int devices = training.parallel.devices();
    return copies > 1 || nodes < 1 ? devices : devices / nodes;
}

}  // namespace trainyard::render
