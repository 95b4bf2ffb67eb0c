"""The tools that hold rendered files to account: each takes files and returns what it finds wrong, one line each.

They live in build/peers (tools/install_peers); TRAINYARD_PEERS_DIR names another place. Missing: the reason, from why_missing.
"""

import os
import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PEERS = pathlib.Path(os.environ.get("TRAINYARD_PEERS_DIR", ROOT / "build" / "peers"))
TIMEOUT_S = 300


def python_of(part):
    return str(PEERS / part / "bin" / "python")


def complaints_of(words, also_output=False):
    """Lines that a tool printed if it failed; with also_output, if it printed anything at all."""
    done = subprocess.run(
        [str(w) for w in words],
        capture_output=True,
        text=True,
        errors="replace",
        timeout=TIMEOUT_S,
        check=False,
        env={**os.environ, "AWS_DEFAULT_REGION": "us-east-1", "NO_COLOR": "1"},
    )
    said = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()]
    if done.returncode == 0 and not (also_output and said):
        return []
    return said or [f"exit {done.returncode} without a word"]


def each(check):
    return lambda files: [f"{f.name}: {line}" for f in files for line in check(f)]


def kubernetes(files):
    scripts = complaints_of([python_of("venv"), HERE / "configmap_scripts.py", *files])
    return complaints_of([PEERS / "kubecheck", PEERS / "crds", *files]) + scripts


def aws_request(files):
    return complaints_of([python_of("venv"), HERE / "aws_request.py", *files])


def iam_policy(files):
    return complaints_of([python_of("venv"), HERE / "iam_policy.py", *files])


def sagemaker_sdk(files):
    """Beside each script the rendering must hold what the SDK is compared with."""
    return complaints_of([python_of("sagemaker"), HERE / "sagemaker_sdk.py", *files])


def pcluster(files):
    return complaints_of([python_of("venv"), HERE / "pcluster_schema.py", *files])


def skypilot(files):
    return complaints_of([python_of("skypilot"), HERE / "skypilot_task.py", *files])


EACH = """
import json, sys, yaml
wrong = 0
for path in sys.argv[1:]:
    try:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        {check}
    except Exception as error:
        wrong = 1
        print(path + ": " + type(error).__name__ + ": " + " ".join(str(error).split()))
sys.exit(wrong)
"""


def in_venv(check):
    """`check` (a line of Python about `text`) run on each file, in one interpreter; it raises on what is wrong."""
    return lambda files: complaints_of([python_of("venv"), "-c", EACH.format(check=check), *files])


LOAD_YAML = "assert list(yaml.safe_load_all(text))"
LOAD_JSON = "json.loads(text)"
COMPILE = "compile(text, path, 'exec')"

# name: (parts of build/peers it needs, the check)
TOOLS = {
    "none": ([], lambda files: []),
    "bash": ([], each(lambda f: complaints_of(["bash", "-n", f], also_output=True))),
    "python": (["venv"], in_venv(COMPILE)),
    "json": (["venv"], in_venv(LOAD_JSON)),
    "yaml": (["venv"], in_venv(LOAD_YAML)),
    "aws-request": (["venv"], aws_request),
    "iam-policy": (["venv"], iam_policy),
    "sagemaker-sdk": (["sagemaker"], sagemaker_sdk),
    "cfn-lint": (["venv"], lambda files: complaints_of([PEERS / "venv/bin/cfn-lint", "-t", *files])),
    "pcluster": (["venv"], pcluster),
    "skypilot": (["skypilot"], skypilot),
    "kubernetes": (["kubecheck", "crds", "venv"], kubernetes),
}


def why_missing(tool):
    """Why `tool` cannot run here; None if it can."""
    if os.environ.get("TRAINYARD_PEERS") != "1":
        return "TRAINYARD_PEERS is not 1 (./check --peers)"
    for part in TOOLS[tool][0]:
        if not (PEERS / part).exists() or (PEERS / f"{part}.missing").exists():
            reason = PEERS / f"{part}.missing"
            return f"{part} " + (reason.read_text().strip() if reason.exists() else "not installed: tools/install_peers")
    return None
