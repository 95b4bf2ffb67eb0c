#!/usr/bin/python3
"""`trainyard store` on servers of others: Ceph's radosgw and versitygw, which verify signatures as AWS does.

usage: tests/peers/store_servers.py --binary PATH --server radosgw|versitygw|torch

A checkpoint with odd names and one in parts is put, killed in between, put again (only what is missing goes), verified,
restored, pruned; every object is read back by botocore and compared. torch: real checkpoints of PyTorch are told whole
and, cut by one byte, not whole. Skipped without TRAINYARD_PEERS=1 or without the server.
"""

import argparse
import contextlib
import json
import os
import pathlib
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import xml.etree.ElementTree as tree

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path.insert(0, str(HERE))
sys.path.insert(0, str(ROOT / "tests" / "support"))
from signed import ACCESS, SECRET, request  # noqa: E402
from tools import PEERS, python_of  # noqa: E402

SKIPPED = 77
S3 = "{http://s3.amazonaws.com/doc/2006-03-01/}"
ENV = {**os.environ, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1"}
READ_BACK = """
import json, sys, zlib, botocore.session
client = botocore.session.Session().create_client("s3", endpoint_url=sys.argv[1], region_name="us-east-1")
for line in sys.stdin:
    key, path = json.loads(line)
    if client.get_object(Bucket="bkt1", Key=key)["Body"].read() != open(path, "rb").read():
        sys.exit(f"{key} is not {path}")
"""


class Skip(Exception):
    pass


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


@contextlib.contextmanager
def radosgw():
    server = subprocess.Popen([sys.executable, ROOT / "tests/support/radosgw.py"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    port = server.stdout.readline().strip()
    try:
        if not port:
            raise Skip("radosgw is not installed or does not start")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.stdin.close()
        server.wait()


@contextlib.contextmanager
def versitygw():
    program = PEERS / "versitygw"
    if not program.exists():
        missing = PEERS / "versitygw.missing"
        raise Skip(missing.read_text().strip() if missing.exists() else "versitygw is not installed (tools/install_peers)")
    port = free_port()
    with tempfile.TemporaryDirectory() as data:
        env = {**ENV, "ROOT_ACCESS_KEY": ACCESS, "ROOT_SECRET_KEY": SECRET}
        server = subprocess.Popen([program, "--port", f"127.0.0.1:{port}", "--region", "us-east-1", "posix", data], env=env,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)  # fmt: skip
        try:
            endpoint = f"http://127.0.0.1:{port}"
            for _ in range(100):
                with contextlib.suppress(urllib.error.URLError, ConnectionError):
                    request(endpoint, "PUT", "/bkt1", "")
                    break
                time.sleep(0.1)
            yield endpoint
        finally:
            server.kill()
            server.wait()


def store(binary, *words, code=0):
    done = subprocess.run([binary, "store", *map(str, words), "--json"], capture_output=True, text=True, env=ENV,
                          timeout=300, check=False)  # fmt: skip
    if done.returncode != code:
        raise SystemExit(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout) if done.stdout else done.stderr


def open_uploads(endpoint):
    return len(list(tree.fromstring(request(endpoint, "GET", "/bkt1", "uploads=")).iter(S3 + "Upload")))


def read_back(endpoint, made, place):
    """Every object that the manifests name, by another client."""
    python = python_of("venv")
    if not pathlib.Path(python).exists():
        print("botocore is not installed: objects are not read back by it")
        return 0
    listing = tree.fromstring(request(endpoint, "GET", "/bkt1", "list-type=2&max-keys=1000"))
    lines = []
    for key in [k.text for k in listing.iter(S3 + "Key")]:
        if not key.startswith(place + "/manifests/"):
            continue
        for line in request(endpoint, "GET", "/bkt1/" + key, "").decode().splitlines():
            file = json.loads(line)
            if "path" in file:
                path = file["path"].replace("%25", "%").replace("%0A", "\n")
                lines.append(json.dumps([f"{place}/{file['object']}", str(made / path)]))
    done = subprocess.run([python, "-c", READ_BACK, endpoint], input="\n".join(lines), text=True, env=ENV, check=False)
    if done.returncode != 0:
        raise SystemExit("another client reads other bytes")
    return len(lines)


def on_server(binary, endpoint, base):
    made = base / "step_7"
    made.mkdir()
    for name in ("a b", "\u00e4", "%41", "x\ny", "q'\"", "+=&:@,;", "empty"):
        (made / name).write_bytes(b"" if name == "empty" else name.encode() * 9)
    (made / "model.bin").write_bytes(random.Random(7).randbytes(200_000_000))
    to = ("--endpoint-url", endpoint, "--part-size", "5MiB", "--jobs", "4")
    words = ("put", made, "s3://bkt1/run", "--quiet-period", "0s", *to)
    first = subprocess.Popen([binary, "store", *map(str, words)], env=ENV, stdout=subprocess.DEVNULL)
    deadline = time.time() + 60
    # Killed once some parts are there: an upload is listed from its start.
    while time.time() < deadline and first.poll() is None and open_uploads(endpoint) == 0:
        time.sleep(0.02)
    time.sleep(0.3)
    first.kill()
    first.wait()
    again = store(binary, *words)
    if not again["committed"] or (not again["was_there"] and again["sent_bytes"] + again["resumed_bytes"] != again["bytes"]):
        raise SystemExit(f"not resumed: {again}")
    if open_uploads(endpoint):
        raise SystemExit("an upload is left open")
    if not store(binary, "verify", "s3://bkt1/run", *to)["sound"]:
        raise SystemExit("not sound")
    store(binary, "get", "s3://bkt1/run", base / "out", *to)
    if subprocess.run(["diff", "-r", made, base / "out"], check=False).returncode:
        raise SystemExit("restored bytes differ")
    objects = read_back(endpoint, made, "run")
    made.rename(base / "step_8")
    (base / "step_8" / "more").write_bytes(b"more")
    more = store(binary, "put", base / "step_8", "s3://bkt1/run", "--quiet-period", "0s", *to)
    if more["sent_bytes"] != 4:
        raise SystemExit(f"unchanged files were sent: {more}")
    pruned = store(binary, "prune", "s3://bkt1/run", "--keep-last", "1", "--keep-verified", "0", *to)
    if len(pruned["removed"]) != 1 or not store(binary, "verify", "s3://bkt1/run", *to)["sound"]:
        raise SystemExit(f"prune: {pruned}")
    print(f"resumed {again['resumed_bytes']} of {again['bytes']} bytes after SIGKILL; {objects} objects read by botocore")


def with_torch(binary, base):
    done = subprocess.run(["/usr/bin/python3", HERE / "torch_checkpoints.py", base, str(free_port())],
                          capture_output=True, text=True, check=False)  # fmt: skip
    if done.returncode == SKIPPED:
        raise Skip("no PyTorch (python3-torch): " + done.stdout.strip())
    if done.returncode != 0:
        raise SystemExit(done.stdout + done.stderr)
    whole = ("--quiet-period", "0s")
    for step in (10, 20):
        made = base / f"step_{step}"
        files = [f for f in made.iterdir() if f.name != ".metadata"]
        if not store(binary, "put", made, base / "store", *whole)["committed"]:
            raise SystemExit(f"{made} was not told whole")
        for file in files:
            cut = base / f"cut_{step}"
            shutil.copytree(made, cut)
            os.truncate(cut / file.name, file.stat().st_size - 1)
            if "not a complete" not in store(binary, "put", cut, base / "store", *whole, code=3):
                raise SystemExit(f"{file} without its last byte was told whole")
            shutil.rmtree(cut)
    layouts = [c["layout"] for c in store(binary, "ls", base / "store")["checkpoints"]]
    if layouts != ["dcp", "torch"]:
        raise SystemExit(f"layouts: {layouts}")
    print("PyTorch's own: told whole, and each file without its last byte not whole")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--server", required=True, choices=("radosgw", "versitygw", "torch"))
    options = parser.parse_args()
    if os.environ.get("TRAINYARD_PEERS") != "1":
        print("skipped: TRAINYARD_PEERS is not 1")
        return SKIPPED
    binary = str(pathlib.Path(options.binary).resolve())
    try:
        with tempfile.TemporaryDirectory() as base:
            if options.server == "torch":
                with_torch(binary, pathlib.Path(base))
                return 0
            with {"radosgw": radosgw, "versitygw": versitygw}[options.server]() as endpoint:
                on_server(binary, endpoint, pathlib.Path(base))
    except Skip as reason:
        print(f"skipped: {reason}")
        return SKIPPED
    return 0


if __name__ == "__main__":
    sys.exit(main())
