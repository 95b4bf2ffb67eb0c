"""A training script without the training: counts steps together, saves, resumes, and ends early on SIGUSR1.

Rank 0 meets all others each step: a missing, doubled or stray rank stops the run."""

import argparse
import json
import os
import pathlib
import signal
import socket
import sys
import time

RANK, WORLD = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
PORT = int(os.environ["MASTER_PORT"])
noticed = False


def on_notice(_signal, _frame):
    global noticed
    noticed = True


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, required=True)
    parser.add_argument("--checkpoint-dir", type=pathlib.Path, required=True)
    parser.add_argument("--last", type=int, required=True)
    return parser.parse_known_args()[0]


class Together:
    """One line of JSON from each rank to rank 0 and one back, each step."""

    def __init__(self):
        if RANK == 0:
            with socket.create_server(("127.0.0.1", PORT), backlog=WORLD) as server:
                files = [server.accept()[0].makefile("rw") for _ in range(WORLD - 1)]
            self.peers = files
            names = [json.loads(f.readline()) for f in files]
            assert sorted(names) == list(range(1, WORLD)), names
        else:
            self.peers = [self.connect().makefile("rw")]
            self.send(self.peers[0], RANK)

    @staticmethod
    def connect():
        for _ in range(600):
            try:
                return socket.create_connection(("127.0.0.1", PORT))
            except OSError:
                time.sleep(0.1)
        raise SystemExit("rank 0 is not there")

    @staticmethod
    def send(file, value):
        file.write(json.dumps(value) + "\n")
        file.flush()

    def any(self, value, step):
        """Whether any rank says yes; all must be at the same step."""
        if RANK != 0:
            self.send(self.peers[0], [step, value])
            return json.loads(self.peers[0].readline())
        said = [json.loads(f.readline()) for f in self.peers]
        assert all(s == step for s, _ in said), (step, said)
        answer = value or any(v for _, v in said)
        for f in self.peers:
            self.send(f, answer)
        return answer


def save(root, step):
    there = root / f"step-{step:06d}"
    there.mkdir(parents=True, exist_ok=True)
    (there / f"rank-{RANK}").write_text(str(step))


def resume(root):
    steps = sorted(root.glob("step-*"))
    if not steps:
        return 0
    last = steps[-1]
    missing = [r for r in range(WORLD) if not (last / f"rank-{r}").exists()]
    assert not missing, f"{last.name} lacks ranks {missing}"
    return int(last.name.removeprefix("step-"))


def main():
    signal.signal(signal.SIGUSR1, on_notice)
    options = arguments()
    assert (options.data / "tokens.bin").read_bytes() == b"data", "the data is not here"
    step = first = resume(options.checkpoint_dir)
    together = Together()
    print(f"RANK {RANK} of {WORLD} begins at {first}", flush=True)
    while step < options.last:
        time.sleep(0.2)
        step += 1
        ends = together.any(noticed, step)
        if ends or step % 10 == 0 or step == options.last:
            save(options.checkpoint_dir, step)
        if ends:
            print(f"RANK {RANK} saved {step} on notice", flush=True)
            together.any(False, step)
            sys.exit(0)
    together.any(False, step)
    print(f"RANK {RANK} done at {step}", flush=True)


main()
