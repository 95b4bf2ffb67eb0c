#include "trainyard/store/recognise.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "checkpoint_scenes.hpp"
#include "trainyard/base/random.hpp"
#include "trainyard/sys/memory_env.hpp"

namespace trainyard::store {
namespace {

using scenes::Scene;

constexpr std::int64_t kSecondNs = 1'000'000'000;

void place(sys::MemoryEnv& env, const Scene& scene) {
    EXPECT_TRUE(sys::make_directories(env, "/run/" + scene.directory));
    for (const auto& [path, contents] : scene.files) env.put_file("/run/" + path, contents);
}

Recognition look(sys::MemoryEnv& env, const Scene& scene) {
    RecogniseOptions options;
    if (scene.needs_marker) options.marker = "done";
    auto found = recognise(env, "/run/" + scene.directory, options);
    EXPECT_TRUE(found) << (found ? "" : format(found.error().diagnostics));
    return found ? std::move(*found) : Recognition{};
}

std::string all_of(const std::vector<std::string>& reasons) {
    std::string text;
    for (const std::string& reason : reasons) text += reason + "\n";
    return text;
}

TEST(Recognise, KnowsEveryLayoutWhole) {
    for (const Scene& scene : scenes::all()) {
        sys::MemoryEnv env;
        place(env, scene);
        Recognition found = look(env, scene);
        EXPECT_EQ(name(found.layout), scene.layout);
        EXPECT_EQ(found.step, 100) << scene.layout;
        EXPECT_EQ(found.state, scene.has_end_mark ? Completeness::complete : Completeness::settling)
            << scene.layout << "\n"
            << all_of(found.reasons);
        env.sleep_ns(31 * kSecondNs);
        EXPECT_EQ(look(env, scene).state, Completeness::complete) << scene.layout;
    }
}

enum class Harm { cut, removed, emptied, temporary, zeroed, cut_to_half };
constexpr Harm kHarms[] = {Harm::cut,       Harm::removed, Harm::emptied,
                           Harm::temporary, Harm::zeroed,  Harm::cut_to_half};

Scene harmed(Scene scene, const std::string& path, Harm harm, Random& random) {
    std::string contents = scene.files[path];
    switch (harm) {
        case Harm::cut:
            contents.resize(1 + random.next() % (contents.size() - 1));
            break;
        case Harm::cut_to_half:
            contents.resize(contents.size() / 2);
            break;
        case Harm::removed:
            scene.files.erase(path);
            return scene;
        case Harm::emptied:
            contents.clear();
            break;
        case Harm::temporary:
            scene.files.erase(path);
            scene.files[path + ".tmp"] = contents;
            return scene;
        case Harm::zeroed:  // space that was reserved, data that never came
            contents.assign(contents.size(), '\0');
            break;
    }
    scene.files[path] = contents;
    return scene;
}

/// Of a file that nothing names, only what its own format says can be told.
bool is_beyond_telling(const std::string& path, Harm harm) {
    const bool is_opaque = path.ends_with("weights.dat") || path.ends_with("/done");
    if (harm == Harm::temporary) return false;
    if (harm != Harm::removed) return is_opaque;
    return path.ends_with("weights.dat") || path.ends_with("/config.json") ||
           path.ends_with("/common.pt");
}

/// The property that a checkpoint tool lives by. What no layout can tell from the outside (a
/// missing file that nothing names) must at least never be complete before it is quiet.
TEST(Recognise, NeverCallsAHarmedCheckpointComplete) {
    Random random(20261202, 0);
    int directories = 0;
    int told = 0;
    for (const Scene& scene : scenes::all()) {
        for (const auto& [path, contents] : scene.files) {
            for (const Harm harm : kHarms) {
                if (is_beyond_telling(path, harm)) continue;
                sys::MemoryEnv env;
                place(env, harmed(scene, path, harm, random));
                const Recognition found = look(env, scene);
                ++directories;
                told += found.state == Completeness::incomplete ? 1 : 0;
                EXPECT_NE(found.state, Completeness::complete)
                    << scene.layout << " " << path << " harm " << static_cast<int>(harm);
            }
        }
    }
    EXPECT_GE(directories, 200);
    EXPECT_GE(told, directories * 9 / 10) << "most harm is told at once, without any wait";
    RecordProperty("directories", directories);
    RecordProperty("told_at_once", told);
}

TEST(Recognise, SaysWhatIsMissing) {
    for (const Scene& scene : scenes::all()) {
        if (scene.layout != "dcp" || !scene.has_end_mark) continue;
        sys::MemoryEnv env;
        Scene half = scene;
        half.files.erase("step-100/__1_0.distcp");
        place(env, half);
        EXPECT_EQ(all_of(look(env, half).reasons),
                  "__1_0.distcp: missing, though the metadata names it\n");
    }
}

TEST(Recognise, DataYoungerThanItsMetadataIsOfAnotherSave) {
    const Scene scene = scenes::all().front();
    sys::MemoryEnv env;
    place(env, scene);
    env.sleep_ns(kSecondNs);
    env.put_file("/run/step-100/__0_0.distcp", scene.files.at("step-100/__0_0.distcp"));
    EXPECT_EQ(look(env, scene).state, Completeness::settling);
}

TEST(Recognise, FilesThatVanishAreNoError) {
    const Scene scene = scenes::all().front();
    for (int call = 1; call < 40; ++call) {
        sys::MemoryEnv env;
        place(env, scene);
        int calls = 0;
        env.faults.watcher = [&](std::string_view) {
            if (++calls != call) return;
            for (const auto& [path, contents] : scene.files) {
                if (path.ends_with("distcp")) {
                    EXPECT_TRUE(env.unlink("/run/" + path));
                }
            }
        };
        const auto found = recognise(env, "/run/step-100", {});
        ASSERT_TRUE(found);
        if (call < 6) {
            EXPECT_EQ(found->state, Completeness::incomplete) << call;
        }
    }
}

TEST(Recognise, WaitsForAllRanksIfTheirNumberIsKnown) {
    for (const Scene& scene : scenes::all()) {
        if (scene.directory != "checkpoint-100" || scene.has_end_mark) continue;
        sys::MemoryEnv env;
        place(env, scene);
        RecogniseOptions options;
        options.ranks = 3;
        EXPECT_EQ(recognise(env, "/run/checkpoint-100", options)->state, Completeness::incomplete);
        options.ranks = 2;
        EXPECT_EQ(recognise(env, "/run/checkpoint-100", options)->state, Completeness::complete);
    }
}

TEST(Recognise, FindsCheckpointsByTheirNames) {
    sys::MemoryEnv env;
    for (const char* name : {"step_9/a", "step_10/a", "tmp-checkpoint-11/a", "logs/a", "x.ckpt"}) {
        env.put_file(std::string("/r/") + name, "1");
    }
    env.put_file("/r/epoch=1-step=12.ckpt", "1");
    const auto found = find_checkpoints(env, "/r");
    ASSERT_TRUE(found);
    EXPECT_EQ(*found,
              (std::vector<std::string>{"/r/epoch=1-step=12.ckpt", "/r/step_10", "/r/step_9"}));
}

TEST(Recognise, TheStepIsTheLastNumberOfTheName) {
    EXPECT_EQ(step_of_name("iter_0000100"), 100);
    EXPECT_EQ(step_of_name("epoch=1-step=100.ckpt"), 100);
    EXPECT_EQ(step_of_name("7"), 7);
    EXPECT_EQ(step_of_name("last"), std::nullopt);
    EXPECT_EQ(step_of_name("step-99999999999999999999"), std::nullopt);
}

TEST(Recognise, ADirectoryThatIsNotThereIsAnError) {
    sys::MemoryEnv env;
    const auto found = recognise(env, "/nowhere", {});
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().kind, ErrorKind::world);
}

}  // namespace
}  // namespace trainyard::store
