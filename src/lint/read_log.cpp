#include "facts.hpp"
#include "launch.hpp"
#include "model.hpp"
#include "trainyard/nccl/diagnose.hpp"

namespace trainyard::lint {

void read_nccl_log(const Document& d, Case& into) {
    nccl::LogReader reader;
    reader.feed(d.text);
    const nccl::Log log = reader.finish();
    nccl::Expected expected;
    const auto named = nccl::instance_named(log);
    const std::string type = named ? *named : only_type(into).text;
    if (!type.empty()) expected.instance = into.instance(type);
    for (nccl::Symptom& s : nccl::diagnose(log, expected, d.source->path).symptoms) {
        if (s.where.line <= 0) s.where = d.head();
        s.instance = expected.instance == nullptr ? "" : expected.instance->type;
        s.nodes = nccl::nodes_of(log, expected.instance);
        into.log_symptoms.push_back(std::move(s));
    }
}

}  // namespace trainyard::lint
