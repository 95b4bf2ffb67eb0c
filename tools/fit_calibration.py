#!/usr/bin/env python3
"""Fits what one measured run says about the next (data/perf/calibration.csv) on published runs.

    tools/fit_calibration.py RUNS.csv [--binary build/release/trainyard] [--write]

The tier-1 rows, each as (ln(measured / predicted) - centre of its band) / (width of its band as a standard deviation),
grouped by model family, accelerator, framework and source. Two parts of the variance, by moments with every group
weighing one: `between` of the groups' means, and `within`, which differs from group to group as a scaled inverse
chi-square with `within_freedom` degrees of freedom and scale `within_scale` (from the spread and the mean of the logarithms
of the groups' own variances, groups of four rows or more). Standard library only.
"""
import argparse
import collections
import csv
import json
import math
import os
import re
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BANDS = os.path.join(ROOT, "data", "perf", "error_bands.csv")
OUT = os.path.join(ROOT, "data", "perf", "calibration.csv")
NORMAL_90 = 1.2815515655446004  # 80 % lie within this many standard deviations
FEWEST = 4


def trigamma(x):
    total = 0.0
    while x < 20:
        total += 1 / (x * x)
        x += 1
    return total + 1 / x + 1 / (2 * x * x) + 1 / (6 * x**3)


def digamma(x):
    total = 0.0
    while x < 20:
        total -= 1 / x
        x += 1
    return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x * x)


def bands():
    with open(BANDS) as f:
        rows = csv.DictReader(line for line in f if not line.startswith("#"))
        return {r["accelerator"]: (math.log(float(r["low"])), math.log(float(r["high"]))) for r in rows}


def family(name):
    return re.split(r"[-_ ]?\d", name.lower())[0].strip("- ")


def read_groups(path, binary):
    scored = json.loads(subprocess.check_output([binary, "validate", path, "--json"]))["rows"]
    with open(path) as f:
        rows = {r["id"]: r for r in csv.DictReader(f)}
    band = bands()
    pooled = tuple(1.5 * v for v in band["pooled"])
    groups = collections.defaultdict(list)
    for s in scored:
        row = rows[s["id"]]
        if s.get("error") is None or row["tier"] != "1":
            continue
        low, high = band.get(row["accelerator"], pooled)
        z = (-math.log(1 + s["error"]) - (low + high) / 2) / ((high - low) / 2 / NORMAL_90)
        groups[family(row["model_name"]), row["accelerator"], row["framework"], row["source_title"]].append(z)
    return list(groups.values())


def variance(values):
    mean = sum(values) / len(values)
    return sum((v - mean) ** 2 for v in values) / (len(values) - 1)


def fit(groups):
    within = [variance(g) for g in groups if len(g) > 1]
    mean_within = sum(within) / len(within)
    means = [sum(g) / len(g) for g in groups]
    between = variance(means) - sum(mean_within / len(g) for g in groups) / len(groups)
    large = [(math.log(variance(g)), len(g) - 1) for g in groups if len(g) >= FEWEST and variance(g) > 0]
    excess = variance([v for v, _ in large]) - sum(trigamma(d / 2) for _, d in large) / len(large)
    freedom = 1.0
    while trigamma(freedom / 2) > excess:
        freedom += 0.01
    mean = sum(v - (digamma(d / 2) - math.log(d / 2)) for v, d in large) / len(large)
    scale = math.exp(mean + digamma(freedom / 2) - math.log(freedom / 2))
    return {"between": between, "within_scale": scale, "within_freedom": freedom}, len(groups), len(large)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("runs")
    parser.add_argument("--binary", default=os.path.join(ROOT, "build", "release", "trainyard"))
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    groups = read_groups(args.runs, args.binary)
    values, count, large = fit(groups)
    rows = sum(map(len, groups))
    text = ("# What one measured run says about the next: variances in units of the band's own (its 80 % range as 2 x 1.28\n"
            "# standard deviations), of ln(measured / predicted). Written by tools/fit_calibration.py from\n"
            f"# {rows} published tier-1 runs in {count} groups (model family, accelerator, framework, source), {large} of four or more.\n"
            "name,value\n")
    text += "".join(f"{k},{v:.3f}\n" for k, v in values.items())
    print(text, end="")
    if args.write:
        with open(OUT, "w") as f:
            f.write(text)


if __name__ == "__main__":
    main()
