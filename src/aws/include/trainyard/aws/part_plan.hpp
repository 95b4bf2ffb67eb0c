#pragma once
// How an object is cut into parts. More than limits.max_parts parts cannot be planned: the part
// size follows from the object's size before the first byte is sent.

#include <cstdint>
#include <optional>

#include "trainyard/aws/object_store.hpp"

namespace trainyard::aws {

struct PartPlan {
    std::uint64_t object_size = 0;  ///< bytes
    std::uint64_t part_size = 0;    ///< bytes of every part but the last; a multiple of 1 MiB
    int parts = 0;                  ///< 0: an empty object, which one put writes

    /// Bytes of part `number` (from 1), and where it begins.
    std::uint64_t size(int number) const;
    std::uint64_t offset(int number) const;
};

/// Parts of at least `wanted` bytes, larger if the object needs it to stay under limits.max_parts.
/// nullopt: the object is larger than the store takes.
std::optional<PartPlan> plan_parts(std::uint64_t object_size, std::uint64_t wanted,
                                   const StoreLimits& limits = {});

}  // namespace trainyard::aws
