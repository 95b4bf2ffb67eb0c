#!/usr/bin/env python3
"""A loopback S3 that is stricter than S3 and fails on purpose. Standard library only; objects live in memory.

usage: tests/support/fault_server.py [--fail 0.3] [--seed 1] [--faults slowdown,error500,...] [--skew SECONDS]
           [--token-life SECONDS] [--region NAME] [--min-part BYTES] [--rate BYTES] [--page N] [--no-checksums] [--buckets a,b]

Prints its port as the first line, ends when its standard input does. Verifies every signature (sigv4_check.py), the
body's SHA-256, Content-MD5, CRC-32C and CRC-64/NVME. A fault is a function of the seed, the request and how often it
has come, so the order of threads changes nothing. With --token-life, GET /-/credentials gives keys that live as long
(the form of a container's credential endpoint), and no other keys are good. /-/imds and /-/sts give keys as an instance and a web identity
get them. GET /-/stats: what happened. --rate: bytes of bodies a second, of all connections together; GET /-/rate?N
sets it.

Faults: slowdown error500 error200 reset_before reset_after stall truncate flip html bad_digest expired redirect
"""

import argparse
import base64
import collections
import datetime
import email.utils
import hashlib
import http.server
import json
import os
import socket
import sys
import threading
import time
import urllib.parse

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import s3_model  # noqa: E402
import sigv4_check  # noqa: E402
from sigv4_check import Refused  # noqa: E402

ACCESS, SECRET = "AKIATESTFAULTSERVER0", "secret/of+the=fault-server"
ALL_FAULTS = (
    "slowdown error500 error200 reset_before reset_after stall truncate flip html bad_digest expired redirect"
).split()
STALL_S = 4.0


class World:
    def __init__(self, options):
        self.options = options
        self.lock = threading.Lock()
        self.link = threading.Lock()
        self.store = s3_model.Store(options)
        self.seen = collections.Counter()
        self.stats = collections.Counter()

    def now(self):
        return time.time() + self.options.skew

    def fault(self, identity, candidates):
        """The fault of this request, or None."""
        with self.lock:
            self.seen[identity] += 1
            count = self.seen[identity]
        text = f"{self.options.seed}|{identity}|{count}".encode()
        digest = hashlib.sha256(text).digest()
        if int.from_bytes(digest[:4], "big") >= self.options.fail * 2**32:
            return None
        usable = [f for f in self.options.faults if f in candidates]
        return usable[int.from_bytes(digest[4:8], "big") % len(usable)] if usable else None

    def throttled(self, stream, length):
        """The body, no faster than --rate; 0: as fast as it comes."""
        if not self.options.rate:
            return stream.read(length)
        pieces = []
        while length > 0 and (piece := stream.read(min(length, 16384))):
            pieces.append(piece)
            length -= len(piece)
            with self.link:
                time.sleep(len(piece) / (self.options.rate or 1e12))
        return b"".join(pieces)

    def count(self, what):
        with self.lock:
            self.stats[what] += 1

    def new_keys(self):
        stamp = f"{self.now():.6f}"  # two of one millisecond differ
        return f"ASIA{stamp.replace('.', 'X')}", hashlib.sha256(stamp.encode()).hexdigest(), f"token/{stamp}+="

    def secret_of(self, access, token):
        """Raises Refused for keys that are unknown or over."""
        if not self.options.token_life:
            if access != ACCESS:
                raise Refused(403, "InvalidAccessKeyId", "no such key")
            return SECRET
        stamp = access.removeprefix("ASIA").replace("X", ".")
        if token != f"token/{stamp}+=":
            raise Refused(403, "InvalidAccessKeyId", "no such key")
        if self.now() > float(stamp) + self.options.token_life:
            raise Refused(400, "ExpiredToken", "The provided token has expired.")
        return hashlib.sha256(stamp.encode()).hexdigest()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # one packet for the head and a short body
    world = None

    def log_message(self, *_):
        pass

    def handle_expect_100(self):
        self.waits_for_continue = True
        return True

    def parse_request(self):
        self.waits_for_continue = False
        return super().parse_request()

    def date_time_string(self, timestamp=None):
        return email.utils.formatdate(timestamp or self.world.now(), usegmt=True)

    def answer(self, status, body=b"", headers=(), length=None):
        self.send_response_only(status)
        self.send_header("Date", self.date_time_string())
        self.send_header("x-amz-request-id", "TEST0123")
        for name, value in headers:
            self.send_header(name, value)
        if status != 204 and not any(n == "Content-Length" for n, _ in headers):
            self.send_header("Content-Length", str(len(body) if length is None else length))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)
        self.wfile.flush()

    def error(self, e):
        self.world.count(e.code)
        body = (
            f'<?xml version="1.0" encoding="UTF-8"?>\n<Error><Code>{e.code}</Code>'
            f"<Message>{s3_model.escape(e.message)}</Message>{e.extra}<RequestId>TEST0123</RequestId></Error>"
        ).encode()
        headers = [("x-amz-bucket-region", self.world.options.region)] if e.status == 301 else []
        self.answer(e.status, body, headers + list(getattr(e, "headers", [])))

    def read_body(self):
        length = self.headers.get("Content-Length")
        if length is None:
            if self.headers.get("Transfer-Encoding"):
                self.close_connection = True
                raise Refused(411, "MissingContentLength", "a body needs a Content-Length")
            return b""
        if self.waits_for_continue:
            self.wfile.write(b"HTTP/1.1 100 Continue\r\n\r\n")
            self.wfile.flush()
            self.waits_for_continue = False
        body = self.world.throttled(self.rfile, int(length))
        self.has_body_left = False
        if len(body) != int(length):
            raise ConnectionError
        return body

    def one(self):
        target = self.raw_requestline.split()[1].decode("latin-1")
        self.raw_path, _, self.raw_query = target.partition("?")
        self.has_body_left = int(self.headers.get("Content-Length") or 0) > 0
        self.world.count("requests")
        if self.raw_path.startswith("/-/"):
            return self.control()
        try:
            self.s3()
        except Refused as e:
            self.close_connection = self.close_connection or self.has_body_left
            self.error(e)
        except ConnectionError:
            self.close_connection = True
        return None

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = one

    def control(self):
        if self.raw_path == "/-/credentials":
            access, secret, token = self.world.new_keys()
            expires = self.world.now() + self.world.options.token_life
            text = datetime.datetime.fromtimestamp(expires, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
            self.world.count("credentials")
            document = {"AccessKeyId": access, "SecretAccessKey": secret, "Token": token, "Expiration": text}
            return self.answer(200, json.dumps(document).encode())
        if self.raw_path == "/-/stats":
            with self.world.lock:
                stats = dict(self.world.stats, **self.world.store.stats())
            return self.answer(200, json.dumps(stats).encode())
        if self.raw_path == "/-/rate":
            self.world.options.rate = float(self.raw_query)
            return self.answer(200)
        if self.raw_path == "/-/damage":  # flips a bit of each stored object, as a bad disk does
            with self.world.lock:
                self.world.store.damage(urllib.parse.unquote(self.raw_query))
            return self.answer(200)
        if self.raw_path.startswith("/-/imds/latest/"):
            return self.imds(self.raw_path.removeprefix("/-/imds/latest/"))
        if self.raw_path == "/-/sts/" or self.raw_path == "/-/sts":
            return self.sts(urllib.parse.parse_qs(self.read_body().decode()))
        return self.answer(404)

    def imds(self, path):
        """Version 2 only: a token first, and 401 without it."""
        if self.command == "PUT" and path == "api/token":
            self.read_body()
            has_life = self.headers.get("X-aws-ec2-metadata-token-ttl-seconds") == "21600"
            return self.answer(200 if has_life else 400, b"imds-token")
        if self.headers.get("X-aws-ec2-metadata-token") != "imds-token":
            return self.answer(401)
        role = "meta-data/iam/security-credentials/"
        if path == role:
            return self.answer(200, b"the role\n")
        if path != role + "the%20role":
            return self.answer(404)
        self.raw_path = "/-/credentials"
        return self.control()

    def sts(self, form):
        wanted = {"Action": "AssumeRoleWithWebIdentity", "Version": "2011-06-15", "RoleSessionName": "trainyard"}
        token = form.get("WebIdentityToken", [""])[0]
        if any(form.get(n) != [v] for n, v in wanted.items()) or not token.startswith("jwt"):
            return self.answer(400, b'{"Error":{"Code":"InvalidIdentityToken"}}')
        keys = {"AccessKeyId": "ASIAWEB", "SecretAccessKey": "web", "SessionToken": "of " + token}
        keys["Expiration"] = time.time() + 3600
        result = {"AssumeRoleWithWebIdentityResult": {"Credentials": keys}}
        return self.answer(200, json.dumps({"AssumeRoleWithWebIdentityResponse": result}).encode())

    def candidates(self, op):
        """Faults that this operation can meet."""
        usable = {"slowdown", "error500", "reset_before", "reset_after", "stall", "html", "expired", "redirect"}
        if op in ("complete", "list", "delete", "parts", "uploads", "create"):
            usable |= {"error200"}
        if op == "get":
            usable |= {"truncate", "flip"}
        if op in ("put", "part"):
            usable |= {"bad_digest"}
        return usable

    def verify(self):
        headers = [(n.lower(), v) for n, v in self.headers.items()]
        access, _, region, _, _ = sigv4_check.parse(headers)
        values = dict(headers)
        secret = self.world.secret_of(access, values.get("x-amz-security-token"))
        try:
            sent = datetime.datetime.strptime(values.get("x-amz-date", ""), "%Y%m%dT%H%M%SZ")
        except ValueError:
            raise Refused(403, "AccessDenied", "x-amz-date is needed") from None
        if abs(sent.replace(tzinfo=datetime.timezone.utc).timestamp() - self.world.now()) > 900:
            raise Refused(403, "RequestTimeTooSkewed", "The difference between the request time and ours is too large.")
        sigv4_check.verify(self.command, self.raw_path, self.raw_query, headers, secret)
        if region != self.world.options.region:
            if self.world.options.region_by_redirect:
                raise Refused(301, "PermanentRedirect", "The bucket is in another region.")
            raise Refused(400, "AuthorizationHeaderMalformed", "the region is wrong",
                          f"<Region>{self.world.options.region}</Region>")  # fmt: skip
        return values

    def check_body(self, values, body):
        given = values["x-amz-content-sha256"]
        if given != "UNSIGNED-PAYLOAD" and given != hashlib.sha256(body).hexdigest():
            raise Refused(400, "XAmzContentSHA256Mismatch", "the body is another one")
        md5 = values.get("content-md5")
        if md5 is not None and md5 != base64.b64encode(hashlib.md5(body).digest()).decode():
            raise Refused(400, "BadDigest", "Content-MD5 does not match")

    def before(self, fault):
        """Faults that come before the request is done. True: it was answered."""
        if fault == "slowdown":
            raise Refused(503, "SlowDown", "Please reduce your request rate.")
        if fault == "error500":
            raise Refused(500, "InternalError", "We encountered an internal error. Please try again.")
        if fault == "expired":
            raise Refused(400, "ExpiredToken", "The provided token has expired.")
        if fault == "html":
            self.close_connection = self.close_connection or self.has_body_left
            self.answer(502, b"<html><body>Bad Gateway</body></html>")
            return True
        if fault == "redirect":
            e = Refused(307, "TemporaryRedirect", "Please re-send this request.")
            port = self.server.server_address[1]
            other = "localhost" if self.headers["Host"].startswith("127.") else "127.0.0.1"
            e.headers = [("Location", f"http://{other}:{port}{self.raw_path}?{self.raw_query}")]
            raise e
        if fault == "reset_before":
            self.reset()
            return True
        if fault == "stall":
            time.sleep(STALL_S)
            self.reset()
            return True
        return False

    def reset(self):
        self.close_connection = True
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.connection.shutdown(socket.SHUT_RD)

    def s3(self):
        values = self.verify()
        bucket, key, query = self.world.store.address(self.raw_path, self.raw_query)
        op = s3_model.operation(self.command, key, query)
        identity = f"{self.command} {self.raw_path} {sorted(query.items())} {values.get('range', '')}"
        fault = self.world.fault(identity, self.candidates(op))
        if fault:
            self.world.count(f"fault.{fault}")
            self.world.count("faults")
        if self.before(fault):
            return
        body = self.read_body()
        self.check_body(values, body)
        if fault == "bad_digest":
            raise Refused(400, "BadDigest", "The CRC32C you specified did not match the calculated checksum.")
        if fault == "error200" and op != "complete":
            self.answer(200, b"<Error><Code>InternalError</Code><Message>inside 200</Message></Error>")
            return
        with self.world.lock:
            status, answer, headers = self.world.store.do(op, bucket, key, query, values, body, self.world.now())
        self.world.count(f"op.{op}")
        if fault == "error200":  # completed, or not: S3 says InternalError in both cases
            self.answer(200, b"<Error><Code>InternalError</Code><Message>inside 200</Message></Error>")
        elif fault == "reset_after":
            self.reset()
        elif fault == "truncate" and len(answer) > 1:
            self.close_connection = True
            self.answer(status, answer[: len(answer) // 2], headers, length=len(answer))
        elif fault == "flip" and answer:
            damaged = bytearray(answer)
            damaged[len(damaged) // 3] ^= 4
            self.answer(status, bytes(damaged), headers)
        else:
            self.answer(status, answer, headers)


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fail", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=lambda t: t.split(","), default=ALL_FAULTS)
    parser.add_argument("--skew", type=float, default=0.0)
    parser.add_argument("--token-life", type=float, default=0.0)
    parser.add_argument("--region", default="us-east-1")
    parser.add_argument("--region-by-redirect", action="store_true")
    parser.add_argument("--min-part", type=int, default=5 << 20)
    parser.add_argument("--rate", type=float, default=0.0)
    parser.add_argument("--page", type=int, default=1000)
    parser.add_argument("--room", type=int, default=0, help="bytes that fit; 0: no limit")
    parser.add_argument("--no-checksums", action="store_true", help="neither checks nor keeps them, as old stores")
    parser.add_argument("--buckets", type=lambda t: t.split(","), default=["bkt1"])
    options = parser.parse_args()
    unknown = set(options.faults) - set(ALL_FAULTS)
    if unknown:
        parser.error(f"unknown faults: {sorted(unknown)}")
    Handler.world = World(options)
    server = Server(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.buffer.read()


if __name__ == "__main__":
    main()
