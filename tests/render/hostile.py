#!/usr/bin/python3
"""Hostile text in a plan and on the command line: for every target it is refused, or it arrives as data and nothing else
changes.

Proof for a string S that may stand in the file unchanged (an S3 prefix): parse(file rendered with S) equals parse(file
rendered with a plain mark) in which the mark was replaced by S. For text that a target makes legal first (the plan's
name, its free text): the parsed files have the same shape as with a plain name.

usage: hostile.py --binary PATH [--plan FILE ...]
"""

import argparse
import concurrent.futures
import functools
import json
import os
import re
import sys

import rendering

MARK = "plainmark"
# Kubernetes expands "$(NAME)" in commands and environments and reads "$$" as "$".
EXPANDED = ("eks", "hyperpod")
PLANS = sorted((rendering.ROOT / "fuzz" / "corpus" / "render").glob("[!bh]*.json"))

PRINTABLE = [
    "$(touch canary)", "`touch canary`", "';touch canary;'", '";touch canary;"', '"+__import__("os").system("x")+"',
    "%{x}", "%s%n", "${HOME}", "$HOME", "!!python/object:os.system", "!!binary", "*alias", "&anchor", "-rf", "--help",
    "-", "a:b", "a:", "#a", "{{a}}", "${{a}}", "{a}", "[a]", "<<EOF", "PYTHON", "\\", "\\\\", "a\\", "'", '"', "''",
    '""', "|", ">", "|&", "&&", ";", "(", ")", "<(x)", "~", "~root", "null", "true", "1e3", "0x1f", "=1+1", "@file",
    "a/../../b", "*", "?", "[a-z]", "<script>", "&amp;", "]]>", "a,b", "x=1", "%0a", "^", "!", "!!", "!1",
]  # fmt: skip
WITH_SPACE = [s.replace("canary", " canary ") for s in PRINTABLE[:4]] + [
    "a b", "a: b", "- a", "a # b", "key: |\n  x", "\n", "a\nb", "a\r\nb", "\t", "a\nPYTHON\nb", "a\nEOF\nb",
    "\n#SBATCH --wrap=x", "a\n---\nb", "\x00", "a\x00b", "\x1b[31m", "\x7f", "\x85", "\u2028", "\u202e", "\ufeff",
    "\u00e9\u6f22\U0001f642", "x" * 300, "\u6f22" * 300, "", " ", "```\n## x\n", "```", "| a | b |", "## Start",
]  # fmt: skip


def replaced(value, old, new):
    if isinstance(value, str):
        return value.replace(old, new)
    if isinstance(value, dict):
        return {replaced(k, old, new): replaced(v, old, new) for k, v in value.items()}
    return [replaced(v, old, new) for v in value] if isinstance(value, list) else value


def iam_literal(text):
    return re.sub(r"([*?$])", r"${\1}", text)


def shape(value):
    """Keys, lengths and kinds; every text is the same text."""
    if isinstance(value, dict):
        return {k: shape(v) for k, v in value.items()}
    return [shape(v) for v in value] if isinstance(value, list) else type(value).__name__


def parsed(files):
    return {path: rendering.parse(path, text) for path, text in files.items()}


def parsed_shape(files):
    return {path: v if path.endswith(".md") else shape(v) for path, v in parsed(files).items()}


class Test:
    def __init__(self, binary):
        self.binary = binary
        self.failures = []
        self.arrived = self.refused = 0

    @functools.lru_cache(maxsize=None)
    def plain_files(self, target, plan, options=()):
        """A rendering with plain text, made once."""
        return rendering.render(self.binary, plan, target, options)[1]

    def fail(self, target, what, text, line):
        self.failures.append(f"{target}: {what} {text!r}: {line}")

    def rendered(self, target, what, text, plan, options):
        """The files, or None where they were refused properly."""
        code, files, said = rendering.render(self.binary, plan, target, options)
        if code == rendering.ANSWERED:
            return files
        if code not in (2, rendering.REFUSED) or "error:" not in said:
            self.fail(target, what, text, f"exit {code}: {said[:300]}")
        self.refused += 1
        return None

    def prefix(self, target, plan, text):
        what = "--checkpoint"
        plain = self.plain_files(target, plan, ("--checkpoint", f"s3://bucket/{MARK}"))
        if not plain:
            return
        files = self.rendered(target, what, text, plan, ["--checkpoint", f"s3://bucket/{text}"])
        if files is None:
            return
        self.arrived += 1
        try:
            got = parsed(files)
        except Exception as error:
            self.fail(target, what, text, f"{type(error).__name__}: {error}")
            return
        for path, value in parsed(plain).items():
            if path.endswith(".md"):
                expected = value
            else:
                written = iam_literal(text) if "policy" in path else text
                if path.endswith(".yaml") and target in EXPANDED:
                    written = text.replace("$", "$$")
                expected = replaced(value, MARK, written)
            if got.get(path) != expected:
                self.fail(target, what, text, f"{path} is not what the plain one is with the text in it")

    def free_text(self, target, plan, text):
        def with_text(value):
            root = json.loads(plan)
            root.update(name=value, job=value or "j", verdict=value or "v")
            root["chosen"]["offer"]["rate_provenance"].update(source=value or "s", as_of=value or "a")
            for item in root["chosen"].get("bill", {}).get("items", []):
                item.update(name=value or "i", detail=value or "d")
            return json.dumps(root).encode()

        plain = self.plain_files(target, with_text(MARK))
        files = self.rendered(target, "name", text, with_text(text), [])
        if files is None or not plain:
            return
        self.arrived += 1
        try:
            got, expected = parsed_shape(files), parsed_shape(plain)
            if got != expected:
                wrong = [p for p, s in expected.items() if got.get(p) != s]
                self.fail(target, "name", text, f"{wrong} has another shape than with a plain name")
        except Exception as error:
            self.fail(target, "name", text, f"{type(error).__name__}: {error}")

    def job_name(self, target, plan, text):
        """A name that the user types is taken as it is or refused."""
        files = self.rendered(target, "--job-name", text, plan, [f"--job-name={text}"])
        if files is None:
            return
        self.arrived += 1
        if not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9-]*", text):
            self.fail(target, "--job-name", text, "was accepted")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--plan", action="append")
    options = parser.parse_args()
    test = Test(options.binary)
    plans = [open(p, "rb").read() for p in options.plan or PLANS]
    work = []
    for number, target in enumerate(rendering.targets()):
        accepted = [p for p in plans if rendering.render(options.binary, p, target)[0] == rendering.ANSWERED]
        if not accepted:
            test.fail(target, "plan", "", "no plan of the corpus is accepted")
            continue
        for i, text in enumerate(PRINTABLE + WITH_SPACE):
            plan = accepted[(i + number) % len(accepted)]
            if text and "\x00" not in text:  # no command line can hold a NUL
                work += [(test.prefix, target, plan, text), (test.job_name, target, plan, text)]
            work.append((test.free_text, target, plan, text))
    # The binary does most of the work, in processes of its own.
    with concurrent.futures.ThreadPoolExecutor(max_workers=2 * (os.cpu_count() or 1)) as pool:
        for done in [pool.submit(*item) for item in work]:
            done.result()
    for line in test.failures:
        print(line)
    print(f"{test.arrived} arrived as data, {test.refused} refused, {len(test.failures)} failures")
    return 1 if test.failures or not test.arrived else 0


if __name__ == "__main__":
    sys.exit(main())
