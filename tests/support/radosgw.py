#!/usr/bin/env python3
"""A one-node Ceph with an S3 gateway on loopback, all in a temporary directory; objects live in memory.

usage: tests/support/radosgw.py        (needs Debian's radosgw, ceph-mon, ceph-osd, ceph-mgr)

Prints "PORT" as the first line once the gateway answers, ends when its standard input does. Exit 77: the packages are
not installed or it does not start here. Keys: radostest / radosecret; the bucket bkt1 is there.
"""

import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import uuid

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from signed import ACCESS, SECRET, request  # noqa: E402

SKIP = 77
PROGRAMS = ("ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "ceph-authtool", "monmaptool", "ceph")


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


class Cluster:
    def __init__(self, base):
        self.base = pathlib.Path(base)
        self.port = free_port()
        self.children = []
        self.conf = self.base / "ceph.conf"
        self.keys = self.base / "all.keyring"

    def run(self, *command, limit=60):
        subprocess.run([*command, "-c", str(self.conf)] if command[0] not in ("ceph-authtool", "monmaptool")
                       else command, check=True, timeout=limit, stdout=subprocess.DEVNULL,
                       stderr=open(self.base / "log" / "err", "ab"))  # fmt: skip

    def start(self, *command):
        log = open(self.base / "log" / command[0], "ab")
        self.children.append(subprocess.Popen([*command, "-f", "-c", str(self.conf)], stdout=log, stderr=log))

    def write_conf(self):
        fsid, mon = uuid.uuid4(), (free_port(), free_port())
        for name in ("mon", "osd", "rgw", "mgr"):
            (self.base / "data" / name).mkdir(parents=True)
        for name in ("run", "log"):
            (self.base / name).mkdir()
        address = f"[v2:127.0.0.1:{mon[0]},v1:127.0.0.1:{mon[1]}]"
        self.conf.write_text(f"""
[global]
fsid = {fsid}
mon_host = {address}
auth_cluster_required = cephx
auth_service_required = cephx
auth_client_required = cephx
keyring = {self.keys}
osd_pool_default_size = 1
osd_pool_default_min_size = 1
osd_pool_default_pg_num = 1
osd_pool_default_pg_autoscale_mode = off
osd_crush_chooseleaf_type = 0
mon_max_pg_per_osd = 1000
mon_allow_pool_size_one = true
mon_data_avail_crit = 1
run_dir = {self.base}/run
admin_socket = {self.base}/run/$name.$pid.asok
pid_file = {self.base}/run/$name.pid
log_file = {self.base}/log/$name.log
public_addr = 127.0.0.1
[mon.a]
mon_data = {self.base}/data/mon
[osd.0]
osd_data = {self.base}/data/osd
osd_objectstore = memstore
memstore_device_bytes = 8589934592
[client.rgw]
rgw_data = {self.base}/data/rgw
rgw_frontends = beast endpoint=127.0.0.1:{self.port}
rgw_gc_obj_min_wait = 2
rgw_gc_processor_period = 2
rgw_gc_processor_max_time = 2
""")
        return str(fsid), address

    def make_keys(self):
        caps = {
            "mon.": ["--cap", "mon", "allow *"],
            "client.admin": ["--cap", "mon", "allow *", "--cap", "osd", "allow *", "--cap", "mgr", "allow *"],
            "osd.0": ["--cap", "mon", "allow profile osd", "--cap", "osd", "allow *"],
            "client.rgw": ["--cap", "mon", "allow rwx", "--cap", "osd", "allow rwx"],
        }
        self.run("ceph-authtool", str(self.keys), "--create-keyring")
        for name, cap in caps.items():
            self.run("ceph-authtool", str(self.keys), "--gen-key", "-n", name, *cap)

    def up(self):
        fsid, address = self.write_conf()
        self.make_keys()
        monmap = str(self.base / "monmap")
        self.run("monmaptool", "--create", "--fsid", fsid, "--addv", "a", address, monmap)
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", monmap, "--keyring", str(self.keys))
        self.start("ceph-mon", "-i", "a")
        self.run("ceph", "auth", "import", "-i", str(self.keys))
        self.run("ceph", "osd", "create")
        self.run("ceph-osd", "-i", "0", "--mkfs")
        self.start("ceph-osd", "-i", "0")
        self.start("radosgw", "-n", "client.rgw")
        deadline = time.time() + 90
        while True:
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}", timeout=5)
                break
            except OSError:
                if time.time() > deadline or any(c.poll() is not None for c in self.children):
                    raise TimeoutError from None
                time.sleep(0.3)
        self.run("radosgw-admin", "user", "create", "--uid=t", "--display-name=t", f"--access-key={ACCESS}",
                 f"--secret-key={SECRET}", "-n", "client.rgw")  # fmt: skip
        self.make_bucket("bkt1")

    def make_bucket(self, name):
        request(f"http://127.0.0.1:{self.port}", "PUT", f"/{name}", "")

    def down(self):
        for child in reversed(self.children):
            child.kill()
            child.wait()


def main():
    if not all(shutil.which(p) for p in PROGRAMS):
        return SKIP
    with tempfile.TemporaryDirectory(prefix="trainyard-rgw-", ignore_cleanup_errors=True) as base:
        cluster = Cluster(base)
        try:
            cluster.up()
            print(cluster.port, flush=True)
            sys.stdin.buffer.read()
        except (OSError, subprocess.SubprocessError, TimeoutError) as e:
            print(f"radosgw does not start: {e}", file=sys.stderr)
            if os.environ.get("TRAINYARD_KEEP_LOGS"):
                shutil.copytree(cluster.base / "log", os.environ["TRAINYARD_KEEP_LOGS"], dirs_exist_ok=True)
            return SKIP
        finally:
            cluster.down()
    return 0


if __name__ == "__main__":
    sys.exit(main())
