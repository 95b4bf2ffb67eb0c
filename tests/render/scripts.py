#!/usr/bin/python3
"""Rendered start scripts, run: every program that they call is a stand-in which notes its words, S3 is a folder. The run
must start as the plan says, with the user's text as one word each, nothing else may run, and only whole checkpoints
may come back.

usage: scripts.py --binary PATH
"""

import argparse
import base64
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import rendering

CORPUS = rendering.ROOT / "fuzz" / "corpus" / "render"
PREFIXES = ["plain/run", "$(touch canary)".replace(" ", "$IFS"), "`id>canary`", "';id>canary;'", '";id>canary;"', "*",
            "-rf", "${HOME}", "a\\", "<(id>canary)", "|id>canary", "&id>canary&", "PYTHON"]  # fmt: skip

# torchrun does what the words in PLAY say: "save:NAME" makes a step, "wait" has a child that saves the step "notice" on
# SIGUSR1 or SIGTERM, a number is the exit status.
STAND_IN = r"""#!/usr/bin/python3 -ISE
import json, os, pathlib, shutil, signal, subprocess, sys, time
name, words = os.path.basename(sys.argv[0]), sys.argv[1:]
note = os.open(os.environ["NOTES"], os.O_WRONLY | os.O_APPEND)
os.write(note, (json.dumps([name, *words]) + "\n").encode())
nodes = int(os.environ["NODES"])
s3 = pathlib.Path(os.environ["S3"])

def place(address):
    return s3 / address[5:] if address.startswith("s3://") else pathlib.Path(address)

def save(step):
    folder = pathlib.Path(os.environ["CHECKPOINT_DIR"]) / step
    folder.mkdir(parents=True)
    (folder / f"part-{os.environ.get('PET_NODE_RANK', 0)}").write_text(step)

def aws(words):
    if "describe-instances" in words:
        print("\n".join(f"10.0.0.{n}" for n in range(nodes, 0, -1)))  # any order
    if words[0] != "s3":
        return 0
    if os.environ["BROKEN"] and os.environ["BROKEN"] in " ".join(words):
        return 255  # 1 would be: nothing is there
    places = [w for w in words[2:] if not w.startswith("--") or w == "-"]
    if words[1] == "sync" and place(places[0]).is_dir():
        shutil.copytree(place(places[0]), place(places[1]), dirs_exist_ok=True)
    if words[1] == "cp":
        target = place(places[1])
        target.parent.mkdir(parents=True, exist_ok=True)
        if places[0] == "-":
            target.write_bytes(sys.stdin.buffer.read())
    if words[1] == "rm":
        target = place(places[0])
        shutil.rmtree(target) if target.is_dir() else target.unlink(missing_ok=True)
    if words[1] == "ls":
        found = sorted(place(places[0]).glob("*"))
        for path in found:
            print(f"                           PRE {path.name}/" if path.is_dir() else f"2026-12-01 00:00:00 21 {path.name}")
        return 0 if found else 1
    return 0

if name == "gpg":
    sys.stdin.buffer.read()  # who ends before its pipe does kills the writer
if name == "curl":
    print("token" if "PUT" in words else "10.0.0." + os.environ["OWN"])
    sys.exit(22 if "instance-action" in " ".join(words) else 0)
if name == "aws":
    sys.exit(aws(words))
if name == "mountpoint":
    sys.exit(1)
if name == "sleep":
    time.sleep(0.2)
if name == "torchrun":
    status = 0
    for word in os.environ["PLAY"].split():
        if word.startswith("save:"):
            save(word[5:])
        elif word == "wait":
            child = os.fork()
            if child == 0:
                def on_notice(number, frame):
                    save("notice-7")
                    os._exit(0)
                signal.signal(signal.SIGUSR1, on_notice)
                signal.signal(signal.SIGTERM, on_notice)
                pathlib.Path(os.environ["READY"]).touch()
                while True:
                    signal.pause()
            os.waitpid(child, 0)
        else:
            status = int(word)
    sys.exit(status)
"""
PROGRAMS = ["aws", "curl", "torchrun", "shutdown", "mountpoint", "lsblk", "mdadm", "mkfs.ext4", "mount", "apt-get", "gpg",
            "lsb_release", "sleep", "pip", "mount-s3"]  # fmt: skip


def end_group(leader):
    """Nothing that the script left in the background may write into the folder while it goes."""
    while True:
        try:
            os.killpg(leader, signal.SIGKILL)
        except ProcessLookupError:
            return
        time.sleep(0.01)


class Stage:
    """A folder with the stand-ins; `s3` outlives each script that is played on it."""

    def __init__(self, work, nodes):
        self.work, self.nodes = work, nodes
        self.s3 = work / "s3"
        for made in ("programs", "here", "s3"):
            (work / made).mkdir()
        for name in PROGRAMS:
            (work / "programs" / name).write_text(STAND_IN, encoding="utf-8")
            (work / "programs" / name).chmod(0o755)

    def play(self, script, own=1, program="0", replace=(), env=(), words=(), broken="", notice=False):
        """(exit code, output, words of every call) of a script whose absolute directories are moved into the folder."""
        for old, new in replace:
            script = script.replace(old, new.format(self.work))
        file = self.work / "script.sh"
        file.write_text(script, encoding="utf-8")
        notes = self.work / "notes"
        notes.write_text("")
        ready = self.work / "ready"
        ready.unlink(missing_ok=True)
        child = subprocess.Popen(
            ["bash", str(file), *words],
            cwd=self.work / "here",
            env={"PATH": f"{self.work}/programs:/usr/bin:/bin", "HOME": str(self.work), "NOTES": str(notes),
                 "NODES": str(self.nodes), "OWN": str(own), "PLAY": program, "S3": str(self.s3), "BROKEN": broken,
                 "READY": str(ready), **dict(env)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )  # fmt: skip
        try:
            if notice:
                until(lambda: ready.exists() or child.poll() is not None)
                child.send_signal(signal.SIGTERM)
            # Not communicate(): what stays in the background holds the pipe open.
            child.wait(timeout=300)
        finally:
            end_group(child.pid)
        said = child.stdout.read().decode("utf-8", "replace")
        return child.returncode, said, [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]


def until(holds):
    end = time.monotonic() + 300
    while not holds():
        if time.monotonic() > end:
            raise TimeoutError("what was waited for never came")
        time.sleep(0.02)


def after(words, option):
    return words[words.index(option) + 1] if option in words else None


class Check:
    def __init__(self):
        self.failures = 0
        self.played = 0

    def that(self, holds, what):
        if not holds:
            self.failures += 1
            print(what)

    def torchrun(self, what, calls, options):
        starts = [c for c in calls if c[0] == "torchrun"]
        self.that(len(starts) == 1, f"{what}: torchrun started {len(starts)} times")
        for option, value in options.items() if starts else ():
            got = after(starts[0], option)
            self.that(got == str(value), f"{what}: {option} {got}, expected {value}")

    def clean(self, what, work):
        self.that(not list(work.rglob("canary*")), f"{what}: text of the user was run")


MOVED = (
    ("/var/log", "{}/log"),
    ("/opt/", "{}/opt/"),
    (" /fsx", " {}/fsx"),
    (" /data", " {}/data"),
    ("/usr/share/keyrings", "{}/keys"),
    ("/etc/apt", "{}/apt"),
)


def user_data(check, binary, plan, prefix, own, ends_with):
    """The start script of an EC2 node; run.sh, which it starts, is played by pod()."""
    what = f"ec2-fleet, prefix {prefix!r}, node {own}"
    code, files, said = rendering.render(binary, plan, "ec2-fleet", ["--checkpoint", f"s3://bucket/{prefix}"])
    if code != rendering.ANSWERED:
        check.that(code == rendering.REFUSED, f"{what}: exit {code}: {said}")
        return
    check.played += 1
    nodes = json.loads(plan)["chosen"]["nodes"]
    lustre = json.loads(plan)["chosen"]["offer"].get("data_place") == "FSx for Lustre"
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        stage = Stage(work, nodes)
        for made in ("log", "keys", "apt/sources.list.d", "fsx/data", "opt/trainyard/code"):
            (work / made).mkdir(parents=True)
        started = work / "opt/trainyard/code/run.sh"
        started.write_text(
            'printf "%s\\n" "$PET_NNODES" "$PET_NODE_RANK" "$PET_MASTER_ADDR" "$CHECKPOINT_S3" >"$HOME/env"\n'
            f"exit {ends_with}\n"
        )
        status, said, calls = stage.play(files["user-data.sh"], own=own, replace=MOVED)
        check.that(status == ends_with, f"{what}: exit {status}")
        run = json.loads(files["ec2.create-launch-template.json"])["TagSpecifications"][0]["Tags"][0]["Value"]
        place = f"s3://bucket/{prefix}" + ("" if prefix.endswith("/" + run) else f"/{run}")
        expected = [str(nodes), str(own - 1), "10.0.0.1", place]
        got = (work / "env").read_text().splitlines() if (work / "env").exists() else said
        check.that(got == expected, f"{what}: run.sh was started with {got}, expected {expected}")
        check.clean(what, work)
        check.that(any(c[:3] == ["mount", "-t", "lustre"] for c in calls) == lustre, f"{what}: mounts {calls}")
        streams = json.loads(plan)["chosen"]["offer"].get("data_place") == "S3"
        check.that(any(c[0] == "mount-s3" for c in calls) == streams, f"{what}: S3 is mounted or not: {calls}")
        logs = [c for c in calls if c[:3] == ["aws", "s3", "cp"] and c[-1].startswith(f"{place}/logs/")]
        check.that(len(logs) == 1, f"{what}: the log went to S3 {len(logs)} times")
        ended = [c for c in calls if c[0] == "shutdown"]
        check.that(len(ended) == 1, f"{what}: shut down {len(ended)} times after status {ends_with}")


def encode(check, binary, plan):
    """encode.py puts user-data.sh into the template: unchanged it changes nothing, changed it arrives whole."""
    files = rendering.render(binary, plan, "ec2-fleet")[1]
    name = "ec2.create-launch-template.json"
    check.played += 1
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for file in (name, "encode.py", "user-data.sh"):
            (work / file).write_text(files[file], encoding="utf-8")
        subprocess.run([sys.executable, "encode.py"], cwd=work, check=True)
        check.that((work / name).read_text(encoding="utf-8") == files[name], "encode.py changes what needs no change")
        (work / "user-data.sh").write_text("#!/bin/bash\necho \u00e9\n", encoding="utf-8")
        subprocess.run([sys.executable, "encode.py"], cwd=work, check=True)
        data = json.loads((work / name).read_text(encoding="utf-8"))["LaunchTemplateData"]["UserData"]
        check.that(base64.b64decode(data).decode() == "#!/bin/bash\necho \u00e9\n", "encode.py lost the change")


def container(check, binary, plan, rank):
    code, files, said = rendering.render(binary, plan, "sagemaker")
    check.that(code == rendering.ANSWERED, f"sagemaker: exit {code}: {said}")
    if code != rendering.ANSWERED:
        return
    check.played += 1
    nodes = json.loads(plan)["chosen"]["nodes"]
    hosts = [f"algo-{n}" for n in range(1, nodes + 1)]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        (work / "ml/input/config").mkdir(parents=True)
        config = {"hosts": hosts[::-1], "current_host": hosts[rank], "network_interface_name": "eth0"}
        (work / "ml/input/config/resourceconfig.json").write_text(json.dumps(config))
        status, said, calls = Stage(work, nodes).play(files["code/run.sh"], replace=(("/opt/ml", "{}/ml"),))
        check.that(status == 0, f"sagemaker: exit {status}: {said}")
        check.torchrun("sagemaker", calls, {"--nnodes": nodes, "--node-rank": rank, "--master-addr": "algo-1"})


class Pod:
    """run.sh of pods, SkyPilot tasks and EC2 nodes, on the node `rank` of two."""

    def __init__(self, check, work, script):
        self.check, self.work, self.script = check, work, script
        self.stage = Stage(work, 2)
        self.saved = work / "s3/bucket/run"

    def run(self, what, rank, program, expected, **more):
        self.check.played += 1
        local = self.work / f"node-{rank}"
        env = {"CHECKPOINT_S3": "s3://bucket/run", "CHECKPOINT_DIR": str(local), "DATA_S3": "s3://data/set",
               "DATA_DIR": str(self.work / "data"), "PET_NODE_RANK": str(rank), "PET_NNODES": "2",
               "QUIET_SECONDS": "0"}  # fmt: skip
        status, said, calls = self.stage.play(self.script, program=program, env=env, words=["train.py", "a b"], **more)
        self.check.that(status == expected, f"run.sh, {what}: exit {status}, expected {expected}: {said}")
        starts = [c for c in calls if c[0] == "torchrun"]
        self.check.that([c[-2:] for c in starts] == [["train.py", "a b"]], f"run.sh, {what}: torchrun {starts}")
        return local, said

    def has(self, what, steps, marks):
        for folder, names in (("steps", steps), ("marks", marks)):
            got = sorted(p.name for p in self.saved.glob(folder + "/*"))
            self.check.that(got == sorted(names), f"run.sh, {what}: {folder} in S3 {got}, expected {names}")


def marks_of(*steps):
    return [f"{step}.{node}-of-2" for step in steps for node in (0, 1)]


def pod(check, script, notice):
    with tempfile.TemporaryDirectory() as folder:
        p = Pod(check, pathlib.Path(folder), script)
        p.run("first start", 0, "save:step-10 save:step-20", 0)
        p.has("one node of two", ["step-10", "step-20"], ["step-10.0-of-2", "step-20.0-of-2"])
        # Both steps are halves: the next start must neither read nor keep them.
        local, said = p.run("after a half", 0, "save:step-10 save:step-20", 0)
        check.that("a first start" in said, f"run.sh resumed from a half: {said}")
        p.run("second node", 1, "save:step-10 save:step-20 save:step-30", 0)
        p.has("step-30 is half", ["step-10", "step-20", "step-30"], [*marks_of("step-10", "step-20"), "step-30.1-of-2"])
        local, said = p.run("resume", 0, "1", 1)
        check.that("resuming from step-20" in said, f"run.sh did not resume from step-20: {said}")
        check.that({f.name for f in (local / "step-20").glob("*")} == {"part-0", "part-1"}, "parts of a node are missing")
        p.has("the half went", ["step-10", "step-20"], marks_of("step-10", "step-20"))
        # What cannot be sent is not marked.
        p.run("broken S3", 0, "save:step-40", 255, broken=f"sync --only-show-errors {local}/step-40")
        p.has("nothing of step-40", ["step-10", "step-20"], marks_of("step-10", "step-20"))
        # Three whole steps stay: two of five go, once node 0 sends again.
        for rank in (0, 1):
            p.run("five steps", rank, "save:step-40 save:step-50 save:step-60", 0)
        p.run("the next step", 0, "save:step-70", 0)
        kept = ["step-40", "step-50", "step-60"]
        p.has("pruned", [*kept, "step-70"], [*marks_of(*kept), "step-70.0-of-2"])
        # An S3 that cannot be listed is no first start.
        p.check.played += 1
        status, said, calls = p.stage.play(script, env={"CHECKPOINT_S3": "s3://bucket/run", "PET_NNODES": "2",
            "CHECKPOINT_DIR": str(local), "DATA_S3": "s3://d/d", "DATA_DIR": folder}, broken="s3 ls")  # fmt: skip
        started = any(c[0] == "torchrun" for c in calls)
        check.that(status != 0 and not started, f"run.sh started without a list of S3: exit {status}: {said}")
        if notice:
            for rank in (0, 1):
                p.run("notice", rank, "wait", 143, notice=True)
            p.has("notice", [*kept, "notice-7"], marks_of(*kept, "notice-7"))


def pods(check, binary):
    """One script for all targets that have it; a framework that saves on SIGUSR1, one on SIGTERM, one on nothing."""
    for name, notice in (("spot_p5", True), ("lora", True), ("trn1", False)):
        plan = (CORPUS / f"{name}.json").read_bytes()
        code, files, said = rendering.render(binary, plan, "ec2-fleet")
        check.that(code == rendering.ANSWERED, f"ec2-fleet of {name}: exit {code}: {said}")
        script = files["code/run.sh"]
        pod(check, script, notice)
        body = [line for line in script.splitlines() if line and not line.startswith("#")]
        for target in ("eks", "hyperpod", "skypilot"):
            code, files, said = rendering.render(binary, plan, target)
            if code != rendering.ANSWERED:
                continue
            text = files.get("code/run.sh") or files["workspace.yaml"]
            held = {line.strip() for line in text.splitlines()}
            lost = [line for line in body if line.strip() not in held]
            check.that(not lost, f"{target} of {name}: run.sh lacks {lost[:3]}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    check = Check()
    spot = (CORPUS / "spot_p5.json").read_bytes()
    for number, prefix in enumerate(PREFIXES):
        user_data(check, binary, spot, prefix, own=1 + number % 4, ends_with=number % 3)
    user_data(check, binary, (CORPUS / "lora.json").read_bytes(), "one/node", own=1, ends_with=0)
    user_data(check, binary, (CORPUS / "trn1.json").read_bytes(), "neuron", own=2, ends_with=0)
    user_data(check, binary, (CORPUS / "lustre.json").read_bytes(), "lustre", own=3, ends_with=0)
    user_data(check, binary, (CORPUS / "s3_data.json").read_bytes(), "stream", own=2, ends_with=1)
    encode(check, binary, spot)
    for rank in (0, 3):
        container(check, binary, spot, rank)
    pods(check, binary)
    print(f"{check.played} scripts played, {check.failures} failures")
    return 1 if check.failures or check.played < len(PREFIXES) else 0


if __name__ == "__main__":
    sys.exit(main())
