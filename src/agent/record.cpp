#include "trainyard/agent/record.hpp"

#include "trainyard/agent/observer.hpp"
#include "trainyard/store/manifest.hpp"

namespace trainyard::agent {

namespace {

constexpr Seconds kTelling = kSecond;  ///< an open span that is shorter says nothing yet

}  // namespace

void StepSpans::begin() {
    close();
    since_.reset();
    ++stretch_;
}

void StepSpans::close() {
    if (since_ && until_ && *until_ - *since_ >= kTelling) {
        open_.time = *until_ - *since_;
        done_.push_back(open_);
    }
    until_.reset();
}

void StepSpans::told(std::int64_t step, Instant now) {
    if (since_ && step <= open_.last) {
        if (step == open_.last) return;
        begin();  // steps are done again
    }
    if (!since_) {
        since_ = now;
        open_ = Span{stretch_, step, step, {}};
        return;
    }
    open_.last = step;
    until_ = now;
    if (now - *since_ < shortest_) return;
    close();
    if (done_.size() > kMostSpans) join();
    since_ = now;
    open_ = Span{stretch_, step, step, {}};
}

void StepSpans::join() {
    std::vector<Span> joined;
    for (const Span& span : done_) {
        const bool fits = !joined.empty() && joined.back().stretch == span.stretch &&
                          joined.back().last == span.first && joined.back().time < 2.0 * shortest_;
        if (fits) {
            joined.back().last = span.last;
            joined.back().time += span.time;
        } else {
            joined.push_back(span);
        }
    }
    // Many short stretches do not join: the oldest make room.
    if (joined.size() > kMostSpans) {
        joined.erase(joined.begin(), joined.end() - static_cast<std::ptrdiff_t>(kMostSpans / 2));
    }
    done_ = std::move(joined);
    shortest_ *= 2.0;
}

std::vector<StepSpans::Span> StepSpans::spans() const {
    StepSpans copy = *this;
    copy.close();
    return copy.done_;
}

doc::Node StepSpans::json() const {
    doc::Node list = doc::Node::list();
    for (const Span& span : spans()) {
        doc::Node n = doc::Node::map();
        n.set("stretch", span.stretch).set("first", span.first).set("last", span.last);
        n.set("time_s", span.time / kSecond);
        list.append(std::move(n));
    }
    return list;
}

void StepSpans::restore(const doc::Node& list) {
    for (const doc::Node& n : list.items()) {
        const doc::Node* stretch = n.find("stretch");
        const doc::Node* first = n.find("first");
        const doc::Node* last = n.find("last");
        const doc::Node* time = n.find("time_s");
        if (stretch == nullptr || first == nullptr || last == nullptr || time == nullptr ||
            !time->is_numeric()) {
            continue;
        }
        done_.push_back({static_cast<int>(stretch->as_integer()), first->as_integer(),
                         last->as_integer(), time->as_number() * kSecond});
        stretch_ = std::max(stretch_, done_.back().stretch);
    }
    while (done_.size() > kMostSpans) join();
}

std::string record_text(const RecordHead& head, const Observer& observer) {
    const TimeSpent& t = observer.ledger().spent();
    doc::Node time = doc::Node::map();
    time.set("useful_s", t.useful / kSecond).set("open_s", t.open / kSecond);
    time.set("lost_s", t.lost / kSecond).set("starting_s", t.starting / kSecond);
    time.set("waiting_s", t.waiting / kSecond).set("ending_s", t.ending / kSecond);
    doc::Node root = doc::Node::map();
    root.set("schema", "trainyard.record").set("schema_version", 1);
    root.set("run_id", head.run_id);
    constexpr std::int64_t kSecondNs = 1'000'000'000;
    root.set("written", store::format_time(head.written_ns / kSecondNs));
    root.set("attempts", head.attempts).set("step", observer.step());
    if (const auto step = observer.step_time()) root.set("step_time_s", *step / kSecond);
    root.set("time", std::move(time));
    if (const auto g = t.goodput()) root.set("goodput", *g);
    root.set("spans", observer.spans().json());
    if (head.plan.is(doc::Node::Kind::map)) root.set("plan", head.plan);
    return doc::write_json(root);
}

std::optional<doc::Node> recorded_spans(const std::string& text, const std::string& run_id) {
    const auto root = doc::parse_json(text, "record.json");
    if (!root || !root->is(doc::Node::Kind::map)) return std::nullopt;
    const doc::Node* id = root->find("run_id");
    const doc::Node* spans = root->find("spans");
    if (id == nullptr || id->text() != run_id || spans == nullptr) return std::nullopt;
    return *spans;
}

}  // namespace trainyard::agent
