#!/usr/bin/python3
"""Ctrl-C: the first prints what there is, marked partial, and exits 130; the second ends the process. On a terminal
there is a progress bar, elsewhere there is none.

usage: tests/simulate/interrupt_test.py --binary PATH
"""

import argparse
import json
import os
import pathlib
import pty
import signal
import subprocess
import time
import unittest

PLAN = pathlib.Path(__file__).resolve().parent / "plan.json"
TOO_MANY = "100000000"

BINARY = ""


def start(*more, stderr=subprocess.PIPE):
    command = [BINARY, "simulate", str(PLAN), "--runs", TOO_MANY, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=stderr)


class InterruptTest(unittest.TestCase):
    def test_first_prints_what_there_is(self):
        process = start("--json")
        time.sleep(1.5)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 130, err)
        answer = json.loads(out)
        self.assertIs(answer["partial"], True)
        self.assertGreater(answer["summary"]["runs"], 0)
        self.assertLess(answer["summary"]["runs"], int(TOO_MANY))
        self.assertIn("partial", answer["verdict"])
        # No bar: stderr is no terminal.
        self.assertEqual(err, b"\ntrainyard: stopping; Ctrl-C again kills\n")

    def test_second_ends_at_once(self):
        process = start()
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        for line in process.stderr:
            if b"stopping" in line:
                break
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        # The result may be out before the second signal comes.
        self.assertIn(process.returncode, (-signal.SIGINT, 130))

    def test_bar_on_a_terminal(self):
        ours, theirs = pty.openpty()
        process = start("--json", stderr=theirs)
        os.close(theirs)
        time.sleep(2.0)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
        shown = os.read(ours, 65536).decode()
        os.close(ours)
        self.assertIn(" %  ", shown)
        self.assertIn("left", shown)


def main():
    global BINARY
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    BINARY = str(pathlib.Path(options.binary).resolve())
    unittest.main(argv=[__file__, *rest])


if __name__ == "__main__":
    main()
