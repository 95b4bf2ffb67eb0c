#!/usr/bin/python3
"""docs/reference/simulate-json.md names every key of the JSON, and no key that is never printed.

usage: tests/simulate/schema_test.py --binary PATH
"""

import argparse
import json
import pathlib
import re
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
REFERENCE = HERE.parent.parent / "docs" / "reference"
# The keys of these are names that the user chose.
OPEN = {"policies_same"}

BINARY = ""


def keys_of(value):
    """Every key below `value`, but for the keys of "run" that the plan's page describes."""
    if isinstance(value, list):
        for item in value:
            yield from keys_of(item)
    elif isinstance(value, dict):
        for key, inner in value.items():
            yield key
            if key not in OPEN:
                yield from keys_of(inner)


def documented(page):
    text = (REFERENCE / page).read_text(encoding="utf-8")
    rows = [line for line in text.splitlines() if line.startswith("| `")]
    return set(re.findall(r"`([a-z][a-z0-9_]*)`", "\n".join(rows)))


# Values, not keys.
WORDS = {"finished", "out_of_budget", "gave_up", "sure", "risky", "no"}


class SchemaTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [BINARY, "simulate", str(HERE / "plan.json"), "--json", "--rules", "--runs", "500"]
        cls.json = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)

    def test_every_key_is_documented(self):
        known = documented("simulate-json.md") | documented("plan-json.md")
        self.assertEqual(set(keys_of(self.json)) - known, set())

    def test_every_documented_key_is_printed(self):
        optional = {"best_policy_on_median_trace", "refused", "zone", "file", "pool", "length_s"}
        missing = documented("simulate-json.md") - set(keys_of(self.json)) - optional - WORDS
        self.assertEqual(missing, set())

    def test_says_what_it_is(self):
        self.assertEqual((self.json["schema"], self.json["schema_version"]), ("trainyard.simulate", 1))

    def test_parts_sum_to_the_whole(self):
        for summary in [self.json["summary"], *self.json["policies"]]:
            time = dict(summary["mean_time_s"])
            wall = time.pop("wall")
            self.assertAlmostEqual(sum(time.values()), wall, delta=1e-6 * wall)
            self.assertAlmostEqual(summary["time_s"]["mean"], wall, delta=2e-3 * wall)
            cost = dict(summary["mean_cost_usd"])
            total = cost.pop("total")
            cost.pop("not_billed")
            self.assertAlmostEqual(sum(cost.values()), total, delta=1e-6 * total)
            self.assertAlmostEqual(summary["cost_usd"]["mean"], total, delta=2e-3 * total)

    def test_histograms_hold_every_run(self):
        for key in ("time_histogram_s", "cost_histogram_usd"):
            self.assertEqual(sum(b["runs"] for b in self.json[key]), self.json["summary"]["runs"])

    def test_same_seed_same_answer_for_any_number_of_threads(self):
        command = [BINARY, "simulate", str(HERE / "plan.json"), "--json", "--rules", "--runs", "500", "--threads"]
        for threads in ("1", "3"):
            again = subprocess.run([*command, threads], capture_output=True, text=True, check=True)
            self.assertEqual(json.loads(again.stdout)["unseed"], self.json["unseed"])


def main():
    global BINARY
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    BINARY = str(pathlib.Path(options.binary).resolve())
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
