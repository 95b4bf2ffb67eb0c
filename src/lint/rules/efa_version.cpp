// EFA software that is too old for the type.

#include <fmt/ranges.h>

#include <algorithm>

#include "facts.hpp"
#include "found.hpp"

namespace trainyard::lint::efa_version {

namespace {

bool has_modern(const Case& c) {
    const auto is_new = [](const Said& t) {
        const std::string_view type = facts::bare_type(t.text);
        return type.starts_with("p5") || type.starts_with("p6");
    };
    for (const Pool& p : c.pools) {
        if (std::any_of(p.types.begin(), p.types.end(), is_new)) return true;
    }
    for (const Job& job : c.jobs) {
        if (std::any_of(job.types.begin(), job.types.end(), is_new)) return true;
    }
    return std::any_of(c.trainings.begin(), c.trainings.end(),
                       [&](const Training& t) { return is_new(t.type); });
}

struct Minimum {
    std::string_view name;  ///< what stands before the version
    std::string_view shown;
    int parts[3];
};
constexpr Minimum kMinimum[] = {{"aws-efa-installer-", "EFA installer", {1, 29, 0}},
                                {"EFA_INSTALLER_VERSION", "EFA installer", {1, 29, 0}},
                                {"AWS_OFI_NCCL_VERSION", "aws-ofi-nccl", {1, 7, 3}},
                                {"NCCL_VERSION", "NCCL", {2, 18, 5}}};

void judge(const Said& word, bool is_sure, Found& found) {
    for (const Minimum& m : kMinimum) {
        const std::size_t at = word.text.find(m.name);
        if (at == std::string::npos) continue;
        const std::size_t digits = word.text.find_first_of("0123456789", at + m.name.size());
        if (digits == std::string::npos || digits > at + m.name.size() + 2) continue;
        const auto version = facts::version_of(std::string_view(word.text).substr(digits));
        const std::vector<int> least(std::begin(m.parts), std::end(m.parts));
        if (version.size() < 2 || version >= least) continue;
        Finding& f = found.at(
            word, fmt::format("{} {} is older than {}.{}.{}, which P5 and later need", m.shown,
                              fmt::join(version, "."), least[0], least[1], least[2]));
        if (!is_sure) f.severity = Severity::note;
        return;
    }
}

void find(const Case& c, Found& found) {
    const bool is_sure = has_modern(c);
    for (const Document& d : c.documents) {
        if (d.kind != Kind::dockerfile && d.kind != Kind::shell) continue;
        for (const Command& command : d.script.commands) {
            for (const Said& w : command.words) judge(w, is_sure, found);
        }
    }
}

}  // namespace

Rule rule() {
    return {.id = "EFA-VERSION",
            .severity = Severity::error,
            .title = "aws-ofi-nccl, EFA installer or NCCL too old for the instance type",
            .applies = "Dockerfiles and scripts, beside what they run on",
            .why =
                "P5 and later need newer software: NCCL falls back to TCP, hangs or "
                "runs at a fraction of the speed",
            .fix =
                "EFA installer 1.30 or newer with its aws-ofi-nccl, NCCL 2.18.5 or "
                "newer",
            .source =
                "awslabs/awsome-distributed-ai 1.architectures/efa-cheatsheet.md; docs "
                "of aws-ofi-nccl 1.7.3",
            .find = find};
}

}  // namespace trainyard::lint::efa_version
