#!/usr/bin/env python3
"""Run rendered launch.py files on the real SageMaker Python SDK with every AWS call answered here, and compare the
CreateTrainingJob that the SDK sends with the JSON request beside the script.

usage: sagemaker_sdk.py DIRECTORY/launch.py ...

The SDK checks the role before it starts: it is given the trust policy of iam/iam.create-role.json. Nothing leaves the
machine. Exit: 0 equal, 1 not, 77 the SDK is missing.
"""

import json
import os
import pathlib
import runpy
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
ACCOUNT = "123456789012"
# What the SDK adds by itself: its own driver channels, entry point and a name with the time.
OWN_KEYS = ("TrainingJobName", "AlgorithmSpecification", "InputDataConfig", "HyperParameters")


def answers(folder, calls):
    """A stand-in for every call of botocore."""
    trust = json.loads((folder / "iam" / "iam.create-role.json").read_text())["AssumeRolePolicyDocument"]

    def call(client, operation, body):
        calls.append((operation, body))
        if operation == "GetCallerIdentity":
            return {"Account": ACCOUNT, "Arn": f"arn:aws:iam::{ACCOUNT}:user/a", "UserId": "a"}
        if operation == "GetRole":
            arn = f"arn:aws:iam::{ACCOUNT}:role/{body['RoleName']}"
            return {"Role": {"Arn": arn, "RoleName": body["RoleName"], "AssumeRolePolicyDocument": json.loads(trust)}}
        if operation == "ListBuckets":
            return {"Buckets": []}
        if operation == "CreateTrainingJob":
            return {"TrainingJobArn": f"arn:aws:sagemaker:us-east-1:{ACCOUNT}:training-job/a"}
        if operation == "DescribeTrainingJob":
            return {"TrainingJobName": "a", "TrainingJobArn": "a", "TrainingJobStatus": "InProgress"}
        return {}

    return call


def sent_by(script):
    """The body of CreateTrainingJob; runs in a process of its own, because the SDK keeps clients in globals."""
    os.environ.update(
        AWS_ACCESS_KEY_ID="a",
        AWS_SECRET_ACCESS_KEY="a",
        AWS_DEFAULT_REGION="us-east-1",
        AWS_EC2_METADATA_DISABLED="true",
    )
    import botocore.client
    import requests

    def offline(*_, **__):
        raise requests.ConnectionError("offline")

    requests.sessions.Session.request = offline
    calls = []
    botocore.client.BaseClient._make_api_call = answers(script.parent, calls)
    os.chdir(script.parent)
    sys.argv = [str(script), "--no-wait"]
    runpy.run_path(str(script), run_name="__main__")
    return next(body for operation, body in calls if operation == "CreateTrainingJob")


def comparable(body):
    kept = {key: value for key, value in body.items() if key not in OWN_KEYS}
    kept["image"] = body["AlgorithmSpecification"]["TrainingImage"]
    kept["training"] = [c for c in body["InputDataConfig"] if c["ChannelName"] == "training"]
    kept["EnableManagedSpotTraining"] = body.get("EnableManagedSpotTraining", False)
    return kept


def differences(script):
    with tempfile.TemporaryDirectory() as work:
        folder = pathlib.Path(work) / "rendered"
        shutil.copytree(script.parent, folder)
        done = subprocess.run(
            [sys.executable, __file__, "--one", folder / script.name], capture_output=True, text=True, check=False
        )
    if done.returncode != 0:
        return [done.stderr.strip().splitlines()[-1] if done.stderr.strip() else f"exit {done.returncode}"]
    sent = comparable(json.loads(done.stdout.splitlines()[-1]))
    first = min(script.parent.glob("sagemaker.create-training-job*.json"))
    written = comparable(json.loads(first.read_text(encoding="utf-8")))
    return [
        f"{key}: the SDK sends {sent.get(key)!r}, {first.name} says {written.get(key)!r}"
        for key in sorted(sent.keys() | written.keys())
        if sent.get(key) != written.get(key)
    ]


def main():
    if sys.argv[1:2] == ["--one"]:
        print(json.dumps(sent_by(pathlib.Path(sys.argv[2]).resolve())))
        return 0
    try:
        import sagemaker.train  # noqa: F401
    except ImportError as error:
        print(f"skipped: {error}")
        return SKIPPED
    wrong = 0
    for name in sys.argv[1:]:
        for line in differences(pathlib.Path(name).resolve()):
            wrong += 1
            print(f"{name}: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
