"""Signature Version 4 as S3 verifies it, from the bytes of the request line and the headers. Standard library only,
written from AWS's description of the header-based signature, not from our signer."""

import hashlib
import hmac
import re
import urllib.parse

AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=([^/,]+)/(\d{8})/([^/,]+)/s3/aws4_request, ?"
    r"SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$"
)


def encode(raw, safe):
    return urllib.parse.quote(raw, safe=safe)


def canonical_path(raw_path):
    return encode(urllib.parse.unquote_to_bytes(raw_path), "/~")


def query_pairs(raw_query):
    pairs = []
    for piece in raw_query.split("&") if raw_query else []:
        name, _, value = piece.partition("=")
        pairs.append((urllib.parse.unquote_to_bytes(name), urllib.parse.unquote_to_bytes(value)))
    return pairs


def canonical_query(raw_query):
    encoded = sorted((encode(n, "~"), encode(v, "~")) for n, v in query_pairs(raw_query))
    return "&".join(f"{n}={v}" for n, v in encoded)


def canonical_headers(headers, signed):
    lines = ""
    for name in signed:
        values = [" ".join(v.split()) for n, v in headers if n == name]
        lines += f"{name}:{','.join(values)}\n"
    return lines


def mac(key, text):
    return hmac.new(key, text.encode(), hashlib.sha256).digest()


class Refused(Exception):
    def __init__(self, status, code, message, extra=""):
        super().__init__(code)
        self.status, self.code, self.message, self.extra = status, code, message, extra


def parse(headers):
    """(access key, date, region, signed header names, signature) of the Authorization header."""
    given = [v for n, v in headers if n == "authorization"]
    if len(given) != 1:
        raise Refused(403, "AccessDenied", "one Authorization header is needed")
    match = AUTHORIZATION.match(given[0])
    if not match:
        raise Refused(400, "AuthorizationHeaderMalformed", "the Authorization header is malformed")
    access, date, region, signed, signature = match.groups()
    return access, date, region, signed.split(";"), signature


def verify(method, raw_path, raw_query, headers, secret):
    """headers: (lower-case name, value) as received. Raises Refused."""
    _, date, region, signed, signature = parse(headers)
    names = {n for n, _ in headers}
    if signed != sorted(set(signed)):
        raise Refused(403, "SignatureDoesNotMatch", "SignedHeaders is not sorted")
    must = {"host"} | {n for n in names if n.startswith("x-amz-")}
    must |= names & {"content-md5", "content-type", "range", "if-none-match"}
    if not must <= set(signed) or not set(signed) <= names:
        raise Refused(403, "AccessDenied", f"not signed: {sorted(must - set(signed))}")
    for name in ("x-amz-date", "x-amz-content-sha256", "host"):
        if sum(n == name for n, _ in headers) != 1:
            raise Refused(403, "AccessDenied", f"{name} must come once")
    values = dict(headers)
    if values["x-amz-date"][:8] != date:
        raise Refused(403, "SignatureDoesNotMatch", "the scope has another day")
    request = "\n".join(
        [method, canonical_path(raw_path), canonical_query(raw_query), canonical_headers(headers, signed),
         ";".join(signed), values["x-amz-content-sha256"]]
    )  # fmt: skip
    key = mac(mac(mac(mac(b"AWS4" + secret.encode(), date), region), "s3"), "aws4_request")
    scope = f"{date}/{region}/s3/aws4_request"
    digest = hashlib.sha256(request.encode()).hexdigest()
    expected = mac(key, f"AWS4-HMAC-SHA256\n{values['x-amz-date']}\n{scope}\n{digest}").hex()
    if not hmac.compare_digest(expected, signature):
        raise Refused(403, "SignatureDoesNotMatch", f"canonical request: {request!r}")
