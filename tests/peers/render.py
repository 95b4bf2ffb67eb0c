#!/usr/bin/python3
"""Rendered directories against the real tools: makes plans with the binary, renders each, checks every file.

usage: tests/peers/render.py --binary PATH --target NAME [PLAN …]

plans.txt names the plans, files.txt says which tool reads which file. A plan that the target refuses (exit 3, a diagnostic
that names another target) counts as an answer; a target that refuses every plan fails. Rendered twice, a directory must
be the same byte for byte. Exit 77: nothing could be checked, and why.
"""

import argparse
import fnmatch
import json
import os
import pathlib
import shlex
import subprocess
import sys
import tempfile

import tools

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
AT_ONCE = 200  # files of one start of a tool
FIXED = {"NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}


def lines_of(name):
    for line in (HERE / name).read_text(encoding="utf-8").splitlines():
        if line.strip() and not line.startswith("#"):
            yield line


def run(binary, words):
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS") if k in os.environ}
    done = subprocess.run(
        [binary, *words], cwd=tools.ROOT, env={**kept, **FIXED}, capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def tool_for(target, name):
    for line in lines_of("files.txt"):
        wanted, pattern, tool = line.split()
        if wanted in ("*", target) and fnmatch.fnmatchcase(name, pattern):
            return tool
    return None


def contents(folder):
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in sorted(folder.rglob("*")) if p.is_file()}


def render(binary, target, plan, folder):
    """(exit code, stderr, files) of one rendering."""
    code, _, said = run(binary, ["render", plan, "--target", target, "-o", folder])
    return code, said, contents(folder) if code == 0 else {}


def check_refusal(code, said):
    if code != 3:
        return [f"exit {code}: {said}"]
    return [] if "--target" in said or "fix: plan" in said else [f"refused without the nearest target: {said}"]


def assign(target, folder, files, by_tool):
    """Adds each file to the list of the tool that reads it; one line for each file that none reads."""
    wrong = []
    for name in files:
        tool = tool_for(target, pathlib.PurePath(name).name)
        if tool is None:
            wrong.append(f"{name}: no tool in files.txt")
        else:
            by_tool.setdefault(tool, []).append(folder / name)
    return wrong


def check_files(by_tool, skipped):
    """What the tools find wrong, each started once for all its files: starting them is most of the time."""
    wrong = []
    for tool, paths in sorted(by_tool.items()):
        reason = tools.why_missing(tool)
        if reason:
            skipped.add(f"{tool}: {reason}")
        else:
            for first in range(0, len(paths), AT_ONCE):
                wrong += [f"[{tool}] {line}" for line in tools.TOOLS[tool][1](paths[first : first + AT_ONCE])]
    return wrong


def check_directory(target, folder, files, skipped):
    by_tool = {}
    return assign(target, folder, files, by_tool) + check_files(by_tool, skipped)


def check_plan(options, name, words, work, skipped):
    """(rendered?, what is wrong)"""
    path = work / f"{name}.json"
    if words[0].startswith("@"):
        path.write_bytes((tools.ROOT / words[0][1:]).read_bytes())
    else:
        code, plan, said = run(options.binary, ["plan", *words, "--json"])
        if code != 0:
            return False, [f"trainyard plan: exit {code}: {said}"]
        path.write_bytes(plan)
    for half in ("one", "two"):
        (work / half).mkdir(exist_ok=True)
    code, said, files = render(options.binary, options.target, path, work / "one" / name)
    if code != 0:
        return False, check_refusal(code, said)
    again = render(options.binary, options.target, path, work / "two" / name)[2]
    if again != files:
        return True, ["two renderings of the same plan differ"]
    return True, check_directory(options.target, work / "one" / name, files, skipped)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--target", required=True)
    parser.add_argument("plans", nargs="*")
    options = parser.parse_args()
    reason = tools.why_missing("none")
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    plans = {name: words for name, *words in map(shlex.split, lines_of("plans.txt"))}
    rendered = failed = 0
    skipped = set()
    with tempfile.TemporaryDirectory() as folder:
        for name in options.plans or plans:
            done, wrong = check_plan(options, name, plans[name], pathlib.Path(folder), skipped)
            rendered += done
            failed += bool(wrong)
            print(f"{name}: {'rendered' if done else 'refused'}, {len(wrong)} wrong")
            for line in wrong:
                print(f"    {line}")
    for line in sorted(skipped):
        print(f"skipped: {line}")
    print(f"{options.target}: {rendered} rendered, {failed} failed")
    if failed or not rendered:
        return 1
    return SKIPPED if skipped else 0


if __name__ == "__main__":
    sys.exit(main())
