// `model:` in a job or a run: a name, {config: path}, {params: 13B}, or a shape.

#include "mistake.hpp"
#include "trainyard/base/text.hpp"
#include "trainyard/doc/reader.hpp"
#include "trainyard/workload/job.hpp"

namespace trainyard::workload {
namespace {

/// Errors made without a place (an unknown name) get the place of the node that caused them.
Error placed(Error e, const Location& where) {
    for (Diagnostic& d : e.diagnostics) {
        if (d.where.line == 0) d.where = where;
    }
    return e;
}

/// A config.json that cannot be read: its path in the text, the place where it was named.
Error from_file(Error e, const doc::Node& path) {
    for (Diagnostic& d : e.diagnostics) {
        if (d.where.line > 0) continue;
        d.what = (d.where.file.empty() ? path.text() : d.where.file) + ": " + d.what;
        d.where = path.where;
    }
    return e;
}

Result<Model> from_config(const doc::Node& path, const ConfigResolver& resolve) {
    if (!path.is(doc::Node::Kind::string) || path.text().empty()) {
        return bad_input(mistake(path.where, "config: must be the path of a config.json",
                                 "write config: path/config.json"));
    }
    if (!resolve) {
        return bad_input(mistake(path.where, "config: paths cannot be read here",
                                 "name a built-in model or write the shape"));
    }
    Result<doc::Node> config = resolve(path.text());
    if (!config) return from_file(config.error(), path);
    Result<Model> m = import_hf_config(*config);
    if (m && m->name == m->family) m->name = path.text();
    return m;
}

Result<Model> from_params(const doc::Node& map) {
    std::vector<Diagnostic> diagnostics;
    doc::MapReader r(map, diagnostics);
    const std::optional<double> params = r.optional_count("params");
    r.finish(doc::UnknownKeys::error);
    if (!diagnostics.empty()) return bad_input(std::move(diagnostics));
    Result<Model> m = model_from_parameter_count(params.value_or(0));
    if (!m) return placed(m.error(), map.find("params")->where);
    return m;
}

Result<Model> from_map(const doc::Node& map, const ConfigResolver& resolve) {
    const doc::Node* config = map.find("config");
    if (config != nullptr) {
        if (map.members().size() == 1) return from_config(*config, resolve);
        return bad_input(
            mistake(map.where, "config: stands alone in a model", "drop the other keys"));
    }
    if (map.find("params") != nullptr) return from_params(map);
    if (const doc::Node* name = map.find("name"); name != nullptr && map.members().size() == 1) {
        return read_model_reference(*name, resolve);
    }
    return read_shape(map);
}

}  // namespace

Result<Model> read_model_reference(const doc::Node& model, const ConfigResolver& resolve) {
    switch (model.kind()) {
        case doc::Node::Kind::string: {
            Result<Model> m = find_model(model.text());
            if (!m) return placed(m.error(), model.where);
            return m;
        }
        case doc::Node::Kind::map:
            return from_map(model, resolve);
        default:
            return bad_input(
                mistake(model.where, "model: must be a name or a map",
                        "write a name (llama-3.1-8b), {config: path}, {params: 13B} or a shape"));
    }
}

}  // namespace trainyard::workload
