"""What the tests of `trainyard run` share: a folder with a run in it, and what happened there."""

import argparse
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
TRAINER = ROOT / "tests" / "support" / "trainer.py"


class Run:
    """One state directory; each start() is one supervisor."""

    def __init__(self, binary, work, steps=100, every=10, store=True):
        self.binary = str(binary)
        self.work = pathlib.Path(work)
        self.work.mkdir(parents=True, exist_ok=True)
        self.steps, self.every = steps, every
        self.store = str(self.work / "store") if store is True else store
        self.out = self.work / "out"
        self.final = self.work / "final.json"
        self.options = ["--backoff", "50ms"]
        self.trainer = []
        self.env = {}
        self.process = None

    def trainer_words(self):
        return [sys.executable, str(TRAINER), "--steps", str(self.steps), "--every", str(self.every),
                "--final", str(self.final), "--audit", str(self.work / "audit"), *self.trainer]

    def words(self, command=None):
        words = [self.binary, "run", "--checkpoint-dir", str(self.out), "--state", str(self.work / "state")]
        if self.store:
            words += ["--store", self.store]
        return [*words, *self.options, "--", *(command or self.trainer_words())]

    def environment(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("AWS_", "TRAINYARD_"))}
        return {**kept, "AWS_EC2_METADATA_DISABLED": "true", **self.env}

    def start(self, command=None):
        with (self.work / "stderr").open("ab") as err, (self.work / "stdout").open("ab") as out:
            self.process = subprocess.Popen(self.words(command), stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            env=self.environment(), cwd=self.work)
        return self

    def wait(self, limit=60):
        try:
            return self.process.wait(limit)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"still running after {limit} s\n{self.stderr()}") from None

    def go(self, command=None, limit=60):
        return self.start(command).wait(limit)

    def stderr(self):
        return (self.work / "stderr").read_text(encoding="utf-8", errors="replace")

    def stdout(self):
        return (self.work / "stdout").read_text(encoding="utf-8", errors="replace")

    def events(self, name=None):
        path = self.work / "state" / "events.jsonl"
        if not path.exists():
            return []
        lines = []
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                lines.append(json.loads(line))
            except ValueError:
                continue  # a supervisor was killed in the middle of it
        return [line for line in lines if name in (None, line["event"])]

    def until(self, condition, what, limit=30):
        end = time.monotonic() + limit
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.01)
        raise AssertionError(f"no {what} within {limit} s\n{self.stderr()}")

    def until_step(self, step):
        log = lambda: self.stdout()  # noqa: E731
        self.until(lambda: f"step: {step}/" in log(), f"step {step}")

    def until_event(self, name, count=1, limit=30):
        self.until(lambda: len(self.events(name)) >= count, f"event {name}", limit)

    def processes(self):
        """What runs with this run's state in its environment: the command and all it started."""
        mark = f"TRAINYARD_CHECKPOINT_REQUEST={self.work}/state/checkpoint-request".encode()
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if mark in (entry / "environ").read_bytes().split(b"\0"):
                    found.append((int(entry.name), (entry / "cmdline").read_bytes().split(b"\0")))
            except OSError:
                continue
        return found

    def ranks(self):
        return [pid for pid, words in self.processes() if str(TRAINER).encode() in words and b"attend" not in words]

    def kill_supervisor(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stored_steps(self):
        if "://" not in self.store and not pathlib.Path(self.store).exists():
            return []  # before the first commit
        done = subprocess.run([self.binary, "store", "ls", self.store, "--json"], env=self.environment(),
                              capture_output=True, text=True, check=True)
        return [c["step"] for c in json.loads(done.stdout)["checkpoints"]]

    def result(self):
        return json.loads(self.final.read_text(encoding="utf-8"))


def expect(condition, what, run=None):
    if not condition:
        raise AssertionError(what + (f"\n{run.stderr()}" if run else ""))


def kill(pid):
    """SIGKILL; one that is gone already is no error."""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def main(known):
    """Runs the named cases, or all, each in a folder of its own; the exit code."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda p: pathlib.Path(p).resolve())
    parser.add_argument("cases", nargs="*")
    args = parser.parse_args()
    failed = 0
    for name in args.cases or known:
        with tempfile.TemporaryDirectory(prefix="trainyard-run-") as work:
            run = Run(args.binary, pathlib.Path(work) / "run")
            begun = time.monotonic()
            try:
                known[name](run)
                print(f"ok    {name} ({time.monotonic() - begun:.1f} s)", flush=True)
            except AssertionError as why:
                failed += 1
                print(f"FAILED {name}: {why}", flush=True)
            finally:
                if run.process and run.process.poll() is None:
                    run.process.kill()
                    run.process.wait()
                for pid, _ in run.processes():
                    kill(pid)
    return 1 if failed else 0
