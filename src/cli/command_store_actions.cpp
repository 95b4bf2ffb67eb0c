#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "command_store_parts.hpp"
#include "table.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/node.hpp"

namespace trainyard::cli {

namespace {

using doc::Node;

std::string size_of(std::uint64_t bytes) {
    return format_bytes(static_cast<double>(bytes) * kByte);
}
std::string files_of(std::uint64_t count) {
    return count == 1 ? "1 file" : fmt::format("{} files", count);
}
std::int64_t whole(std::uint64_t value) { return static_cast<std::int64_t>(value); }

Node head(const char* action) {
    Node root = Node::map();
    root.set("schema", fmt::format("trainyard.store-{}", action));
    root.set("schema_version", 1);
    return root;
}

std::string age_of(std::int64_t created) {
    const std::int64_t now = sys::real_env().now_ns() / 1'000'000'000;
    return format_duration(static_cast<double>(std::max<std::int64_t>(now - created, 0)) * kSecond);
}

/// The checkpoint that --step names, else the newest.
Result<std::string> chosen(const Args& args, const store::Inventory& inventory,
                           const std::string& name) {
    Args::Mistakes mistakes;
    const auto step = args.integer("step", 0, 2'000'000'000, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    for (const store::Stored& stored : inventory.checkpoints) {
        if (!step || stored.manifest.step == *step) return stored.manifest.id;
    }
    return Error{ErrorKind::world,
                 {{.where = {name, 0, 0},
                   .what = step ? fmt::format("there is no checkpoint of step {}", *step)
                                : "the store holds no checkpoint",
                   .why = {},
                   .fix = "trainyard store ls " + name}}};
}

Error incomplete(const std::string& directory, const store::Recognition& found) {
    Error error = store_mistake(directory, "not a complete checkpoint",
                                "wait until the job has written it; --as-is puts it all the same");
    for (const std::string& reason : found.reasons) {
        error.diagnostics.push_back({.severity = Severity::note,
                                     .where = {directory, 0, 0},
                                     .what = reason,
                                     .why = {},
                                     .fix = {}});
    }
    return error;
}

/// A store below the checkpoint would be put into itself.
std::optional<Error> store_inside(const std::string& directory, const std::string& store) {
    std::string above = directory;
    while (above.size() > 1 && above.ends_with('/')) above.pop_back();
    if (!store.starts_with(above + "/")) return std::nullopt;
    return store_mistake(store, "the store is below the checkpoint that it should keep",
                         "name a directory beside it");
}

}  // namespace

Result<StoreInput> store_input(const Args& args) {
    Args::Mistakes mistakes;
    StoreInput input;
    if (const auto quiet = args.duration("quiet-period", mistakes)) input.recognise.quiet = *quiet;
    input.recognise.marker = args.text("marker");
    input.recognise.ranks = args.integer("ranks", 1, 1 << 20, mistakes);
    input.step = args.integer("step", 0, 2'000'000'000, mistakes);
    input.nodes = args.integer("nodes", 1, 1 << 16, mistakes).value_or(1);
    input.node = args.integer("node", 0, std::max(input.nodes - 1, 0), mistakes).value_or(0);
    input.attempt = args.text("attempt");
    input.as_is = args.flag("as-is");
    input.within = args.duration("within", mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    if (input.nodes > 1 && input.attempt.empty()) {
        return Error{ErrorKind::usage,
                     {{.where = {"--attempt", 0, 0},
                       .what = "several nodes need --attempt",
                       .why = "without it, parts of two starts of the job could become one "
                              "checkpoint",
                       .fix = "the same word on all nodes, for example "
                              "--attempt \"$SLURM_JOB_ID-$SLURM_RESTART_COUNT\""}}};
    }
    return input;
}

Result<store::PutRequest> request_of(const std::string& directory, const StoreInput& input,
                                     const store::Recognition& found) {
    if (!input.as_is && found.state == store::Completeness::incomplete) {
        return incomplete(directory, found);
    }
    const auto step = input.step ? input.step : found.step;
    if (!step) {
        return store_mistake(directory, "its name does not tell the step", "say it: --step N");
    }
    store::PutRequest request;
    request.tree = found.tree;
    request.step = *step;
    request.layout = std::string(store::name(found.layout));
    request.node = input.node;
    request.nodes = input.nodes;
    request.attempt = input.attempt;
    request.within = input.within;
    return request;
}

void print_put(const Args& args, Io& io, const store::PutReport& report, std::int64_t step) {
    if (args.flag("json")) {
        Node root = head("put");
        root.set("id", report.id);
        root.set("step", step);
        root.set("committed", report.committed);
        root.set("was_there", report.was_there);
        root.set("files", whole(report.files));
        root.set("bytes", whole(report.bytes));
        root.set("sent_bytes", whole(report.sent));
        root.set("reused_bytes", whole(report.reused));
        root.set("resumed_bytes", whole(report.resumed));
        io.out << doc::write_json(root);
        return;
    }
    std::string how = fmt::format("{} sent", size_of(report.sent));
    if (report.reused > 0) how += fmt::format(", {} unchanged", size_of(report.reused));
    if (report.resumed > 0) how += fmt::format(", {} sent before", size_of(report.resumed));
    if (report.was_there) how = "it was there already";
    io.out << fmt::format("step {} {}: {}, {}: {}\n", step,
                          report.committed ? "committed" : "waits for the other nodes",
                          files_of(report.files), size_of(report.bytes), how);
}

Result<Outcome> run_store_put(const Args& args, Io& io) {
    const std::string directory = args.list("place")[0];
    const auto input = store_input(args);
    if (!input) return input.error();
    auto open = open_store(args, args.list("place")[1], io, OpenFor::writing);
    if (!open) return open.error();
    if (auto error = store_inside(directory, args.list("place")[1])) return *error;
    auto found = store::recognise(sys::real_env(), directory, input->recognise);
    if (found && !input->as_is && found->state == store::Completeness::settling) {
        io.err << fmt::format("{}: no end mark: waiting until nothing has changed for {}\n",
                              printable(directory, 200), format_duration(input->recognise.quiet));
        io.err.flush();
    }
    while (found && !input->as_is && found->state == store::Completeness::settling) {
        sys::real_env().sleep_ns(500'000'000);
        found = store::recognise(sys::real_env(), directory, input->recognise);
    }
    if (!found) return found.error();
    for (const std::string& name : found->tree.skipped) {
        io.report({{.severity = Severity::warning,
                    .where = {directory, 0, 0},
                    .what = printable(name, 200) + " is neither a file nor a directory: left out",
                    .why = {},
                    .fix = {}}});
    }
    const auto request = request_of(directory, *input, *found);
    if (!request) return request.error();
    const auto report = (*open)->repository->put(*request);
    (*open)->bar.reset();
    if (!report) return report.error();
    print_put(args, io, *report, request->step);
    return Outcome::done;
}

Result<Outcome> run_store_get(const Args& args, Io& io) {
    Args::Mistakes mistakes;
    const auto step = args.integer("step", 0, 2'000'000'000, mistakes);
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    auto open = open_store(args, args.list("place")[0], io, OpenFor::reading);
    if (!open) return open.error();
    store::GetRequest request;
    request.destination = args.list("place")[1];
    while (request.destination.size() > 1 && request.destination.ends_with('/')) {
        request.destination.pop_back();
    }
    request.step = step;
    request.sync = !args.flag("no-sync");
    const auto report = (*open)->repository->get(request);
    (*open)->bar.reset();
    if (!report) return report.error();
    if (args.flag("json")) {
        Node root = head("get");
        root.set("id", report->id);
        root.set("step", report->step);
        root.set("files", whole(report->files));
        root.set("bytes", whole(report->bytes));
        root.set("received_bytes", whole(report->received));
        root.set("damaged_newer", report->skipped);
        io.out << doc::write_json(root);
        return Outcome::done;
    }
    io.out << fmt::format("step {} restored to {}: {}, {}, every byte checked\n", report->step,
                          request.destination, files_of(report->files), size_of(report->bytes));
    return Outcome::done;
}

Result<Outcome> run_store_ls(const Args& args, Io& io) {
    auto open = open_store(args, args.list("place")[0], io, OpenFor::reading);
    if (!open) return open.error();
    const auto inventory = (*open)->repository->inventory();
    if (!inventory) return inventory.error();
    for (const std::string& id : inventory->damaged) {
        io.report({{.severity = Severity::warning,
                    .where = {"manifests/" + id, 0, 0},
                    .what = "the manifest is damaged: this checkpoint cannot be restored",
                    .why = {},
                    .fix = {}}});
    }
    if (args.flag("json")) {
        Node list = Node::list();
        for (const store::Stored& stored : inventory->checkpoints) {
            const store::Manifest& m = stored.manifest;
            Node one = Node::map();
            one.set("id", m.id);
            one.set("step", m.step);
            one.set("layout", m.layout);
            one.set("nodes", m.nodes);
            one.set("files", whole(m.files.size()));
            one.set("bytes", whole(m.bytes()));
            one.set("created_at", store::format_time(m.created));
            one.set("created_by", m.created_by);
            one.set("verified", stored.verified);
            list.append(std::move(one));
        }
        Node root = head("ls");
        root.set("checkpoints", std::move(list));
        root.set("unfinished", inventory->unfinished);
        io.out << doc::write_json(root);
        return Outcome::done;
    }
    Table table({{"STEP", Align::right},
                 {"SIZE", Align::right},
                 {"FILES", Align::right},
                 {"AGE", Align::right},
                 {"NODES", Align::right},
                 {"VERIFIED"},
                 {"LAYOUT"}});
    for (const store::Stored& stored : inventory->checkpoints) {
        const store::Manifest& m = stored.manifest;
        table.add({std::to_string(m.step), size_of(m.bytes()), std::to_string(m.files.size()),
                   age_of(m.created), std::to_string(m.nodes), stored.verified ? "yes" : "no",
                   printable(m.layout, 40)});
    }
    if (!table.empty()) io.out << table.text();
    if (table.empty()) io.err << "the store holds no checkpoint\n";
    if (inventory->unfinished > 0) {
        io.err << fmt::format("{} unfinished: not restorable yet\n", inventory->unfinished);
    }
    return Outcome::done;
}

Result<Outcome> run_store_verify(const Args& args, Io& io) {
    auto open = open_store(args, args.list("place")[0], io, OpenFor::reading);
    if (!open) return open.error();
    const auto inventory = (*open)->repository->inventory();
    if (!inventory) return inventory.error();
    const auto id = chosen(args, *inventory, (*open)->name);
    if (!id) return id.error();
    const auto report = (*open)->repository->verify(*id);
    (*open)->bar.reset();
    if (!report) return report.error();
    if (args.flag("json")) {
        Node flaws = Node::list();
        for (const std::string& flaw : report->flaws) flaws.append(Node::string(flaw));
        Node root = head("verify");
        root.set("id", report->id);
        root.set("files", whole(report->files));
        root.set("bytes", whole(report->bytes));
        root.set("sound", report->flaws.empty());
        root.set("flaws", std::move(flaws));
        io.out << doc::write_json(root);
    }
    if (!report->flaws.empty()) {
        Error error{ErrorKind::world, {}};
        for (const std::string& flaw : report->flaws) {
            error.diagnostics.push_back({.where = {report->id, 0, 0},
                                         .what = printable(flaw, 300),
                                         .why = {},
                                         .fix = "restore an older one, put this one again"});
        }
        return error;
    }
    if (!args.flag("json")) {
        io.out << fmt::format("{} is sound: {}, {}\n", report->id, files_of(report->files),
                              size_of(report->bytes));
    }
    return Outcome::done;
}

Result<store::PruneRules> prune_rules(const Args& args) {
    Args::Mistakes mistakes;
    store::PruneRules rules;
    rules.keep_last = args.integer("keep-last", 1, 1 << 20, mistakes);
    rules.keep_within = args.duration("keep-within", mistakes);
    if (const auto every = args.integer("keep-every", 1, 2'000'000'000, mistakes)) {
        rules.keep_every = *every;
    }
    rules.keep_verified = args.integer("keep-verified", 0, 1 << 20, mistakes).value_or(1);
    rules.dry_run = args.flag("dry-run");
    if (!mistakes.empty()) return bad_input(std::move(mistakes));
    return rules;
}

bool has_prune_rule(const store::PruneRules& rules) {
    return rules.keep_last || rules.keep_within || rules.keep_every;
}

Result<Outcome> run_store_prune(const Args& args, Io& io) {
    const auto rules = prune_rules(args);
    if (!rules) return rules.error();
    if (!has_prune_rule(*rules)) {
        return Error{ErrorKind::usage,
                     {{.where = {"trainyard store prune", 0, 0},
                       .what = "no rule says what to keep",
                       .why = {},
                       .fix = "--keep-last N, --keep-within TIME or --keep-every STEPS"}}};
    }
    auto open = open_store(args, args.list("place")[0], io, OpenFor::reading);
    if (!open) return open.error();
    const auto report = (*open)->repository->prune(*rules);
    if (!report) return report.error();
    if (args.flag("json")) {
        Node removed = Node::list();
        for (const std::string& id : report->removed) removed.append(Node::string(id));
        Node kept = Node::list();
        for (const std::string& id : report->kept) kept.append(Node::string(id));
        Node root = head("prune");
        root.set("dry_run", rules->dry_run);
        root.set("removed", std::move(removed));
        root.set("kept", std::move(kept));
        root.set("freed_bytes", whole(report->freed));
        root.set("deferred", report->deferred);
        io.out << doc::write_json(root);
        return Outcome::done;
    }
    for (const std::string& id : report->removed) {
        io.out << (rules->dry_run ? "would remove " : "removed ") << id << "\n";
    }
    io.out << fmt::format("{} kept, {} {}, {}{}\n", report->kept.size(), report->removed.size(),
                          rules->dry_run ? "would go" : "removed", size_of(report->freed),
                          report->deferred ? " once the put at work has ended" : "");
    return Outcome::done;
}

}  // namespace trainyard::cli
