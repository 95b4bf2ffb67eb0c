#!/usr/bin/python3
"""Rebuilds data/spot/processes.csv: processes of spot capacity, fitted on published traces of AWS GPU instances.

usage: tools/fit_spot_processes.py --traces DIR [--binary build/release/trainyard] [--check]

DIR holds the traces in the folders that their repositories give them:
    skypilot-spot-traces/   github.com/skypilot-org/spot-traces
    skynomad/               github.com/andylizf/skynomad-artifact (prices of the 2023 traces)
    bamboo/                 github.com/uclasystem/bamboo
    training_on_a_dime/     github.com/stanford-futuredata/training_on_a_dime
All fitting is done by `trainyard trace fit` (docs/model/spot-processes.md). --check compares with the file and exits 1
if it differs.
"""

import argparse
import csv
import io
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
TARGET = ROOT / "data" / "spot" / "processes.csv"
SKYPILOT = "skypilot-spot-traces/"
TYPES = {
    "v100_1": "p3.2xlarge",
    "v100_8": "p3.16xlarge",
    "k80_1": "p2.xlarge",
    "k80_8": "p2.8xlarge",
}

# paths, further arguments, month, what the source is called, last day of the trace
SETS = [
    (
        [SKYPILOT + "availability/1-node/aws-02-15-2023", "skynomad/data/v100_spot_prices.json"],
        # The start is published without a time zone and taken for UTC.
        ["--tick", "195s", "--start", "2023-02-15T22:08:16Z"],
        "2023-02",
        "SkyPilot spot-traces: launch probes every 195 s; prices: SkyNomad",
        "2023-04-02",
    ),
    (
        [SKYPILOT + "availability/1-node/aws-10-26-2022"],
        [],
        "2022-10",
        "SkyPilot spot-traces: launch probes every 600 s",
        "2022-11-22",
    ),
    (
        [SKYPILOT + "preemption/1-node/aws-04-22-2023"],
        [],
        "2023-04",
        "SkyPilot spot-traces: nodes kept alive, looked at every 32 s",
        "2023-04-29",
    ),
    (
        [SKYPILOT + "availability/16-node/aws-08-27-2023"],
        [],
        "2023-08",
        "SkyPilot spot-traces: launch probes of 16 nodes every 300 s",
        "2023-09-12",
    ),
    (
        [SKYPILOT + "preemption/4-node/aws-08-03-2023"],
        [],
        "2023-08",
        "SkyPilot spot-traces: 4 nodes kept alive, looked at every 300 s",
        "2023-08-21",
    ),
    (
        ["bamboo/traces/p3-trace.csv"],
        [],
        "2021",
        "Bamboo: node events of an autoscaling group; zone and day not published",
        "2021",
    ),
    (
        ["bamboo/doc/data/aws-spot-instances-g4dn-xlarge-us-east-1c-2020-11-20-1930-to-2020-11-21-2200.csv"],
        ["--start", "2020-11-20T19:30:00Z"],
        "2020-11",
        "Bamboo: node counts of an autoscaling group",
        "2020-11-21",
    ),
    (
        ["bamboo/doc/data/aws-spot-instances-p2-xlarge-2020-11-20-to-2020-11-23.csv"],
        [],
        "2020-11",
        "Bamboo: node counts of an autoscaling group; zone not published",
        "2020-11-23",
    ),
    (
        ["training_on_a_dime/logs/aws/availability/persistent_2020-03-15.out"],
        [],
        "2020-03",
        "Training on a Dime: instances kept alive, pinged every 10 min",
        "2020-03-17",
    ),
]


def name_of(pool, month, gang):
    """p3.2xlarge/us-west-2a/2023-02, with x16 for a gang of 16."""
    match = re.fullmatch(r"([a-z0-9-]+)_((?:v100|k80)_[18])", pool)
    if match:
        name = f"{TYPES[match[2]]}/{match[1]}/{month}"
    elif pool == "p3-trace":
        name = f"p3.2xlarge/bamboo/{month}"
    else:
        match = re.match(r"aws-spot-instances-(\w+)-xlarge-(us-east-1\w)?", pool)
        name = f"{match[1]}.xlarge/{match[2] or 'bamboo'}/{month}"
    return name if gang == "1" else f"{name}/x{gang}"


def fitted(binary, traces):
    rows = []
    for paths, arguments, month, source, as_of in SETS:
        command = [binary, "trace", "fit", *[str(traces / p) for p in paths], *arguments, "--csv"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"{' '.join(command)}\n{done.stderr}")
        for row in csv.DictReader(io.StringIO(done.stdout)):
            # A group may spread over zones and refills itself: no measure of one pool's gang losses.
            group = "autoscaling" in source
            row.update(
                name=name_of(row["name"], month, row["gang"]),
                source=source,
                as_of=as_of,
                status="fitted to a group" if group else "fitted",
            )
            rows.append(row)
    return rows


def table(rows):
    out = io.StringIO()
    out.write(
        "# Processes of spot capacity fitted on published AWS GPU traces: type/zone/month[/xGANG].\n"
        "# Written by tools/fit_spot_processes.py; columns: docs/model/spot-processes.md.\n"
    )
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--traces", type=pathlib.Path, required=True)
    parser.add_argument("--binary", default=str(ROOT / "build" / "release" / "trainyard"))
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    text = table(fitted(options.binary, options.traces))
    if options.check:
        return 0 if text == TARGET.read_text(encoding="utf-8") else 1
    TARGET.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
