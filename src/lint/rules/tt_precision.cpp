// torchtitan: a precision that the accelerator has no units for, or that costs speed.

#include <fmt/format.h>

#include "facts.hpp"
#include "found.hpp"
#include "titan.hpp"

namespace trainyard::lint::tt_precision {

namespace {

void judge(const Case& c, const Document& d, Found& found) {
    const Said type = only_type(c);
    const catalog::Accelerator* a = type ? c.accelerator(type.text) : nullptr;
    const auto lacks = [&](const Said& asked, std::string_view words, catalog::Precision p) {
        if (!asked || a == nullptr || a->peak_for(p)) return false;
        found
            .at(asked,
                fmt::format("{} on {} ({}), which has no such units", words, a->name, type.text))
            .related.push_back({type.where, "the instance type"});
        return true;
    };
    const Said mx = titan::converter(d, "mx");
    const Said float8 = titan::converter(d, "float8");
    bool is_wrong = lacks(mx, "MX formats", catalog::Precision::fp4);
    is_wrong = lacks(float8, "float8", catalog::Precision::fp8) || is_wrong;
    const Said parameters = said(&d.root, {"training", "mixed_precision_param"});
    if (parameters.is("bfloat16")) lacks(parameters, "bfloat16", catalog::Precision::bf16);
    if (is_wrong || titan::compiles(d).value_or(false)) return;
    const Said& converter = float8 ? float8 : mx;
    if (!converter) return;
    Finding& f = found.at(converter, fmt::format("{} without torch.compile", converter.text));
    f.severity = Severity::note;
    f.why = "the casts of each product run as kernels of their own and eat what float8 saves";
    f.fix = "[compile] enable = true (before August 2025: [training] compile = true)";
}

void find(const Case& c, Found& found) {
    for (const Document* d : c.of_kind(Kind::torchtitan)) judge(c, *d, found);
}

}  // namespace

Rule rule() {
    return {.id = "TT-PRECISION",
            .severity = Severity::error,
            .title = "A precision that the accelerator cannot compute in",
            .applies = "torchtitan configurations beside the one instance type of the case",
            .why = "torchao refuses to start, or the products are emulated and slow",
            .fix = "bfloat16 on A100; float8 on H100 and later; MX on B200",
            .source =
                "data/catalog/accelerators.csv (peaks); pytorch/torchtitan: docs/float8.md, "
                "docs/mxfp8.md",
            .find = find};
}

}  // namespace trainyard::lint::tt_precision
