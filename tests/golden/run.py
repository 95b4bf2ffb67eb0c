#!/usr/bin/python3
"""Golden cases: the binary must print, byte for byte, what the case folder says.

usage: tests/golden/run.py --binary PATH [--bless] [CASE ...]

A case is a folder tests/golden/<command>/<case>/ with
    cmd      one command line, words split as a shell would, nothing else a shell does. First word: trainyard.
             It runs in the repository root. "@" at the start of a word stands for the case folder plus "/".
    stdin    optional
    needs    optional: paths, one a line; if one is missing the case is skipped
    stdout, stderr, exit      what is expected; --bless writes them. A missing stderr means empty, a missing exit 0.
    and any input files.
"""

import argparse
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
GOLDEN = ROOT / "tests" / "golden"
SKIPPED = 77
TIMEOUT_S = 600

FIXED = {"NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}


def environment():
    kept = ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS")
    return {**{k: os.environ[k] for k in kept if k in os.environ}, **FIXED}


def words_of(case):
    line = (case / "cmd").read_text(encoding="utf-8").strip()
    words = shlex.split(line)
    if not words or words[0] != "trainyard" or "\n" in line:
        raise SystemExit(f"{case}: cmd must be one line that starts with trainyard")
    folder = case.relative_to(ROOT).as_posix() + "/"
    return [folder + word[1:] if word.startswith("@") else word for word in words[1:]]


def run_case(case, binary):
    stdin = case / "stdin"
    done = subprocess.run(
        [binary, *words_of(case)],
        cwd=ROOT,
        env=environment(),
        input=stdin.read_bytes() if stdin.exists() else b"",
        capture_output=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    return {
        "stdout": done.stdout.decode("utf-8", "replace"),
        "stderr": done.stderr.decode("utf-8", "replace"),
        "exit": f"{done.returncode}\n",
    }


def expected(case, name):
    path = case / name
    if path.exists():
        return path.read_text(encoding="utf-8")
    return {"stderr": "", "exit": "0\n"}.get(name)


def missing_needs(case):
    needs = case / "needs"
    if not needs.exists():
        return []
    return [p for p in needs.read_text().split() if not (ROOT / p).exists()]


def bless(case, actual):
    for name, text in actual.items():
        path = case / name
        if text == expected(case, name) and path.exists():
            continue
        if (name == "stderr" and text == "") or (name == "exit" and text == "0\n"):
            path.unlink(missing_ok=True)
            continue
        path.write_text(text, encoding="utf-8")
        print(f"blessed {path.relative_to(ROOT)}")


def compare(case, actual):
    same = True
    for name, text in actual.items():
        want = expected(case, name)
        if want == text:
            continue
        same = False
        label = f"{case.relative_to(ROOT)}/{name}"
        if want is None:
            print(f"{label} does not exist; ./check --bless writes it")
            continue
        sys.stdout.writelines(
            line if line.endswith("\n") else line + "\n"
            for line in difflib.unified_diff(
                want.splitlines(True), text.splitlines(True), f"{label} (expected)", "actual"
            )
        )
    return same


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("cases", nargs="*")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    cases = [pathlib.Path(c).resolve() for c in options.cases]
    cases = cases or sorted(path.parent for path in GOLDEN.glob("*/*/cmd"))
    failed = skipped = 0
    for case in cases:
        missing = missing_needs(case)
        if missing:
            print(f"SKIP {case.relative_to(ROOT)}: {' '.join(missing)} is not here")
            skipped += 1
            continue
        actual = run_case(case, binary)
        if options.bless:
            bless(case, actual)
        elif not compare(case, actual):
            failed += 1
    if failed:
        return 1
    return SKIPPED if skipped == len(cases) else 0


sys.exit(main())
