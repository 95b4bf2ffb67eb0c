#!/usr/bin/python3
"""Pages that the binary writes itself: each must equal what it prints now.

usage: tests/generated.py --binary PATH [--bless] [PAGE ...]

tests/generated.txt names them, one a line: page = arguments of trainyard. A page whose arguments name a file outside
the repository ("../…") that is not there is skipped.
"""

import argparse
import difflib
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def pages():
    for line in (ROOT / "tests" / "generated.txt").read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            page, arguments = line.split("=", 1)
            yield page.strip(), shlex.split(arguments)


def print_now(binary, arguments):
    env = {**os.environ, "NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100"}
    done = subprocess.run(
        [binary, *arguments], cwd=ROOT, env=env, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise SystemExit(f"trainyard {' '.join(arguments)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bless", action="store_true")
    parser.add_argument("pages", nargs="*")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    wanted = [(p, a) for p, a in pages() if not options.pages or p in options.pages]
    if not wanted:
        raise SystemExit("no such page in tests/generated.txt")
    failed = skipped = 0
    for page, arguments in wanted:
        if any(a.startswith("../") and not (ROOT / a).exists() for a in arguments):
            print(f"SKIP {page}: its input is not here")
            skipped += 1
            continue
        path = ROOT / page
        now = print_now(binary, arguments)
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if now == old:
            continue
        if options.bless:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(now, encoding="utf-8")
            print(f"blessed {page}")
            continue
        failed += 1
        sys.stdout.writelines(
            difflib.unified_diff(
                old.splitlines(True), now.splitlines(True), f"{page} (committed)", "printed now"
            )
        )
    if failed:
        return 1
    return SKIPPED if skipped == len(wanted) else 0


sys.exit(main())
