#!/usr/bin/env python3
"""`trainyard run` as a whole, with a stand-in trainer: restarts, kills, signals, what is left behind.

usage: tests/run/run_test.py --binary PATH [CASE ...]
"""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import Run, expect, kill, main  # noqa: E402


def case_plain(run):
    """A command that ends well: exit 0, its last checkpoint in the store, its output on stdout."""
    expect(run.go() == 0, "exit 0", run)
    expect(run.stored_steps()[0] == 100, f"step 100 stored, not {run.stored_steps()}", run)
    expect("step: 100/100" in run.stdout(), "the output is shown")


def case_no_store(run):
    run.store = None
    expect(run.go() == 0, "exit 0", run)


def reference(run):
    """The end state of a run that nothing disturbs."""
    whole = Run(run.binary, run.work / "reference", run.steps, run.every, store=None)
    whole.trainer = ["--step-time", "0", *[w for w in run.trainer if w in ("--ranks", "1", "2", "3")]]
    expect(whole.go() == 0, "the reference run", whole)
    return whole.result()


def same_end(run):
    expected = reference(run)
    expect(run.result() == expected, f"{run.result()} is not {expected}", run)


def case_resumes_after_a_failure(run):
    run.trainer = ["--fail-once-at", "57", "--memory", str(run.work / "failed"), "--ranks", "2"]
    expect(run.go() == 0, "exit 0", run)
    expect("resumed at step 50" in run.stdout(), "it resumed from the newest checkpoint", run)
    same_end(run)


def case_poison_step(run):
    run.trainer = ["--fail-at", "33"]
    expect(run.go() == 76, "exit 76", run)
    expect(len(run.events("failed")) == 3, "three tries", run)
    expect("attempt 3 at step 32: exit code 17" in run.stderr(), "the evidence", run)
    expect("illegal memory access" in run.stderr(), "the last lines of the log", run)
    expect(run.stored_steps()[0] == 30, "what was saved is safe", run)


def case_out_of_restarts(run):
    run.options += ["--max-restarts", "1", "--poison-after", "9"]
    run.trainer = ["--fail-at", "5"]
    expect(run.go() == 78, "exit 78", run)
    expect(len(run.events("start")) == 2, "one restart", run)


def case_not_startable(run):
    expect(run.go(["no-such-program-x"]) == 4, "exit 4", run)
    expect(len(run.events("start")) == 1, "no second try", run)


def case_lost_rank(run):
    """SIGKILL of one rank: the others end, nothing is left behind, the run resumes."""
    run.trainer = ["--ranks", "3", "--step-time", "0.02"]
    run.start()
    run.until_step(25)
    victim = run.ranks()[-1]
    kill(victim)
    expect(run.wait() == 0, "exit 0", run)
    expect(not run.processes(), "nothing is left behind", run)
    same_end(run)


def case_supervisor_killed_and_adopted(run):
    """kill -9 of the supervisor: the command trains on; the next supervisor takes it over."""
    run.trainer = ["--step-time", "0.03"]
    run.start()
    run.until_step(15)
    run.kill_supervisor()
    before = run.ranks()
    expect(before, "the command lives on", run)
    time.sleep(0.3)
    run.start()
    run.until_event("adopted")
    expect(run.ranks() == before, "it is the same process", run)
    expect(run.wait() == 0, "exit 0", run)
    expect(len(run.events("start")) == 1, "one start in all", run)
    expect(run.stored_steps()[0] == 100, "all is in the store", run)
    same_end(run)


def case_supervisor_killed_command_ends_meanwhile(run):
    run.trainer = ["--step-time", "0.01"]
    run.start()
    run.until_step(30)
    run.kill_supervisor()
    run.until(lambda: not run.ranks(), "end of the command")
    expect(run.go() == 0, "exit 0, learnt from what was written down", run)
    expect(len(run.events("start")) == 1, "it is not started again", run)
    expect(run.stored_steps()[0] == 100, "what it saved meanwhile is in the store", run)


def case_all_killed(run):
    """Supervisor, keeper and ranks killed at once, as a power cut does it."""
    run.trainer = ["--step-time", "0.03", "--ranks", "2"]
    run.start()
    run.until_step(45)
    run.kill_supervisor()
    for pid, _ in run.processes():
        kill(pid)
    expect(run.go() == 0, "exit 0", run)
    expect("vanished" in run.stderr(), "its end is not known", run)
    same_end(run)


def case_keeper_killed(run):
    run.trainer = ["--step-time", "0.03", "--ranks", "2"]
    run.start()
    run.until_step(25)
    keeper = [pid for pid, words in run.processes() if b"attend" in words]
    kill(keeper[0])
    expect(run.wait() == 0, "exit 0", run)
    expect(not run.processes(), "nothing is left behind", run)
    same_end(run)


def case_stray(run):
    """A command that the state knows nothing of (it could not be written down) is ended before another is started."""
    run.trainer = ["--step-time", "0.05"]
    run.start()
    run.until_step(12)
    run.kill_supervisor()
    strays = run.ranks()
    with sqlite3.connect(run.work / "state" / "state.db") as state:
        state.execute("UPDATE attempt SET ended_ns=1")
    state.close()
    run.start()
    run.until_event("start", 2)
    expect(not set(strays) & set(run.ranks()), "the old one is gone", run)
    expect(run.events("stray"), "it is told", run)
    expect(run.wait() == 0, "exit 0", run)
    same_end(run)


def case_lost_directory(run):
    """The disk of the checkpoints is gone: they come back from the store, under the trainer's name."""
    run.trainer = ["--fail-at", "38"]
    expect(run.go() == 76, "exit 76", run)
    shutil.rmtree(run.out)
    shutil.rmtree(run.work / "state")
    run.trainer = []
    expect(run.go() == 0, "exit 0", run)
    expect((run.out / "checkpoint-30").is_dir(), "restored as the trainer names it", run)
    same_end(run)


def case_half_written(run):
    """A checkpoint that a kill left half-written is put aside, not resumed from."""
    run.trainer = ["--save-time", "1.0", "--ranks", "2", "--every", "40"]
    run.start()
    run.until(lambda: (run.out / "checkpoint-80").is_dir(), "the second checkpoint")
    for pid in run.ranks():
        kill(pid)
    expect(run.wait() == 0, "exit 0", run)
    expect("checkpoint-80 is incomplete: renamed" in run.stderr(), "put aside", run)
    expect("resumed at step 40" in run.stdout(), "resumed from the whole one", run)
    run.trainer = ["--ranks", "2"]
    same_end(run)


def case_dcp(run):
    """PyTorch's distributed checkpoint: recognised by its own files, a half one put aside, resumed, all of it stored."""
    run.trainer = ["--layout", "dcp", "--save-time", "0.6", "--ranks", "2", "--every", "40"]
    run.start()
    run.until(lambda: (run.out / "step-80" / "__0_0.distcp").exists(), "the second checkpoint")
    for pid in run.ranks():
        kill(pid)
    expect(run.wait() == 0, "exit 0", run)
    expect("step-80 is incomplete: renamed" in run.stderr(), "put aside", run)
    expect("resumed at step 40" in run.stdout(), "resumed from the whole one", run)
    listed = subprocess.run([run.binary, "store", "ls", run.store, "--json"], env=run.environment(), text=True,
                            capture_output=True, check=True)
    expect({c["layout"] for c in json.loads(listed.stdout)["checkpoints"]} == {"dcp"}, listed.stdout)
    shutil.rmtree(run.out)
    run.trainer[3] = "0"
    run.steps = 120
    expect(run.go() == 0, "exit 0", run)
    expect("resumed at step 100" in run.stdout(), "restored whole", run)
    run.trainer = ["--ranks", "2"]
    same_end(run)


def case_sigterm(run):
    """SIGTERM as Slurm and Kubernetes send it: saved, uploaded, ended, exit 75; the next start resumes there."""
    run.trainer = ["--step-time", "0.05", "--every", "1000"]
    run.start()
    run.until_step(23)
    run.process.send_signal(signal.SIGTERM)
    expect(run.wait() == 75, "exit 75", run)
    step = run.stored_steps()[0]
    expect(23 < step < 40, f"a checkpoint was taken for it, at {step}", run)
    expect(not run.processes(), "nothing is left behind", run)
    expect(not (run.work / "state" / "checkpoint-request").exists(), "the request is taken back", run)
    expect(run.go() == 0, "exit 0", run)
    expect(f"resumed at step {step}" in run.stdout(), "resumed where it was saved", run)
    expect(not run.events("failed"), "a preemption is no failure", run)
    same_end(run)


def case_sigterm_deaf_and_stubborn(run):
    """A command that neither saves nor ends when asked: the last committed one stands, said so, in time."""
    run.options += ["--term-window", "7s"]
    run.trainer = ["--step-time", "0.1", "--deaf", "--ignore-term", "--every", "1000"]
    run.start()
    run.until_step(3)
    begun = time.monotonic()
    run.process.send_signal(signal.SIGTERM)
    expect(run.wait() == 75, "exit 75", run)
    expect(time.monotonic() - begun < 9, "within the window", run)
    expect("no checkpoint stands" in run.stderr() and "SIGKILL" in run.stderr(), "it says what stands", run)
    expect(not run.processes(), "nothing is left behind", run)


def case_ctrl_c(run):
    run.trainer = ["--step-time", "0.05"]
    run.start()
    run.until_step(13)
    run.process.send_signal(signal.SIGINT)
    expect(run.wait() == 130, "exit 130", run)
    expect(run.stored_steps()[0] > 13, "saved first", run)


def case_second_supervisor(run):
    run.trainer = ["--step-time", "0.05"]
    run.start()
    run.until_step(3)
    second = Run(run.binary, run.work)
    second.start()
    first, run.process = run.process, second.process
    expect(run.wait() == 2, "exit 2", run)
    expect("another supervisor works on this run" in run.stderr(), "it says why", run)
    first.send_signal(signal.SIGINT)
    first.wait()


def case_events_are_json(run):
    run.trainer = ["--fail-at", "12"]
    run.go()
    lines = (run.work / "state" / "events.jsonl").read_text(encoding="utf-8").splitlines()
    for line in lines:
        expect({"time", "event", "level", "attempt", "text"} <= set(json.loads(line)), line, run)


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
