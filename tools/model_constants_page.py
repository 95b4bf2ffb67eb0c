#!/usr/bin/python3
"""Writes the pages of the performance model that are tables of its data files.

    tools/model_constants_page.py           writes docs/model/constants.md and docs/model/stacks.md
    tools/model_constants_page.py --check   exits 1 with a diff if a page is not what it would write

Read: data/perf/constants.csv, data/perf/stacks.csv, tools/fit_priors.csv. Standard library only.
"""

import csv
import difflib
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MODEL = ROOT / "docs" / "model"

# Constant: what it means, and the page of the term that uses it.
GLOBAL = {
    "tile_128": ("rate of a 128 x 128 output tile against 128 x 256", "gemm"),
    "tile_64": ("rate of a 64 x 128 tile against 128 x 256", "gemm"),
    "tile_32": ("rate of a 64 x 64 tile against 128 x 256", "gemm"),
    "wave_quantisation": ("1: a partly filled wave costs a whole one; 0: its share", "gemm"),
    "kernel_gap_us": ("device idle between dependent kernels", "gemm"),
    "flash_half_sequence": ("sequence at which fused attention reaches half its rate", "attention"),
    "eager_traffic": ("bytes of streaming kernels against perfect fusion, eager stacks", "memory-bound"),
    "fused_traffic": ("the same, stacks with fused kernels", "memory-bound"),
    "compiled_traffic": ("the same, compiled stacks", "memory-bound"),
    "eager_kernels": ("streaming kernels launched against the fused count, eager stacks", "memory-bound"),
    "compiled_kernels": ("the same, compiled stacks", "memory-bound"),
    "fp8_cast_traffic": ("bytes of quantising GEMM operands against one pass", "memory-bound"),
    "host_us_per_kernel": ("CPU time to launch one kernel, eager", "host-launch"),
    "graph_us_per_kernel": ("the same from a CUDA graph or a compiled step", "host-launch"),
    "checkpoint_host_us": ("CPU time per recomputed layer to save and restore random state", "host-launch"),
    "collective_host_us": ("CPU time to start one blocking TP collective", "host-launch"),
    "cross_socket_us": ("host wait at a collective whose ranks sit on both CPU sockets", "host-launch"),
    "step_overhead_ms": ("fixed host work of one optimizer step", "host-launch"),
    "microbatch_overhead_ms": ("scheduler work per micro-batch with pipeline stages", "pipeline"),
    "intra_latency_us": ("latency of one hop inside a node", "collectives"),
    "inter_latency_us": ("latency of one hop across nodes", "collectives"),
    "collective_base_us": ("launch and synchronisation of one collective", "collectives"),
    "inter_fraction": ("achieved share of the network's rate, RDMA fabrics", "collectives"),
    "inter_fraction_large": ("loss of that share beyond 16 nodes, x 0.1 per doubling", "collectives"),
    "tcp_fraction": ("achieved share of the network's rate over TCP", "collectives"),
    "omni_path_fraction": ("the same over Omni-Path without GPUDirect", "collectives"),
    "half_message_mb": ("piece per rank that gets half the bandwidth across nodes", "collectives"),
    "half_message_intra_mb": ("the same inside a node", "collectives"),
    "p2p_fraction": ("achieved share of the link for one neighbour's send", "collectives"),
    "bucket_overlap": ("share of one micro-batch's backward that can hide gradient reduction", "data-parallel"),
    "shard_overlap": ("share of a layer's compute that can hide FSDP traffic", "data-parallel"),
    "overlap_slowdown": ("compute lost per second of hidden traffic", "data-parallel"),
    "tensor_overlap": ("share of TP traffic hidden by tiling it into the GEMM", "tensor-parallel"),
    "expert_overlap": ("share of expert traffic hidden behind other chunks", "expert-parallel"),
    "expert_kernels": ("kernels per local expert and grouped product", "expert-parallel"),
    "expert_imbalance": ("busiest expert against the mean", "expert-parallel"),
    "context_overlap": ("share of ring-attention traffic hidden", "context-parallel"),
    "pipeline_overlap": ("share of steady-state sends hidden", "pipeline"),
    "optimizer_passes": ("traffic of the step (unscale, norm, clip, update) against the bare update", "optimizer"),
    "straggler": ("relative jitter of one device's step", "stragglers"),
    "host_link_gb_per_s": ("rate of copies between device and host memory", "recompute"),
    "fragmentation": ("memory lost to fragmentation, of what comes and goes", "memory"),
    "runtime_gb": ("driver context and library workspaces", "memory"),
    "nccl_gb_per_group": ("buffers of one communicator", "memory"),
}
ARCHITECTURE = {
    "gemm_fraction": ("16- and 32-bit GEMMs: best tile, many waves, deep k, of the vendor's dense peak", "gemm"),
    "gemm_fraction_fp8": ("the same, of the fp8 peak", "gemm"),
    "gemm_fraction_fp4": ("the same, of the fp4 peak", "gemm"),
    "k_prologue": ("elements of k that fill and drain a tile's pipeline", "gemm"),
    "memory_fraction": ("streaming kernels, of the memory bandwidth", "memory-bound"),
    "flash_forward": ("fused attention forward, of the 16-bit peak, FlashAttention-2 kernels", "attention"),
    "flash_backward_ratio": ("rate of its backward against forward", "attention"),
    "modern_attention_gain": ("FlashAttention-3 or cuDNN kernels against FlashAttention-2", "attention"),
    "unfused_attention_traffic": ("bytes per score against one read and write of each tensor", "attention"),
    "link_fraction": ("large-message bandwidth inside a node, of the link", "collectives"),
}
STACK_COLUMNS = [
    ("attention", "attention kernel: `flash`, or `unfused` (score matrix written to memory)"),
    ("hopper_attention", "1: FlashAttention-3 or cuDNN kernels where the architecture has them"),
    ("selective_gemm", "share of the matrix products that its selective recompute repeats"),
    ("moe_graphs", "1: MoE layers are captured in CUDA graphs too"),
    ("expert_once_per_node", "1: dispatch sends a token to a node once"),
    ("expert_overlap", "all-to-all runs under the experts of another chunk: `none`, `across_nodes` or `always`"),
    ("fused_experts", "1: experts activate and quantise inside their products (Blackwell, 8 and 4 bit)"),
    ("fusion", "streaming kernels: `eager`, `fused` by hand, or `compiled`"),
    ("host", "kernel launches: `eager`, or `graphs` (CUDA graphs, ahead-of-time compilation)"),
    ("data_overlap", "1: gradient reduction and weight gathering run under compute"),
    ("tensor_overlap", "1: TP collectives are tiled into the GEMMs"),
    ("pipeline_overlap", "1: sends are double-buffered behind compute"),
    ("distributed_optimizer", "1: ZeRO stage 1 where the run does not say"),
    ("sequence_parallel", "1: sequence parallelism with TP where the run does not say"),
    ("gradient_bytes", "bytes of a reduced gradient"),
    ("bf16_gradient_extra_bytes", "bytes of fp32 accumulation beside 16-bit gradients, bf16 runs"),
    ("logit_bytes", "bytes per logit alive at the loss"),
    ("optimizer_temporary_bytes", "bytes per parameter alive during the optimizer step only"),
    ("step_overhead_ms", "fixed host work of a step; 0: the constant `step_overhead_ms`"),
    ("efficiency", "device throughput against a tuned stack"),
]


def read_table(path):
    with open(path, encoding="utf-8") as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def key_of(row):
    return (row["name"], row["architecture"])


def plain(value):
    return "%g" % float(value)


def remark(row, prior):
    """What a reader should doubt: a value that sits at its bound, or that no data moved."""
    if row["status"] != "fitted":
        return row["status"].replace("_", " ") + ": " + row["source"]
    if prior is None:
        return "fitted"
    value, low, high = float(row["value"]), float(prior["low"]), float(prior["high"])
    if abs(value - high) < 1e-3 * max(high, 1e-9) or abs(value - low) < 1e-3 * max(low, 1e-9):
        return "fitted, at its bound"
    if abs(value - float(prior["value"])) < 1e-3 * max(float(prior["value"]), 1e-9):
        return "at its prior: no data moved it"
    return "fitted"


def prior_cells(prior):
    if prior is None:
        return "", ""
    return plain(prior["value"]), f"{plain(prior['low'])} to {plain(prior['high'])}"


def global_table(rows, priors):
    lines = [
        "| constant | meaning | unit | prior | bounds | value | how | term |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        meaning, page = GLOBAL[row["name"]]
        prior = priors.get(key_of(row))
        first, bounds = prior_cells(prior)
        lines.append(
            f"| `{row['name']}` | {meaning} | {row['unit']} | {first} | {bounds} | "
            f"{plain(row['value'])} | {remark(row, prior)} | [{page}]({page}.md) |"
        )
    return lines


def architecture_table(name, rows, priors):
    meaning, page = ARCHITECTURE[name]
    lines = [
        f"### {name}",
        "",
        f"{meaning[0].upper()}{meaning[1:]}. Unit: {rows[0]['unit']}. Term: [{page}]({page}.md).",
        "",
        "| architecture | prior | bounds | value | how |",
        "|---|---|---|---|---|",
    ]
    for row in rows:
        prior = priors.get(key_of(row))
        first, bounds = prior_cells(prior)
        lines.append(
            f"| {row['architecture']} | {first} | {bounds} | {plain(row['value'])} | {remark(row, prior)} |"
        )
    return lines + [""]


def prior_sources(priors):
    sources = {}
    for (name, _), prior in priors.items():
        if prior["source"] not in ("same", "engineering estimate"):
            sources.setdefault(prior["source"], []).append(name)
    return [
        f"- {', '.join(f'`{n}`' for n in sorted(set(names)))}: {source}"
        for source, names in sorted(sources.items(), key=lambda item: item[1])
    ]


def require_known(rows):
    for row in rows:
        table = ARCHITECTURE if row["architecture"] else GLOBAL
        if row["name"] not in table:
            sys.exit(f"constants.csv: {row['name']} has no meaning here; add it to {pathlib.Path(__file__).name}")


def constants_page():
    rows = read_table(ROOT / "data" / "perf" / "constants.csv")
    priors = {key_of(r): r for r in read_table(ROOT / "tools" / "fit_priors.csv")}
    require_known(rows)
    common = sorted((r for r in rows if not r["architecture"]), key=lambda r: list(GLOBAL).index(r["name"]))
    own = [r for r in rows if r["architecture"]]
    fitted = [r for r in rows if remark(r, priors.get(key_of(r))).startswith("fitted")]
    shared = sum(1 for r in fitted if not r["architecture"])
    lines = [
        "# Constants",
        "",
        "Written by `tools/model_constants_page.py` from `data/perf/constants.csv` and `tools/fit_priors.csv`; a test",
        "compares this page with what the tool would write.",
        "",
        "Every constant is one physical quantity: an efficiency, a latency, a share that overlaps. There is none per",
        "source and none per row. The fit (`tools/fit_constants.py`) moves each constant between its bounds so that the",
        "logarithmic step-time error on the tier-1 tuned rows of a runs CSV becomes small, with a penalty for leaving the",
        "prior, so that a constant that no run speaks about stays where its source put it. Rows of one GROUP share the",
        "weight of the square root of their number. `--holdout` fits on half of the groups and reports the error on the",
        "other half.",
        "",
        f"Of {len(rows)} values, {len(fitted)} were moved by the fit: {shared} that every accelerator shares and",
        f"{len(fitted) - shared} of single architectures. A value at its bound says that the data want more than the",
        "bound allows: the term is missing something there. Values are of one fit together: a high fraction here may be",
        "paid for by a low one there, so do not read a single one as a measurement. The others are facts, or estimates",
        "that were taken out of the fit because the runs do not need them: put at its prior, each changed the fitted",
        "error by less than a five-hundredth of its value.",
        "",
        "`trainyard validate RUNS.csv --constants FILE` scores other values. FILE has the columns of",
        "`data/perf/constants.csv`; a constant that it leaves out has the default written in `constants.hpp`.",
        "",
        "## Shared by all accelerators",
        "",
        *global_table(common, priors),
        "",
        "## Per architecture",
        "",
        "An accelerator whose architecture is not listed uses `default`. A constant that an architecture leaves out has",
        "the value of `default`.",
        "",
    ]
    for name in ARCHITECTURE:
        of_name = [r for r in own if r["name"] == name]
        if of_name:
            lines += architecture_table(name, of_name, priors)
    lines += ["## Sources of the priors", "", "A prior not listed here is an engineering estimate.", ""]
    return "\n".join(lines + prior_sources(priors)) + "\n"


def stacks_page():
    rows = read_table(ROOT / "data" / "perf" / "stacks.csv")
    lines = [
        "# Software stacks",
        "",
        "Written by `tools/model_constants_page.py` from `data/perf/stacks.csv`; a test compares this page with what the",
        "tool would write.",
        "",
        "A stack says what a framework fuses, overlaps and captures, as far as its documentation tells. These are facts",
        "about software, not fits, with one exception: `efficiency`, one factor per everyday framework, fitted on the",
        "tier-1 stock rows, that multiplies every rate of the device. A run without a stack uses `tuned`. A row of a runs",
        "CSV gets the stack whose framework prefix is the longest that its `framework` column begins with.",
        "",
        "| column | meaning |",
        "|---|---|",
        *[f"| `{name}` | {meaning} |" for name, meaning in STACK_COLUMNS],
        "",
        "Yes-or-no columns are 1 or 0. Only what differs from `tuned` is listed:",
        "",
        "| stack | framework prefix | differs from `tuned` in | source | as of |",
        "|---|---|---|---|---|",
    ]
    tuned = next(r for r in rows if r["name"] == "tuned")
    for row in rows:
        if set(row) - {"name", "framework_prefix", "source", "as_of"} != {c for c, _ in STACK_COLUMNS}:
            sys.exit("stacks.csv: its columns are not those of " + pathlib.Path(__file__).name)
        different = [f"{c} {row[c]}" for c, _ in STACK_COLUMNS if row[c] != tuned[c]]
        if row is tuned:
            different = ["the reference: " + ", ".join(f"{c} {row[c]}" for c, _ in STACK_COLUMNS)]
        lines.append(
            f"| `{row['name']}` | {row['framework_prefix']} | {', '.join(different)} | {row['source']} | {row['as_of']} |"
        )
    return "\n".join(lines) + "\n"


def main():
    pages = {"constants.md": constants_page(), "stacks.md": stacks_page()}
    stale = 0
    for name, now in pages.items():
        path = MODEL / name
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if "--check" not in sys.argv:
            path.write_text(now, encoding="utf-8")
        elif old != now:
            stale += 1
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), now.splitlines(True), f"docs/model/{name}", "would be")
            )
    if stale:
        print("stale: run tools/model_constants_page.py")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
