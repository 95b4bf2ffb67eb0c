#!/usr/bin/python3
"""House rules that a machine can check. Prints each breach as file:line: rule and exits 1 if there is any.

usage: tools/tidy.py [--no-format]
"""

import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 70
MAX_COLUMNS = 100
BANNED_NAMES = {"utils", "util", "common", "helpers", "helper", "misc", "internal"}
# Put together here so that this file does not break its own rule.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X"]) + r")\b")
# A compiler, an interpreter or a person's machine must not show in the product.
PRIVATE_PATH = re.compile(r"(?<![\w.])/(work|home|root)/")
CPP = {".cpp", ".hpp"}
CODE = CPP | {".py", ".cmake", ".sh"}
# A block that starts with one of these is no function body.
CONTROL = re.compile(
    r"^(if|for|while|switch|catch|else|do|try|return|namespace|class|struct|enum|union|extern)\b"
)

breaches = []


def breach(path, line, rule):
    breaches.append(f"{path.relative_to(ROOT)}:{line}: {rule}")


def tracked_files():
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / name for name in listed if (ROOT / name).is_file()]


def without_text(source):
    """Comments, strings and character literals blanked, so that braces count only where they are code."""
    pattern = re.compile(
        r'R"([^(\s]*)\(.*?\)\1"|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'',
        re.S,
    )
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), source)


def opens_function(header):
    """Whether the text before a brace is the head of a function."""
    name = re.sub(r"operator\s*[=<>!]+", "operator", header).split("(")[0]
    name = re.sub(r"<[^()]*>", "", name)
    return ")" in header and not CONTROL.match(header) and "=" not in name


def function_lengths(source):
    """Yields (first line, length) of each outermost function body."""
    text = without_text(source)
    stack = []
    start = 0  # of the text that may be a header
    for at, c in enumerate(text):
        if c == "{":
            if not text[at - 1].isspace():
                stack.append("value")  # member_{1}: the header goes on
                continue
            header = text[start:at].lstrip()
            is_function = not any(isinstance(o, int) for o in stack) and opens_function(header)
            first_line = text.count("\n", 0, at - len(header)) + 1
            stack.append(first_line if is_function else "block")
        elif c == "}" and stack:
            opened = stack.pop()
            if opened == "value":
                continue
            if opened != "block":
                yield opened, text.count("\n", 0, at) + 2 - opened
        if c in ";{}":
            start = at + 1


def check_cpp(path, source):
    lines = source.splitlines()
    for number, line in enumerate(lines, 1):
        if len(line) > MAX_COLUMNS:
            breach(path, number, f"longer than {MAX_COLUMNS} columns")
    for first, length in function_lengths(source):
        if length > MAX_FUNCTION_LINES:
            breach(path, first, f"function of {length} lines, at most {MAX_FUNCTION_LINES}")
    if path.suffix == ".hpp" and "#pragma once" not in source:
        breach(path, 1, "header without #pragma once")


def check_registered(path, cmake_text):
    """Every source is named by a CMakeLists.txt (or globbed there by its prefix)."""
    name = path.name
    if "simulate_*.cpp" in cmake_text and name.startswith("simulate_"):
        return
    if re.search(r"GLOB sources \S+ RELATIVE \S+ \*\.cpp\)", cmake_text):
        return
    if path.parent.name == "rules" and "rules/*.cpp" in cmake_text:
        return
    globbed = re.search(r"command_\*\.cpp", cmake_text) and name.startswith("command_")
    if globbed and not name.endswith("_test.cpp"):
        return
    if re.search(rf"trainyard_fuzz\({name.removesuffix('_fuzz.cpp')} ", cmake_text):
        return
    if not re.search(r"(?<![\w.])" + re.escape(name) + r"(?![\w.])", cmake_text):
        kind = "test" if name.endswith("_test.cpp") else "source"
        breach(path, 1, f"{kind} is in no CMakeLists.txt")


def check_names(path):
    parts = path.relative_to(ROOT).parts
    for part in parts:
        if part.split(".")[0] in BANNED_NAMES:
            breach(path, 1, f'name "{part}" says nothing about what is inside')


def check_format(files):
    result = subprocess.run(
        ["clang-format-19", "--dry-run", "-Werror", *map(str, files)],
        capture_output=True,
        text=True,
        check=False,
    )
    found = {}
    for line in result.stderr.splitlines():
        match = re.match(r"(.*?):(\d+):\d+: error: code should be clang-formatted", line)
        if match:
            found.setdefault(pathlib.Path(match.group(1)), match.group(2))
    for path, line in found.items():
        breach(path, line, "not formatted: clang-format-19 -i")
    if result.returncode != 0 and not found:
        breaches.append(result.stderr)


def main():
    files = tracked_files()
    cpp = [f for f in files if f.suffix in CPP]
    for path in files:
        check_names(path)
        if path.suffix in CODE or path.name in {"CMakeLists.txt", "check", "trainyard"}:
            source = path.read_text(encoding="utf-8")
            lines = source.splitlines()
            if len(lines) > MAX_FILE_LINES:
                breach(path, MAX_FILE_LINES, f"{len(lines)} lines, at most {MAX_FILE_LINES}")
            for number, line in enumerate(lines, 1):
                if UNFINISHED.search(line):
                    breach(path, number, "unfinished work is an issue, not a comment")
                if PRIVATE_PATH.search(line) and path.name != "tidy.py":
                    breach(path, number, "path of one machine")
            if path.suffix in CPP:
                check_cpp(path, source)
    for path in cpp:
        if path.suffix == ".cpp" and path.relative_to(ROOT).parts[0] in {"src", "fuzz", "bench"}:
            module = path.parent.parent if path.parent.name == "rules" else path.parent
            cmake = module / "CMakeLists.txt"
            check_registered(path, cmake.read_text() if cmake.exists() else "")
    if "--no-format" not in sys.argv:
        check_format(cpp)
    for line in breaches:
        print(line)
    print(f"tidy: {len(files)} files, {len(breaches)} breaches")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
