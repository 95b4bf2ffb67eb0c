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


def checks(run, *options, code=0, all_reduce=False):
    more = [] if all_reduce else ["--no-all-reduce"]
    done = subprocess.run([run.binary, "preflight", "--json", *more, *options], capture_output=True, text=True, check=False,
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


def program(run, name, *lines, code=0):
    """A stand-in on PATH that prints so and ends so."""
    (run.work / "bin").mkdir(exist_ok=True)
    text = "".join(f"echo '{line}'\n" for line in lines)
    (run.work / "bin" / name).write_text(f"#!/bin/sh\n{text}exit {code}\n", encoding="utf-8")
    (run.work / "bin" / name).chmod(0o755)
    run.env["PATH"] = f"{run.work}/bin:{os.environ['PATH']}"


def case_preflight_driver(run):
    """Eight GPUs of eight; seven; a driver that does not answer, in its own words."""
    h100 = "NVIDIA H100 80GB HBM3, 570.86.15"
    program(run, "nvidia-smi", *[h100] * 8)
    found = checks(run, "--instance", "p5.48xlarge")["accelerators"]
    expect(found["level"] == "ok" and "8 x NVIDIA H100" in found["text"] and "570.86.15" in found["text"], f"{found}")
    program(run, "nvidia-smi", *[h100] * 7)
    found = checks(run, "--instance", "p5.48xlarge")["accelerators"]
    expect(found["level"] == "failed" and "1 lost" in found["text"], f"{found}")
    mismatch = "Failed to initialize NVML: Driver/library version mismatch"
    program(run, "nvidia-smi", mismatch, code=18)
    found = checks(run, "--instance", "p5.48xlarge")["accelerators"]
    expect(found["level"] == "failed" and found["text"].startswith(mismatch), f"{found}")


def nccl_tests(run, rate):
    program(run, "all_reduce_perf",
            "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong",
            "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)",
            f"   268435456      67108864     float     sum      -1   1108.3  242.21  {rate}      0   1105.2  242.88  425.04      0")


def case_preflight_nccl_tests(run):
    program(run, "nvidia-smi", *["NVIDIA H100 80GB HBM3, 570.86.15"] * 8)
    nccl_tests(run, 423.87)
    found = checks(run, "--instance", "p5.48xlarge", all_reduce=True)["all-reduce"]
    expect(found["level"] == "ok" and "424 GB/s (nccl-tests, 8 ranks" in found["text"], f"{found}")
    expect("expected of p5.48xlarge" in found["text"], f"{found}")
    nccl_tests(run, 12.5)
    found = checks(run, "--instance", "p5.48xlarge", all_reduce=True)["all-reduce"]
    expect(found["level"] == "warning" and "12.5 GB/s" in found["text"], f"{found}")
    program(run, "all_reduce_perf", "h1: Test NCCL failure common.cu:958", code=3)
    found = checks(run, "--instance", "p5.48xlarge", all_reduce=True)["all-reduce"]
    expect(found["level"] == "failed" and "ended with 3: h1: Test NCCL failure" in found["text"], f"{found}")


def case_preflight_all_reduce_skipped(run):
    found = checks(run, "--python", "no-such-python", "--fail-on", "failed", all_reduce=True)["all-reduce"]
    expect(found["level"] == "skipped" and "no-such-python" in found["text"], f"{found}")
    program(run, "python-that-crashes", code=9)
    found = checks(run, "--python", "python-that-crashes", all_reduce=True)["all-reduce"]
    expect(found["level"] == "failed" and "ended with 9" in found["text"], f"{found}")


def case_preflight_torch(run):
    """Real PyTorch: Gloo between two processes."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode != 0:
        print("skipped: apt-get install python3-torch")
        sys.exit(77)
    found = checks(run, "--python", python, all_reduce=True)["all-reduce"]
    expect(found["level"] == "ok" and "Gloo of PyTorch" in found["text"], f"{found}")
    expect(float(found["text"].split()[2]) > 0, f"{found}")


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
