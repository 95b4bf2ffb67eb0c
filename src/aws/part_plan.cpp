#include "trainyard/aws/part_plan.hpp"

#include <algorithm>

#include "trainyard/base/contract.hpp"

namespace trainyard::aws {
namespace {

constexpr std::uint64_t kPartUnit = std::uint64_t{1} << 20U;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace

std::uint64_t PartPlan::offset(int number) const {
    TRAINYARD_ASSERT(number >= 1 && number <= parts, "callers count from 1 to parts");
    return static_cast<std::uint64_t>(number - 1) * part_size;
}

std::uint64_t PartPlan::size(int number) const {
    return std::min(part_size, object_size - offset(number));
}

std::optional<PartPlan> plan_parts(std::uint64_t object_size, std::uint64_t wanted,
                                   const StoreLimits& limits) {
    if (object_size > limits.max_object || limits.max_parts < 1) return std::nullopt;
    const auto most = static_cast<std::uint64_t>(limits.max_parts);
    const std::uint64_t floor = std::max(limits.min_part, divide_up(object_size, most));
    std::uint64_t size = std::max(floor, std::min(wanted, limits.max_part));
    size = divide_up(std::max<std::uint64_t>(size, 1), kPartUnit) * kPartUnit;
    if (size > limits.max_part) {
        size = limits.max_part;
        if (size == 0 || divide_up(object_size, size) > most) return std::nullopt;
    }
    return PartPlan{object_size, size, static_cast<int>(divide_up(object_size, size))};
}

}  // namespace trainyard::aws
