#!/usr/bin/env python3
"""`trainyard run --nodes`: several supervisors on one machine, each as a node of its own, with a stand-in trainer.

usage: tests/run/nodes_test.py --binary PATH [CASE ...]
"""

import json
import pathlib
import signal
import subprocess
import sys
import time

import harness
from harness import Run, expect

sys.path.insert(0, str(harness.ROOT / "tests" / "support"))
import nodes_trainer  # noqa: E402

TRAINER = pathlib.Path(nodes_trainer.__file__)


class Node(Run):
    """One machine: its own state and disk; `life` counts the machines that had this name."""

    def __init__(self, group, name, life=0):
        super().__init__(group.binary, group.work / f"{name}-{life}", store=group.store)
        self.group, self.name = group, name
        self.out = group.work / "shared" if group.is_shared else self.work / "out"
        self.options = ["--backoff", "50ms", "--node-name", name, "--address", "127.0.0.1", "--beat", "200ms",
                        "--node-timeout", "3s", "--join-wait", "3s", "--grow-after", "0s", "--grace", "5s", *group.options]
        self.more = []

    def trainer_words(self):
        g = self.group
        return [sys.executable, str(TRAINER), "--steps", str(g.steps), "--every", str(g.every), "--step-time",
                str(g.step_time), "--final", str(self.final), "--audit", str(g.work / f"audit-{self.name}"), *self.more]

    def lose(self):
        """All of it at once, as when the machine is taken without a word."""
        self.kill_supervisor()
        for pid, _ in self.processes():
            harness.kill(pid)


class Nodes:
    def __init__(self, run, count, elastic=None, steps=100, every=10, step_time=0.02, shared=False):
        self.binary, self.work, self.store = run.binary, run.work, str(run.work / "store")
        self.steps, self.every, self.step_time, self.is_shared = steps, every, step_time, shared
        self.options = ["--nodes", str(count)] + (["--elastic", elastic] if elastic else [])
        self.all = [Node(self, f"n{i}") for i in range(count)]

    def start(self):
        for node in self.all:
            node.start()
        return self

    def generations(self):
        return [json.loads(p.read_text(encoding="utf-8"))
                for p in sorted(pathlib.Path(self.store).glob("nodes/generations/*.json"))]

    def sizes(self):
        return [len(g["nodes"]) for g in self.generations()]

    def first(self):
        """The node of rank 0."""
        name = self.generations()[-1]["nodes"][0]["name"]
        return [n for n in self.all if n.name == name][-1]

    def until_generation(self, number, limit=30):
        def is_there():
            all_of = self.generations()
            return all_of and all_of[-1]["number"] >= number
        self.all[0].until(is_there, f"generation {number}: {self.sizes()}", limit)
        return self.generations()[-1]

    def step(self):
        tail = [line for line in self.first().stdout().splitlines() if line.startswith("step: ")]
        return int(tail[-1].split()[1].split("/")[0]) if tail else 0

    def until_step(self, step, limit=30):
        self.all[0].until(lambda: self.step() >= step, f"step {step}", limit)

    def words(self):
        return "\n".join(f"== {n.name}\n{n.stderr()}" for n in self.all if (n.work / "stderr").exists())

    def end(self, codes=None, limit=60):
        got = {n.name: n.wait(limit) for n in self.all if n.process}
        wanted = codes or {name: 0 for name in got}
        if got != wanted:
            raise AssertionError(f"exit codes {got}, not {wanted}\n{self.words()}")

    def stop(self):
        for node in self.all:
            if node.process and node.process.poll() is None:
                node.process.kill()
                node.process.wait()
            for pid, _ in node.processes():
                harness.kill(pid)

    def check(self, condition, what):
        if not condition:
            raise AssertionError(f"{what}\n{self.words()}")

    def same_end(self):
        whole = {"step": self.steps, "state": nodes_trainer.undisturbed(self.steps)}
        ends = [n.result() for n in self.all if n.final.exists()]
        self.check(ends and all(end == whole for end in ends), f"{ends} is not {whole}")


def with_nodes(count, **options):
    def wrap(test):
        def case(run):
            nodes = Nodes(run, count, **options)
            try:
                test(nodes.start())
            finally:
                nodes.stop()
        return case
    return wrap


@with_nodes(3)
def case_nodes_to_the_end(nodes):
    nodes.end()
    nodes.same_end()
    nodes.check(nodes.sizes() == [3], "one generation")
    nodes.check(nodes.first().stored_steps()[0] == 100, "the last step is in the store")


@with_nodes(4, elastic="2:4", steps=200, step_time=0.05)
def case_nodes_four_three_four(nodes):
    """A node is lost without a word; three go on; another one takes its place."""
    nodes.until_generation(1)
    nodes.until_step(25)
    lost = nodes.all[2]
    begun = time.monotonic()
    lost.lose()
    three = nodes.until_generation(2)
    found = time.monotonic() - begun
    nodes.check(len(three["nodes"]) == 3 and three["from"] >= 20, f"three go on from a checkpoint: {three}")
    nodes.check(found < 15, f"found within 15 s: {found:.1f}")
    nodes.until_step(60)
    nodes.all.append(Node(nodes, lost.name, 1).start())
    four = nodes.until_generation(3)
    nodes.check(len(four["nodes"]) == 4 and four["from"] >= 60, f"four go on from where three saved: {four}")
    lost.process = None
    nodes.end()
    nodes.same_end()
    nodes.check(nodes.sizes() == [4, 3, 4], f"4, 3, 4 nodes: {nodes.sizes()}")


@with_nodes(3, elastic="2:3", shared=True, steps=150)
def case_nodes_share_a_directory(nodes):
    """The first node is lost; the others find its checkpoints in the directory, no matter what was uploaded."""
    nodes.until_generation(1)
    nodes.check(nodes.generations()[0]["is_shared"], "it is seen that they share it")
    nodes.until_step(45)
    lost = nodes.first()
    lost.lose()
    two = nodes.until_generation(2)
    nodes.check(len(two["nodes"]) == 2 and two["from"] >= 40, f"two go on: {two}")
    lost.process = None
    nodes.end()
    nodes.same_end()


@with_nodes(3, elastic="2:3", steps=200, every=1000, step_time=0.05)
def case_nodes_one_is_taken(nodes):
    """SIGTERM to the first node: a checkpoint of that moment, committed; it leaves; the others go on from there."""
    nodes.until_generation(1)
    nodes.until_step(33)
    leaves = nodes.first()
    leaves.process.send_signal(signal.SIGTERM)
    nodes.check(leaves.wait() == 75, "it leaves as preempted")
    two = nodes.until_generation(2)
    nodes.check(len(two["nodes"]) == 2 and two["from"] >= 33, f"from the step that was asked for: {two}")
    nodes.end({"n0": 0, "n1": 0, "n2": 0, leaves.name: 75})
    nodes.same_end()


def case_nodes_a_command_fails(run):
    """Its own doing on one node only: both go back to the same step."""
    nodes = Nodes(run, 2)
    nodes.all[1].more = ["--fail-once-at", "57", "--memory", str(run.work / "failed")]
    nodes.all[0].more = ["--hang-on-loss"]
    try:
        nodes.start().end()
        nodes.same_end()
        nodes.check(nodes.sizes() == [2, 2], f"two generations: {nodes.sizes()}")
        nodes.check(nodes.generations()[1]["from"] == 50, "from the newest committed step")
    finally:
        nodes.stop()


@with_nodes(2, steps=1000)
def case_nodes_stop(nodes):
    """`trainyard stop` on one node ends all of them, with the work saved."""
    nodes.until_generation(1)
    nodes.until_step(13)
    other = [n for n in nodes.all if n is not nodes.first()][0]
    subprocess.run([other.binary, "stop", "--state", str(other.work / "state")], check=True, capture_output=True)
    nodes.end({"n0": 81, "n1": 81})
    step, stored = nodes.step(), nodes.first().stored_steps()[0]
    nodes.check(13 <= stored and step - stored <= 10, f"step {step}: {stored} is in the store")
    nodes.check(nodes.first().events("asked"), "the first node was asked to save")
    nodes.check(not any(n.processes() for n in nodes.all), "nothing runs")


@with_nodes(2, steps=200, step_time=0.03)
def case_nodes_supervisor_killed(nodes):
    """kill -9 of one supervisor, back before the others miss it: nothing is interrupted."""
    nodes.until_generation(1)
    nodes.until_step(15)
    nodes.all[1].kill_supervisor()
    nodes.all[1].start()
    nodes.end()
    nodes.same_end()
    nodes.check(nodes.sizes() == [2], "one generation")


def case_nodes_mistakes(run):
    """What cannot be meant is refused before anything is started."""
    tail = ["--store", run.store, "--checkpoint-dir", str(run.out), "--", "true"]
    for words, says in [(["--nodes", "2", "--checkpoint-dir", "x", "--", "true"], "need --store"),
                        (["--elastic", "4:2", *tail], "no range"),
                        (["--elastic", "two", *tail], "no range"),
                        (["--nodes", "3", "--elastic", "1:2", *tail], "--nodes 2 --elastic 1:2"),
                        (["--nodes", "0", *tail], "--nodes"),
                        (["--nodes", "2", "--node-name", "a/b", *tail], "no name"),
                        (["--nodes", "2", "--node-timeout", "1s", *tail], "three beats")]:
        done = subprocess.run([run.binary, "run", *words], capture_output=True, text=True, cwd=run.work,
                              env=run.environment(), timeout=20, check=False)
        expect(done.returncode in (2, 3) and says in done.stderr, f"{words}: {done.returncode} {done.stderr}")
    expect(not (run.work / ".trainyard").exists(), "nothing was begun")


if __name__ == "__main__":
    sys.exit(harness.main({n[5:]: f for n, f in globals().items() if n.startswith("case_")}))
