#include "trainyard/agent/checkpoints.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "trainyard/store/directory_store.hpp"

namespace trainyard::agent {
namespace {

namespace fs = std::filesystem;

/// A folder with a checkpoint directory and a store, both real.
class Bench {
  public:
    Bench()
        : root(testing::TempDir() + "trainyard-checkpoints-" + std::to_string(::getpid()) + "-" +
               testing::UnitTest::GetInstance()->current_test_info()->name()),
          objects(store::open_directory(env, root + "/store")),
          repository(env, *objects, {}) {
        fs::remove_all(root);
        fs::create_directories(root + "/out");
        place.directory = root + "/out";
        place.repository = &repository;
        place.store_name = "store";
    }
    ~Bench() { fs::remove_all(root); }

    /// As the Trainer writes it; half: without the file that it writes last.
    std::string write(std::int64_t step, bool is_whole = true, std::string name = {}) {
        if (name.empty()) name = "checkpoint-" + std::to_string(step);
        const std::string path = root + "/out/" + name;
        fs::create_directories(path);
        // {"w": U8[1]} and its byte.
        const std::string header = R"({"w":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})";
        std::string size(8, '\0');
        size[0] = static_cast<char>(header.size());
        std::ofstream(path + "/model.safetensors") << size << header << "x";
        if (is_whole) {
            std::ofstream(path + "/trainer_state.json") << "{\"global_step\": " << step << "}";
        }
        return path;
    }
    void store_it(std::int64_t step) {
        const std::string path = write(step);
        const auto found = store::recognise(env, path, {});
        ASSERT_EQ(found->state, store::Completeness::complete);
        store::PutRequest request;
        request.tree = found->tree;
        request.step = step;
        request.layout = "hf-trainer";
        ASSERT_TRUE(repository.put(request));
    }
    void lose(std::int64_t step) {
        fs::remove_all(root + "/out/checkpoint-" + std::to_string(step));
    }
    event::Prepared prepared() {
        const Event event = prepare(env, place, -1, [&](const std::string& text) { said += text; });
        const auto* found = std::get_if<event::Prepared>(&event);
        EXPECT_NE(found, nullptr);
        return found == nullptr ? event::Prepared{} : *found;
    }

    std::string root;
    sys::Env& env = sys::real_env();
    std::unique_ptr<aws::ObjectStore> objects;
    store::Repository repository;
    CheckpointPlace place;
    std::string said;
};

TEST(Checkpoints, NothingMeansFromTheStart) {
    Bench b;
    EXPECT_EQ(b.prepared().step, -1);
    b.place.directory = b.root + "/not-there-yet";
    EXPECT_EQ(b.prepared().from, "");
}

TEST(Checkpoints, TheNewestWholeOneOfTheDirectoryAndHalfOnesAside) {
    Bench b;
    b.write(90);
    b.write(100);
    b.write(110, false);
    const auto p = b.prepared();
    EXPECT_EQ(p.from, b.root + "/out/checkpoint-100");
    EXPECT_EQ(p.step, 100);
    EXPECT_FALSE(fs::exists(b.root + "/out/checkpoint-110"));
    EXPECT_TRUE(fs::exists(b.root + "/out/checkpoint-110.incomplete.tmp"));
    EXPECT_TRUE(fs::exists(b.root + "/out/checkpoint-90"));
}

TEST(Checkpoints, ANewerOneOfTheStoreComesBackUnderItsName) {
    Bench b;
    b.store_it(90);
    b.store_it(100);
    b.lose(100);
    const auto p = b.prepared();
    EXPECT_EQ(p.from, b.root + "/out/checkpoint-100");
    EXPECT_EQ(p.stored, 100);
    EXPECT_TRUE(fs::exists(p.from + "/trainer_state.json"));
}

TEST(Checkpoints, ANewerOneOnDiskIsNotOverruledByTheStore) {
    Bench b;
    b.store_it(90);
    b.write(100);
    const auto p = b.prepared();
    EXPECT_EQ(p.step, 100);
    EXPECT_EQ(p.stored, 90);
}

TEST(Checkpoints, AHalfOneGivesWayToTheStoresWholeOne) {
    Bench b;
    b.store_it(100);
    fs::remove(b.root + "/out/checkpoint-100/trainer_state.json");
    const auto p = b.prepared();
    EXPECT_EQ(p.step, 100);
    EXPECT_TRUE(fs::exists(b.root + "/out/checkpoint-100/trainer_state.json"));
}

TEST(Checkpoints, ADamagedNewestInTheStoreFallsBack) {
    Bench b;
    b.store_it(90);
    b.store_it(100);
    b.lose(100);
    // Whatever object only step 100 has.
    for (const auto& entry : fs::recursive_directory_iterator(b.root + "/store/data")) {
        const std::string path = entry.path();
        if (entry.is_regular_file() && path.find("000000000100") != std::string::npos) {
            std::ofstream(path) << "damaged";
        }
    }
    const auto p = b.prepared();
    EXPECT_EQ(p.from, b.root + "/out/checkpoint-90");
    EXPECT_FALSE(fs::exists(b.root + "/out/.trainyard-restore"));
}

TEST(Checkpoints, AStoreThatShowsNothingAnyMoreNeverMeansFromTheStart) {
    Bench b;
    // The disk is not mounted: the directory is empty, or not there.
    const Event event = prepare(b.env, b.place, 100, [](const std::string&) {});
    ASSERT_TRUE(std::holds_alternative<event::PrepareFailed>(event));
    EXPECT_FALSE(std::get<event::PrepareFailed>(event).is_final);  // it may be mounted yet
    b.write(110);
    EXPECT_EQ(b.prepared().step, 110);  // with one on disk it goes on
}

TEST(Checkpoints, NamesFollowTheDirectoryAndElseTheLayout) {
    Bench b;
    const std::string out = b.root + "/out";
    EXPECT_EQ(checkpoint_name(b.env, out, "hf-trainer", 7), "checkpoint-7");
    EXPECT_EQ(checkpoint_name(b.env, out, "megatron", 7), "iter_0000007");
    EXPECT_EQ(checkpoint_name(b.env, out, "deepspeed", 7), "global_step7");
    EXPECT_EQ(checkpoint_name(b.env, out, "dcp", 7), "step-7");
    fs::create_directories(out + "/ck_000100_x.incomplete.tmp");
    EXPECT_EQ(checkpoint_name(b.env, out, "dcp", 7), "ck_000007_x");
}

TEST(Checkpoints, TheScannerTellsEachOnceAndTheOldestFirst) {
    Bench b;
    Scanner scanner(b.env, b.place);
    scanner.start_from(10);
    b.write(10);
    b.write(30);
    b.write(20);
    b.write(40, false);
    const auto first = scanner.look(false);
    ASSERT_EQ(first.size(), 2U);
    EXPECT_EQ(first[0].step, 20);
    EXPECT_EQ(first[1].step, 30);
    EXPECT_TRUE(scanner.look(false).empty());
    EXPECT_GT(scanner.last_write_ns(), 0);
    b.write(40);
    EXPECT_EQ(scanner.look(false).size(), 1U);
}

TEST(Checkpoints, WithoutAnEndMarkOneWaitsForQuietOrTheEnd) {
    Bench b;
    Scanner scanner(b.env, b.place);
    fs::create_directories(b.root + "/out/step-5");
    std::ofstream(b.root + "/out/step-5/weights") << "w";
    EXPECT_TRUE(scanner.look(false).empty());
    EXPECT_EQ(scanner.look(true).size(), 1U);
}

}  // namespace
}  // namespace trainyard::agent
