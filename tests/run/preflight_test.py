#!/usr/bin/env python3
"""`trainyard preflight` on this machine: what it finds must be so.

usage: tests/run/preflight_test.py --binary PATH [CASE ...]
"""

import json
import os
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import expect, main  # noqa: E402


def checks(run, *options, code=0):
    done = subprocess.run([run.binary, "preflight", "--json", *options], capture_output=True, text=True, check=False,
                          env=run.environment(), cwd=run.work, timeout=60)
    expect(done.returncode == code, f"exit {done.returncode}, not {code}: {done.stderr}")
    found = json.loads(done.stdout)
    expect(found["schema"] == "trainyard.preflight", found["schema"])
    return {c["check"]: c for c in found["checks"]}


def case_preflight_port(run):
    with socket.create_server(("0.0.0.0", 0)) as server:
        port = server.getsockname()[1]
        found = checks(run, "--port", str(port), "--fail-on", "failed", code=1)
        expect(found["port"]["level"] == "failed", f"{found['port']}")
    expect(checks(run, "--port", str(port))["port"]["level"] == "ok", "free again")


def case_preflight_disk(run):
    free = os.statvfs(run.work)
    expect(checks(run, "--disk", "1MB")["disk"]["level"] == "ok", "a megabyte")
    more = free.f_bavail * free.f_frsize // 10**9 + 1000
    # The directory need not be there yet.
    found = checks(run, "--disk", f"{more}GB", "--checkpoint-dir", "a/b/c")
    expect(found["disk"]["level"] == "failed", f"{found['disk']}")


def case_preflight_store(run):
    (run.work / "store").mkdir()
    expect(checks(run, "--store", "store")["store"]["level"] == "ok", "an empty one")
    expect("store" not in checks(run), "only when it is named")


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
