#!/usr/bin/python3
"""Each tool of tools.py takes a right file and finds the mistake in a wrong one: a tool that never complains proves nothing."""

import pathlib
import sys
import tempfile

import tools

NODE_POOL = """
apiVersion: karpenter.sh/v1
kind: NodePool
metadata: {name: a}
spec:
  template:
    spec:
      nodeClassRef: {group: karpenter.k8s.aws, kind: EC2NodeClass, name: a}
      requirements:
        - {key: karpenter.sh/capacity-type, operator: In, values: [spot]}
"""
CLAIM = """
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: a}
spec:
  accessModes: [ReadWriteMany]
  resources: {requests: {storage: 1Gi}}
"""
SCRIPTS = """
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
data:
  run.sh: |
    #!/bin/bash
    if true; then echo; fi
"""
CLUSTER = """
Image: {Os: ubuntu2204}
HeadNode: {InstanceType: c7i.2xlarge, Networking: {SubnetId: subnet-0000000000000000a}}
Scheduling:
  Scheduler: slurm
  SlurmQueues:
    - Name: q
      Networking: {SubnetIds: [subnet-0000000000000000b]}
      ComputeResources: [{Name: c, InstanceType: p5.48xlarge}]
"""
TASK = """
resources: {infra: aws/us-east-1, instance_type: p5.48xlarge}
num_nodes: 2
run: echo hello
"""
BUCKET = """
Resources:
  Bucket:
    Type: AWS::S3::Bucket
    Properties: {BucketName: a-bucket}
"""
POLICY = """
{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "arn:aws:s3:::a/object/*"}]}
"""
# tool, file name, right text, what makes it wrong: (old, new), …
CASES = [
    ("bash", "a.sh", "if true; then echo; fi\n", [("fi", "done"), ("; fi", "")]),
    ("python", "a.py", "print(1)\n", [("(1)", "(1")]),
    ("json", "a.json", '{"a": 1}\n', [("1", "")]),
    ("yaml", "a.yaml", "a: 1\n", [("a: 1", "a: [1"), ("a: 1", "")]),
    ("aws-request", "sqs.create-queue.json", '{"QueueName": "a"}\n', [("QueueName", "Name"), ('"a"', "1")]),
    ("iam-policy", "policy-a.json", POLICY, [("GetObject", "GetObjekt"), ("arn:aws:s3:::a/object/*", "arn:aws:sqs:::a"), ("Allow", "Alow")]),
    ("cfn-lint", "a.template.yaml", BUCKET, [("BucketName", "Bucket"), ("AWS::S3::Bucket", "AWS::S3::Pail")]),
    ("pcluster", "cluster.yaml", CLUSTER, [("ubuntu2204", "beos"), ("SubnetIds", "Subnets"), ("subnet-00", "subnet-x"),
     # EFA without a word on the placement group: the schema takes it, a validator does not.
     ("48xlarge}", "48xlarge, Efa: {Enabled: true}}")]),
    ("skypilot", "task.yaml", TASK, [("num_nodes", "nodes"), ("instance_type", "instance"), ("aws/", "moon/")]),
    # Unknown field, schema, and a rule in CEL that only the API server's code evaluates.
    ("kubernetes", "pool.yaml", NODE_POOL, [("values:", "vals:"), ("group: k", "grp: k"), ("[spot]", "[]")]),
    ("kubernetes", "scripts.yaml", SCRIPTS, [("fi", "done"), ("#!/bin/bash", "#")]),
    ("kubernetes", "claim.yaml", CLAIM, [("requests", "request"), ("1Gi", "1Gigabyte"), ("Claim\n", "Clam\n")]),
]


def main():
    reasons = set()
    failed = passed = 0
    with tempfile.TemporaryDirectory() as folder:
        for tool, name, right, mistakes in CASES:
            reason = tools.why_missing(tool)
            if reason:
                reasons.add(reason)
                continue
            path = pathlib.Path(folder) / name
            texts = [(right, False)] + [(right.replace(old, new, 1), True) for old, new in mistakes]
            for text, is_wrong in texts:
                path.write_text(text, encoding="utf-8")
                said = tools.TOOLS[tool][1]([path])
                if bool(said) == is_wrong and (text != right or not is_wrong):
                    passed += 1
                    continue
                failed += 1
                print(f"{tool} on\n{text}\nsaid {said}, expected {'a complaint' if is_wrong else 'nothing'}")
    for reason in sorted(reasons):
        print(f"skipped: {reason}")
    print(f"{passed} passed, {failed} failed")
    if failed:
        return 1
    return 77 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
