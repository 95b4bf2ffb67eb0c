#include "trainyard/doc/node.hpp"
#include "trainyard/lint/rule.hpp"
#include "trainyard/lint/write.hpp"

namespace trainyard::lint {

using doc::Node;

namespace {

void put_place(Node& n, const Location& where) {
    n.set("file", where.file);
    if (where.line > 0) n.set("line", where.line);
    if (where.column > 0) n.set("column", where.column);
}

Node node_of(const Finding& f) {
    Node n = Node::map();
    n.set("rule", f.rule).set("severity", to_string(f.severity));
    put_place(n, f.where);
    if (!f.text.empty()) n.set("text", f.text);
    n.set("what", f.what).set("why", f.why).set("fix", f.fix);
    if (!f.holds_for.empty()) n.set("holds_for", f.holds_for);
    n.set("certain_offline", !f.needs_account);
    if (f.waste) n.set("waste_usd_per_hour", *f.waste / kUsdPerHour);
    if (f.efficiency_lost) n.set("efficiency_lost", *f.efficiency_lost);
    if (const Rule* r = rule(f.rule)) n.set("source", r->source);
    if (!f.related.empty()) {
        Node list = Node::list();
        for (const Related& r : f.related) {
            Node related = Node::map();
            put_place(related, r.where);
            list.append(related.set("what", r.what));
        }
        n.set("related", std::move(list));
    }
    if (!f.edits.empty()) n.set("fixable", true);
    if (f.allowed) n.set("allowed", *f.allowed);
    return n;
}

}  // namespace

std::string write_json(const Report& report) {
    Node root = Node::map();
    root.set("schema", "trainyard.check").set("schema_version", 1);
    Node files = Node::list();
    for (const Recognised& r : report.recognised) {
        Node n = Node::map();
        files.append(n.set("file", r.path).set("line", r.line).set("kind", r.kind));
    }
    Node findings = Node::list();
    for (const Finding& f : report.findings) findings.append(node_of(f));
    root.set("checked", std::move(files)).set("findings", std::move(findings));
    Node problems = Node::list();
    for (const Diagnostic& d : report.diagnostics) {
        Node n = Node::map();
        n.set("severity", to_string(d.severity));
        put_place(n, d.where);
        problems.append(n.set("what", d.what).set("why", d.why).set("fix", d.fix));
    }
    root.set("diagnostics", std::move(problems));
    return doc::write_json(root);
}

}  // namespace trainyard::lint
