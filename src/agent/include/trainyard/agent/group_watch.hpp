#pragma once
// The world of group.hpp: records and generations as objects in the store, looked at in a thread.

#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "trainyard/agent/checkpoints.hpp"
#include "trainyard/agent/group.hpp"
#include "trainyard/aws/object_store.hpp"

namespace trainyard::agent {

struct GroupWatchSettings {
    GroupSettings group;
    std::string address;             ///< that the other nodes reach this one at
    int port = 0;                    ///< for the rendezvous; 0: a free one for each generation
    Seconds interval = 2 * kSecond;  ///< between looks
    aws::ObjectStore* objects = nullptr;
    std::string prefix;  ///< of all keys: "" or "team/run-7/"
    /// What fewer nodes mean. False: the global batch stays, each takes more of it; true: the batch
    /// shrinks with the nodes, and the learning rate should as well.
    bool scales_rate = false;
};

/// One look a call. Not thread-safe.
class GroupWatch {
  public:
    using Post = std::function<void(Event)>;
    /// `newest`: the step that the next generation begins from, given whether all nodes share one
    /// checkpoint directory; an error: not known now.
    using Newest = std::function<Result<std::int64_t>(bool is_shared)>;
    GroupWatch(sys::Env& env, GroupWatchSettings settings, Newest newest, Post post);

    /// Writes the beat, and the record if it differs from the last; reads what the others wrote.
    void look(NodeRecord own);
    /// The record alone, for the end.
    void write(const NodeRecord& own);
    double others_usd() const { return others_usd_; }  ///< what they have cost

  private:
    struct Known {
        std::string etag;
        NodeRecord record;
    };
    bool tell(NodeRecord own);
    bool read_all();
    bool read_node(const aws::ObjectInfo& info, const std::string& name);
    bool read_newest(int number);
    void propose(Generation generation);
    void failed(const std::string& what);
    std::string key(std::string_view name) const { return settings_.prefix + std::string(name); }
    aws::Call call() const;
    Instant now() { return static_cast<double>(env_.steady_ns()) * 1e-9 * kSecond; }

    sys::Env& env_;
    GroupWatchSettings settings_;
    Newest newest_;
    Post post_;
    Group group_;
    std::map<std::string, Known> known_;
    std::map<std::string, std::string> beats_;
    std::optional<Generation> generation_;
    std::optional<NodeRecord> written_;
    Instant written_at_;
    std::uint64_t beat_ = 0;
    bool has_failed_ = false;
    double others_usd_ = 0;
};

/// Looks in a thread until it is destroyed.
class GroupThread {
  public:
    GroupThread(sys::Env& env, GroupWatchSettings settings, GroupWatch::Newest newest,
                GroupWatch::Post post);
    /// Writes the last record.
    ~GroupThread();
    GroupThread(const GroupThread&) = delete;
    GroupThread& operator=(const GroupThread&) = delete;

    /// What this node says of itself from now on; a change of it is written at once.
    void tell(NodeRecord own);
    /// What the other nodes have cost, as of the last look.
    double others_usd();

  private:
    void loop();
    Seconds interval_;
    std::mutex mutex_;
    std::condition_variable changed_;
    NodeRecord own_;
    bool has_own_ = false;
    bool is_over_ = false;
    bool must_look_ = false;
    double others_usd_ = 0;
    GroupWatch watch_;
    std::thread thread_;
};

/// Marks `directory` as seen by this node, and tells the names of all whose marks lie there.
std::vector<std::string> neighbours(sys::Env& env, const std::string& directory,
                                    const std::string& name, const std::string& token);

}  // namespace trainyard::agent
