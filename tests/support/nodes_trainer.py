#!/usr/bin/env python3
"""A stand-in for a training job of several nodes, one process each. Standard library only.

usage: tests/support/nodes_trainer.py [--steps 100] [--every 10] [--step-time 0.01] [--fail-once-at STEP --memory FILE]
           [--hang-on-loss] [--final FILE] [--audit FILE]

Reads TRAINYARD_NODES, _NODE_RANK, _MASTER_ADDR, _MASTER_PORT, _CHECKPOINT_DIR, _CHECKPOINT_REQUEST, _RESUME_FROM. Each
step takes the next twelve samples of a fixed order, dealt out over the nodes; the sum of what they give is the next
state on every node, so the end is the same, bit for bit, for any number of nodes, if and only if each sample was taken
once and in its step. The first node looks for the request, tells the others with the sum, and writes the checkpoint.
"""

import argparse
import hashlib
import json
import os
import pathlib
import socket
import struct
import sys
import time

BATCH = 12
WIDTH = 1 << 256
START = hashlib.sha256(b"start").digest()


def share(state, step, rank, nodes):
    samples = range(step * BATCH + rank, (step + 1) * BATCH, nodes)
    return sum(int.from_bytes(hashlib.sha256(state + str(s).encode()).digest(), "big") for s in samples) % WIDTH


def next_state(total):
    return hashlib.sha256(total.to_bytes(32, "big")).digest()


def undisturbed(steps):
    state = START
    for step in range(steps):
        state = next_state(share(state, step, 0, 1))
    return state.hex()


class Peers:
    """An all-reduce by way of the first node."""

    def __init__(self, rank, nodes, address):
        self.rank, self.links = rank, []
        if nodes == 1:
            return
        if rank == 0:
            with socket.create_server(("", address[1]), backlog=nodes) as server:
                server.settimeout(30)
                self.links = [server.accept()[0] for _ in range(nodes - 1)]
            return
        end = time.monotonic() + 30
        while True:
            try:
                self.links = [socket.create_connection(address, 5)]
                break
            except OSError:
                if time.monotonic() > end:
                    sys.exit("no rendezvous")
                time.sleep(0.05)
        self.links[0].settimeout(None)

    @staticmethod
    def receive(link, size):
        data = b""
        while len(data) < size:
            piece = link.recv(size - len(data))
            if not piece:
                raise ConnectionError("a peer is gone")
            data += piece
        return data

    def sum(self, value, flag):
        """The sum over all nodes, and the first one's flag."""
        if self.rank == 0:
            for link in self.links:
                value += int.from_bytes(self.receive(link, 32), "big")
            value %= WIDTH
            for link in self.links:
                link.sendall(value.to_bytes(32, "big") + struct.pack("<B", flag))
            return value, flag
        self.links[0].sendall(value.to_bytes(32, "big"))
        data = self.receive(self.links[0], 33)
        return int.from_bytes(data[:32], "big"), data[32]


def save(folder, step, state):
    place = folder / f"checkpoint-{step}"
    place.mkdir(parents=True, exist_ok=True)
    header = json.dumps({"w": {"dtype": "U8", "shape": [32], "data_offsets": [0, 32]}}).encode()
    (place / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header + state)
    text = json.dumps({"global_step": step, "state": state.hex()})
    (place / "trainer_state.json").write_text(text, encoding="utf-8")
    print(f"saved checkpoint-{step}", flush=True)


def is_wanted(request):
    try:
        os.unlink(request)
        return True
    except OSError:
        return False


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--every", type=int, default=10)
    p.add_argument("--step-time", type=float, default=0.01)
    p.add_argument("--fail-once-at", type=int)
    p.add_argument("--memory", type=pathlib.Path)
    p.add_argument("--hang-on-loss", action="store_true")
    p.add_argument("--final", type=pathlib.Path)
    p.add_argument("--audit", type=pathlib.Path)
    args = p.parse_args()
    env = os.environ
    rank, nodes = int(env["TRAINYARD_NODE_RANK"]), int(env["TRAINYARD_NODES"])
    folder = pathlib.Path(env["TRAINYARD_CHECKPOINT_DIR"])
    step, state = 0, START
    if source := env.get("TRAINYARD_RESUME_FROM"):
        kept = json.loads((pathlib.Path(source) / "trainer_state.json").read_text(encoding="utf-8"))
        step, state = kept["global_step"], bytes.fromhex(kept["state"])
        print(f"resumed at step {step}", flush=True)
    peers = Peers(rank, nodes, (env["TRAINYARD_MASTER_ADDR"], int(env["TRAINYARD_MASTER_PORT"])))
    try:
        while step < args.steps:
            if args.fail_once_at == step + 1 and not args.memory.exists():
                args.memory.write_text("failed\n", encoding="utf-8")
                sys.exit(18)
            wanted = rank == 0 and is_wanted(env["TRAINYARD_CHECKPOINT_REQUEST"])
            total, wanted = peers.sum(share(state, step, rank, nodes), wanted)
            state = next_state(total)
            step += 1
            time.sleep(args.step_time)
            if args.audit:
                with args.audit.open("a", encoding="utf-8") as audit:
                    audit.write(f"{env['TRAINYARD_GENERATION']} {step} {rank}/{nodes}\n")
            if rank == 0:
                print(f"step: {step}/{args.steps} loss: {2 + 8 / step:.6f}", flush=True)
                if step % args.every == 0 or step == args.steps or wanted:
                    save(folder, step, state)
    except OSError as lost:
        while args.hang_on_loss:  # as NCCL without a timeout
            time.sleep(1)
        sys.exit(f"lost a peer: {lost}")
    if args.final:
        args.final.write_text(json.dumps({"step": step, "state": state.hex()}), encoding="utf-8")


if __name__ == "__main__":
    main()
