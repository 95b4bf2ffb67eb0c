#!/usr/bin/python3
"""Texts that break readers: `trainyard check` must say one thing about each and end with 0, 1 or 3, never crash or hang.

usage: tests/lint/broken.py --binary PATH
"""

import argparse
import pathlib
import subprocess
import sys
import tempfile

BOMB = "a: &a [x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{c}: &{c} [{', '.join(['*' + p] * 9)}]\n" for p, c in zip("abcdefgh", "bcdefghi")
)
TEXTS = {
    "tab.yaml": b"apiVersion: v1\nkind: Pod\n\tmetadata: x\n",
    "unclosed.yaml": b'apiVersion: v1\nkind: "Pod\n',
    "bomb.yaml": BOMB.encode(),
    "alias.yaml": b"apiVersion: v1\nkind: Pod\nmetadata: *nobody\n",
    "twice.yaml": b"apiVersion: v1\nkind: Pod\nkind: Job\n",
    "deep.yaml": b"a: " + b"[" * 5000 + b"]" * 5000 + b"\n",
    "nul.yaml": b"apiVersion: v1\0kind: Pod\n",
    "binary.json": bytes(range(256)) * 4,
    "latin.yaml": "apiVersion: v1 # \xe9t\xe9\n".encode("latin-1"),
    "cut.json": b'{"TrainingJobName": "x", "ResourceConfig": {',
    "open.tf": b'resource "aws_instance" "x" {\n  ami = "a"\n',
    "helm.yaml": b"apiVersion: v1\nkind: Pod\nspec: {{ .Values.spec }}\n",
    "empty.yaml": b"",
}
# Nothing to say, but nothing to break either.
QUIET = {
    "crlf.yaml": b"apiVersion: v1\r\nkind: Pod\r\nmetadata: {name: x}\r\n",
    "mark.yaml": b"\xef\xbb\xbfapiVersion: v1\nkind: Pod\n",
    "open.py": b"from sagemaker.pytorch import PyTorch\nPyTorch(role='" + b"(" * 9000,
    "deep.py": b"import sagemaker\nx = " + b"[" * 9000 + b"\n",
    "deep.tf": b'resource "a" "b" {\n x = ' + b"[" * 60 + b"]" * 60 + b"\n}\n",
    "open.sh": b"#!/bin/bash\nsrun torchrun --nnodes=$(echo 'x\n",
    "heredoc.sh": b"#!/bin/bash\ncat <<EOF\nnever closed\n",
    "doubling.py": b"import sagemaker\na = [1, 1]\n"
    + b"".join(b"a = [a, a, a, a]\n" for _ in range(60)),
    # Conditions that double 60 times, and two that name each other.
    "doubling-conditions.yaml": b"AWSTemplateFormatVersion: '2010-09-09'\nParameters: {P: {Type: String}}\nConditions:\n"
    + b"".join(b"  C%d: {Fn::And: [{Condition: C%d}, {Condition: C%d}]}\n" % (i, i + 1, i + 1) for i in range(60))
    + b"  C60: {Fn::Equals: [{Ref: P}, x]}\n  A: {Condition: B}\n  B: {Condition: A}\n"
    + b"Resources:\n  T:\n    Type: AWS::EC2::LaunchTemplate\n    Properties:\n      LaunchTemplateData:\n"
    + b"        InstanceType: {Fn::If: [C0, m5.large, m5.xlarge]}\n        ImageId: {Fn::If: [A, a, b]}\n",
}


def run(binary, *paths):
    done = subprocess.run(
        [binary, "check", *map(str, paths)], capture_output=True, text=True, timeout=60, check=False
    )
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{paths}: exit {done.returncode}\n{done.stderr[-2000:]}")
    return done


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = str(pathlib.Path(parser.parse_args().binary).resolve())
    failed = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for file, text in {**TEXTS, **QUIET}.items():
            (folder / file).write_bytes(text)
            done = run(binary, folder / file)
            said = [line for line in done.stderr.splitlines() if not line.startswith("  ")]
            if len(said) != (1 if file in TEXTS else 0):
                failed += 1
                print(f"{file}: said {len(said)} things: {done.stderr[:300]}")
        loop = folder / "loop" / "inner"
        loop.mkdir(parents=True)
        (loop / "back").symlink_to(folder / "loop")
        (loop / "crlf.yaml").write_bytes(QUIET["crlf.yaml"])
        run(binary, folder / "loop")
        run(binary, folder)
    print(f"{len(TEXTS) + len(QUIET)} texts, {failed} not told once")
    return 1 if failed else 0


sys.exit(main())
