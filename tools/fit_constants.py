#!/usr/bin/env python3
"""Fits the constants of the performance model on published runs.

    tools/fit_constants.py RUNS.csv [--binary build/trainyard] [--sweeps 2] [--holdout] [--write]

What it minimises: over the tier-1 `tuned` rows, |ln(predicted/measured)| + 2 ln^2, capped at 0.7, each row weighted by
1/sqrt(size of its GROUP) so that a sweep does not drown the rest, plus 0.002 (ln(value/prior))^2 per constant, so that
a constant that the data do not speak about stays at its cited prior (tools/fit_priors.csv). Rows of the BigScience
V100/A100 runs weigh 0.3: their authors warn of about 40 % network noise; so do rows whose notes say that the
accelerators were power-limited. The search is coordinate descent on the
logarithm of each constant, within physical bounds, from a fixed seed: the same input gives the same output.

--holdout fits on each half of the groups in two random splits, --holdout-sources without each source in turn; both
start from the priors and print the error on what was left out. --write rewrites data/perf/constants.csv
and data/perf/error_bands.csv. Standard library only.
"""
import argparse
import collections
import csv
import json
import math
import os
import random
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CONSTANTS = os.path.join(ROOT, "data", "perf", "constants.csv")
BANDS = os.path.join(ROOT, "data", "perf", "error_bands.csv")
SWEEP = "vtrain-single"
PRIORS = os.path.join(ROOT, "tools", "fit_priors.csv")


def read_table(path):
    with open(path) as f:
        return list(csv.DictReader(line for line in f if not line.startswith("#")))


def key_of(row):
    return (row["name"], row["architecture"])


class Problem:
    def __init__(self, runs, binary):
        self.path, self.binary = runs, binary
        with open(runs) as f:
            self.rows = list(csv.DictReader(f))
        self.group = {r["id"]: self.group_of(r) for r in self.rows}
        self.used = {r["id"] for r in self.rows if r["tier"] == "1" and r["stack"] == "tuned"}
        self.experts = {r["id"] for r in self.rows if r["id"] in self.used and r["moe_experts"] not in ("", "0", "1")}
        self.stock = {r["id"] for r in self.rows if r["tier"] == "1" and r["stack"] == "stock"}
        self.noisy = {r["id"] for r in self.rows
                      if r["source_title"].startswith("BigScience") or "POWER-LIMITED" in r["notes"]}
        self.accelerator = {r["id"]: r["accelerator"] for r in self.rows}
        self.source = {r["id"]: r["source_title"] for r in self.rows}
        sizes = collections.Counter(self.group[i] for i in self.used)
        self.weight = {i: (0.3 if i in self.noisy else 1) / math.sqrt(sizes[self.group[i]]) for i in self.used}
        self.priors = {key_of(r): r for r in read_table(PRIORS)}

    @staticmethod
    def group_of(row):
        at = row["notes"].find("GROUP:")
        return row["notes"][at + 6:].split(";")[0] if at >= 0 else row["id"]

    def errors(self, constants):
        with tempfile.NamedTemporaryFile("w", suffix=".csv", delete=False) as f:
            f.write("name,architecture,value\n")
            for (name, arch), value in constants.items():
                f.write(f"{name},{arch},{value:.9f}\n")
        try:
            done = subprocess.run([self.binary, "validate", self.path, "--constants", f.name, "--json"],
                                  capture_output=True, check=False)
            if done.returncode != 0:
                sys.exit("validate failed: " + done.stderr.decode(errors="replace")[-2000:])
        finally:
            os.unlink(f.name)
        return {r["id"]: r["error"] for r in json.loads(done.stdout)["rows"] if "error" in r}

    def objective(self, constants, ids):
        errors = self.errors(constants)
        total = weight = 0.0
        for i in ids:
            if i in errors and errors[i] > -1:
                x = min(abs(math.log1p(errors[i])), 0.7)
                total += self.weight[i] * (x + 2 * x * x)
                weight += self.weight[i]
        penalty = 0.0
        for key, prior in self.priors.items():
            if key in constants and float(prior["value"]) > 0:
                penalty += 0.002 * math.log(max(constants[key], 1e-3) / float(prior["value"])) ** 2
        return total / weight + penalty


def quantile(values, q):
    values = sorted(values)
    return values[int(q * (len(values) - 1))] if values else float("nan")


def summary(problem, errors, ids):
    absolute = [abs(errors[i]) for i in ids if i in errors]
    return "n %d, median %.1f %%, p90 %.1f %%" % (len(absolute), 100 * quantile(absolute, 0.5),
                                                 100 * quantile(absolute, 0.9))


def improve(problem, constants, key, step, ids, best):
    low, high = float(problem.priors[key]["low"]), float(problem.priors[key]["high"])
    for factor in (step, 1 / step):
        moved = False
        while True:
            old = constants[key]
            new = min(high, max(low, (old or (high - low) * 0.05) * factor))
            if abs(new - old) < 1e-9:
                break
            constants[key] = new
            value = problem.objective(constants, ids)
            if value < best - 1e-6:
                best, moved = value, True
            else:
                constants[key] = old
                break
        if moved:
            break
    return best


def fit(problem, constants, ids, sweeps):
    rng = random.Random(1)
    best = problem.objective(constants, ids)
    keys = [k for k in constants if k in problem.priors]
    for sweep in range(sweeps):
        for step in (1.25, 1.1, 1.04):
            rng.shuffle(keys)
            for key in keys:
                best = improve(problem, constants, key, step, ids, best)
            print(f"sweep {sweep + 1} step {step}: objective {best:.4f}", file=sys.stderr)
    return constants


def write_constants(constants):
    old = {key_of(r): r for r in read_table(CONSTANTS)}
    with open(CONSTANTS, "w") as f:
        f.write("# Constants of the performance model. status fitted: tools/fit_constants.py on the published runs\n"
                "# (tier 1, tuned), starting from the priors of tools/fit_priors.csv.\n")
        writer = csv.DictWriter(f, ["name", "architecture", "value", "unit", "status", "source", "as_of"],
                                lineterminator="\n")
        writer.writeheader()
        for key in sorted(constants, key=lambda k: (k[1], k[0])):
            writer.writerow(dict(old[key], value="%.4g" % constants[key]))


def write_bands(problem, errors):
    """Percentiles 8.5 and 91.5 of measured / predicted: 83 % of the fitted rows, to cover 80 % of rows not fitted."""
    by_accelerator = collections.defaultdict(list)
    for i in problem.used:
        if i in errors:
            by_accelerator[problem.accelerator[i]].append(1 / (1 + errors[i]))
    with open(BANDS, "w") as f:
        f.write("# Interval that should hold 80 % of runs: percentiles 8.5 and 91.5 of measured / predicted step time on the "
                "published\n# tier-1 tuned runs, per accelerator. Written by tools/fit_constants.py; accelerators with fewer "
                "than 15 runs use the pooled band.\n"
                "# experts: the tuned runs of models with experts. stock: the tier-1 runs of everyday frameworks. Both only "
                "widen a band.\n"
                "accelerator,low,high,runs\n")
        pooled = [v for values in by_accelerator.values() for v in values]
        kinds = [(name, [1 / (1 + errors[i]) for i in ids if i in errors])
                 for name, ids in (("experts", problem.experts), ("stock", problem.stock))]
        for name, values in [("pooled", pooled)] + sorted(by_accelerator.items()) + kinds:
            if len(values) >= 15:
                f.write("%s,%.3f,%.3f,%d\n" % (name, quantile(values, 0.085), quantile(values, 0.915), len(values)))


def held_out(problem, constants, sweeps, test, name, pool):
    fitted = fit(problem, dict(constants), problem.used - test, sweeps)
    errors = problem.errors(fitted)
    pool += [(i, errors[i]) for i in sorted(test) if i in errors]
    print(name, summary(problem, errors, test), flush=True)


def report_pool(problem, pool):
    """Every row that was held out, and without the one dense sweep, which would decide the figure alone."""
    for name, rows in (("all held out", pool),
                       ("without the sweep", [r for r in pool if problem.group[r[0]] != SWEEP])):
        absolute = [abs(e) for _, e in rows]
        print("%s: n %d, median %.1f %%, p90 %.1f %%" % (name, len(absolute), 100 * quantile(absolute, 0.5),
                                                        100 * quantile(absolute, 0.9)))


def holdout(problem, constants, sweeps):
    pool = []
    for seed in (7, 8):
        groups = sorted({problem.group[i] for i in problem.used})
        random.Random(seed).shuffle(groups)
        for side in (0, 1):
            half = set(groups[side::2])
            test = {i for i in problem.used if problem.group[i] not in half}
            held_out(problem, constants, sweeps, test, f"split {seed}, half {side + 1} held out:", pool)
    report_pool(problem, pool)


def holdout_sources(problem, constants, sweeps):
    pool = []
    for source in sorted({problem.source[i] for i in problem.used}):
        test = {i for i in problem.used if problem.source[i] == source}
        held_out(problem, constants, sweeps, test, source[:40] + ":", pool)
    report_pool(problem, pool)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "trainyard"))
    parser.add_argument("--sweeps", type=int, default=2)
    parser.add_argument("--from-priors", action="store_true", help="start from the priors, not from constants.csv")
    parser.add_argument("--bands-only", action="store_true", help="only rewrite the error bands")
    parser.add_argument("--holdout", action="store_true")
    parser.add_argument("--holdout-sources", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    problem = Problem(args.runs, args.binary)
    constants = {key_of(r): float(r["value"]) for r in read_table(CONSTANTS)}
    if args.from_priors or args.holdout or args.holdout_sources:
        for key, prior in problem.priors.items():
            constants[key] = float(prior["value"])
    if args.holdout or args.holdout_sources:
        (holdout if args.holdout else holdout_sources)(problem, constants, args.sweeps)
        return
    if not args.bands_only:
        constants = fit(problem, constants, problem.used, args.sweeps)
    errors = problem.errors(constants)
    print(summary(problem, errors, problem.used))
    if args.write:
        if not args.bands_only:
            write_constants(constants)
        write_bands(problem, errors)


if __name__ == "__main__":
    main()
