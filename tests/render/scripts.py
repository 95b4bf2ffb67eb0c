#!/usr/bin/python3
"""Rendered start scripts, run: every program that they call is a stand-in which notes its words. The run must start as the
plan says, with the user's text as one word each, and nothing else may run.

usage: scripts.py --binary PATH
"""

import argparse
import base64
import json
import pathlib
import subprocess
import sys
import tempfile

import rendering

CORPUS = rendering.ROOT / "fuzz" / "corpus" / "render"
PREFIXES = ["plain/run", "$(touch canary)".replace(" ", "$IFS"), "`id>canary`", "';id>canary;'", '";id>canary;"', "*",
            "-rf", "${HOME}", "a\\", "<(id>canary)", "|id>canary", "&id>canary&", "PYTHON"]  # fmt: skip

STAND_IN = r"""#!/usr/bin/python3
import json, os, sys
name = os.path.basename(sys.argv[0])
with open(os.environ["NOTES"], "a", encoding="utf-8") as notes:
    notes.write(json.dumps([name, *sys.argv[1:]]) + "\n")
nodes = int(os.environ["NODES"])
if name == "curl":
    print("token" if "PUT" in sys.argv else "10.0.0." + os.environ["OWN"])
elif name == "aws" and "describe-instances" in sys.argv:
    print("\n".join(f"10.0.0.{n}" for n in range(nodes, 0, -1)))  # any order
elif name == "torchrun":
    sys.exit(int(os.environ["ENDS_WITH"]))
elif name == "mountpoint":
    sys.exit(1)
"""
PROGRAMS = ["aws", "curl", "torchrun", "shutdown", "mountpoint", "lsblk", "mdadm", "mkfs.ext4", "mount", "apt-get", "gpg",
            "lsb_release", "sleep", "pip"]  # fmt: skip


def play(script, work, nodes, own, ends_with=0, replace=()):
    """(exit code, words of every call) of a script whose absolute directories are moved into `work`."""
    programs = work / "programs"
    programs.mkdir()
    for name in PROGRAMS:
        (programs / name).write_text(STAND_IN, encoding="utf-8")
        (programs / name).chmod(0o755)
    for old, new in replace:
        script = script.replace(old, new.format(work))
    (work / "here").mkdir()
    file = work / "script.sh"
    file.write_text(script, encoding="utf-8")
    notes = work / "notes"
    notes.touch()
    done = subprocess.run(
        ["bash", str(file)],
        cwd=work / "here",
        env={"PATH": f"{programs}:/usr/bin:/bin", "HOME": str(work), "NOTES": str(notes), "NODES": str(nodes),
             "OWN": str(own), "ENDS_WITH": str(ends_with)},
        capture_output=True,
        timeout=60,
        check=False,
    )  # fmt: skip
    return done, [json.loads(line) for line in notes.read_text(encoding="utf-8").splitlines()]


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

    def torchrun(self, what, calls, nodes, rank, first):
        starts = [c for c in calls if c[0] == "torchrun"]
        self.that(len(starts) == 1, f"{what}: torchrun started {len(starts)} times")
        if not starts:
            return
        words = starts[0]
        for option, value in (("--nnodes", nodes), ("--node-rank", rank), ("--master-addr", first)):
            self.that(after(words, option) == str(value), f"{what}: {option} {after(words, option)}, expected {value}")

    def clean(self, what, work):
        self.that(not list(work.rglob("canary*")), f"{what}: text of the user was run")


def user_data(check, binary, plan, prefix, own, ends_with):
    what = f"ec2-fleet, prefix {prefix!r}, node {own}"
    code, files, said = rendering.render(binary, plan, "ec2-fleet", ["--checkpoint", f"s3://bucket/{prefix}"])
    if code != rendering.ANSWERED:
        check.that(code == rendering.REFUSED, f"{what}: exit {code}: {said}")
        return
    check.played += 1
    nodes = json.loads(plan)["chosen"]["nodes"]
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        moved = (
            ("/var/log", "{}/log"),
            ("/opt", "{}/opt"),
            (" /fsx", " {}/fsx"),
            ("/usr/share/keyrings", "{}/keys"),
            ("/etc/apt", "{}/apt"),
        )
        for made in ("log", "keys", "apt/sources.list.d", "fsx/data"):
            (work / made).mkdir(parents=True)
        done, calls = play(files["user-data.sh"], work, nodes, own, ends_with, moved)
        check.that(done.returncode == ends_with, f"{what}: exit {done.returncode}")
        check.torchrun(what, calls, nodes, own - 1, "10.0.0.1")
        check.clean(what, work)
        lustre = json.loads(plan)["chosen"]["offer"].get("data_place") == "FSx for Lustre"
        run = json.loads(files["ec2.create-launch-template.json"])["TagSpecifications"][0]["Tags"][0]["Value"]
        place = f"s3://bucket/{prefix}/" + ("" if prefix.endswith("/" + run) else f"{run}/")
        saves = [c for c in calls if c[:3] == ["aws", "s3", "sync"] and c[-1] == place]
        loads = [c for c in calls if c[:3] == ["aws", "s3", "sync"] and place in c[:-1]]
        if not lustre:  # there FSx itself moves checkpoints to S3
            check.that(saves and loads, f"{what}: the checkpoint was not fetched from and saved to {place}: {calls}")
        check.that(any(c[:3] == ["mount", "-t", "lustre"] for c in calls) == lustre, f"{what}: mounts {calls}")
        ended = [c for c in calls if c[0] == "shutdown"]
        check.that(bool(ended) == (ends_with == 0), f"{what}: shut down {len(ended)} times after status {ends_with}")


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
        done, calls = play(files["code/run.sh"], work, nodes, 1, 0, (("/opt/ml", "{}/ml"),))
        check.that(done.returncode == 0, f"sagemaker: exit {done.returncode}: {done.stderr.decode()}")
        check.torchrun("sagemaker", calls, nodes, rank, "algo-1")


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
    encode(check, binary, spot)
    for rank in (0, 3):
        container(check, binary, spot, rank)
    print(f"{check.played} scripts played, {check.failures} failures")
    return 1 if check.failures or check.played < len(PREFIXES) else 0


if __name__ == "__main__":
    sys.exit(main())
