#pragma once
// Which network interface sits on which card of an instance. Rules of "EFA-supported instance
// types" (EC2 user guide): card 0, device 0 is an ENA interface; every EFA is an efa-only
// interface, which takes no IP address, at device 1 of card 0 and at device 0 of the other cards.
// Where there is one card more than EFA interfaces (P6-B300), card 0 carries none.

#include <vector>

#include "trainyard/catalog/catalog.hpp"

namespace trainyard::render {

struct NetworkInterface {
    int card = 0;
    int device = 0;
    bool efa_only = false;
};

/// with_efa false: the ENA interface alone.
std::vector<NetworkInterface> network_interfaces(const catalog::Instance& instance, bool with_efa);

}  // namespace trainyard::render
