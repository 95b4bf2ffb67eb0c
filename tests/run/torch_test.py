#!/usr/bin/python3
"""Real PyTorch under `trainyard run`: torchrun and examples/train_gpt.py (DDP over Gloo, two ranks).

usage: tests/run/torch_test.py --binary PATH [CASE ...]

Exit 77: TRAINYARD_PEERS is not 1, or Debian's python3-torch is not installed. TRAINYARD_TORCH names a folder with another
python3 and torchrun; the FSDP case needs PyTorch 2.6 there, as Debian 12's 1.13 says "FSDP does not support CPU only execution".
"""

import functools
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import ROOT, Run, expect, kill, main  # noqa: E402

TORCH = pathlib.Path(os.environ.get("TRAINYARD_TORCH", "/usr/bin"))
EXAMPLE = ROOT / "examples" / "train_gpt.py"


def torchrun(run, ranks=2, *options):
    # Debian's PyTorch 1.13 under Python 3.11 needs its output redirected: the default value of --redirects is lost.
    return [str(TORCH / "torchrun"), "--standalone", "--nproc_per_node", str(ranks), "--redirects", "1", "--tee", "1",
            "--log_dir", str(run.work / "torch"), str(EXAMPLE), "--steps", "40", "--every", "10", "--final",
            str(run.final), *options]


def begin(run, *options, ranks=2):
    if "--fsdp" not in options:
        run.options += ["--marker", "done"]
    run.start(torchrun(run, ranks, *options))


def workers(run):
    """The ranks: they run the example and have a rank."""
    found = []
    for pid, words in run.processes():
        if str(EXAMPLE).encode() in words:
            try:
                environment = pathlib.Path(f"/proc/{pid}/environ").read_bytes()
            except OSError:
                continue
            if b"\0LOCAL_RANK=" in environment:
                found.append(pid)
    return found


def reference(run, *options):
    """The undisturbed run, in this process's sight only: no supervisor at all."""
    place = run.work / "reference"
    place.mkdir()
    words = torchrun(run, 2, *options)
    words[words.index("--final") + 1] = str(place / "final.json")
    done = subprocess.run(words, env={**run.environment(), "TRAINYARD_CHECKPOINT_DIR": str(place / "out")}, check=False,
                          capture_output=True, text=True, timeout=120)
    expect(done.returncode == 0, done.stderr[-2000:])
    return json.loads((place / "final.json").read_text(encoding="utf-8"))


def killed_twice(run, *options):
    """A rank, then torchrun and all at once are killed: the end is the undisturbed run's, bit for bit."""
    begin(run, "--pause", "0.1", *options)
    run.until(lambda: "step: 13/" in run.stdout(), "step 13", 60)
    kill(workers(run)[-1])
    run.until_event("failed")
    run.until(lambda: "step: 24/" in run.stdout(), "step 24", 60)
    run.kill_supervisor()
    for pid, _ in run.processes():
        kill(pid)
    run.start(torchrun(run, 2, "--pause", "0.1", *options))
    expect(run.wait(120) == 0, "exit 0", run)
    expect("resumed at step 10" in run.stdout() and "resumed at step 20" in run.stdout(), "resumed twice", run)
    expected = reference(run, *options)
    expect(run.result() == expected, f"{run.result()} is not {expected}", run)


def case_torch_kills(run):
    killed_twice(run)


def case_torch_fsdp_kills(run):
    """The same with FSDP and PyTorch's distributed checkpoint; then one rank goes on where two were."""
    version = torch_version()
    if version < (2, 6):
        print(f"skipped: --fsdp needs PyTorch 2.6, {TORCH}/python3 has {version}")
        sys.exit(77)
    killed_twice(run, "--fsdp")
    shutil.rmtree(run.out)
    words = torchrun(run, 1, "--fsdp")
    words[words.index("--steps") + 1] = "43"
    run.start(words)
    expect(run.wait(120) == 0, "exit 0", run)
    expect("resumed at step 40" in run.stdout(), "restored from the store, on one rank", run)


@functools.cache
def torch_version():
    """(2, 6); () if there is none."""
    said = subprocess.run([str(TORCH / "python3"), "-c", "import torch; print(torch.__version__)"], capture_output=True,
                          text=True, check=False)
    return tuple(map(int, said.stdout.split(".")[:2])) if said.returncode == 0 else ()


def case_torch_notice_and_resize(run):
    """SIGTERM: saved at once; one rank instead of two goes on, on the same samples, within rounding."""
    begin(run, "--pause", "0.1")
    run.until(lambda: "step: 13/" in run.stdout(), "step 13")
    run.process.send_signal(signal.SIGTERM)
    expect(run.wait(60) == 75, "exit 75", run)
    step = run.stored_steps()[0]
    expect(step > 10 and step % 10 != 0, f"saved for it, at {step}", run)
    shutil.rmtree(run.out)
    run.start(torchrun(run, 1))
    expect(run.wait(120) == 0, "exit 0", run)
    expect(f"resumed at step {step}" in run.stdout(), "from the store", run)
    expected = reference(run)
    for key in ("loss", "weights"):
        error = abs(run.result()[key] / expected[key] - 1)
        expect(error < 1e-4, f"{key} is off by {error}", run)


if __name__ == "__main__":
    if os.environ.get("TRAINYARD_PEERS") != "1":
        print("skipped: TRAINYARD_PEERS is not 1")
        sys.exit(77)
    if not torch_version():
        print("skipped: apt-get install python3-torch")
        sys.exit(77)
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
