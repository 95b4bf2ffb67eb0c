#pragma once
// Several nodes that train as one: who works in which generation, decided without a world. Each
// node has its own supervisor; they share nothing but objects in the store, so no port, no head
// node and no service is needed. docs/reference/nodes.md has the objects and the protocol; in
// short:
// - each node writes a record of itself and a beat; a beat that stands still is a lost node;
// - a generation is a list of nodes in rank order and a step to begin from, written once by a
//   conditional write, and only when all its nodes are idle;
// - a generation ends for all of its nodes when one fails, is lost or leaves, or when one more may
//   join.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "trainyard/agent/machine.hpp"
#include "trainyard/base/result.hpp"

namespace trainyard::agent {

/// What a node says of itself.
struct NodeRecord {
    enum class State {
        ready,    ///< no command runs: it may be taken into the next generation
        working,  ///< in `generation`
        failed,   ///< its command failed in `generation`; ready again after a pause
        done,     ///< its command ended with 0
        left,     ///< it takes no more part; `ending` says why
    };
    std::string name;
    std::string token;  ///< of one life of its state directory
    std::string address;
    int port = 0;  ///< a free one, for the rendezvous if it becomes the first
    State state = State::ready;
    int generation = 0;  ///< worked in, or worked in last; 0: in none yet
    int prepared = 0;    ///< generation whose checkpoint lies ready here
    std::int64_t step = -1;
    std::int64_t saved = -1;
    std::string saved_name;  ///< of its directory or file, below the checkpoint directory
    std::int64_t committed = -1;
    bool is_uploading = false;            ///< the next generation waits for it
    std::optional<Seconds> leaves_in;     ///< it is being taken away
    int grows = 0;                        ///< generation that it wants to end so that more may join
    std::string cause;                    ///< of a failure, of leaving, of growing
    std::string ending;                   ///< name(Ending) that it comes to; empty: none yet
    bool ends_all = false;                ///< the ending holds for the whole run
    double cost_usd = 0;                  ///< of this node so far
    std::vector<std::string> neighbours;  ///< names whose mark lies in its checkpoint directory
    bool operator==(const NodeRecord&) const = default;
};

struct Generation {
    struct Node {
        std::string name;
        std::string token;
        std::string address;
        int port = 0;
        bool operator==(const Node&) const = default;
    };
    int number = 0;
    std::vector<Node> nodes;  ///< in rank order
    std::int64_t from = -1;   ///< step to begin from; -1: from the start
    bool is_shared = false;   ///< one checkpoint directory for all nodes
    std::string reason;
    std::string proposed_by;

    std::optional<int> rank_of(std::string_view name, std::string_view token) const;
    bool operator==(const Generation&) const = default;
};

std::string write_node_record(const NodeRecord& record);
/// ErrorKind::bad_input: it is none.
Result<NodeRecord> read_node_record(std::string_view text, std::string_view file);
std::string write_generation(const Generation& generation);
Result<Generation> read_generation(std::string_view text, std::string_view file);
/// For the node's own journal.
std::string write_place(const GroupPlace& place);
Result<GroupPlace> read_place(std::string_view text, std::string_view file);

struct GroupSettings {
    std::string self;
    int fewest = 1;
    int most = 1;
    Seconds patience = 10 * kSecond;     ///< a beat that stands still for so long is a lost node
    Seconds join_wait = 30 * kSecond;    ///< for more than the fewest, at the start
    Seconds rejoin_wait = 5 * kSecond;   ///< the same after a generation
    Seconds grow_after = 5 * kMinute;    ///< of a generation, before it is ended for a newcomer
    Seconds grow_window = 10 * kMinute;  ///< to save before that
    Seconds upload_wait = 2 * kMinute;   ///< for an upload that is under way between generations
};

/// What a node sees in the store at one moment.
struct GroupView {
    struct Seen {
        NodeRecord record;
        std::string beat;  ///< differs from the last one if the node lives
    };
    std::vector<Seen> nodes;  ///< itself included or not
    std::optional<Generation> newest;
};

class Group {
  public:
    explicit Group(GroupSettings settings) : settings_(std::move(settings)) {}

    /// What follows for this node. `own`: what it says of itself now; `grows` and `cause` of it are
    /// set here.
    std::vector<Event> look(const GroupView& view, NodeRecord& own, Instant now);
    /// The generation that this node should write now; `from` is for the caller to fill in.
    const std::optional<Generation>& proposal() const { return proposal_; }
    /// The store could not be read: nobody is taken for lost for what was not seen.
    void blind(Instant now);
    /// Of all other nodes that ever wrote a record.
    static double cost_of_others(const GroupView& view, std::string_view self);

  private:
    struct Sign {
        std::string beat;
        std::optional<Instant> changed;  ///< nullopt: it was seen once, which is no sign of life
        std::optional<Instant> leaves;   ///< when it is taken away
    };
    using Records = std::map<std::string, const NodeRecord*>;

    void take_signs(const GroupView& view, Instant now);
    bool is_live(const NodeRecord& record, Instant now) const;
    void look_as_worker(const GroupView& view, const Records& records, NodeRecord& own, Instant now,
                        std::vector<Event>& out);
    void look_at_node(const Generation& generation, const Generation::Node& node,
                      const Records& records, Instant now, std::vector<Event>& out);
    bool look_for_end(const NodeRecord& node, std::vector<Event>& out);
    void look_at_first(const NodeRecord& first, const NodeRecord& own, std::vector<Event>& out);
    void look_for_more(const Generation& generation, const Records& records, NodeRecord& own,
                       Instant now, std::vector<Event>& out);
    void look_as_candidate(const GroupView& view, const Records& records, const NodeRecord& own,
                           Instant now, std::vector<Event>& out);
    std::vector<const NodeRecord*> candidates(const GroupView& view, const Records& records,
                                              Instant now) const;
    /// Why no generation can begin yet; empty: one can.
    std::string obstacle(const Records& records, const std::vector<const NodeRecord*>& ready,
                         const NodeRecord& own, Instant now);
    void regroup(const std::string& why, std::optional<Instant> deadline, std::vector<Event>& out);
    void say_once(const std::string& text, std::vector<Event>& out);

    GroupSettings settings_;
    std::map<std::string, Sign> signs_;
    std::optional<Generation> proposal_;
    int told_generation_ = 0;   ///< that this node was taken into
    int ended_generation_ = 0;  ///< that it was told to end, with or without time to save
    bool ended_at_once_ = false;
    int told_prepared_ = 0;
    bool told_done_ = false;
    bool has_seen_itself_ = false;  ///< its own record in the store
    std::string told_ending_;
    std::int64_t told_step_ = -1;
    std::int64_t told_saved_ = -1;
    std::int64_t told_committed_ = -1;
    std::optional<Instant> began_;   ///< the generation at work was first seen
    std::optional<Instant> ready_;   ///< since when this node is ready
    std::optional<Instant> enough_;  ///< since when the same nodes could begin
    std::set<std::string> enough_nodes_;
    std::string said_;
};

/// One directory for all, or one for each; nullopt: some share one and some do not.
std::optional<bool> shares_directory(const std::vector<const NodeRecord*>& nodes);

}  // namespace trainyard::agent
