"""One signed request to a server of the tests, by the verifier's own parts."""

import hashlib
import os
import sys
import time
import urllib.parse
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sigv4_check import canonical_headers, mac  # noqa: E402

ACCESS, SECRET = "radostest", "radosecret"


def request(endpoint, method, key, query, body=b""):
    """The answer's body. `key` begins with "/bucket"; `query` is canonical already."""
    path = urllib.parse.quote(key, safe="/-_.~")
    stamp = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
    headers = {"host": urllib.parse.urlsplit(endpoint).netloc, "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
               "x-amz-date": stamp}  # fmt: skip
    names = sorted(headers)
    lines = canonical_headers(list(headers.items()), names)
    text = f"{method}\n{path}\n{query}\n{lines}\n{';'.join(names)}\nUNSIGNED-PAYLOAD"
    scope = f"{stamp[:8]}/us-east-1/s3/aws4_request"
    digest = hashlib.sha256(text.encode()).hexdigest()
    key = mac(mac(mac(mac(b"AWS4" + SECRET.encode(), stamp[:8]), "us-east-1"), "s3"), "aws4_request")
    signature = mac(key, f"AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}").hex()
    headers["Authorization"] = (
        f"AWS4-HMAC-SHA256 Credential={ACCESS}/{scope}, SignedHeaders={';'.join(names)}, Signature={signature}"
    )
    url = endpoint + path + ("?" + query if query else "")
    with urllib.request.urlopen(urllib.request.Request(url, body or None, headers, method=method), timeout=60) as answer:
        return answer.read()
