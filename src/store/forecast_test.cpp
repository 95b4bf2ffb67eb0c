// A notice: what fits is told beforehand, and what is committed is committed in time. The clock is
// the simulated machine's, the link has a rate that varies from part to part.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include <algorithm>

#include "memory_store.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/store/repository.hpp"

namespace trainyard::store {
namespace {

constexpr std::uint64_t kPart = std::uint64_t{64} << 10U;
constexpr double kRate = 1'000'000;  // bytes/s

/// Each byte costs time, each call a round trip.
class SlowStore final : public MemoryStore {
  public:
    SlowStore(sys::MemoryEnv& env, double spread)
        : MemoryStore(env, kPart), env_(env), spread_(spread) {}
    aws::StoreResult<aws::ObjectVersion> put(const std::string& key, std::string_view body,
                                             const aws::PutOptions& options,
                                             const aws::Call& call) override {
        pass(body.size());
        if (key.starts_with("manifests/")) committed_ns = env_.steady_ns();
        return MemoryStore::put(key, body, options, call);
    }
    aws::StoreResult<aws::Part> put_part(const aws::Upload& upload, int number,
                                         std::string_view body, aws::Checksum checksum,
                                         const aws::Call& call) override {
        pass(body.size());
        return MemoryStore::put_part(upload, number, body, checksum, call);
    }
    std::int64_t committed_ns = 0;

  private:
    void pass(std::size_t bytes) {
        const double factor = 1 + spread_ * (2 * random_.uniform() - 1);
        const double seconds = 0.02 + static_cast<double>(bytes) / kRate * factor;
        env_.sleep_ns(static_cast<std::int64_t>(seconds * 1e9));
    }

    sys::MemoryEnv& env_;
    double spread_;
    Random random_{3, 0};
};

struct Machine {
    explicit Machine(double spread = 0.3) : store(env, spread) {
        settings.jobs = 1;
        settings.part_size = kPart;
        repository.emplace(env, store, settings);
    }
    PutRequest save(std::int64_t step, std::size_t bytes) {
        std::string contents(bytes, '\0');
        Random random(static_cast<std::uint64_t>(step), 0);
        for (std::size_t at = 0; at < bytes; at += sizeof(std::uint64_t)) {
            const std::uint64_t word = random.next();
            std::memcpy(contents.data() + at, &word, std::min(sizeof word, bytes - at));
        }
        env.put_file(fmt::format("/run/step_{}/model.bin", step), contents);
        PutRequest request;
        request.tree = *read_tree(env, fmt::format("/run/step_{}", step));
        request.step = step;
        return request;
    }
    std::uint64_t in_store() const {
        std::uint64_t bytes = 0;
        for (const auto& [id, open] : store.uploads) {
            for (const auto& [number, part] : open.parts) bytes += part.size();
        }
        return bytes;
    }

    sys::MemoryEnv env;
    SlowStore store;
    RepositorySettings settings;
    std::optional<Repository> repository;
};

TEST(Forecast, NothingIsKnownBeforeTheFirstPut) {
    Machine m;
    EXPECT_FALSE(m.repository->forecast());
    ASSERT_TRUE(m.repository->put(m.save(1, 100)));
    EXPECT_FALSE(m.repository->forecast()) << "100 bytes say nothing about a link";
}

TEST(Forecast, WhatFitsIsToldWithinTenPercent) {
    for (const double left : {14.0, 25.0, 60.0, 120.0}) {
        Machine m;
        ASSERT_TRUE(m.repository->put(m.save(1, 4'000'000)));
        const auto forecast = m.repository->forecast();
        ASSERT_TRUE(forecast);
        const auto fits = static_cast<double>(forecast->fits(left * kSecond));
        PutRequest request = m.save(2, 200'000'000);
        request.within = left * kSecond;
        const std::int64_t begun = m.env.steady_ns();
        const auto report = m.repository->put(request);
        ASSERT_FALSE(report);
        EXPECT_NE(report.error().diagnostics.front().what.find("not committed in time"),
                  std::string::npos);
        EXPECT_NEAR(static_cast<double>(m.in_store()) / fits, 1, 0.1) << left;
        EXPECT_LE(static_cast<double>(m.env.steady_ns() - begun) / 1e9, left - 9.5);
    }
}

TEST(Forecast, WhatFitsIsCommittedTenSecondsBeforeTheEnd) {
    Machine m;
    ASSERT_TRUE(m.repository->put(m.save(1, 4'000'000)));
    const Seconds left = 60 * kSecond;
    const std::uint64_t fits = m.repository->forecast()->fits(left);
    PutRequest request = m.save(2, static_cast<std::size_t>(0.9 * static_cast<double>(fits)));
    request.within = left;
    const std::int64_t begun = m.env.steady_ns();
    const auto report = m.repository->put(request);
    ASSERT_TRUE(report) << format(report.error().diagnostics);
    EXPECT_TRUE(report->committed);
    EXPECT_LE(static_cast<double>(m.store.committed_ns - begun) / 1e9, 50);
    EXPECT_NEAR(m.repository->forecast()->needed(request.tree.bytes) /
                    (static_cast<double>(m.env.steady_ns() - begun) / 1e9 * kSecond),
                1, 0.1);
}

TEST(Forecast, WhatWasSentInVainIsResumed) {
    Machine m;
    PutRequest request = m.save(1, 20'000'000);
    request.within = 20 * kSecond;
    ASSERT_FALSE(m.repository->put(request));
    const std::uint64_t sent = m.in_store();
    EXPECT_GT(sent, 5'000'000U);
    request.within.reset();
    const auto again = m.repository->put(request);
    ASSERT_TRUE(again);
    EXPECT_EQ(again->resumed, sent);
    EXPECT_EQ(again->sent, 20'000'000U - sent);
}

TEST(Forecast, ARunningPutCountsAlone) {
    RateMeter meter;
    const auto s = [](double seconds) { return static_cast<std::int64_t>(seconds * 1e9); };
    meter.begin(0);
    meter.add(100'000'000, s(1));
    meter.end(s(1));
    EXPECT_NEAR(meter.forecast()->bytes_per_second, 1e8, 1);
    meter.begin(s(10));
    meter.add(10'000'000, s(11));
    EXPECT_NEAR(meter.forecast()->bytes_per_second, 55e6, 1) << "one second is too short to tell";
    meter.add(10'000'000, s(12));
    EXPECT_NEAR(meter.forecast()->bytes_per_second, 1e7, 1);
    meter.overhead(2 * kSecond);
    EXPECT_EQ(meter.forecast()->fits(13 * kSecond), 10'000'000U);
    EXPECT_EQ(meter.forecast()->fits(11 * kSecond), 0U);
    EXPECT_NEAR(meter.forecast()->needed(10'000'000) / kSecond, 3, 1e-9);
}

}  // namespace
}  // namespace trainyard::store
