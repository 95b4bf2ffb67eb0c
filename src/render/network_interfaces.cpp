#include "network_interfaces.hpp"

namespace trainyard::render {

std::vector<NetworkInterface> network_interfaces(const catalog::Instance& instance, bool with_efa) {
    std::vector<NetworkInterface> all = {{0, 0, false}};
    if (!with_efa || instance.efa_interfaces == 0) return all;
    const int cards = instance.network_cards.value_or(instance.efa_interfaces);
    const bool first_card_has_efa = cards <= instance.efa_interfaces;
    if (first_card_has_efa) all.push_back({0, 1, true});
    const int others = instance.efa_interfaces - (first_card_has_efa ? 1 : 0);
    for (int card = 1; card <= others; ++card) all.push_back({card, 0, true});
    return all;
}

}  // namespace trainyard::render
