"""CRC-32C and CRC-64/NVME: by crc_check.c if a compiler is there, else in Python (about 10 MB/s)."""

import base64
import ctypes
import hashlib
import os
import pathlib
import subprocess
import tempfile

POLYNOMIALS = {"crc32c": (32, 0x82F63B78), "crc64nvme": (64, 0x9A6C9329AC4BC9B5)}


def compiled():
    source = pathlib.Path(__file__).with_name("crc_check.c")
    tag = hashlib.sha256(source.read_bytes()).hexdigest()[:16]
    library = pathlib.Path(tempfile.gettempdir()) / f"trainyard-crc-{os.getuid()}-{tag}.so"
    if not library.exists():
        fresh = f"{library}.{os.getpid()}"
        try:
            subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", fresh, source], check=True)
        except (OSError, subprocess.CalledProcessError):
            return None
        os.replace(fresh, library)
    function = ctypes.CDLL(str(library)).crc_check
    function.restype = ctypes.c_uint64
    function.argtypes = [ctypes.c_int, ctypes.c_uint64, ctypes.c_char_p, ctypes.c_size_t]
    return function


def in_python(width, polynomial, data, size):
    table = []
    for v in range(256):
        for _ in range(8):
            v = (v >> 1) ^ polynomial if v & 1 else v >> 1
        table.append(v)
    ones = (1 << width) - 1
    v = ones
    for i in range(size):
        v = (v >> 8) ^ table[(v ^ data[i]) & 255]
    return v ^ ones


CRC = compiled() or in_python


def checksum(name, data):
    """base64 of the big-endian bytes, as S3 writes it."""
    width, polynomial = POLYNOMIALS[name]
    return base64.b64encode(CRC(width, polynomial, bytes(data), len(data)).to_bytes(width // 8, "big")).decode()


assert checksum("crc32c", b"123456789") == "4waSgw=="
assert checksum("crc64nvme", b"123456789") == "rosUhgp5mIg="
