#!/usr/bin/env python3
"""A metadata service of EC2 that plays an interruption, and fails on purpose. Standard library only.

usage: tests/support/fake_imds.py [--trace FILE [--nodes N] [--speed-up F]] [--token-life SECONDS]

Prints its port as the first line, ends when its standard input does. The trace is one of two:
  - spot capacity, as `trainyard trace convert` writes it and `trainyard simulate --trace` reads it: a notice each time
    that fewer than N nodes (1) are left of its first pool, taken back when they are there again. F seconds of the trace
    pass in one of ours; a notice still gives the 120 s that AWS gives, since a save takes as long as it takes;
  - faults, one JSON object a line, {"at": SECONDS, "set": {…}}: what changes so long after the start; the keys are those
    of FakeImds.set(). {left:N} in a body becomes the time N seconds after it was set.
IMDSv2 only, unless "version_1": tokens are checked, live as long as they
were asked to (or --token-life), a PUT with X-Forwarded-For is refused.
"""

import argparse
import csv
import email.utils
import http.server
import json
import re
import secrets
import sys
import threading
import time

ACTION = "/latest/meta-data/spot/instance-action"
REBALANCE = "/latest/meta-data/events/recommendations/rebalance"
MAINTENANCE = "/latest/meta-data/events/maintenance/scheduled"
LIFECYCLE = "/latest/meta-data/autoscaling/target-lifecycle-state"
NOTICE_S = 120


def stamp(after, offset=0.0):
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + after + offset))


class FakeImds:
    """State that a test may change at any time."""

    def __init__(self, token_life=None, skew=0.0):
        self.lock = threading.Lock()
        self.token_life = token_life
        self.skew = skew  # of the service's clock, seconds
        self.bodies = {MAINTENANCE: "[]", "/latest/meta-data/instance-id": "i-0123456789abcdef0"}
        self.state = {"put": "ok", "get": "ok", "version_1": False, "date": True}
        self.tokens = {}
        self.seen = []
        fake = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def date_time_string(self, timestamp=None):
                return email.utils.formatdate(time.time() + fake.skew, usegmt=True)

            def answer(self, status, body, slow=False):
                data = body.encode()
                try:
                    self.send_response_only(status)
                    if fake.state["date"]:
                        self.send_header("Date", self.date_time_string())
                    self.send_header("Content-Length", str(len(data)))
                    self.end_headers()
                    for i in range(0, len(data), 1 if slow else max(len(data), 1)):
                        self.wfile.write(data[i : i + 1] if slow else data)
                        self.wfile.flush()
                        if slow:
                            time.sleep(0.5)
                except (BrokenPipeError, ConnectionResetError):
                    self.close_connection = True

            def do_PUT(self):
                fake.on_put(self)

            def do_GET(self):
                fake.on_get(self)

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.handle_error = lambda *_: None  # a client that was killed
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_address[1]}"

    def set(self, **changes):
        """put/get: ok, hang, or a status; slow; version_1; date; forget: drop all tokens; or a path's body (None: 404)."""
        with self.lock:
            for key, value in changes.items():
                if key == "forget":
                    self.tokens.clear()
                elif key.startswith("/"):
                    if value is None:
                        self.bodies.pop(key, None)
                    else:
                        self.bodies[key] = re.sub(
                            r"\{left:(-?[0-9.]+)\}", lambda m: stamp(float(m[1]), self.skew), value)
                else:
                    self.state[key] = value

    def notice(self, left, action="terminate"):
        self.set(**{ACTION: f'{{"action": "{action}", "time": "{{left:{left}}}"}}'})

    def count(self, method, path=None, status=None):
        with self.lock:
            return sum(1 for m, p, s in self.seen if m == method and path in (None, p) and status in (None, s))

    def note(self, handler, status):
        with self.lock:
            self.seen.append((handler.command, handler.path, status))

    def on_put(self, handler):
        mode = self.state["put"]
        if mode == "hang":
            time.sleep(5)
            handler.close_connection = True
            return
        status = 200
        if mode != "ok":
            status = int(mode)
        elif "X-Forwarded-For" in handler.headers or handler.path != "/latest/api/token":
            status = 403
        elif self.state["version_1"]:
            status = 405
        wanted = handler.headers.get("X-aws-ec2-metadata-token-ttl-seconds", "")
        if status == 200 and not (wanted.isdigit() and 1 <= int(wanted) <= 21600):
            status = 400
        token = ""
        if status == 200:
            token = secrets.token_urlsafe(40)
            with self.lock:
                self.tokens[token] = time.monotonic() + (self.token_life or int(wanted))
        self.note(handler, status)
        handler.answer(status, token)

    def on_get(self, handler):
        mode = self.state["get"]
        if mode == "hang":
            time.sleep(5)
            handler.close_connection = True
            return
        tokens = handler.headers.get_all("X-aws-ec2-metadata-token") or []
        with self.lock:
            good = len(tokens) == 1 and self.tokens.get(tokens[0], 0) > time.monotonic()
            body = self.bodies.get(handler.path)
        if mode != "ok":
            status, body = int(mode), "<html>try later</html>"
        elif not good and not (self.state["version_1"] and not tokens):
            status, body = 401, ""
        else:
            status, body = (404, "") if body is None else (200, body)
        self.note(handler, status)
        handler.answer(status, body, slow=self.state.get("slow", False) and status == 200)


def capacity_changes(path, nodes=1):
    """When the first pool of a trace has at least so many nodes: [(seconds, whether)], the last one its end."""
    with open(path, encoding="utf-8") as trace:
        rows = list(csv.DictReader(line for line in trace if not line.startswith("#")))
    changes = []
    for row in rows:
        if row["pool"] == rows[0]["pool"] and row["nodes"] != "":
            enough = int(row["nodes"]) >= nodes
            if not changes or changes[-1][1] != enough:
                changes.append((float(row["time_s"]), enough))
    end = max(float(row["time_s"]) for row in rows if row["pool"] == rows[0]["pool"])
    return [*changes, (end, changes[-1][1])]


def play(fake, path, nodes=1, speed_up=1.0):
    begun = time.monotonic()
    with open(path, encoding="utf-8") as trace:
        if trace.read(1) == "{":
            trace.seek(0)
            entries = [json.loads(line) for line in trace]
        else:
            told = {False: f'{{"action": "terminate", "time": "{{left:{NOTICE_S}}}"}}', True: None}
            entries = [{"at": at / speed_up, "set": {ACTION: told[enough]}}
                       for at, enough in capacity_changes(path, nodes)]
    for entry in entries:
        time.sleep(max(0.0, begun + entry["at"] - time.monotonic()))
        fake.set(**entry["set"])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--trace")
    parser.add_argument("--nodes", type=int, default=1)
    parser.add_argument("--speed-up", type=float, default=1.0)
    parser.add_argument("--token-life", type=float)
    args = parser.parse_args()
    fake = FakeImds(args.token_life)
    print(fake.server.server_address[1], flush=True)
    if args.trace:
        threading.Thread(target=play, args=(fake, args.trace, args.nodes, args.speed_up), daemon=True).start()
    sys.stdin.read()


if __name__ == "__main__":
    main()
