#!/usr/bin/python3
"""The rendered Slurm job on a real Slurm of four nodes on loopback: warning, requeue, resume, a lost node.

usage: tests/peers/slurm_run.py --binary PATH [--keep DIR]

munged, slurmctld and four slurmd of Debian's packages run in a temporary folder with a key of their own and are ended
with it. The job is rendered from a plan for four spot nodes of eight GPUs; job.env gets local folders, and PATH stands-in
for aws, curl (the metadata service) and torchrun; train.py meets all ranks each step. Exit 77: something is missing.
"""

import argparse
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SKIPPED = 77
NODES, GPUS, LAST_STEP = 4, 8, 200
MACHINES = NODES + 1  # one spare: what is lost stays lost
PLAN = ROOT / "fuzz/corpus/render/spot_p5.json"  # fixed: what a new plan would buy may change
FIXED = {"NO_COLOR": "1", "TRAINYARD_TODAY": "2026-12-01", "LC_ALL": "C.UTF-8"}


def why_missing():
    if os.environ.get("TRAINYARD_PEERS") != "1":
        return "TRAINYARD_PEERS is not 1"
    lacking = [p for p in ("munged", "slurmctld", "slurmd", "sbatch", "scontrol") if shutil.which(p) is None]
    if lacking:
        return f"{', '.join(lacking)}: apt-get install slurm-wlm munge"
    if os.geteuid() != 0:
        return "slurmd wants to be root"
    return None


def free_ports(count):
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Slurm:
    """A cluster that lives in one folder."""

    def __init__(self, work):
        self.work = work
        self.children = {}
        self.conf = work / "slurm.conf"
        self.env = {**os.environ, "SLURM_CONF": str(self.conf)}
        for name in ("state", "spool", "munge", "log"):
            (work / name).mkdir(mode=0o700)
        self.write_configuration()

    def write_configuration(self):
        control, *ports = free_ports(MACHINES + 1)
        lines = [
            "ClusterName=peers",
            f"SlurmctldHost={socket.gethostname()}(127.0.0.1)",
            f"SlurmctldPort={control}",
            "AuthType=auth/munge",
            f"AuthInfo=socket={self.work}/munge/socket",
            "SlurmUser=root",
            f"StateSaveLocation={self.work}/state",
            f"SlurmdSpoolDir={self.work}/spool/%n",
            f"SlurmctldPidFile={self.work}/slurmctld.pid",
            f"SlurmdPidFile={self.work}/slurmd-%n.pid",
            "ProctrackType=proctrack/pgid",
            "TaskPlugin=task/none",
            "SelectType=select/cons_tres",
            "SelectTypeParameters=CR_CPU",
            "SlurmdParameters=config_overrides",
            "GresTypes=gpu",
            "MpiDefault=none",
            "ReturnToService=2",
            "SlurmdTimeout=10",
            "SchedulerParameters=sched_interval=2",
        ]
        lines += [
            f"NodeName=n{i + 1} NodeHostname=localhost NodeAddr=127.0.0.1 Port={port} CPUs=16 RealMemory=1000 Gres=gpu:{GPUS}"
            for i, port in enumerate(ports)
        ]
        lines.append(f"PartitionName=train Nodes=n[1-{MACHINES}] Default=YES MaxTime=INFINITE State=UP")
        self.conf.write_text("\n".join(lines) + "\n")
        for i in range(GPUS):
            (self.work / f"gpu{i}").touch()
        (self.work / "gres.conf").write_text(f"NodeName=n[1-{MACHINES}] Name=gpu File={self.work}/gpu[0-{GPUS - 1}]\n")

    def start(self, name, words):
        log = (self.work / "log" / f"{name}.log").open("ab")
        self.children[name] = subprocess.Popen(
            words, env=self.env, stdout=log, stderr=log, stdin=subprocess.DEVNULL, start_new_session=True
        )

    def start_all(self):
        key = self.work / "munge" / "key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        m = self.work / "munge"
        self.start("munged", ["munged", "--foreground", "--force", f"--socket={m}/socket", f"--key-file={key}",
                              f"--pid-file={m}/pid", f"--seed-file={m}/seed", f"--log-file={m}/log"])
        self.wait_for(lambda: (m / "socket").exists(), 10, "munged")
        self.start("slurmctld", ["slurmctld", "-D", "-c"])
        for i in range(MACHINES):
            self.start_node(f"n{i + 1}")
        idle = f"{MACHINES} idle"
        self.wait_for(lambda: idle in self.call("sinfo", "-h", "-o", "%D %t")[1], 60, "the nodes")

    def start_node(self, name):
        self.start(name, ["slurmd", "-D", "-N", name])

    def lose_node(self, name):
        """As if the power went: slurmd and everything it started is killed, nothing says goodbye."""
        doomed = self.descendants(self.children[name].pid) | self.step_processes(name)
        for pid in [self.children[name].pid, *doomed]:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.children[name].wait()

    def step_processes(self, name):
        """Processes of this cluster whose environment names the node, their step daemons included."""
        found = set()
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                environment = (entry / "environ").read_bytes().split(b"\0")
                command = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            mine = f"SLURM_CONF={self.conf}".encode() in environment
            if mine and (f"SLURMD_NODENAME={name}".encode() in environment):
                found.add(int(entry.name))
                parent = self.parent(int(entry.name))
                if parent and b"slurmstepd" in (pathlib.Path(f"/proc/{parent}/cmdline").read_bytes()):
                    found.add(parent)
            elif mine and b"slurmstepd" in command and f"/spool/{name}".encode() in command:
                found.add(int(entry.name))
        return found

    @staticmethod
    def parent(pid):
        try:
            status = pathlib.Path(f"/proc/{pid}/status").read_text()
        except OSError:
            return 0
        return int(re.search(r"^PPid:\s+(\d+)", status, re.M).group(1))

    def descendants(self, root):
        children = {}
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            children.setdefault(self.parent(int(entry.name)), []).append(int(entry.name))
        found, todo = set(), [root]
        while todo:
            todo += children.get(todo.pop(), [])
            found.update(todo)
        return found

    def stop(self):
        self.call("scancel", "--user=root")
        time.sleep(1)
        for name in reversed(list(self.children)):
            child = self.children[name]
            for pid in self.step_processes(name) if name.startswith("n") else ():
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            if child.poll() is None:
                child.terminate()
                try:
                    child.wait(10)
                except subprocess.TimeoutExpired:
                    child.kill()

    def call(self, *words, cwd=None, env=None):
        done = subprocess.run(
            words, env={**self.env, **(env or {})}, cwd=cwd, capture_output=True, text=True, check=False, timeout=60
        )
        return done.returncode, done.stdout + done.stderr

    @staticmethod
    def wait_for(condition, seconds, what):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if condition():
                return
            time.sleep(0.5)
        raise AssertionError(f"{what}: nothing after {seconds} s")


def render(binary, work):
    env = {**os.environ, **FIXED}
    folder = work / "job"
    subprocess.run(
        [binary, "render", PLAN, "--target", "parallelcluster", "--framework", "fsdp", "-o", folder],
        cwd=ROOT, env=env, capture_output=True, check=True,
    )
    return folder


def prepare(folder, work):
    """Local folders for each node, a quiet time that fits a test, and the script."""
    with (folder / "job.env").open("a") as file:
        file.write(f"\nDATA_DIR={work}/scratch/${{SLURMD_NODENAME:-none}}/data\n")
        file.write(f"CHECKPOINT_DIR={work}/scratch/${{SLURMD_NODENAME:-none}}/checkpoints\n")
        file.write(f"QUIET_SECONDS=2\nEXTRA_ARGUMENTS=(--last {LAST_STEP})\n")
    shutil.copy(HERE / "slurm" / "train.py", folder)
    text = (folder / "job.env").read_text()
    data = re.search(r"^DATA_S3=s3://(\S+)$", text, re.M).group(1)
    (work / "s3" / data).mkdir(parents=True)
    (work / "s3" / data / "tokens.bin").write_bytes(b"data")
    (work / "imds").mkdir()
    path = f"{HERE / 'slurm' / 'bin'}:{os.environ['PATH']}"
    return {"PATH": path, "FAKE_S3": str(work / "s3"), "FAKE_IMDS": str(work / "imds")}


class Job:
    def __init__(self, slurm, folder, env):
        self.slurm, self.folder = slurm, folder
        code, said = slurm.call("sbatch", "--test-only", "job.sbatch", cwd=folder, env=env)
        assert code == 0, f"sbatch --test-only: {said}"
        code, said = slurm.call("sbatch", "--parsable", "job.sbatch", cwd=folder, env=env)
        assert code == 0, f"sbatch: {said}"
        self.number = said.strip()

    def log(self):
        return "".join(p.read_text(errors="replace") for p in sorted(self.folder.glob("*.log")))

    def show(self):
        return self.slurm.call("scontrol", "show", "job", self.number)[1]

    def is_over(self):
        return re.search(r"JobState=(FAILED|CANCELLED|NODE_FAIL|TIMEOUT)", self.show()) is not None

    def hurry(self):
        """A requeued job waits two minutes; the test does not."""
        self.slurm.call("scontrol", "update", f"JobId={self.number}", "StartTime=now")

    def begins(self, text):
        return [int(n) for n in re.findall(rf"RANK \d+ of {NODES * GPUS} begins at (\d+)", text)]

    def wait_begun(self, before, seconds, what):
        """All ranks of one more start have begun; the step they began at."""

        def ready():
            if "JobState=PENDING" in self.show():
                self.hurry()
            assert "JobState=FAILED" not in self.show(), self.log()[-3000:]
            return len(self.begins(self.log())) >= before + NODES * GPUS

        self.slurm.wait_for(ready, seconds, what)
        steps = set(self.begins(self.log())[before:])
        assert len(steps) == 1, f"ranks began at different steps: {steps}"
        return steps.pop()


def sent_steps(work):
    """Steps that every node marked, ascending."""
    marks = [p.name for p in work.glob("s3/*checkpoint*/**/marks/*")]
    steps = {}
    for mark in marks:
        steps.setdefault(mark.split(".")[0], set()).add(mark)
    return sorted(int(s.removeprefix("step-")) for s, m in steps.items() if len(m) == NODES)


def play(slurm, job, work):
    world = NODES * GPUS
    assert job.wait_begun(0, 90, "first start") == 0
    time.sleep(4)
    (work / "imds" / "n2").touch()  # EC2 announces that it takes node n2
    slurm.wait_for(lambda: "saved" in job.log(), 60, "a save on the notice")
    slurm.wait_for(lambda: len(re.findall(r"saved \d+ on notice", job.log())) == world, 60, "all ranks' saves")
    saved = set(re.findall(r"saved (\d+) on notice", job.log()))
    assert len(saved) == 1, saved
    (work / "imds" / "n2").unlink()
    second = job.wait_begun(world, 120, "second start")
    assert second == int(saved.pop()), f"resumed at {second}: not where it saved"
    print(f"interruption notice: saved and resumed at step {second}")
    slurm.wait_for(lambda: any(s > second for s in sent_steps(work)), 90, "a checkpoint of the second start")
    newest = sent_steps(work)[-1]
    slurm.lose_node("n3")
    shutil.rmtree(work / "scratch" / "n3", ignore_errors=True)
    slurm.wait_for(lambda: "Restarts=2" in job.show(), 120, "requeue after a lost node")
    third = job.wait_begun(2 * world, 180, "third start")
    assert third >= newest and third in sent_steps(work), f"resumed at {third}, sent were {sent_steps(work)}"
    print(f"lost node: resumed at step {third}")
    slurm.wait_for(lambda: job.is_over() or len(re.findall(rf"done at {LAST_STEP}", job.log())) == world, 240, "the end")
    slurm.wait_for(lambda: "JobState=COMPLETED" in job.show(), 30, "COMPLETED")
    assert sent_steps(work)[-1] == LAST_STEP, sent_steps(work)
    print(f"completed: {world} ranks, 2 requeues, last checkpoint {LAST_STEP} whole in S3")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True, type=lambda p: str(pathlib.Path(p).resolve()))
    parser.add_argument("--keep", type=pathlib.Path)
    options = parser.parse_args()
    reason = why_missing()
    if reason:
        print(f"skipped: {reason}")
        return SKIPPED
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the cluster ends with the test
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        slurm = Slurm(work)
        job = None
        try:
            slurm.start_all()
            job_folder = render(options.binary, work)
            job = Job(slurm, job_folder, prepare(job_folder, work))
            play(slurm, job, work)
        except AssertionError as wrong:
            print(f"FAILED: {wrong}\n--- job\n{job.show() if job else ''}\n--- log\n{job.log()[-6000:] if job else ''}")
            return 1
        finally:
            slurm.stop()
            if options.keep:
                shutil.copytree(work, options.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("socket*", "spool"))
    return 0


if __name__ == "__main__":
    sys.exit(main())
