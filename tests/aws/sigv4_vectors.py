#!/usr/bin/env python3
"""Writes sigv4_vectors.csv, the signatures that our own signer must give.

usage: tests/aws/sigv4_vectors.py > tests/aws/sigv4_vectors.csv     (needs botocore; run by hand)

Each line is a request as a client may put it on the wire. AWS decodes its path and query and encodes them again
(unreserved characters stay), so the signature does not depend on how they were written: botocore signs the canonical
form here, our signer gets the meaning. Left out, because our signer cannot produce them: a request without
x-amz-content-sha256, one with two x-amz-date headers, a raw "+" in a query.
"""

import csv
import datetime
import sys
import urllib.parse
from unittest import mock

from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

UNSIGNED = "UNSIGNED-PAYLOAD"
EMPTY = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
HELLO = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"  # SHA-256 of "hello"
TOKEN = "IQoJb3JpZ2luX2VjEJr//////////wEaCXVzLWVhc3QtMSJHMEUCIQD+a/b=+c" * 9 + "=="
BUCKET = "/bkt1"
ACCESS, SECRET, REGION = "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1"
UPLOAD = "2~aB-c_D.e=f/g+h"

# (case, method, path on the wire, query on the wire, payload hash, headers, session token)
HEADERS = [
    ("PUT unsigned", "PUT", "/h2", "", UNSIGNED, [], ""),
    ("PUT real hash", "PUT", "/h3", "", HELLO, [], ""),
    ("GET empty hash", "GET", "/h2", "", EMPTY, [], ""),
    ("GET unsigned", "GET", "/h2", "", UNSIGNED, [], ""),
    ("HEAD", "HEAD", "/h2", "", UNSIGNED, [], ""),
    ("GET range", "GET", "/h2", "", UNSIGNED, [("Range", "bytes=0-9")], ""),
    ("DELETE", "DELETE", "/h3", "", EMPTY, [], ""),
    ("same prefix", "PUT", "/h5", "", UNSIGNED, [("x-amz-meta-test", "1"), ("x-amz-meta-test-two", "2")], ""),
    ("same prefix reversed", "PUT", "/h5", "", UNSIGNED, [("x-amz-meta-test-two", "2"), ("x-amz-meta-test", "1")], ""),
    ("double spaces", "PUT", "/h6", "", UNSIGNED, [("x-amz-meta-a", "  one   two  ")], ""),
    ("empty value", "PUT", "/h7", "", UNSIGNED, [("x-amz-meta-empty", "")], ""),
    ("repeated header", "PUT", "/h9", "", UNSIGNED, [("x-amz-meta-r", "b"), ("x-amz-meta-r", "a")], ""),
    ("upper-case name", "PUT", "/h9", "", UNSIGNED, [("X-Amz-Meta-Upper", "V")], ""),
    ("checksum, condition", "PUT", "/h11", "", UNSIGNED,
     [("Content-Type", "application/octet-stream"), ("x-amz-checksum-crc32c", "4waSgw=="), ("If-None-Match", "*")], ""),
    ("session token", "PUT", "/h12", "", UNSIGNED, [], TOKEN),
]
KEYS = [
    "/a%20b", "/a+b", "/a%2Bb", "/caf%C3%A9", "/caf%c3%a9x", "/caf\u00e9r", "/step=100", "/step%3D100x", "/a:b",
    "/a%3Ab", "/a@b", "/a%40b2", "/a,b", "/a%2Cb2", "/a;b", "/a(1)", "/a%281%29", "/a!", "/a'b", "/a*b", "/a%2Ab",
    "/a~b", "/a%7Eb2", "/a$b", "/a&b", "/a%26b2", "/a%25b", "/a%23b", "/a%3Fb", "/a%5B0%5D", "/x//y", "/x/./z",
    "/x/../w", "/ckpt/step_100/__0_0.distcp", "/dir/", "/%E2%80%8Eleft", "/%E2%80%AFnarrow", "/a%2Fb", "/a%0Ab",
    "/%00", "/..", "//", "/a%5Cb", "/own%20key%2B%C3%A9%3D%3A%40%26%28%29.bin", "/%252F", "/%F0%9F%9A%82",
]  # fmt: skip
QUERIES = [
    ("POST", "/mp1", "uploads"), ("POST", "/mp1", "uploads="), ("GET", "/", "uploads"), ("GET", "/", "uploads="),
    ("GET", "/", "list-type=2"), ("GET", "/", "list-type=2&prefix=a"), ("GET", "/", "prefix=a&list-type=2"),
    ("GET", "/", "list-type=2&prefix=ckpt/step"), ("GET", "/", "list-type=2&prefix=ckpt%2Fstep"),
    ("GET", "/", "list-type=2&prefix=ckpt%2fstep"), ("GET", "/", "list-type=2&prefix=a%20b"),
    ("GET", "/", "list-type=2&prefix=a%2Bb"), ("GET", "/", "list-type=2&prefix=caf%C3%A9"),
    ("GET", "/", "list-type=2&prefix=caf\u00e9"), ("GET", "/", "list-type=2&prefix=step=100"),
    ("GET", "/", "list-type=2&prefix=step%3D100"), ("GET", "/", "list-type=2&prefix=a:b"),
    ("GET", "/", "list-type=2&prefix=a*"), ("GET", "/", "list-type=2&prefix=a%2A"),
    ("GET", "/", "list-type=2&prefix=a~b"), ("GET", "/", "list-type=2&prefix=a('1')"),
    ("GET", "/", "list-type=2&prefix="), ("GET", "/", "delimiter=%2F&list-type=2&prefix="),
    ("GET", "/", "delimiter=/&list-type=2&prefix="),
    ("GET", "/", "continuation-token=1ueGcxLPRx1Tr%2FXYExHnhbYLgveDs2J%2FwPnU%2Bgw%3D%3D&list-type=2"),
    ("GET", "/", "max-uploads=1&uploads"), ("GET", "/", "max-uploads=1&uploads="), ("GET", "/", "location"),
    ("GET", "/", "location="), ("GET", "/", "versioning="), ("GET", "/h2", "acl="),
    ("PUT", "/mp1", f"uploadId={UPLOAD}&partNumber=1"), ("PUT", "/mp1", f"partNumber=1&uploadId={UPLOAD}"),
    ("PUT", "/mp1", f"partNumber=10&uploadId={UPLOAD}"), ("GET", "/mp1", f"uploadId={UPLOAD}"),
    ("GET", "/mp1", f"max-parts=5&part-number-marker=1&uploadId={UPLOAD}"), ("POST", "/mp1", f"uploadId={UPLOAD}"),
    ("DELETE", "/mp1", f"uploadId={UPLOAD}"), ("POST", "/", "delete"), ("GET", "/", "a=2&a=1&a-b=1&A=1"),
]  # fmt: skip


def encode(text, safe):
    return urllib.parse.quote(text, safe=safe)


def meaning(path, query):
    pairs = []
    for piece in query.split("&") if query else []:
        name, _, value = piece.partition("=")
        pairs.append((urllib.parse.unquote(name), urllib.parse.unquote(value)))
    return urllib.parse.unquote(BUCKET + path), pairs


def signature(method, path, pairs, payload, headers, token):
    encoded = sorted((encode(n, "~"), encode(v, "~")) for n, v in pairs)
    url = "http://127.0.0.1:17480" + encode(path, "/~")
    if encoded:
        url += "?" + "&".join(f"{n}={v}" for n, v in encoded)
    request = AWSRequest(method=method, url=url)
    for name, value in headers:
        request.headers.add_header(name, value)
    request.headers["X-Amz-Content-SHA256"] = payload
    request.context["payload_signing_enabled"] = True
    auth = S3SigV4Auth(Credentials(ACCESS, SECRET, token or None), "s3", REGION)
    auth.payload = lambda _: payload
    auth._should_sha256_sign_payload = lambda _: payload != UNSIGNED  # the hash is given
    moment = datetime.datetime(2026, 12, 2, 3, 4, 5)
    with mock.patch("botocore.auth.get_current_datetime", lambda *a, **k: moment):
        auth.add_auth(request)
    return request.headers["Authorization"]


def rows():
    yield from HEADERS
    for key in KEYS:
        yield f"key {key}", "PUT", key, "", UNSIGNED, [], ""
    for method, path, query in QUERIES:
        yield f"{method} {path}?{query}", method, path, query, EMPTY, [], ""


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["case", "method", "path", "query", "payload", "headers", "token", "authorization"])
    for case, method, path, query, payload, headers, token in rows():
        logical, pairs = meaning(path, query)
        text = "".join(f"{n}:{v}|" for n, v in headers)
        # Escaped once more, so that the file is plain text whatever the bytes are.
        fields = [encode(logical, "/~"), "&".join(f"{encode(n, '~')}={encode(v, '~')}" for n, v in pairs)]
        out.writerow([encode(case, " /~?=&:,"), method, *fields, payload, text, token,
                      signature(method, logical, pairs, payload, headers, token)])  # fmt: skip


if __name__ == "__main__":
    main()
