#!/usr/bin/python3
"""Jobs with a known expert answer: the plan must say in substance what the expert says, and nothing he forbids.

usage: tests/jobs/run.py --binary PATH [JOB ...]

expect.json is ours: per job the command line, a pattern for every phrase the expert expects (`must`, keyed by the
phrase), patterns that must not appear (`must_not`), and, where we leave the expert's range, why (`outside`).
The expert's own file is ../shared/data/jobs_open.jsonl; without it the completeness check and the plausible ranges are
skipped and the patterns still run.
"""

import argparse
import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
EXPERT = ROOT.parent / "shared" / "data" / "jobs_open.jsonl"
FIXED = {"NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}


def run(binary, words):
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS") if k in os.environ}
    done = subprocess.run([binary, *words], cwd=ROOT, env={**kept, **FIXED}, capture_output=True, timeout=100, check=False)
    return done.returncode, done.stdout.decode(), done.stderr.decode()


def flat(text):
    return re.sub(r"\s+", " ", text)


def range_complaints(job, plan, expert):
    """The chosen plan's expected hours and dollars against the expert's range."""
    chosen = plan.get("chosen")
    found = []
    if chosen is None:
        cheapest = plan.get("shortfall", {}).get("cheapest_usd")
        pairs = [("cost_usd", cheapest)] if cheapest else []
    else:
        offer = chosen["offer"]
        pairs = [("cost_usd", offer["cost"]["expected_usd"]), ("hours", offer["time"]["expected_s"] / 3600)]
    for key, value in pairs:
        limits = expert["plausible"].get(key)
        if limits is None or limits[0] <= value <= limits[1]:
            continue
        why = job.get("outside", {}).get(key)
        if why:
            print(f"  {key} {value:,.1f} is outside {limits}: {why}")
        else:
            found.append(f"{key} {value:,.1f} is outside {limits} and expect.json does not say why")
    return found


def dominated_complaint(plan):
    """The chosen offer against the front on guaranteed capacity: none that meets the limits may be much faster for no
    more money (25 %), or cheaper (5 %, without a deadline too) and no slower: the tolerances of choose.hpp."""
    chosen = plan.get("chosen")
    if chosen is None or plan["outcome"] not in ("feasible", "tight"):
        return []
    cost, time = chosen["offer"]["cost"]["expected_usd"], chosen["offer"]["time"]["expected_s"]
    found = []
    for other in plan["pareto_front_guaranteed"]:
        if other["expected_s"] > plan.get("deadline_s", 1e30) or other["expected_usd"] > plan.get("budget_usd", 1e30):
            continue
        faster = other["expected_usd"] <= cost and other["expected_s"] * 1.25 < time
        cheaper = other["expected_s"] <= time and other["expected_usd"] * 1.05 < cost
        if faster or cheaper:
            found.append(f"chose ${cost:,.0f} in {time / 86400:.2f} d, but {json.dumps(other)} is better")
    return found


def check(job, binary, experts):
    code, text, err = run(binary, job["command"])
    complaints = []
    if code != job.get("exit", 0):
        return [f"exit {code}: {err.strip()}"]
    body = flat(text)
    code, out, err = run(binary, [*job["command"], "--json"])
    if job.get("choice", True):
        complaints += dominated_complaint(json.loads(out))
    for phrase, pattern in job["must"].items():
        if not re.search(pattern, body, re.IGNORECASE):
            complaints.append(f"nothing says: {phrase}   (/{pattern}/)")
    for phrase, pattern in job["must_not"].items():
        hit = re.search(pattern, body, re.IGNORECASE)
        if hit:
            complaints.append(f"says what it must not: {phrase}   (\"{hit.group(0)}\")")
    for note in job.get("notes", []):
        print(f"  note: {note}")
    expert = experts.get(job["id"])
    if expert is None:
        print(f"  SKIP completeness and ranges: {EXPERT} is not there")
        return complaints
    for kind in ("must_mention", "must_not"):
        ours = job["must" if kind == "must_mention" else "must_not"]
        complaints += [f"expect.json has no pattern for {kind}: {p}" for p in expert[kind] if p not in ours]
    if job.get("range", True):
        complaints += range_complaints(job, json.loads(out), expert)
    return complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("jobs", nargs="*")
    args = parser.parse_args()
    table = json.loads((ROOT / "tests" / "jobs" / "expect.json").read_text())
    experts = {}
    if EXPERT.exists():
        experts = {j["id"]: j for j in map(json.loads, EXPERT.read_text().splitlines())}
    failed = 0
    for job in table:
        if args.jobs and job["id"] not in args.jobs:
            continue
        print(job["id"], "  trainyard", " ".join(job["command"]))
        complaints = check(job, args.binary, experts)
        for c in complaints:
            print("  FAIL", c)
        failed += bool(complaints)
    print(f"{failed} of the jobs failed" if failed else "all jobs as the expert says")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
