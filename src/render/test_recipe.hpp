#pragma once
// A recipe for unit tests: a type of the embedded catalog, a data-parallel mapping over all of it.

#include <string_view>

#include "trainyard/render/recipe.hpp"

namespace trainyard::render {

inline Recipe test_recipe(std::string_view type, int nodes, Purchase purchase) {
    static const auto catalog = catalog::Catalog::load(catalog::Catalog::embedded_tables());
    Recipe r;
    r.plan_file = "plan.json";
    r.plan_hash = std::string(64, 'a');
    r.tool_version = "0.1.0";
    r.name = "a run";
    r.instance = *catalog->instance(type);
    r.accelerator = *catalog->accelerator(r.instance.accelerator);
    r.nodes = nodes;
    r.purchase = purchase;
    r.region = "us-east-1";
    r.rate = 10 * kUsdPerHour;
    r.rate_source = {"a test", "2026-12-01", catalog::Status::assumed};
    r.training.parallel.data = nodes * r.instance.accelerators;
    r.training.sequence = 4096;
    r.training.global_batch = r.training.parallel.data;
    r.steps = 1000;
    r.checkpoint = 100 * kGB;
    r.checkpoint_interval = kHour;
    r.dataset = 1 * kTB;
    r.data_place = DataPlace::local_nvme;
    r.wall = {9 * kHour, 10 * kHour, 12 * kHour};
    return r;
}

}  // namespace trainyard::render
