#!/usr/bin/env python3
"""What watching costs, and how soon things are seen: `trainyard run` beside a command that trains.

usage: bench/watching.py --binary PATH [--seconds 30]

Prints the CPU time and the memory of the supervisor and of the process beside the command, and the times from a notice
and from the loss of a rank to the answer. The store is a directory, the metadata service a fake one on loopback.
"""

import argparse
import pathlib
import signal
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.dont_write_bytecode = True
sys.path[:0] = [str(ROOT / "tests" / "run"), str(ROOT / "tests" / "support")]
from fake_imds import FakeImds  # noqa: E402
from harness import Run, kill  # noqa: E402


def cpu_s(pid):
    """CPU seconds of all threads, to the nanosecond."""
    return sum(int((task / "schedstat").read_text(encoding="utf-8").split()[0])
               for task in pathlib.Path(f"/proc/{pid}/task").iterdir()) / 1e9


def memory_mb(pid, key="VmRSS"):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(key):
            return int(line.split()[1]) / 1024
    return 0.0


def begin(binary, work, *trainer, every=20):
    fake = FakeImds()
    run = Run(binary, work, steps=100_000, every=every)
    run.options += ["--imds", fake.url, "--metrics", "0", "--poison-after", "999", "--max-restarts", "999"]
    run.trainer = ["--step-time", "0.5", *trainer]
    run.start()
    run.until_step(2)
    return run, fake


def end(run):
    run.process.send_signal(signal.SIGKILL)
    run.process.wait()
    for pid, _ in run.processes():
        kill(pid)


def idle(binary, work, seconds):
    run, _ = begin(binary, work, every=100_000)
    keeper = next(pid for pid, words in run.processes() if b"attend" in words)
    before, began = cpu_s(run.process.pid), time.monotonic()
    time.sleep(seconds)
    share = (cpu_s(run.process.pid) - before) / (time.monotonic() - began)
    print(f"supervisor   {100 * share:.3f} % of one CPU over {seconds:.0f} s, {memory_mb(run.process.pid):.1f} MB resident "
          f"({memory_mb(run.process.pid, 'VmHWM'):.1f} MB at most, {memory_mb(run.process.pid, 'RssAnon'):.1f} MB its own)")
    print(f"beside it    {memory_mb(keeper):.1f} MB resident ({memory_mb(keeper, 'RssAnon'):.1f} MB its own)")
    end(run)


def notice(binary, work):
    run, fake = begin(binary, work)
    time.sleep(3)
    begun = time.monotonic()
    fake.notice(120)
    run.until_event("asked")
    taken = time.monotonic() - begun
    run.wait(60)
    end(run)
    return taken, time.monotonic() - begun


def loss(binary, work):
    run, _ = begin(binary, work, "--ranks", "2")
    time.sleep(1)
    victim = run.ranks()[-1]
    begun = time.monotonic()
    kill(victim)
    run.until_event("failed")
    seen = time.monotonic() - begun
    run.until_event("start", 2)
    again = time.monotonic() - begun
    end(run)
    return seen, again


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--seconds", type=float, default=30)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="trainyard-bench-") as folder:
        place = pathlib.Path(folder)
        idle(args.binary, place / "idle", args.seconds)
        notices = [notice(args.binary, place / f"notice{i}") for i in range(5)]
        losses = [loss(args.binary, place / f"loss{i}") for i in range(5)]
    print(f"notice       a checkpoint asked for after {statistics.median(n[0] for n in notices):.2f} s "
          f"(worst of 5: {max(n[0] for n in notices):.2f} s), all saved and ended after "
          f"{statistics.median(n[1] for n in notices):.2f} s")
    print(f"lost rank    seen after {statistics.median(n[0] for n in losses):.2f} s (worst of 5: "
          f"{max(n[0] for n in losses):.2f} s), started again after {statistics.median(n[1] for n in losses):.2f} s")


if __name__ == "__main__":
    main()
