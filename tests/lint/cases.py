#!/usr/bin/python3
"""`trainyard check` against configurations whose faults are known.

usage: tests/lint/cases.py --binary PATH faulty|clean

faulty    ../shared/data/config_cases_open.jsonl: at least 60 must get a finding of the expected rule and severity, at a
          line of the file. SKIP if the file is not there.
clean     tests/lint/clean/* and ../shared/facts/renders/*, if they are there: no finding of severity error or warning.
"""

import argparse
import json
import pathlib
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SHARED = ROOT.parent / "shared"
SKIPPED = 77
WANTED = 60


def check(binary, *paths):
    """The findings of one case; the exit status may be 0, 1 or 3 (a file that is not all of one kind)."""
    done = subprocess.run(
        [binary, "check", "--json", "--fail-on", "never", *map(str, paths)],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    if done.returncode not in (0, 3):
        raise SystemExit(f"trainyard check {paths}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)["findings"]


def faulty(binary):
    path = SHARED / "data" / "config_cases_open.jsonl"
    if not path.exists():
        print(f"SKIP: {path} is not there")
        return SKIPPED
    cases = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            name = pathlib.Path(folder) / case["id"] / case["input_file"]
            name.parent.mkdir()
            name.write_text(case["minimal_input"], encoding="utf-8")
            lines = case["minimal_input"].count("\n") + 1
            expected = (case["rule"], case["severity"])
            found = [
                f
                for f in check(binary, name)
                if (f["rule"], f["severity"]) == expected and 1 <= f.get("line", 0) <= lines
            ]
            if not found:
                missed.append(f"{case['id']}: {case['rule']} {case['severity']}")
    hits = len(cases) - len(missed)
    print(f"{hits} of {len(cases)} cases have the expected finding")
    for line in missed:
        print("  missed", line)
    return 0 if hits >= WANTED else 1


def loud(findings):
    return [f for f in findings if f["severity"] != "note"]


def report(name, findings):
    for f in findings:
        print(f"{name}: {f['file']}:{f.get('line')}: {f['severity']} {f['rule']}: {f['what']}")
    return len(findings)


def clean(binary):
    folders = [ROOT / "tests" / "lint" / "clean", SHARED / "facts" / "renders"]
    files = sorted(p for folder in folders if folder.is_dir() for p in folder.iterdir() if p.is_file())
    wrong = sum(report(p.name, loud(check(binary, p))) for p in files)
    print(f"{len(files)} clean files, {wrong} findings too many")
    return 1 if wrong else 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("what", choices=["faulty", "clean"])
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    return {"faulty": faulty, "clean": clean}[options.what](binary)


sys.exit(main())
