#!/usr/bin/python3
"""Whole sessions of `trainyard store` with the real program: a directory and the S3 fault server.

usage: tests/store/session.py --binary PATH [TEST…]
"""

import argparse
import contextlib
import datetime
import json
import os
import pathlib
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATESTFAULTSERVER0", "AWS_SECRET_ACCESS_KEY": "secret/of+the=fault-server"}
ENV = {**{k: v for k, v in os.environ.items() if not k.startswith("AWS_")}, **KEYS, "NO_COLOR": "1"}
QUICK = ("slowdown,error500,error200,reset_before,reset_after,truncate,flip,html,bad_digest,expired,redirect")


def expect(condition, *words):
    if not condition:
        raise AssertionError(*words)


class Session:
    def __init__(self, binary, base):
        self.binary, self.base = binary, pathlib.Path(base)
        self.options = ()

    def run(self, *words, code=0, **more):
        done = subprocess.run([self.binary, "store", *map(str, words), *self.options], cwd=self.base, env=ENV,
                              capture_output=True, text=True, timeout=200, check=False, **more)  # fmt: skip
        expect(code is None or done.returncode == code, words, done.returncode, done.stdout, done.stderr)
        return done

    def json(self, action, *words):
        document = json.loads(self.run(action, *words, "--json").stdout)
        expect(document["schema"] == f"trainyard.store-{action}" and document["schema_version"] == 1, document)
        return document

    def put(self, step, store, *more):
        return self.json("put", f"step_{step}", store, "--quiet-period", "0s", *more)

    def save(self, step, files=None):
        made = self.base / f"step_{step}"
        for name, data in (files or {"same.bin": b"s" * 9000, f"{step}.bin": bytes([step % 251]) * 5000}).items():
            path = made / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        return made

    def same(self, step, restored):
        done = subprocess.run(["diff", "-r", self.base / f"step_{step}", self.base / restored], check=False)
        expect(done.returncode == 0, "what was restored differs")

    @contextlib.contextmanager
    def server(self, *options):
        started = subprocess.Popen([sys.executable, ROOT / "tests/support/fault_server.py", *options],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # fmt: skip
        try:
            self.options = ("--endpoint-url", f"http://127.0.0.1:{started.stdout.readline().strip()}")
            yield started
        finally:
            self.options = ()
            with contextlib.suppress(OSError):
                started.stdin.close()
            started.wait()


def everyday(s, store):
    """put, ls, get, verify, prune: what each prints, and its JSON."""
    for step in (1, 2, 3):
        s.save(step)
    first = s.run("put", "step_1", store, "--quiet-period", "0s").stdout
    expect(first == "step 1 committed: 2 files, 13.7 KiB: 13.7 KiB sent\n", first)
    again = s.put(1, store)
    expect(again["was_there"] and again["sent_bytes"] == 0, again)
    second = s.put(2, store)
    expect((second["sent_bytes"], second["reused_bytes"]) == (5000, 9000), second)
    s.put(3, store)
    lines = s.run("ls", store).stdout.splitlines()
    expect(lines[0].split() == "STEP SIZE FILES AGE NODES VERIFIED LAYOUT".split(), lines)
    expect([line.split()[0] for line in lines[1:]] == ["3", "2", "1"], lines)
    expect(re.match(r" *3 +13\.7 KiB +2 +[0-9.]+ (s|ms|min) +1 +no +plain$", lines[1]), lines)
    listed = s.json("ls", store)["checkpoints"]
    expect([c["step"] for c in listed] == [3, 2, 1] and listed[0]["bytes"] == 14000, listed)
    expect(listed[0]["nodes"] == 1 and listed[0]["layout"] == "plain" and not listed[0]["verified"], listed)
    made = datetime.datetime.strptime(listed[0]["created_at"], "%Y-%m-%dT%H:%M:%SZ")
    expect(abs((datetime.datetime.utcnow() - made).total_seconds()) < 60, listed)
    expect(s.json("verify", store, "--step", "1")["sound"])
    expect([c["verified"] for c in s.json("ls", store)["checkpoints"]] == [False, False, True])
    got = s.json("get", store, "newest")
    expect(got["step"] == 3 and got["received_bytes"] == 14000 and got["damaged_newer"] == 0, got)
    s.same(3, "newest")
    s.run("get", store, "exactly", "--step", "2")
    s.same(2, "exactly")
    refused = s.run("get", store, "newest", code=3).stderr
    expect("not empty" in refused and "fix:" in refused, refused)
    expect("no checkpoint of that step" in s.run("get", store, "no", "--step", "9", code=4).stderr)
    dry = s.json("prune", store, "--keep-last", "1", "--dry-run")
    # Step 1 alone was verified, so it stays; 2 alone names its own file.
    expect(dry["dry_run"] and len(dry["removed"]) == 1 and dry["freed_bytes"] == 5000, dry)
    expect(len(s.json("ls", store)["checkpoints"]) == 3)
    wet = s.json("prune", store, "--keep-last", "1")
    expect(wet["removed"] == dry["removed"] and wet["freed_bytes"] == 5000 and not wet["deferred"], wet)
    expect([c["step"] for c in s.json("ls", store)["checkpoints"]] == [3, 1])
    s.run("get", store, "after", "--step", "1")
    s.same(1, "after")


def test_directory(s):
    everyday(s, "store")


def test_s3(s):
    with s.server():
        everyday(s, "s3://bkt1/team/run 7")


def test_s3_with_faults(s):
    with s.server("--fail", "0.3", "--seed", "7", "--faults", QUICK):
        everyday(s, "s3://bkt1/r")


def test_parts_and_odd_names(s):
    names = ["a b", "ä", "%41", "..x", "-rf", "x\ny", "q'\"\\", "*", "n" * 250, ".trainyard/f", "deep/er/est/f"]
    files = {name: name.encode() * 3 for name in names}
    files[os.fsdecode(b"bad\xff")] = b"not UTF-8"
    files["empty"] = b""
    files["large"] = random.Random(1).randbytes(21_000_000)
    s.save(5, files)
    s.put(5, "store")
    s.run("get", "store", "out")
    s.same(5, "out")
    with s.server("--page", "3"):
        s.put(5, "s3://bkt1/r", "--part-size", "5MiB")
        expect(s.json("verify", "s3://bkt1/r")["sound"])
        s.run("get", "s3://bkt1/r", "out3")
        s.same(5, "out3")


def test_more_files_than_a_process_may_open(s):
    s.save(6, {f"d{i % 7}/f{i}": str(i).encode() for i in range(3000)})
    s.put(6, "store")
    few = lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100))  # noqa: E731
    s.run("get", "store", "out", preexec_fn=few)
    s.same(6, "out")


def test_what_is_damaged_is_told_and_passed_over(s):
    for step in (1, 2):
        s.save(step)
        s.put(step, "store")
    own = next((s.base / "store" / "data").glob("000000000002-*/0/2.bin"))
    own.write_bytes(b"x" * 5000)
    flaw = s.run("verify", "store", code=4).stderr
    expect("2.bin" in flaw and "damaged" in flaw, flaw)
    done = s.run("get", "store", "out")
    expect("step 2 is damaged: falling back" in done.stderr and done.stdout.startswith("step 1 restored"), done)
    s.same(1, "out")
    manifest = next((s.base / "store" / "manifests").glob("000000000002-*"))
    manifest.write_bytes(manifest.read_bytes()[:200])
    expect("manifest is damaged" in s.run("ls", "store").stderr)
    s.run("get", "store", "out2")


def test_waits_for_quiet_and_refuses_what_is_not_whole(s):
    made = s.save(4)
    begun = time.time()
    done = s.run("put", "step_4", "store", "--quiet-period", "2s")
    expect("waiting until nothing has changed for 2.00 s" in done.stderr and time.time() - begun > 1, done.stderr)
    (made / "part.tmp").write_bytes(b"x")
    refused = s.run("put", "step_4", "store", "--quiet-period", "0s", code=3).stderr
    expect("part.tmp" in refused and "--as-is" in refused, refused)
    os.mkfifo(made / "pipe")
    expect("pipe is neither a file nor" in s.run("put", "step_4", "store", "--as-is").stderr)


def has_open(pid, path):
    try:
        return any(entry.readlink() == path for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir())
    except OSError:
        return False


def test_files_that_change_while_they_are_read(s):
    made = s.save(8, {"a.bin": b"a" * 1000, "big.bin": random.Random(2).randbytes(60_000_000)})
    disturbed = 0
    with s.server():
        for change in ("grow", "shrink", "vanish"):
            store = f"s3://bkt1/{change}"
            words = [s.binary, "store", "put", "step_8", store, "--part-size", "5MiB", "--jobs", "1", "--quiet-period",
                     "0s", *s.options]  # fmt: skip
            at_work = subprocess.Popen(words, cwd=s.base, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            while at_work.poll() is None and not has_open(at_work.pid, made / "big.bin"):
                time.sleep(0.005)
            if change == "vanish":
                (made / "a.bin").unlink()
            else:
                os.truncate(made / "big.bin", 60_000_001 if change == "grow" else 1000)
            out, err = at_work.communicate(timeout=100)
            whole = at_work.returncode == 0
            expect(whole or "changed while it was read" in err or "No such file" in err, change, out, err)
            expect(len(s.json("ls", store)["checkpoints"]) == (1 if whole else 0), change)
            disturbed += not whole
        expect(disturbed > 0, "every put was too quick to be disturbed")


def test_full_disks_and_stores(s):
    s.save(1, {"a.bin": random.Random(3).randbytes(3_000_000)})
    small = lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))  # noqa: E731
    full = s.run("put", "step_1", "store", "--quiet-period", "0s", code=4, preexec_fn=small).stderr
    expect("File too large" in full and "free space" in full, full)
    s.put(1, "store")
    expect("write" in s.run("get", "store", "out", code=4, preexec_fn=small).stderr)
    s.run("get", "store", "out")
    s.same(1, "out")
    with s.server("--room", "1000000"):
        full = s.run("put", "step_1", "s3://bkt1/r", "--quiet-period", "0s", code=4).stderr
        expect("free space" in full or "quota" in full, full)
        expect(not s.json("ls", "s3://bkt1/r")["checkpoints"])


def test_the_bucket_is_not_there(s):
    s.save(1)
    with s.server():
        gone = s.run("put", "step_1", "s3://bkt9/r", "--quiet-period", "0s", code=4).stderr
        expect("NoSuchBucket" in gone and "check the bucket" in gone, gone)
        expect("bucket" in s.run("ls", "s3://bkt9/r", code=4).stderr)
        secret = s.run("ls", "s3://bkt1/r", "--endpoint-url", "http://127.0.0.1:1", code=None)
        expect(KEYS["AWS_SECRET_ACCESS_KEY"] not in secret.stderr + secret.stdout)


def test_two_nodes_and_two_writers(s):
    for node in (0, 1):
        s.save(9, {f"rank{node}.bin": bytes([node + 1]) * 1000})
        (s.base / "step_9").rename(s.base / f"node{node}")
    more = ("--step", "9", "--nodes", "2", "--attempt", "job-1", "--quiet-period", "0s")
    expect(not s.json("put", "node0", "store", "--node", "0", *more)["committed"])
    expect(s.json("ls", "store")["unfinished"] == 1 and not s.json("ls", "store")["checkpoints"])
    expect(s.json("put", "node1", "store", "--node", "1", *more)["committed"])
    expect(s.json("ls", "store")["checkpoints"][0]["nodes"] == 2)
    s.run("get", "store", "out")
    expect(sorted(os.listdir(s.base / "out")) == ["rank0.bin", "rank1.bin"])
    s.save(10, {"x.bin": random.Random(4).randbytes(40_000_000)})
    words = [s.binary, "store", "put", "step_10", "store", "--quiet-period", "0s"]
    both = [subprocess.Popen(words, cwd=s.base, env=ENV, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
            for _ in range(2)]  # fmt: skip
    errors = [p.communicate(timeout=100)[1] for p in both]
    expect(any(p.returncode == 0 for p in both), errors)
    expect(all(p.returncode == 0 or "another process" in e for p, e in zip(both, errors)), errors)
    expect(s.json("verify", "store", "--step", "10")["sound"])


def test_watch(s):
    s.base = s.base / "w"
    s.base.mkdir()
    (s.base / "run").mkdir()
    words = [s.binary, "store", "watch", "run", "store", "--quiet-period", "200ms", "--interval", "200ms", "--keep-last", "2"]
    watching = subprocess.Popen(words, cwd=s.base, env=ENV, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    for step in (1, 2, 3):
        s.save(step)
        (s.base / f"step_{step}").rename(s.base / "run" / f"step_{step}")
        line = watching.stdout.readline()
        expect(line.startswith(f"step {step} committed"), line)
    time.sleep(0.5)
    watching.send_signal(2)
    out, err = watching.communicate(timeout=30)
    expect(watching.returncode == 130, watching.returncode, out, err)
    expect([c["step"] for c in s.json("ls", "store")["checkpoints"]] == [3, 2])


def test_within_is_met_or_told(s):
    s.save(1)
    expect(s.json("put", "step_1", "store", "--quiet-period", "0s", "--within", "30s")["committed"])
    s.save(2)
    late = s.run("put", "step_2", "store", "--quiet-period", "0s", "--within", "5s", code=4).stderr
    expect("not committed in time" in late and "only what is missing" in late, late)
    expect(s.json("put", "step_2", "store", "--quiet-period", "0s")["committed"])


def main():
    tests = {name.removeprefix("test_"): f for name, f in globals().items() if name.startswith("test_")}
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("tests", nargs="*", default=list(tests))
    options = parser.parse_args()
    binary = str(pathlib.Path(options.binary).resolve())
    for name in options.tests:
        begun = time.time()
        base = tempfile.mkdtemp()
        try:
            tests[name](Session(binary, base))
        finally:
            shutil.rmtree(base)
        print(f"{name}: {time.time() - begun:.1f} s", flush=True)


if __name__ == "__main__":
    main()
