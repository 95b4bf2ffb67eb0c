"""Renders plans and reads the files back with the parsers that will read them: json, yaml, ast, bash."""

import ast
import base64
import functools
import json
import os
import pathlib
import re
import shlex
import subprocess

try:
    import yaml
except ImportError:
    yaml = None

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FIXED = {"NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
ANSWERED = 0
REFUSED = 3


def run(binary, words, stdin=b""):
    kept = {k: os.environ[k] for k in ("PATH", "HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS") if k in os.environ}
    done = subprocess.run(
        [binary, *words], cwd=ROOT, env={**kept, **FIXED}, input=stdin, capture_output=True, timeout=120, check=False
    )
    return done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def targets():
    text = (ROOT / "src/render/include/trainyard/render/targets.def").read_text(encoding="utf-8")
    return re.findall(r'^TRAINYARD_TARGET\([^"]*"([^"]+)"', text, re.MULTILINE)


def render(binary, plan, target, options=()):
    """(exit code, {path: text}, what was said); no directory is written."""
    code, out, said = run(binary, ["render", "-", "--target", target, "--json", *options], plan)
    if code != ANSWERED:
        return code, {}, said
    return code, {f["path"]: f["content"] for f in json.loads(out)["files"]}, said


def unique(pairs):
    if len({k for k, _ in pairs}) != len(pairs):
        raise ValueError("a key stands twice")
    return dict(pairs)


def parse_shell(text):
    """The words of a script; bash itself decides whether it is one."""
    done = subprocess.run(["bash", "-n"], input=text.encode(), capture_output=True, check=False)
    if done.returncode or done.stderr:
        raise ValueError(done.stderr.decode("utf-8", "replace"))
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    return list(lexer)


def opened(value):
    """Scripts inside requests, read as scripts."""
    if isinstance(value, dict):
        return {k: parse_shell(base64.b64decode(v).decode()) if k == "UserData" else opened(v) for k, v in value.items()}
    return [opened(v) for v in value] if isinstance(value, list) else value


def tree(node):
    """A syntax tree as maps: names are in the keys, the only texts among the values are the literals."""
    if isinstance(node, list):
        return [tree(n) for n in node]
    if not isinstance(node, ast.AST):
        return None if node is None else f"{node!r}"
    if isinstance(node, ast.Constant):
        return {f"literal {type(node.value).__name__}": node.value}
    fields = dict(ast.iter_fields(node))
    names = " ".join(f"{k}={v}" for k, v in fields.items() if isinstance(v, (str, int)))
    rest = {k: tree(v) for k, v in fields.items() if isinstance(v, (ast.AST, list))}
    return {f"{type(node).__name__} {names}": rest}


def parse_python(text):
    compile(text, "rendered.py", "exec")
    return tree(ast.parse(text))


def parse_markdown(text):
    """Fences and headings: the skeleton that no string may change."""
    lines = text.splitlines()
    return [line if line.startswith("```") else line.split(":")[0] for line in lines if line.startswith(("```", "## "))]


@functools.lru_cache(maxsize=4096)
def parse_kind(kind, text):
    if kind == "json":
        return opened(json.loads(text, object_pairs_hook=unique))
    if kind in ("yaml", "yml"):
        return list(yaml.safe_load_all(text)) if yaml else None
    if kind == "py":
        return parse_python(text)
    if kind in ("sh", "sbatch", "env", "bash"):
        return parse_shell(text)
    if kind == "md":
        return parse_markdown(text)
    return text.splitlines()


def parse(path, text):
    """What a file says, as values that can be compared and must not be changed; ValueError and the like if it is none of
    its kind. Most files of two renderings are the same text: it is read once."""
    return parse_kind(path.rsplit(".", 1)[-1], text)


def unreadable(files):
    """One line for each file that its parser refuses."""
    wrong = []
    for path, text in sorted(files.items()):
        try:
            parse(path, text)
        except Exception as error:
            wrong.append(f"{path}: {type(error).__name__}: {str(error)[:200]}")
    return wrong
