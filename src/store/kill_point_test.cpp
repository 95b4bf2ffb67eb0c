// A put, a prune or a restore may die at any call. Nothing that was committed is lost, damaged or
// mixed; nothing torn is ever visible; the next run leaves nothing behind.
// Every check kills more than 5,000 times (the release build; the sanitizers play a fifth of it).
// TRAINYARD_KILL_SEEDS=N plays N worlds a store instead of those that fit into every check.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "crash_world.hpp"
#include "trainyard/base/random.hpp"

namespace trainyard::store::crash {
namespace {

using Kind = World::StoreKind;

#ifdef __SANITIZE_ADDRESS__
constexpr int kWorlds = 200;
#else
constexpr int kWorlds = 1000;
#endif

int worlds_to_play() {
    const char* words = std::getenv("TRAINYARD_KILL_SEEDS");  // NOLINT(concurrency-mt-unsafe)
    return words != nullptr ? std::atoi(words) : kWorlds;     // NOLINT(cert-err34-c)
}

int kills = 0;

std::string failure(const char* what, const Error& error) {
    return std::string(what) + " failed without a fault: " + format(error.diagnostics);
}

/// One call of the tool that may die; "" if all is well.
class Player {
  public:
    Player(std::uint64_t seed, Kind kind, Bug bug)
        : random_(seed, 7), world_(seed, kind, bug), kind_(kind) {}

    std::string play() {
        for (int round = 0; round < 7; ++round) {
            if (auto flaw = turn(); !flaw.empty()) return flaw;
        }
        if (auto flaw = world_.audit_orphans(); !flaw.empty()) return flaw;
        return world_.audit_restore();
    }

  private:
    std::string act(std::uint64_t action) {
        if (action < 3) {
            const auto report = world_.put(step_);
            return report ? "" : failure("put", report.error());
        }
        if (action == 3) {
            const auto report = world_.prune(2);
            return report ? "" : failure("prune", report.error());
        }
        if (action == 4) {
            const auto report = world_.verify_newest();
            if (!report) return failure("verify", report.error());
            return report->flaws.empty() ? "" : "verify: " + report->flaws.front();
        }
        return world_.audit_restore();
    }

    std::string turn() {
        const std::uint64_t action = random_.next() % 6;
        if (action < 3) world_.save(++step_);
        sys::Faults::Plan plan;
        const bool dies = random_.next() % 4 != 0;
        if (dies) {
            const std::uint64_t most = kind_ == Kind::memory ? 60 : 250;
            plan.at = 1 + random_.next() % most;
            plan.kill = true;
            plan.after = random_.next() % 2 == 0;
        }
        world_.faults().arm(plan);
        std::string flaw = act(action);
        const bool died = world_.faults().is_dead();
        world_.faults().disarm();
        if (!died) return flaw.empty() ? world_.audit() : flaw;
        ++kills;
        world_.crash(random_.next() % 2 == 0);
        if (flaw = world_.audit(); !flaw.empty()) return flaw;
        // The next run: the same again, or the job has gone on.
        world_.wait_seconds(120);
        if (step_ == 0 || random_.next() % 2 == 0) world_.save(++step_);
        if (flaw = act(0); !flaw.empty()) return flaw;
        if (flaw = world_.audit(); !flaw.empty()) return flaw;
        return world_.audit_orphans();
    }

    Random random_;
    World world_;
    Kind kind_;
    std::int64_t step_ = 0;
};

constexpr const char* kNoScene = "the scene did not happen";

/// A put that everybody takes for dead wakes up at its commit; or a prune runs at that moment.
std::string play_zombie(Kind kind, Bug bug, bool prune) {
    World world(1, kind, bug);
    for (std::int64_t step = 1; step <= 3; ++step) {
        world.save(step);
        if (const auto report = world.put(step); !report && prune) {
            return failure("put", report.error());
        }
    }
    world.save(4);
    world.save(5);
    bool is_done = false;
    std::string flaw;
    world.faults().watcher = [&](std::string_view operation) {
        const bool is_commit =
            kind == Kind::memory
                ? operation.starts_with("put manifests/")
                : operation == "link" && !world.raw().contains("other") && world.raw().size() > 10;
        if (!is_commit || is_done) return;
        // The last put of a manifest or, in a directory, its link.
        bool has_intent = false;
        for (const auto& [key, text] : world.raw()) {
            has_intent = has_intent || key.starts_with("intents/000000000004");
        }
        if (!has_intent && bug != Bug::no_intent) return;
        is_done = true;
        if (prune) {
            static_cast<void>(world.prune(1));
        } else {
            world.crash(false);
            static_cast<void>(world.put(5));
        }
    };
    static_cast<void>(world.put(4));
    world.faults().watcher = nullptr;
    if (!is_done) return kNoScene;
    return world.audit();
}

class KillPoints : public ::testing::TestWithParam<Kind> {};

TEST_P(KillPoints, NothingIsLostTornMixedOrLeftBehind) {
    kills = 0;
    const int worlds = worlds_to_play();
    for (int seed = 1; seed <= worlds; ++seed) {
        const std::string flaw =
            Player(static_cast<std::uint64_t>(seed), GetParam(), Bug::none).play();
        ASSERT_EQ(flaw, "") << "seed " << seed;
    }
    RecordProperty("kills", kills);
    // 1,000 worlds each: 2,000 and 3,400 deaths; the first 200 have 389 and more.
    EXPECT_GE(2 * kills, 3 * worlds) << "a world without deaths proves nothing";
}

/// Not by chance: each call of one put that dedups, sends parts and commits.
TEST_P(KillPoints, EveryCallOfAPut) {
    std::uint64_t points = 0;
    bool is_beyond = false;
    for (std::uint64_t n = 1; !is_beyond; ++n) {
        for (const int variant : {0, 1, 2, 3}) {
            World world(n, GetParam());
            world.save(1);
            ASSERT_TRUE(world.put(1));
            world.save(2);
            world.faults().arm({.at = n, .kill = true, .after = variant % 2 == 1});
            static_cast<void>(world.put(2));
            is_beyond = !world.faults().is_dead();
            if (is_beyond) break;
            ++points;
            world.crash(variant >= 2);
            ASSERT_EQ(world.audit(), "") << n;
            world.wait_seconds(120);
            const auto again = world.put(2);
            ASSERT_TRUE(again) << n << format(again.error().diagnostics);
            ASSERT_EQ(world.audit(), "") << n;
            ASSERT_EQ(world.audit_orphans(), "") << n;
            ASSERT_EQ(world.audit_restore(), "") << n;
        }
    }
    RecordProperty("points", static_cast<int>(points));
    EXPECT_GE(points, 100U);
}

/// Calls that fail without killing, one at a time: an error, never a lie.
TEST_P(KillPoints, EveryCallOfAPutMayFailOnce) {
    for (std::uint64_t n = 1;; ++n) {
        World world(n, GetParam());
        world.save(1);
        ASSERT_TRUE(world.put(1));
        world.save(2);
        world.faults().arm({.at = n, .after = n % 2 == 0});
        static_cast<void>(world.put(2));
        const bool is_beyond = world.faults().calls() < n;
        world.faults().disarm();
        ASSERT_EQ(world.audit(), "") << n;
        world.wait_seconds(120);
        const auto again = world.put(2);
        ASSERT_TRUE(again) << n << format(again.error().diagnostics);
        ASSERT_EQ(world.audit(), "") << n;
        ASSERT_EQ(world.audit_orphans(), "") << n;
        if (is_beyond) break;
    }
}

TEST_P(KillPoints, TwoNodesCommitTogetherWhereverOneDies) {
    for (std::uint64_t n = 1;; ++n) {
        World world(n, GetParam());
        world.save(1);
        ASSERT_TRUE(world.put(1, 0, 2));
        EXPECT_EQ(world.raw().count("manifests"), 0U);
        world.faults().arm({.at = n, .kill = true, .after = n % 2 == 0});
        static_cast<void>(world.put(1, 1, 2));
        const bool died = world.faults().is_dead();
        world.crash(n % 3 == 0);
        ASSERT_EQ(world.audit(), "") << n;
        world.wait_seconds(120);
        const auto again = world.put(1, 1, 2);
        ASSERT_TRUE(again) << n << format(again.error().diagnostics);
        EXPECT_TRUE(again->committed) << n;
        ASSERT_EQ(world.audit(), "") << n;
        ASSERT_EQ(world.audit_restore(), "") << n;
        if (!died) break;
    }
}

TEST_P(KillPoints, AResumedPutSendsOnlyWhatIsMissing) {
    std::uint64_t most = 0;
    for (std::uint64_t n = 1; n < 200; ++n) {
        World w(n, GetParam());
        w.save(1);
        w.faults().arm({.at = n, .kill = true});
        static_cast<void>(w.put(1));
        if (!w.faults().is_dead()) break;
        w.crash(false);
        const auto again = w.put(1);
        ASSERT_TRUE(again) << n << format(again.error().diagnostics);
        if (!again->was_there) {
            EXPECT_EQ(again->sent + again->resumed + again->reused, again->bytes) << n;
        }
        most = std::max(most, again->resumed);
    }
    EXPECT_EQ(most, 270U) << "all of 50 + 200 + 20 bytes were sent before some death";
}

TEST_P(KillPoints, AZombieCannotCommitAndAPruneCannotTakeWhatIsReused) {
    EXPECT_EQ(play_zombie(GetParam(), Bug::none, false), "");
    EXPECT_EQ(play_zombie(GetParam(), Bug::none, true), "");
}

INSTANTIATE_TEST_SUITE_P(Directory, KillPoints, ::testing::Values(Kind::directory));
INSTANTIATE_TEST_SUITE_P(Memory, KillPoints, ::testing::Values(Kind::memory));

/// The auditor is audited: each planted mistake must be found, in one store or the other.
TEST(KillPoints, FindEveryPlantedBug) {
    for (int i = 1; i <= kBugs; ++i) {
        const Bug bug = static_cast<Bug>(i);
        std::string flaw;
        for (const Kind kind : {Kind::memory, Kind::directory}) {
            for (const bool prune : {false, true}) {
                if (!flaw.empty()) continue;
                flaw = play_zombie(kind, bug, prune);
                if (flaw == kNoScene) flaw.clear();
            }
            for (std::uint64_t seed = 1; seed <= 300 && flaw.empty(); ++seed) {
                flaw = Player(seed, kind, bug).play();
            }
        }
        EXPECT_NE(flaw, "") << "bug " << i << " was not found";
        RecordProperty(fmt::format("bug_{}", i), flaw);
    }
}

}  // namespace
}  // namespace trainyard::store::crash
