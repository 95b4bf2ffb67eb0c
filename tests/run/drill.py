#!/usr/bin/env python3
"""The kill drill: faults at seeded moments of training runs; nothing that was committed may be lost.

usage: tests/run/drill.py --binary PATH [--points 24] [--seed 1] [--jobs 2] [--verbose]

A run takes 100 steps with a checkpoint every 5 and is hit again and again until it ends: SIGKILL of a rank, of the
command, of the process beside it, of the supervisor (also while it uploads a checkpoint that is just complete), of all
at once (also with the checkpoint directory lost); SIGTERM; an interruption notice; a full disk; with S3, a server that
fails 15 % of its requests on purpose and is stopped for a while (network cut). Every second run saves as PyTorch's
distributed checkpoint. After each hit: the newest committed step has not gone back. After each run: it ended with 0,
every checkpoint in the store verifies, the steps were done without a gap and each began where a checkpoint was, and the
end state (a hash chain over all samples, for each rank) and the loss are those of a run that nothing disturbed. Prints a table; exit 1 if anything was violated.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from fake_imds import ACTION, FakeImds  # noqa: E402
from fault_server import ACCESS, SECRET  # noqa: E402
from harness import ROOT, Run, kill  # noqa: E402

STEPS, EVERY, RANKS = 100, 5, 2
MOST_S = 120  # for one run
HITS_A_RUN = 6
KINDS = ["rank", "command", "keeper", "supervisor", "uploader", "all", "all and the directory", "SIGTERM", "notice"]


class Violation(Exception):
    pass


class SmallDisk:
    """A tmpfs of 8 MB under the run, if we may mount one."""

    def __init__(self, place):
        self.place = place
        place.mkdir(parents=True)
        done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(place)], capture_output=True,
                              check=False)
        self.is_mounted = done.returncode == 0

    def fill(self):
        filler = os.open(self.place / "filler", os.O_WRONLY | os.O_CREAT)
        try:
            while True:
                os.write(filler, b"x" * 4096)
        except OSError:
            pass
        os.close(filler)

    def free(self):
        (self.place / "filler").unlink(missing_ok=True)

    def close(self):
        if self.is_mounted:
            subprocess.run(["umount", "-l", str(self.place)], check=False)


class Bucket:
    """The S3 that fails on purpose."""

    def __init__(self, seed):
        faults = "slowdown,error500,error200,reset_before,reset_after,truncate,flip"
        self.server = subprocess.Popen(
            [sys.executable, str(ROOT / "tests/support/fault_server.py"), "--fail", "0.15", "--seed", str(seed),
             "--faults", faults, "--buckets", "drill"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        port = int(self.server.stdout.readline())
        self.env = {"AWS_ENDPOINT_URL_S3": f"http://127.0.0.1:{port}", "AWS_ACCESS_KEY_ID": ACCESS,
                    "AWS_SECRET_ACCESS_KEY": SECRET, "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull,
                    "AWS_SHARED_CREDENTIALS_FILE": os.devnull}

    def cut(self, seconds):
        self.server.send_signal(signal.SIGSTOP)
        time.sleep(seconds)
        self.server.send_signal(signal.SIGCONT)

    def close(self):
        self.server.send_signal(signal.SIGCONT)
        self.server.kill()
        self.server.wait()


class Episode:
    def __init__(self, binary, seed, work):
        self.random = random.Random(seed)
        self.seed = seed
        self.world = ["directory", "directory", "small disk", "s3"][seed % 4]
        self.disk = SmallDisk(work / "disk") if self.world == "small disk" else None
        if self.disk and not self.disk.is_mounted:
            self.world, self.disk = "directory", None
        self.bucket = Bucket(seed) if self.world == "s3" else None
        self.imds = FakeImds()
        place = work / "disk" / "run" if self.disk else work / "run"
        self.run = Run(binary, place, STEPS, EVERY, store="s3://drill/run" if self.bucket else str(work / "store"))
        self.run.final = work / "final.json"
        self.run.trainer = ["--ranks", str(RANKS), "--step-time", "0.04", "--save-time", "0.05", "--size", "20000",
                            "--layout", ["hf", "dcp"][seed // 4 % 2]]
        self.run.options += ["--poison-after", "1000", "--max-restarts", "1000", "--imds", self.imds.url, "--poll", "100ms",
                             "--grace", "5s"]
        if self.bucket:
            self.run.env = self.bucket.env
        self.kinds = KINDS + {"small disk": ["disk full"] * 3, "s3": ["network cut"] * 3}.get(self.world, [])
        self.hits = collections.Counter()
        self.newest = -1
        self.said = 0  # length of stderr when the supervisor was started

    def close(self):
        if self.run.process and self.run.process.poll() is None:
            self.run.process.kill()
            self.run.process.wait()
        for pid, _ in self.run.processes():
            kill(pid)
        if self.disk:
            self.disk.close()
        if self.bucket:
            self.bucket.close()
        self.imds.server.shutdown()

    def stored(self):
        for _ in range(20):  # an answer may be lost more often than the client tries
            try:
                return self.run.stored_steps()
            except subprocess.CalledProcessError as why:
                last = why
        raise Violation(f"the store cannot be read: {last.stderr}")

    def check_committed(self):
        newest = max(self.stored(), default=-1)
        if newest < self.newest:
            raise Violation(f"step {self.newest} was committed, now the newest is {newest}")
        self.newest = newest

    def ensure_running(self):
        """Starts the supervisor until it stays; its exit code, if the run is over."""
        code = self.run.process.poll() if self.run.process else None
        if self.run.process and code is None:
            return None
        if code == 0:
            return 0
        # 4: the disk is full or the store away at the start; -9: our own doing.
        if code not in (None, 75, -9, 4):
            raise Violation(f"exit code {code}")
        self.imds.set(**{ACTION: None})
        self.said = len(self.run.stderr()) if (self.run.work / "stderr").exists() else 0
        self.run.start()
        return None

    def hit(self, kind):
        processes = self.run.processes()
        ranks = self.run.ranks()
        keepers = [pid for pid, words in processes if b"attend" in words]
        if kind == "rank" and ranks:
            kill(self.random.choice(ranks))
        elif kind == "command" and ranks:
            kill(min(ranks))
        elif kind == "keeper" and keepers:
            kill(keepers[0])
        elif kind == "supervisor":
            self.run.kill_supervisor()
        elif kind == "uploader":
            saved = len(self.run.events("saved"))
            self.run.until(lambda: len(self.run.events("saved")) > saved or self.run.process.poll() is not None, "save")
            time.sleep(self.random.uniform(0.0, 0.05))
            self.run.kill_supervisor()
        elif kind.startswith("all"):
            self.run.kill_supervisor()
            while self.run.processes():
                for pid, _ in self.run.processes():
                    kill(pid)
            if kind != "all":
                shutil.rmtree(self.run.out, ignore_errors=True)
        elif kind == "SIGTERM":
            # Before it is up the signal ends it as any program; what it has to keep is not at stake then.
            self.run.until(lambda: len(self.run.stderr()) > self.said or self.run.process.poll() is not None, "sign of life")
            self.run.process.terminate()
            self.run.wait(60)
        elif kind == "notice":
            self.imds.notice(self.random.choice([3, 8, 30, 120]))
            self.run.wait(60)
        elif kind == "disk full":
            self.disk.fill()
            time.sleep(self.random.uniform(0.1, 1.0))
            self.disk.free()
        elif kind == "network cut":
            self.bucket.cut(self.random.uniform(0.1, 1.5))
        else:
            return False
        return True

    def play(self, hits):
        deadline = time.monotonic() + MOST_S
        while time.monotonic() < deadline:
            code = self.ensure_running()
            if code == 0:
                break
            if hits > 0:
                time.sleep(self.random.uniform(0.0, 1.2))
                if self.run.process.poll() is not None:
                    continue
                kind = self.random.choice(self.kinds)
                if self.hit(kind):
                    self.hits[kind] += 1
                    hits -= 1
                    self.check_committed()
            else:
                time.sleep(0.05)
        else:
            raise Violation(f"not at its end after {MOST_S} s")
        self.check_end()

    def check_end(self):
        self.check_committed()
        if self.newest != STEPS:
            raise Violation(f"the last step is not in the store: {self.stored()}")
        for step in sorted(set(self.stored())):
            for _ in range(20):
                done = subprocess.run([self.run.binary, "store", "verify", self.run.store, "--step", str(step)],
                                      env=self.run.environment(), capture_output=True, text=True, check=False)
                if done.returncode == 0:
                    break
            else:
                raise Violation(f"step {step} does not verify: {done.stderr}")
        self.check_lineage()
        if self.run.processes():
            raise Violation("processes are left behind")

    def check_lineage(self):
        """In the log of each attempt: no gap, and the first step follows the one it resumed from."""
        for log in sorted((self.run.work / "state" / "attempts").glob("*/log")):
            text = log.read_text(encoding="utf-8", errors="replace")
            resumed = re.search(r"resumed at step (\d+)", text)
            expected = int(resumed[1]) if resumed else 0
            for step in re.findall(r"^step: (\d+)/", text, re.M):
                expected += 1
                if int(step) != expected:
                    raise Violation(f"{log.parent.name}: step {step} where {expected} should be")


def reference(binary, work):
    run = Run(binary, work / "reference", STEPS, EVERY, store=None)
    run.trainer = ["--ranks", str(RANKS), "--step-time", "0", "--size", "20000"]
    if run.go() != 0:
        raise Violation("the undisturbed run failed: " + run.stderr())
    return run.result()


def episode(binary, seed, hits, expected):
    """What was hit, and what was violated ("" if nothing)."""
    with tempfile.TemporaryDirectory(prefix="trainyard-drill-") as folder:
        one = Episode(binary, seed, pathlib.Path(folder))
        flaw = ""
        try:
            one.play(hits)
            if one.run.result() != expected:
                raise Violation(f"the end is {one.run.result()}, not {expected}")
        except (Violation, AssertionError, OSError, subprocess.SubprocessError) as why:
            flaw = f"run {seed} ({one.world}), after {dict(one.hits)}: {why}\n{one.run.stderr()[-6000:]}"
        finally:
            one.close()
        return one.world, one.hits, flaw


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("--points", type=int, default=24)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()
    begun = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="trainyard-drill-") as folder:
        expected = reference(args.binary, pathlib.Path(folder))
    worlds, hits, flaws = collections.Counter(), collections.Counter(), []

    def take(result):
        world, hit, flaw = result
        worlds[world] += 1
        hits.update(hit)
        if flaw:
            flaws.append(flaw)
            print("VIOLATION", flaw, flush=True)
        elif args.verbose:
            print(f"ok {world} {dict(hit)}", flush=True)

    runs = 0
    with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
        pending = set()
        while sum(hits.values()) < args.points:
            while len(pending) < args.jobs:
                left = args.points - sum(hits.values())
                pending.add(pool.submit(episode, args.binary, args.seed * 1_000_000 + runs, min(HITS_A_RUN, left), expected))
                runs += 1
            done, pending = concurrent.futures.wait(pending, return_when=concurrent.futures.FIRST_COMPLETED)
            for one in done:
                take(one.result())
        for one in pending:
            take(one.result())
    print(f"{sum(hits.values())} hits in {runs} runs, seed {args.seed}, {time.monotonic() - begun:.0f} s")
    for kind, count in sorted(hits.items(), key=lambda item: -item[1]):
        print(f"  {count:5} {kind}")
    print("  on: " + ", ".join(f"{count} {world}" for world, count in sorted(worlds.items())))
    print(f"{len(flaws)} of {runs} runs violated a promise; end state of all others: bit for bit the undisturbed run's "
          f"(loss {expected['loss']:.6f})")
    return 1 if flaws else 0


if __name__ == "__main__":
    sys.exit(main())
