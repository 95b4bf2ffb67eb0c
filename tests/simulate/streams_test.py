#!/usr/bin/python3
"""A program started without standard streams must not write its output into the files it opens."""

import argparse
import os
import pathlib
import subprocess
import tempfile
import unittest

BINARY = None
TRACE = '{"gap_seconds": 600, "data": [1, 0, 1, 1, 0, 1, 0, 1, 1, 1, 0, 1, 0, 1, 0, 1]}\n'


def run(*words, closed):
    def close():
        for descriptor in closed:
            os.close(descriptor)

    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "timeout": 60}
    return subprocess.run([BINARY, *words], preexec_fn=close, check=False, **quiet).returncode


class Streams(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.trace = pathlib.Path(self.folder.name) / "t.json"
        self.out = pathlib.Path(self.folder.name) / "p.csv"
        self.trace.write_text(TRACE)

    def test_files_hold_their_own_text(self):
        words = ["trace", "fit", str(self.trace), "--out", str(self.out)]
        self.assertEqual(run(*words, closed=()), 0)
        want = self.out.read_bytes()
        for closed in ((0, 1, 2), (0, 1), (1,), (1, 2)):
            self.out.unlink()
            # The file is right; that the answer could not be printed is the exit code.
            self.assertEqual(run(*words, closed=closed), 4, closed)
            self.assertEqual(self.out.read_bytes(), want, closed)
        self.assertEqual(self.trace.read_text(), TRACE)

    def test_closed_streams_fail_when_used(self):
        self.assertEqual(run("trace", "stats", str(self.trace), closed=(1,)), 4)
        self.assertEqual(run("trace", "stats", str(self.trace), closed=(2,)), 0)
        self.assertEqual(run("trace", "stats", "-", closed=(0,)), 4)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    BINARY = str(pathlib.Path(options.binary).resolve())
    unittest.main(argv=[__file__, *rest])
