#pragma once
// Requests and the embedded catalog for the tests of this module.

#include <gtest/gtest.h>

#include <string>

#include "trainyard/catalog/catalog.hpp"
#include "trainyard/plan/plan.hpp"

namespace trainyard::plan::test {

inline const catalog::Catalog& catalog() {
    static const catalog::Catalog loaded = [] {
        auto c = catalog::Catalog::load(catalog::Catalog::embedded_tables());
        EXPECT_TRUE(c.has_value());
        return std::move(*c);
    }();
    return loaded;
}

inline workload::Model model(const std::string& name) {
    auto m = workload::find_model(name);
    EXPECT_TRUE(m.has_value()) << name;
    return m ? *m : workload::Model{};
}

/// A llama-like model small enough to enumerate every mapping.
inline workload::Model tiny_model() {
    workload::Model m;
    m.name = "tiny";
    m.family = "llama";
    m.layers = 8;
    m.hidden = 1024;
    m.heads = 8;
    m.kv_heads = 8;
    m.head_dim = 128;
    m.ffn_hidden = 2816;
    m.vocab = 32000;
    m.max_positions = 4096;
    m.gated_mlp = true;
    return m;
}

inline Request request(workload::Model m, double tokens) {
    Request r;
    r.job.model = std::move(m);
    r.job.tokens = tokens * kToken;
    r.today = "2026-12-01";
    return r;
}

}  // namespace trainyard::plan::test
