#!/usr/bin/python3
"""`trainyard run` in a batch job of a real Slurm on loopback: SIGTERM and requeue, then a node that is lost.

usage: tests/run/slurm_test.py --binary PATH

The scratch of each node is its own: what a lost node had comes back from the store. Exit 77: something is missing
(the same as tests/peers/slurm_run.py needs).
"""

import argparse
import json
import pathlib
import re
import shutil
import signal
import sys
import tempfile
import time

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "peers")]
from harness import TRAINER, Run, expect  # noqa: E402
from slurm_run import SKIPPED, Slurm, why_missing  # noqa: E402

SCRIPT = """#!/bin/bash
#SBATCH --job-name=run --nodes=1 --ntasks=1 --requeue --open-mode=append --output={work}/job.log
scratch={work}/scratch/$SLURMD_NODENAME
{binary} run --imds off --state $scratch/state --checkpoint-dir $scratch/out --store {work}/store --term-window 20s \\
    -- {python} {trainer} --steps 300 --every 10 --step-time 0.1 --ranks 2 --final {work}/final.json &
supervisor=$!
# A batch script gets the signal, not what it started; and "wait" ends when a signal comes.
trap 'kill -TERM $supervisor' TERM
while true; do
    wait $supervisor; code=$?
    kill -0 $supervisor 2>/dev/null || break
done
echo "exit code $code on $SLURMD_NODENAME"
[ $code -ne 75 ] || scontrol requeue $SLURM_JOB_ID
exit $code
"""


class Job:
    def __init__(self, slurm, work, binary):
        self.slurm, self.work = slurm, work
        self.pending = None
        script = work / "job.sbatch"
        script.write_text(SCRIPT.format(work=work, binary=binary, python=sys.executable, trainer=TRAINER), encoding="utf-8")
        code, said = slurm.call("sbatch", "--parsable", str(script), cwd=work)
        expect(code == 0, f"sbatch: {said}")
        self.number = said.strip()

    def log(self):
        log = self.work / "job.log"
        return log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""

    def show(self):
        return self.slurm.call("scontrol", "show", "job", self.number)[1]

    def until(self, condition, seconds, what):
        def ready():
            # A requeued job waits two minutes. The test waits until the script that it replaces is surely gone: its exit
            # code would else be taken for that of the new one.
            if "JobState=PENDING" not in self.show():
                self.pending = None
            elif self.pending is None:
                self.pending = time.monotonic()
            elif time.monotonic() - self.pending > 5:
                self.slurm.call("scontrol", "update", f"JobId={self.number}", "StartTime=now")
            return condition()

        self.slurm.wait_for(ready, seconds, what)

    def node(self):
        return re.search(r"NodeList=(n\d+)", self.show())[1]


def committed(work):
    return [int(step) for step in re.findall(r"step (\d+) is in the store", (work / "job.log").read_text(encoding="utf-8"))]


def play(slurm, job, work):
    job.until(lambda: "step 20 is in the store" in job.log(), 60, "first checkpoints")
    slurm.call("scancel", "--signal=TERM", "--batch", job.number)
    job.until(lambda: "exit code 75" in job.log(), 40, "exit code 75")
    saved = committed(work)[-1]
    job.until(lambda: f"resumed at step {saved}" in job.log(), 60, f"resume at step {saved}")
    print(f"SIGTERM: saved, requeued, resumed at step {saved}")
    job.until(lambda: committed(work)[-1] > saved + 20, 60, "more checkpoints")
    node = job.node()
    slurm.lose_node(node)
    shutil.rmtree(work / "scratch" / node)
    newest = committed(work)[-1]
    job.until(lambda: job.log().count("resumed at step") >= 2, 150, "resume after the lost node")
    resumed = int(re.findall(r"resumed at step (\d+)", job.log())[-1])
    expect(resumed >= newest, f"resumed at {resumed}, {newest} was in the store")
    expect(job.node() != node, "another node")
    print(f"lost node: resumed at step {resumed} on another one, restored from the store")
    job.until(lambda: "JobState=COMPLETED" in job.show(), 90, "COMPLETED")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda p: pathlib.Path(p).resolve())
    args = parser.parse_args()
    reason = why_missing()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster ends with the test
    with tempfile.TemporaryDirectory(prefix="trainyard-slurm-") as folder:
        work = pathlib.Path(folder)
        undisturbed = Run(args.binary, work / "reference", 300, 1000, store=None)
        undisturbed.trainer = ["--ranks", "2", "--step-time", "0"]
        expect(undisturbed.go() == 0, "the undisturbed run", undisturbed)
        slurm = Slurm(work)
        job = None
        begun = time.monotonic()
        try:
            slurm.start_all()
            job = Job(slurm, work, args.binary)
            play(slurm, job, work)
            final = json.loads((work / "final.json").read_text(encoding="utf-8"))
            expect(final == undisturbed.result(), f"{final} is not {undisturbed.result()}")
            print(f"completed after {time.monotonic() - begun:.0f} s: the undisturbed run's end, bit for bit")
        except AssertionError as wrong:
            print(f"FAILED: {wrong}\n--- job\n{job.show() if job else ''}\n--- log\n{job.log()[-6000:] if job else ''}")
            return 1
        finally:
            slurm.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main())
