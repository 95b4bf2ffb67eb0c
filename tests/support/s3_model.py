"""Buckets, objects and multipart uploads in memory, with S3's rules; the fault server talks HTTP in front of it."""

import base64
import datetime
import email.utils
import hashlib
import re
import urllib.parse

import checksums
from sigv4_check import Refused, query_pairs

CRCS = ("crc32c", "crc64nvme")
TAGS = {"crc32c": "ChecksumCRC32C", "crc64nvme": "ChecksumCRC64NVME"}


def escape(text):
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")


def unescape(text):
    text = re.sub(r"&#(\d+);", lambda m: chr(int(m[1])), text)
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", '"').replace("&amp;", "&")


def iso(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def url(key):
    """encoding-type=url as S3 does it: a space is "+"."""
    return urllib.parse.quote_plus(key, safe="/")


def operation(method, key, query):
    if not key:
        if method == "POST" and "delete" in query:
            return "delete"
        if method == "GET" and "uploads" in query:
            return "uploads"
        if method == "GET" and query.get("list-type") == "2":
            return "list"
        raise Refused(501, "NotImplemented", f"{method} of a bucket with {sorted(query)}")
    if "uploads" in query and method == "POST":
        return "create"
    if "uploadId" in query:
        named = {"PUT": "part", "POST": "complete", "DELETE": "abort", "GET": "parts"}
        return named.get(method) or "head"
    return {"PUT": "put", "GET": "get", "HEAD": "head", "DELETE": "remove"}[method]


class Stored:
    def __init__(self, data, now, headers):
        self.data, self.time = data, now
        self.etag = hashlib.md5(data).hexdigest()
        self.sums = {}
        self.meta = {n: v for n, v in headers.items() if n.startswith("x-amz-meta-") or n == "content-type"}


class Upload:
    def __init__(self, key, algorithm, headers, now):
        self.key, self.algorithm, self.headers, self.time = key, algorithm, headers, now
        self.parts = {}


class Store:
    def __init__(self, options):
        self.options = options
        self.buckets = {name: {} for name in options.buckets}
        self.uploads = {}
        self.serial = 0

    def stats(self):
        return {
            "objects": sum(len(b) for b in self.buckets.values()),
            "open_uploads": len(self.uploads),
            "bytes": self.used(),
        }

    def used(self):
        stored = sum(len(o.data) for b in self.buckets.values() for o in b.values())
        return stored + sum(len(p.data) for u in self.uploads.values() for p in u.parts.values())

    def damage(self, key):
        for bucket in self.buckets.values():
            if key in bucket and bucket[key].data:
                data = bytearray(bucket[key].data)
                data[len(data) // 2] ^= 1
                bucket[key].data = bytes(data)

    def address(self, raw_path, raw_query):
        try:
            path = urllib.parse.unquote_to_bytes(raw_path).decode()
            query = {n.decode(): v.decode() for n, v in query_pairs(raw_query)}
        except UnicodeDecodeError:
            raise Refused(400, "InvalidURI", "not UTF-8") from None
        bucket, _, key = path[1:].partition("/")
        if bucket not in self.buckets:
            raise Refused(404, "NoSuchBucket", "The specified bucket does not exist")
        if len(key.encode()) > 1024:
            raise Refused(400, "KeyTooLongError", "Your key is too long")
        return bucket, key, query

    def do(self, op, bucket, key, query, headers, body, now):
        return getattr(self, "do_" + op)(self.buckets[bucket], key, query, headers, body, now)

    def sums_of(self, headers, body):
        """Checks each checksum header against the body and returns what is kept."""
        sums = {}
        for name in CRCS:
            given = headers.get("x-amz-checksum-" + name)
            if given is None or self.options.no_checksums:
                continue
            if given != checksums.checksum(name, body):
                raise Refused(400, "BadDigest", f"The {name} you specified did not match the calculated checksum.")
            sums[name] = given
        return sums

    def room_for(self, body):
        if self.options.room and self.used() + len(body) > self.options.room:
            raise Refused(507, "InsufficientStorage", "the store is full")

    def echo(self, sums):
        return [("x-amz-checksum-" + n, v) for n, v in sums.items()]

    def upload_of(self, key, query):
        upload = self.uploads.get(query["uploadId"])
        if upload is None or upload.key != key:
            raise Refused(404, "NoSuchUpload", "The specified upload does not exist.")
        return upload

    def do_put(self, bucket, key, _, headers, body, now):
        sums = self.sums_of(headers, body)
        if headers.get("if-none-match") == "*" and key in bucket:
            raise Refused(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        self.room_for(body)
        bucket[key] = Stored(body, now, headers)
        bucket[key].sums = sums
        return 200, b"", [("ETag", f'"{bucket[key].etag}"'), *self.echo(sums)]

    def describe(self, stored, headers):
        out = [("ETag", f'"{stored.etag}"'), ("Last-Modified", email.utils.formatdate(stored.time, usegmt=True)),
               ("Accept-Ranges", "bytes"), *stored.meta.items()]  # fmt: skip
        if headers.get("x-amz-checksum-mode") == "ENABLED" and "range" not in headers:
            out += self.echo(stored.sums)
        return out

    def do_get(self, bucket, key, _, headers, __, ___):
        if key not in bucket:
            raise Refused(404, "NoSuchKey", "The specified key does not exist.")
        stored = bucket[key]
        out = self.describe(stored, headers)
        asked = headers.get("range")
        if asked is None:
            return 200, stored.data, out
        first, last = (int(x) for x in re.fullmatch(r"bytes=(\d+)-(\d+)", asked).groups())
        if first >= len(stored.data):
            raise Refused(416, "InvalidRange", "The requested range is not satisfiable")
        data = stored.data[first : last + 1]
        out.append(("Content-Range", f"bytes {first}-{first + len(data) - 1}/{len(stored.data)}"))
        return 206, data, out

    def do_head(self, bucket, key, query, headers, body, now):
        _, data, out = self.do_get(bucket, key, query, headers, body, now)
        return 200, b"", [*out, ("Content-Length", str(len(data)))]

    def do_remove(self, bucket, key, *_):
        bucket.pop(key, None)
        return 204, b"", []

    def do_delete(self, bucket, _, __, headers, body, ___):
        if "content-md5" not in headers and not any("x-amz-checksum-" + n in headers for n in CRCS):
            raise Refused(400, "InvalidRequest", "Missing required header for this request: Content-MD5")
        keys = [unescape(k) for k in re.findall(r"<Key>(.*?)</Key>", body.decode(), re.S)]
        if not 1 <= len(keys) <= 1000:
            raise Refused(400, "MalformedXML", "1 to 1000 keys")
        for key in keys:
            bucket.pop(key, None)
        return 200, b"<DeleteResult></DeleteResult>", []

    def do_create(self, bucket, key, _, headers, __, now):
        del bucket
        algorithm = headers.get("x-amz-checksum-algorithm", "").lower() or None
        if algorithm not in (None, *CRCS):
            raise Refused(400, "InvalidRequest", "unknown checksum algorithm")
        if algorithm and headers.get("x-amz-checksum-type") != "FULL_OBJECT":
            raise Refused(400, "InvalidRequest", "checksum type")
        self.serial += 1
        upload_id = f"up/{self.serial}+=~ {self.serial}".replace(" ", "-")
        self.uploads[upload_id] = Upload(key, algorithm, headers, now)
        text = f"<InitiateMultipartUploadResult><Key>{escape(key)}</Key><UploadId>{upload_id}</UploadId>"
        return 200, (text + "</InitiateMultipartUploadResult>").encode(), []

    def do_part(self, _, key, query, headers, body, now):
        upload = self.upload_of(key, query)
        number = int(query["partNumber"])
        if not 1 <= number <= 10000:
            raise Refused(400, "InvalidArgument", "Part number must be an integer between 1 and 10000, inclusive")
        sums = self.sums_of(headers, body)
        if upload.algorithm and upload.algorithm not in sums and not self.options.no_checksums:
            raise Refused(400, "InvalidRequest", "Checksum Type mismatch occurred")
        self.room_for(body)
        upload.parts[number] = Stored(body, now, headers)
        upload.parts[number].sums = sums
        return 200, b"", [("ETag", f'"{upload.parts[number].etag}"'), *self.echo(sums)]

    def chosen(self, upload, text):
        """The parts that the request names, checked against those that are there."""
        numbers, parts = [], []
        for piece in re.findall(r"<Part>(.*?)</Part>", text, re.S):
            fields = dict(re.findall(r"<(\w+)>(.*?)</\1>", piece))
            number = int(fields["PartNumber"])
            part = upload.parts.get(number)
            if part is None or unescape(fields["ETag"]).strip('"') != part.etag:
                raise Refused(400, "InvalidPart", f"part {number} could not be found")
            for name in CRCS:
                if TAGS[name] in fields and name in part.sums and fields[TAGS[name]] != part.sums[name]:
                    raise Refused(400, "InvalidPart", f"part {number} has another checksum")
            if upload.algorithm and not self.options.no_checksums and TAGS[upload.algorithm] not in fields:
                raise Refused(400, "InvalidRequest", "the checksum of a part is missing")
            numbers.append(number)
            parts.append(part)
        if not numbers or numbers != sorted(set(numbers)):
            raise Refused(400, "InvalidPartOrder", "The list of parts was not in ascending order.")
        if any(len(p.data) < self.options.min_part for p in parts[:-1]):
            raise Refused(400, "EntityTooSmall", "Your proposed upload is smaller than the minimum allowed")
        return parts

    def do_complete(self, bucket, key, query, headers, body, now):
        upload = self.upload_of(key, query)
        parts = self.chosen(upload, body.decode())
        if headers.get("if-none-match") == "*" and key in bucket:
            raise Refused(412, "PreconditionFailed", "At least one of the pre-conditions you specified did not hold")
        data = b"".join(p.data for p in parts)
        size = headers.get("x-amz-mp-object-size")
        if size is not None and int(size) != len(data):
            raise Refused(400, "InvalidRequest", "the object has another size")
        sums = self.sums_of(headers, data)
        if upload.algorithm and not self.options.no_checksums:
            sums = {upload.algorithm: checksums.checksum(upload.algorithm, data)}
        stored = Stored(data, now, upload.headers)
        digests = b"".join(bytes.fromhex(p.etag) for p in parts)
        stored.etag = f"{hashlib.md5(digests).hexdigest()}-{len(parts)}"
        stored.sums = sums
        bucket[key] = stored
        del self.uploads[query["uploadId"]]
        text = f"<CompleteMultipartUploadResult><Key>{escape(key)}</Key><ETag>&quot;{stored.etag}&quot;</ETag>"
        return 200, (text + "</CompleteMultipartUploadResult>").encode(), []

    def do_abort(self, _, key, query, *__):
        self.upload_of(key, query)
        del self.uploads[query["uploadId"]]
        return 204, b"", []

    def do_parts(self, _, key, query, *__):
        upload = self.upload_of(key, query)
        after = int(query.get("part-number-marker", 0))
        numbers = sorted(n for n in upload.parts if n > after)
        page = numbers[: self.options.page]
        text = "<ListPartsResult>"
        if len(page) < len(numbers):
            text += f"<IsTruncated>true</IsTruncated><NextPartNumberMarker>{page[-1]}</NextPartNumberMarker>"
        for n in page:
            part = upload.parts[n]
            text += f"<Part><PartNumber>{n}</PartNumber><ETag>&quot;{part.etag}&quot;</ETag><Size>{len(part.data)}</Size>"
            text += "".join(f"<{TAGS[name]}>{v}</{TAGS[name]}>" for name, v in part.sums.items()) + "</Part>"
        return 200, (text + "</ListPartsResult>").encode(), []

    def do_uploads(self, _, __, query, *___):
        prefix, encode = query.get("prefix", ""), url if query.get("encoding-type") == "url" else escape
        after = (query.get("key-marker", ""), query.get("upload-id-marker", ""))
        found = sorted((u.key, i) for i, u in self.uploads.items() if u.key.startswith(prefix))
        found = [f for f in found if f > after] if after[0] else found
        page = found[: self.options.page]
        text = "<ListMultipartUploadsResult>" + ("<EncodingType>url</EncodingType>" if encode is url else "")
        if len(page) < len(found):
            text += f"<IsTruncated>true</IsTruncated><NextKeyMarker>{encode(page[-1][0])}</NextKeyMarker>"
            text += f"<NextUploadIdMarker>{page[-1][1]}</NextUploadIdMarker>"
        for key, i in page:
            text += f"<Upload><Key>{encode(key)}</Key><UploadId>{i}</UploadId>"
            text += f"<Initiated>{iso(self.uploads[i].time)}</Initiated></Upload>"
        return 200, (text + "</ListMultipartUploadsResult>").encode(), []

    def do_list(self, bucket, _, query, *__):
        prefix, delimiter = query.get("prefix", ""), query.get("delimiter", "")
        encode = url if query.get("encoding-type") == "url" else escape
        token = query.get("continuation-token")
        after = base64.b64decode(token).decode() if token else ""
        rows = []  # (name, is a group), ascending by bytes
        for key in sorted((k for k in bucket if k.startswith(prefix)), key=str.encode):
            cut = key.find(delimiter, len(prefix)) if delimiter else -1
            row = (key[: cut + 1], True) if cut >= 0 else (key, False)
            if row not in rows[-1:] and row[0].encode() > after.encode():
                rows.append(row)
        page = rows[: min(self.options.page, int(query.get("max-keys", 1000)))]
        text = "<ListBucketResult>" + ("<EncodingType>url</EncodingType>" if encode is url else "")
        if len(page) < len(rows):
            following = base64.b64encode(page[-1][0].encode()).decode()
            text += f"<IsTruncated>true</IsTruncated><NextContinuationToken>{following}</NextContinuationToken>"
        for name, is_group in page:
            if is_group:
                text += f"<CommonPrefixes><Prefix>{encode(name)}</Prefix></CommonPrefixes>"
                continue
            o = bucket[name]
            text += f"<Contents><Key>{encode(name)}</Key><LastModified>{iso(o.time)}</LastModified>"
            text += f"<ETag>&quot;{o.etag}&quot;</ETag><Size>{len(o.data)}</Size></Contents>"
        return 200, (text + "</ListBucketResult>").encode(), []
