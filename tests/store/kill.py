#!/usr/bin/python3
"""SIGKILL at the system calls of the real program: nothing committed is lost, nothing torn is seen, nothing is left.

usage: tests/store/kill.py --binary PATH [--points N] [--s3-kills N]

Directory: a put that finds an older checkpoint (one file the same, odd names), a prune and a restore run under
strace, which kills the process at the n-th call of each name; at most N points, spread over all of them (default 90;
0: every one). S3: the put of a checkpoint in parts to the fault server is killed at moments by chance. Each time the
same put then succeeds, sends no byte twice that the store has, verifies, and nothing is left behind. Exit 77: no strace.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SKIPPED = 77
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTFAULTSERVER0", "AWS_SECRET_ACCESS_KEY": "secret/of+the=fault-server"}
ENV = {**{k: v for k, v in os.environ.items() if not k.startswith("AWS_")}, **KEYS, "NO_COLOR": "1"}


def run(binary, *words, expect=0, under=()):
    done = subprocess.run([*under, binary, "store", *map(str, words)], capture_output=True, text=True, env=ENV,
                          timeout=120, check=False)  # fmt: skip
    if expect is not None and done.returncode != expect:
        raise SystemExit(f"{words}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done


def answer(binary, *words):
    return json.loads(run(binary, *words, "--json").stdout)


def save(directory, step, large=150_000):
    """One file the same in every step, one large, one with an odd name, one empty."""
    made = directory / f"step_{step}"
    (made / "rng").mkdir(parents=True)
    (made / "tokenizer.json").write_text(json.dumps({"same in": ["all steps"] * 50}))
    (made / "model.bin").write_bytes(random.Random(step).randbytes(large))
    (made / "rng" / "st ä%\n+te").write_bytes(str(step).encode() * 30)
    (made / "empty").write_bytes(b"")
    return made


def contents(directory):
    return {str(p.relative_to(directory)): p.read_bytes() for p in sorted(directory.rglob("*")) if p.is_file()}


class Directory:
    """A store in which steps 1 and 2 were put, copied afresh for each point."""

    PUT = ("--quiet-period", "0s", "--jobs", "1")

    def __init__(self, binary, base):
        self.binary, self.base = binary, base
        self.saved = {step: save(base, step) for step in (1, 2, 3)}
        self.first = base / "first"
        for step in (1, 2):
            run(binary, "put", self.saved[step], self.first, *self.PUT)
        self.store = base / "store"

    def fresh(self):
        shutil.rmtree(self.store, ignore_errors=True)
        shutil.copytree(self.first, self.store)
        shutil.rmtree(self.base / "out", ignore_errors=True)
        for left in self.base.glob("out.partial-*"):
            shutil.rmtree(left)

    def command(self, what):
        return {
            "put": ("put", self.saved[3], self.store, *self.PUT),
            "prune": ("prune", self.store, "--keep-last", "1"),
            "get": ("get", self.store, self.base / "out", "--jobs", "1"),
        }[what]

    def points(self, what):
        """(name, n) of every call that the program makes once it runs its own code."""
        self.fresh()
        trace = self.base / "trace"
        run(self.binary, *self.command(what), under=("strace", "-f", "-o", str(trace)))
        seen = collections.Counter()
        points = []
        own = False
        for line in trace.read_text(errors="replace").splitlines():
            name = re.match(r"\d+\s+(\w+)\(", line)
            if not name:
                continue
            seen[name[1]] += 1
            # What comes before is the loader's.
            own = own or str(self.store) in line or str(self.saved[3]) in line
            if own and name[1] not in ("execve", "exit_group"):
                points.append((name[1], seen[name[1]]))
        return points

    def check(self, step, where):
        """A restore gives one save, no older than what had been committed."""
        out = self.base / "check"
        shutil.rmtree(out, ignore_errors=True)
        got = answer(self.binary, "get", self.store, out)
        if got["step"] < step or got["damaged_newer"] or contents(out) != contents(self.saved[got["step"]]):
            raise SystemExit(f"{where}: step {got['step']} restored, or not what was saved")

    def left_behind(self, where):
        named = set()
        for manifest in (self.store / "manifests").iterdir():
            for line in manifest.read_text().splitlines():
                named.add(json.loads(line).get("object"))
        for path in self.store.rglob("*"):
            key = str(path.relative_to(self.store))
            if path.is_file() and key not in named and not key.startswith(("manifests/", "verified/")):
                raise SystemExit(f"{where}: {key} is left behind")

    def kill_at(self, what, point):
        self.fresh()
        where = f"{what}, {point[0]} {point[1]}"
        inject = f"inject={point[0]}:signal=KILL:when={point[1]}"
        quiet = ("strace", "-f", "-o", "/dev/null", "-e", f"trace={point[0]}", "-e", inject)
        died = run(self.binary, *self.command(what), under=quiet, expect=None).returncode in (-9, 137)
        self.check(2, where)
        # The next run; the sweep spares what is younger than a minute.
        if what != "get" or not (self.base / "out").exists():  # else it died after its last step
            run(self.binary, *self.command(what))
        if what == "get" and contents(self.base / "out") != contents(self.saved[2]):
            raise SystemExit(f"{where}: the restore that went on is wrong")
        self.check(3 if what == "put" else 2, where)
        for path in (self.store / ".trainyard").glob("*"):
            os.utime(path, (time.time() - 3600,) * 2)
        run(self.binary, "prune", self.store, "--keep-last", "9")
        self.left_behind(where)
        return died


def kill_directory(binary, base, most):
    world = Directory(binary, base)
    points = [(what, point) for what in ("put", "prune", "get") for point in world.points(what)]
    chosen = points if most == 0 or len(points) <= most else [points[i * len(points) // most] for i in range(most)]
    died = sum(world.kill_at(what, point) for what, point in chosen)
    print(f"directory: {len(points)} calls, killed at {died} of {len(chosen)}, nothing lost, torn or left")
    if died < 0.8 * len(chosen):
        raise SystemExit("too few deaths: the ordinals have moved")


def kill_s3(binary, base, kills):
    server = subprocess.Popen([sys.executable, ROOT / "tests/support/fault_server.py"], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)  # fmt: skip
    try:
        port = server.stdout.readline().strip()
        options = ("--endpoint-url", f"http://127.0.0.1:{port}", "--part-size", "5MiB", "--jobs", "2")
        chance = random.Random(1)
        most = 0
        for number in range(kills):
            place = f"s3://bkt1/run-{number}"
            made = save(base, 100 + number, 24_000_000)
            words = ["put", str(made), place, "--quiet-period", "0s", *options]
            began = subprocess.Popen([binary, "store", *words], env=ENV, stdout=subprocess.DEVNULL)
            time.sleep(chance.uniform(0.03, 0.5))
            began.kill()
            began.wait()
            again = answer(binary, *words)
            sent, whole = again["sent_bytes"], again["bytes"]
            if not again["was_there"] and sent + again["resumed_bytes"] != whole:
                raise SystemExit(f"kill {number}: {again}")
            most = max(most, again["resumed_bytes"])
            if not answer(binary, "verify", place, *options)["sound"]:
                raise SystemExit(f"kill {number}: not sound")
            shutil.rmtree(made)
        stats = json.load(urllib.request.urlopen(f"http://127.0.0.1:{port}/-/stats"))
        if stats["open_uploads"]:
            raise SystemExit(f"{stats['open_uploads']} uploads are left open")
        if most == 0:
            raise SystemExit("no put was resumed: the moments prove nothing")
        print(f"S3: {kills} puts killed, each went on; up to {most} bytes were not sent again, no upload left")
    finally:
        server.stdin.close()
        server.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--points", type=int, default=90)
    parser.add_argument("--s3-kills", type=int, default=6)
    options = parser.parse_args()
    if not shutil.which("strace"):
        print("skipped: no strace")
        return SKIPPED
    probe = subprocess.run(["strace", "-o", "/dev/null", "true"], capture_output=True, check=False)
    if probe.returncode != 0:
        print("skipped: strace may not trace here")
        return SKIPPED
    binary = str(pathlib.Path(options.binary).resolve())
    with tempfile.TemporaryDirectory() as base:
        kill_directory(binary, pathlib.Path(base), options.points)
    with tempfile.TemporaryDirectory() as base:
        kill_s3(binary, pathlib.Path(base), options.s3_kills)
    return 0


if __name__ == "__main__":
    sys.exit(main())
