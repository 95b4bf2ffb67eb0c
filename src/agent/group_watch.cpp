#include "trainyard/agent/group_watch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "trainyard/sys/environment.hpp"

namespace trainyard::agent {

namespace {

constexpr std::size_t kLargestRecord = std::size_t{1} << 20U;
constexpr std::chrono::seconds kLookLimit(5);  ///< of one request; less than the patience
constexpr Seconds kRefresh = 10 * kSecond;     ///< of a record in what differ() leaves out
constexpr int kKeptGenerations = 3;

constexpr std::string_view kRecords = "nodes/records/";
constexpr std::string_view kBeats = "nodes/beats/";
constexpr std::string_view kGenerations = "nodes/generations/";

std::string generation_key(int number) { return fmt::format("{}{:06}.json", kGenerations, number); }

/// Other than in what may be told later: the step, the cost, the seconds left.
bool differ(const NodeRecord& a, NodeRecord b) {
    b.step = a.step;
    b.cost_usd = a.cost_usd;
    if (a.leaves_in && b.leaves_in) b.leaves_in = a.leaves_in;
    return a != b;
}

int generation_of(std::string_view name) {
    name.remove_prefix(kGenerations.size());
    int number = 0;
    std::from_chars(name.data(), name.data() + name.size(), number);
    return number;
}

}  // namespace

GroupWatch::GroupWatch(sys::Env& env, GroupWatchSettings settings, Newest newest, Post post)
    : env_(env),
      settings_(std::move(settings)),
      newest_(std::move(newest)),
      post_(std::move(post)),
      group_(settings_.group),
      beat_(env.random() >> 32U) {}

aws::Call GroupWatch::call() const {
    return {.deadline = aws::StoreClock::now() + kLookLimit, .stop = {}};
}

void GroupWatch::failed(const std::string& what) {
    group_.blind(now());
    if (std::exchange(has_failed_, true)) return;
    post_(event::Remark{"the other nodes cannot be seen: " + what, action::Say::Level::warning,
                        "group-blind"});
}

/// False: the store did not take it.
bool GroupWatch::tell(NodeRecord own) {
    const bool is_news = !written_ || differ(*written_, own);
    if (!is_news && now() - written_at_ < kRefresh) return true;
    written_at_ = now();
    const auto done = settings_.objects->put(key(std::string(kRecords) + own.name),
                                             write_node_record(own), {}, call());
    if (!done) {
        failed(done.error().what);
        return false;
    }
    written_ = std::move(own);
    return true;
}

bool GroupWatch::read_node(const aws::ObjectInfo& info, const std::string& name) {
    const auto there = known_.find(name);
    if (there != known_.end() && there->second.etag == info.etag && !info.etag.empty()) return true;
    const auto text = settings_.objects->read(info.key, kLargestRecord, call());
    if (!text && text.error().fault == aws::StoreFault::not_found) return true;
    if (!text) {
        failed(text.error().what);
        return false;
    }
    auto record = read_node_record(*text, info.key);
    if (!record) {
        post_(event::Remark{info.key + ": " + record.error().diagnostics.front().what,
                            action::Say::Level::warning, "group"});
        return true;
    }
    if (record->name == name) known_[name] = {info.etag, std::move(*record)};
    return true;
}

bool GroupWatch::read_newest(int number) {
    if (number == 0 || (generation_ && generation_->number >= number)) return true;
    const auto text = settings_.objects->read(key(generation_key(number)), kLargestRecord, call());
    if (!text) {
        failed(text.error().what);
        return false;
    }
    auto generation = read_generation(*text, generation_key(number));
    if (!generation || generation->nodes.empty()) {
        failed(generation_key(number) + " cannot be read");
        return false;
    }
    generation_ = std::move(*generation);
    return true;
}

bool GroupWatch::read_all() {
    std::string next;
    int newest = 0;
    do {
        const auto page = settings_.objects->list(key("nodes/"), 0, next, call());
        if (!page) {
            failed(page.error().what);
            return false;
        }
        for (const aws::ObjectInfo& info : page->objects) {
            const std::string name = info.key.substr(settings_.prefix.size());
            if (name.starts_with(kBeats)) {
                beats_[name.substr(kBeats.size())] = info.etag;
            } else if (name.starts_with(kGenerations)) {
                newest = std::max(newest, generation_of(name));
            } else if (name.starts_with(kRecords)) {
                if (!read_node(info, name.substr(kRecords.size()))) return false;
            }
        }
        next = page->next;
    } while (!next.empty());
    return read_newest(newest);
}

void GroupWatch::propose(Generation generation) {
    const auto from = newest_(generation.is_shared);
    if (!from) {
        post_(event::Remark{
            "where to begin is not known yet: " + from.error().diagnostics.front().what,
            action::Say::Level::warning, "group"});
        return;
    }
    generation.from = *from;
    aws::PutOptions options;
    options.if_absent = true;
    // Written by another node, or by us and the answer was lost: the next look reads it.
    const auto done = settings_.objects->put(key(generation_key(generation.number)),
                                             write_generation(generation), options, call());
    if (!done && done.error().fault != aws::StoreFault::precondition_failed) {
        return failed(done.error().what);
    }
    if (generation.number > kKeptGenerations) {
        (void)settings_.objects->remove({key(generation_key(generation.number - kKeptGenerations))},
                                        call());
    }
}

void GroupWatch::look(NodeRecord own) {
    const std::string beat = std::to_string(++beat_);
    const auto beaten =
        settings_.objects->put(key(std::string(kBeats) + own.name), beat, {}, call());
    if (!beaten) return failed(beaten.error().what);
    if (!tell(own) || !read_all()) return;
    if (std::exchange(has_failed_, false)) {
        post_(event::Remark{"the other nodes are seen again", action::Say::Level::info,
                            "group-sees"});
    }
    GroupView view;
    for (const auto& [name, known] : known_) view.nodes.push_back({known.record, beats_[name]});
    view.newest = generation_;
    NodeRecord before = own;
    for (Event& event : group_.look(view, own, now())) post_(std::move(event));
    others_usd_ = Group::cost_of_others(view, own.name);
    if (differ(own, before)) (void)tell(own);
    if (const auto& proposal = group_.proposal()) {
        propose(*proposal);
        if (!read_all()) return;
        view.newest = generation_;
        for (Event& event : group_.look(view, own, now())) post_(std::move(event));
    }
}

void GroupWatch::write(const NodeRecord& own) {
    written_.reset();
    (void)tell(own);
}

GroupThread::GroupThread(sys::Env& env, GroupWatchSettings settings, GroupWatch::Newest newest,
                         GroupWatch::Post post)
    : interval_(settings.interval),
      watch_(env, std::move(settings), std::move(newest), std::move(post)),
      thread_([this] { loop(); }) {}

GroupThread::~GroupThread() {
    {
        const std::scoped_lock lock(mutex_);
        is_over_ = true;
    }
    changed_.notify_one();
    thread_.join();
}

void GroupThread::tell(NodeRecord own) {
    {
        const std::scoped_lock lock(mutex_);
        const bool is_news = !has_own_ || differ(own, own_);
        own_ = std::move(own);
        has_own_ = true;
        if (!is_news) return;
        must_look_ = true;
    }
    changed_.notify_one();
}

double GroupThread::others_usd() {
    const std::scoped_lock lock(mutex_);
    return others_usd_;
}

void GroupThread::loop() {
    const auto pause =
        std::chrono::nanoseconds(static_cast<std::int64_t>(interval_ / kSecond * 1e9));
    std::unique_lock lock(mutex_);
    while (!is_over_) {
        must_look_ = false;
        if (has_own_) {
            const NodeRecord own = own_;
            lock.unlock();
            watch_.look(own);
            lock.lock();
            others_usd_ = watch_.others_usd();
        }
        changed_.wait_for(lock, pause, [this] { return is_over_ || must_look_; });
    }
    if (has_own_) watch_.write(own_);
}

std::vector<std::string> neighbours(sys::Env& env, const std::string& directory,
                                    const std::string& name, const std::string& token) {
    std::vector<std::string> names;
    if (directory.empty()) return names;
    const std::string marks = directory + "/.trainyard-nodes";
    (void)sys::make_directories(env, marks);
    const std::string mark = marks + "/" + name;
    const auto there = sys::read_whole(env, mark, kLargestRecord);
    if (!there || *there != token) (void)sys::write_file(mark, token);
    if (const auto entries = env.list(marks)) {
        for (const sys::DirectoryEntry& entry : *entries) names.push_back(entry.name);
    }
    std::sort(names.begin(), names.end());
    return names;
}

}  // namespace trainyard::agent
