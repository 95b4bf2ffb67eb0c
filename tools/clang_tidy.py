#!/usr/bin/python3
"""clang-tidy-19 over our sources, in parallel.

usage: tools/clang_tidy.py [FILE ...]

A file is checked again only when it, one of our headers that it includes, its flags or .clang-tidy changed since it was
last clean; the marks lie in build/tidy/clean. Tests are left out: gtest's macros are not ours to tidy.
"""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "tidy"
CLEAN = BUILD / "clean"


def parts(path):
    """Our files that a unit compiles: itself, or what CMake joined in a unity file."""
    if "Unity" in path.parts:
        return [pathlib.Path(name) for name in re.findall(r'^#include "(.*)"', path.read_text(), re.MULTILINE)]
    return [path]


def entries(wanted):
    database = json.loads((BUILD / "compile_commands.json").read_text())
    for entry in database:
        path = pathlib.Path(entry["file"])
        names = [p.relative_to(ROOT).as_posix() for p in parts(path) if p.is_relative_to(ROOT / "src")]
        if not names or path.name.endswith("_test.cpp"):
            continue
        if not wanted or wanted.intersection(names):
            yield path, shlex.split(entry["command"])


def key(path, command):
    """Hash of everything of ours that clang-tidy would read for this file."""
    flags = [word for word in command[1:] if word not in ("-c", str(path))]
    if "-o" in flags:
        at = flags.index("-o")
        del flags[at : at + 2]
    listed = subprocess.run(
        [command[0], *flags, "-MM", str(path)], capture_output=True, text=True, check=True
    ).stdout
    files = sorted(set(listed.replace("\\\n", " ").split()[1:]))
    digest = hashlib.sha256((ROOT / ".clang-tidy").read_bytes() + "\0".join(flags).encode())
    for file in files:
        digest.update(pathlib.Path(file).read_bytes())
    return digest.hexdigest()


def tidy(path, command):
    try:
        mark = CLEAN / key(path, command)
    except subprocess.CalledProcessError as failure:
        return f"{path.relative_to(ROOT)}: does not preprocess\n{failure.stderr}"
    if mark.exists():
        return ""
    done = subprocess.run(
        ["clang-tidy-19", "--quiet", "-p", str(BUILD), str(path)],
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 0:
        mark.touch()
        return ""
    return done.stdout + (done.stderr if not done.stdout else "")


def main():
    wanted = {pathlib.Path(name).resolve().relative_to(ROOT).as_posix() for name in sys.argv[1:]}
    subprocess.run(
        ["cmake", "--preset", "tidy"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL
    )
    CLEAN.mkdir(parents=True, exist_ok=True)
    work = list(entries(wanted))
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for complaint in pool.map(lambda one: tidy(*one), work):
            if complaint:
                failed += 1
                print(complaint, flush=True)
    print(f"clang-tidy: {len(work)} files, {failed} with findings")
    return 1 if failed else 0


sys.exit(main())
