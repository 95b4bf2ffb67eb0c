#!/usr/bin/env python3
"""One trace of spot capacity, played twice: by `trainyard simulate`, and on a real run with a fake metadata service and
the stand-in trainer. Both must agree.

usage: tests/run/replay_test.py --binary PATH [CASE ...]

600 s of the trace pass in one second. How long a step and a start take is measured in the real run and given to the
simulator, as a plan gives it; what is compared is what follows from the trace: how often the run was interrupted (the
same), and how much work was done twice. For that the tolerance is a quarter of the checkpoint interval an interruption:
steps and starts of the real run do not all take equally long.
"""

import json
import os
import pathlib
import statistics
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from fake_imds import FakeImds, capacity_changes, play  # noqa: E402
from harness import expect, kill, main  # noqa: E402

SPEED_UP = 600
TRACE = pathlib.Path(HERE) / "spot-trace.json"
STEPS, EVERY, STEP_S = 240, 40, 0.02


class Audit:
    """When each step was done: the lines of the trainer's audit, seen every 5 ms."""

    def __init__(self, path):
        self.path, self.times, self.over = path, [], False
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def lines(self):
        return self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []

    def watch(self):
        while not self.over:
            self.times += [time.monotonic()] * (len(self.lines()) - len(self.times))
            time.sleep(0.005)

    def end(self):
        self.over = True
        self.thread.join()


def real(run, trace, has_notice):
    """Runs while the trace has capacity. Interruptions, steps done twice, seconds a step, seconds from start to first step."""
    fake = FakeImds()
    run.steps, run.every = STEPS, EVERY
    run.trainer = ["--step-time", str(STEP_S)]
    run.options += ["--imds", fake.url if has_notice else "off", "--poll", "50ms"]
    audit = Audit(run.work / "audit")
    if has_notice:
        threading.Thread(target=play, args=(fake, trace, 1, SPEED_UP), daemon=True).start()
    starts, begun, code = [], time.monotonic(), None
    for at, is_there in capacity_changes(trace)[:-1]:
        if code == 0:
            break
        time.sleep(max(0.0, begun + at / SPEED_UP - time.monotonic()))
        if is_there:
            starts.append((time.monotonic(), len(audit.lines())))
            run.start()
        elif has_notice:
            code = run.wait(10)
        else:
            code = run.process.poll()
            run.kill_supervisor()
            for pid, _ in run.processes():
                kill(pid)
    expect(run.wait(30) == 0, "the run ends", run)
    audit.end()
    first = [audit.times[lines] - at for at, lines in starts]
    gaps = [b - a for a, b in zip(audit.times, audit.times[1:])]
    expect(len(set(audit.lines())) == STEPS, "each step is done on its own sample", run)
    return len(run.events("drain" if has_notice else "failed")), len(audit.lines()) - STEPS, \
        statistics.mean(sorted(gaps)[: len(gaps) - len(starts) + 1]), statistics.mean(first) - STEP_S


def simulated(run, trace, step, start, has_notice):
    """The same by the simulator."""
    plan = json.loads((pathlib.Path(HERE).parent / "simulate" / "plan.json").read_text(encoding="utf-8"))
    played = plan["chosen"]["run"]
    played |= {"work_s": STEPS * step * SPEED_UP, "nodes": 1, "min_nodes": 1, "boot_s": 0, "image_s": 0,
               "framework_s": start * SPEED_UP, "failures_per_node_hour": 0}
    played["checkpoint"] |= {"blocking_s": 0.6, "persist_s": 0.6, "on_notice_s": 0.6, "restore_s3_s": 0}
    (run.work / "plan.json").write_text(json.dumps(plan), encoding="utf-8")
    words = [run.binary, "simulate", str(run.work / "plan.json"), "--trace", str(trace), "--from-start", "--runs", "1",
             "--exact-steps", "--policy", "spot_only", "--cadence", f"fixed:{EVERY * step * SPEED_UP}s", "--no-rebalance",
             "--json", "--brief", *([] if has_notice else ["--no-notice"])]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=60)
    expect(done.returncode == 0, done.stderr)
    summary = json.loads(done.stdout)["summary"]
    return summary["mean_interruptions"], summary["mean_time_s"]["lost"] / (step * SPEED_UP)


def agree(run, has_notice):
    trace = run.work / "trace.csv"
    done = subprocess.run([run.binary, "trace", "convert", str(TRACE)], capture_output=True, text=True, check=True)
    trace.write_text(done.stdout, encoding="utf-8")
    count, lost, step, start = real(run, trace, has_notice)
    expected_count, expected_lost = simulated(run, trace, step, start, has_notice)
    words = f"real: {count} interruptions, {lost} steps twice; simulated: {expected_count:g}, {expected_lost:.1f}; " \
            f"{1000 * step:.1f} ms a step, {start:.2f} s a start"
    print(words)
    expect(count == expected_count == 3, words, run)
    expect(abs(lost - expected_lost) <= 0.25 * EVERY * count, words, run)
    return lost, expected_lost


def case_replay_losses(run):
    """Without a notice: what was done since the last checkpoint."""
    lost, expected = agree(run, False)
    expect(lost > 0 and expected > 0, f"{lost} and {expected} steps lost")


def case_replay_notices(run):
    """With it: what was done after the checkpoint that was taken for it; the simulator trains on for the 120 s, the
    supervisor until the checkpoint is in the store."""
    agree(run, True)


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
