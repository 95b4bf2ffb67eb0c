#!/usr/bin/env python3
"""A stand-in for a training job, without torch: deterministic, with ranks, a data order and checkpoints as the
Hugging Face Trainer or PyTorch's distributed checkpoint (DCP) lays them out. Standard library only.

usage: tests/support/trainer.py [--steps 100] [--every 10] [--step-time 0.01] [--ranks 1] [--size BYTES] [--layout hf|dcp]
           [--fail-at STEP] [--fail-once-at STEP --memory FILE] [--hang-at STEP] [--nan-at STEP] [--save-time SECONDS]
           [--ignore-term] [--deaf] [--by-signal] [--audit FILE] [--final FILE]

Reads TRAINYARD_CHECKPOINT_DIR, _RESUME_FROM, _RESUME_STEP, _CHECKPOINT_REQUEST. Each step takes the next sample of a
fixed order; every rank mixes it into a hash chain of its own, so the final state is equal only if every sample was
taken exactly once and in order. --audit appends "step sample" for each step that was done, --final gets the end state.
The checkpoint is written in place, file after file, trainer_state.json (.metadata) last: a kill leaves half of one.
"""

import argparse
import hashlib
import json
import os
import pathlib
import random
import signal
import struct
import sys
import time

import dcp


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--steps", type=int, default=100)
    p.add_argument("--every", type=int, default=10)
    p.add_argument("--step-time", type=float, default=0.01)
    p.add_argument("--ranks", type=int, default=1)
    p.add_argument("--size", type=int, default=4096)
    p.add_argument("--layout", choices=["hf", "dcp"], default="hf")
    p.add_argument("--fail-at", type=int)
    p.add_argument("--fail-once-at", type=int)
    p.add_argument("--memory", type=pathlib.Path)
    p.add_argument("--hang-at", type=int)
    p.add_argument("--nan-at", type=int)
    p.add_argument("--save-time", type=float, default=0.0)
    p.add_argument("--ignore-term", action="store_true")
    p.add_argument("--deaf", action="store_true", help="no SIGUSR1, no request file")
    p.add_argument("--by-signal", action="store_true", help="hears SIGUSR1 alone")
    p.add_argument("--audit", type=pathlib.Path)
    p.add_argument("--final", type=pathlib.Path)
    return p.parse_args()


def sample_of(step):
    return random.Random(f"order-{step // 1000}-{step}").randrange(1 << 30)


def mix(state, rank, sample):
    return hashlib.sha256(state + f"{rank}:{sample}".encode()).digest()


def rank_main(rank, read_fd, write_fd):
    """One rank: for each "state sample" line the mixed state. Ends with its parent."""
    with os.fdopen(read_fd, "rb", buffering=0) as orders, os.fdopen(write_fd, "wb", buffering=0) as answers:
        while len(order := orders.read(40)) == 40:
            answers.write(mix(order[:32], rank, struct.unpack("<Q", order[32:])[0]))
    os._exit(0)


class Ranks:
    def __init__(self, count):
        self.pipes = []
        for rank in range(count):
            to_child, from_parent = os.pipe()
            to_parent, from_child = os.pipe()
            if os.fork() == 0:
                signal.signal(signal.SIGUSR1, signal.SIG_IGN)
                os.close(from_parent)
                os.close(to_parent)
                for other_in, other_out in self.pipes:
                    os.close(other_in)
                    os.close(other_out)
                rank_main(rank, to_child, from_child)
            os.close(to_child)
            os.close(from_child)
            self.pipes.append((from_parent, to_parent))

    def step(self, states, sample):
        for (order, _), state in zip(self.pipes, states):
            os.write(order, state + struct.pack("<Q", sample))
        mixed = [os.read(answer, 32) for _, answer in self.pipes]
        for rank, state in enumerate(mixed):
            if len(state) != 32:
                sys.exit(f"rank {rank} died")
        return mixed


def safetensors(payload):
    header = json.dumps({"w": {"dtype": "U8", "shape": [len(payload)], "data_offsets": [0, len(payload)]}}).encode()
    return struct.pack("<Q", len(header)) + header + payload


def save(folder, step, states, args):
    state = json.dumps({"global_step": step, "states": [s.hex() for s in states], "samples_seen": step})
    weights = [(s * (args.size // 32 + 1))[: max(args.size, 32)] for s in states]

    def pause():
        time.sleep(args.save_time / len(states))

    name = f"step-{step}" if args.layout == "dcp" else f"checkpoint-{step}"
    place = folder / name
    if args.layout == "dcp":
        items = [{f"w{rank}": w} for rank, w in enumerate(weights)]
        items[0]["train_state"] = state.encode()
        dcp.save(place, items, pause)
    else:
        place.mkdir(parents=True, exist_ok=True)
        for rank, w in enumerate(weights):
            (place / hf_name(rank, len(states))).write_bytes(safetensors(w))
            pause()
        (place / "trainer_state.json").write_text(state, encoding="utf-8")
    print(f"saved {name}", flush=True)


def hf_name(rank, ranks):
    return f"model-{rank + 1:05}-of-{ranks:05}.safetensors"


def load(place, layout):
    """The state, and the first bytes of each rank's weights."""
    if layout == "dcp":
        items = dcp.load(place)
        state = json.loads(items["train_state"])
        return state, [items[f"w{rank}"] for rank in range(len(state["states"]))]
    state = json.loads((place / "trainer_state.json").read_text(encoding="utf-8"))
    files = [(place / hf_name(rank, len(state["states"]))).read_bytes() for rank in range(len(state["states"]))]
    return state, [data[8 + struct.unpack("<Q", data[:8])[0] :] for data in files]


def resume(args):
    source = os.environ.get("TRAINYARD_RESUME_FROM")
    if not source:
        return 0, [hashlib.sha256(f"start {rank}".encode()).digest() for rank in range(args.ranks)]
    state, weights = load(pathlib.Path(source), args.layout)
    states = [bytes.fromhex(text) for text in state["states"]]
    for rank, kept in enumerate(states):
        if weights[rank][:32] != kept:
            sys.exit(f"{source}: the weights of rank {rank} are not those of its state")
    if os.environ.get("TRAINYARD_RESUME_STEP") != str(state["global_step"]):
        sys.exit("TRAINYARD_RESUME_STEP is not the step of TRAINYARD_RESUME_FROM")
    print(f"resumed at step {state['global_step']}", flush=True)
    return state["global_step"], states


def loss_of(step, states):
    return 2.0 + 8.0 / max(step, 1) + states[0][0] / 1e6


def misbehave(args, step):
    if args.fail_at == step:
        print("CUDA error: an illegal memory access was encountered", flush=True)
        sys.exit(17)
    if args.fail_once_at == step and not args.memory.exists():
        args.memory.write_text("failed\n", encoding="utf-8")
        sys.exit(18)
    while args.hang_at == step:
        time.sleep(1)


def is_wanted(request, asked):
    """Whether a checkpoint is asked for. The request is taken away before the save, so that one that comes meanwhile is
    a new one; the signal comes with a file where there is one."""
    if request:
        try:
            os.unlink(request)
            return True
        except FileNotFoundError:
            return False
    wanted = bool(asked)
    asked.clear()
    return wanted


def main():
    args = options()
    asked = []
    if not args.deaf:
        signal.signal(signal.SIGUSR1, lambda *_: asked.append(1))
    if args.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    folder = os.environ.get("TRAINYARD_CHECKPOINT_DIR")
    request = None if args.by_signal else os.environ.get("TRAINYARD_CHECKPOINT_REQUEST")
    step, states = resume(args)
    ranks = Ranks(args.ranks)
    while step < args.steps:
        misbehave(args, step + 1)
        sample = sample_of(step)
        states = ranks.step(states, sample)
        step += 1
        time.sleep(args.step_time)
        loss = loss_of(step, states)
        if args.nan_at is not None and step >= args.nan_at:
            loss = float("nan")
        if args.audit:
            with args.audit.open("a", encoding="utf-8") as audit:
                audit.write(f"{step} {sample}\n")
        print(f"step: {step}/{args.steps} loss: {loss:.6f} tps: {4096 / max(args.step_time, 1e-3):,.0f}", flush=True)
        wanted = not args.deaf and is_wanted(request, asked)
        if folder and (step % args.every == 0 or step == args.steps or wanted):
            save(pathlib.Path(folder), step, states, args)
    if args.final:
        final = {"step": step, "states": [s.hex() for s in states], "loss": loss_of(step, states)}
        args.final.write_text(json.dumps(final), encoding="utf-8")


main()
