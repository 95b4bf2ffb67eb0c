#!/usr/bin/python3
"""README.md shows real output: every `$ ./trainyard …` of a console block must print what the page shows.

usage: tests/readme.py --binary PATH [--bless]

The lines after a command, up to the next command or the end of the block, are its output; a line that is only `…`
ends it early: what follows is not shown. A command whose arguments name a file outside the repository ("../…") that
is not there is skipped. `2>&1` and pipes are not understood: a block shows stdout.
"""

import argparse
import os
import pathlib
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
SKIPPED = 77


def output_of(binary, command):
    env = {**os.environ, "NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100",
           "LC_ALL": "C.UTF-8"}
    done = subprocess.run([binary, *shlex.split(command)[1:]], cwd=ROOT, env=env, capture_output=True, text=True,
                          check=False)
    if done.returncode not in (0, 1):
        raise SystemExit(f"{command}: exit {done.returncode}\n{done.stderr}")
    return done.stdout.rstrip("\n").split("\n")


def is_missing(command):
    return any(a.startswith("../") and not (ROOT / a).exists() for a in shlex.split(command))


def blocks(lines):
    """Yields (first, last, command) of each shown output: the half-open range of its lines."""
    inside = False
    command = start = None
    for number, line in enumerate(lines):
        fence = line.startswith("```")
        if command is not None and (fence or line.startswith("$ ")):
            yield start, number, command
            command = None
        if fence:
            inside = line == "```console" if not inside else False
        elif inside and line.startswith("$ ./trainyard"):
            command, start = line[2:], number + 1


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--bless", action="store_true")
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    page = ROOT / "README.md"
    lines = page.read_text(encoding="utf-8").split("\n")
    failed = 0
    for first, last, command in reversed(list(blocks(lines))):
        if is_missing(command):
            print(f"SKIP {command}: its input is not here")
            continue
        shown = lines[first:last]
        now = output_of(binary, command)
        if shown and shown[-1] == "…":
            now = now[: len(shown) - 1] + ["…"]
        if now == shown:
            continue
        if options.bless:
            lines[first:last] = now
            continue
        failed += 1
        print(f"README.md:{first}: {command} prints something else now; ./check --bless rewrites the page")
        for a, b in zip(shown + [""] * len(now), now):
            if a != b:
                print(f"- {a}\n+ {b}")
                break
    if options.bless:
        page.write_text("\n".join(lines), encoding="utf-8")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
