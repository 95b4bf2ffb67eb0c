#!/usr/bin/env python3
"""A small GPT trained with PyTorch DDP or FSDP, as a job for `trainyard run`. Runs on CPUs (Gloo) in seconds.

    trainyard run --checkpoint-dir out --store store --marker done -- \
        torchrun --standalone --nproc_per_node 2 examples/train_gpt.py --steps 200

With --fsdp (PyTorch 2.6) the weights are sharded and the checkpoints are PyTorch's distributed ones, which any
number of ranks can load; leave out --marker then: what is complete is seen from the checkpoint itself.

What makes it safe to interrupt at any moment, in the order of importance:
  1. Sample n of the data is a function of n alone, and the step is all that is needed to go on: no sample is used
     twice or left out, whatever the number of ranks (the global batch stays the same).
  2. A checkpoint is written under a temporary name and renamed; the file "done" is written last. With FSDP its
     ".metadata" is.
  3. It begins from TRAINYARD_RESUME_FROM, and takes away the file at TRAINYARD_CHECKPOINT_REQUEST when there is
     one and saves.
"""

import argparse
import json
import math
import os
import pathlib
import shutil
import time

import torch
import torch.distributed as dist
from torch import nn
from torch.nn import functional
from torch.nn.parallel import DistributedDataParallel

VOCABULARY = 64


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x, mask):
        y = self.norm1(x)
        x = x + self.attention(y, y, y, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class Gpt(nn.Module):
    def __init__(self, width, layers, heads, context):
        super().__init__()
        self.tokens, self.places = nn.Embedding(VOCABULARY, width), nn.Embedding(context, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, VOCABULARY, bias=False)
        self.register_buffer("mask", torch.triu(torch.full((context, context), -math.inf), 1), persistent=False)

    def forward(self, tokens):
        length = tokens.shape[1]
        x = self.tokens(tokens) + self.places(torch.arange(length))
        for block in self.blocks:
            x = block(x, self.mask[:length, :length])
        return self.head(self.norm(x))


def sample(index, context):
    """Tokens of sample `index`: an arithmetic progression with a few errors, which a small model learns."""
    random = torch.Generator().manual_seed(1_000_003 * index + 7)
    start, stride = torch.randint(0, VOCABULARY, (2,), generator=random).tolist()
    tokens = (start + (1 + stride % 7) * torch.arange(context + 1)) % VOCABULARY
    wrong = torch.rand(context + 1, generator=random) < 0.02
    return torch.where(wrong, torch.randint(0, VOCABULARY, (context + 1,), generator=random), tokens)


def batch_of(step, args, rank, world):
    """This rank's part of the global batch of a step."""
    first = step * args.batch
    return torch.stack([sample(first + i, args.context) for i in range(rank, args.batch, world)])


class Replicated:
    """DDP: rank 0 saves all of it."""

    def __init__(self, args, source):
        model = Gpt(args.width, args.layers, args.heads, args.context)
        if source:
            model.load_state_dict(torch.load(source / "model.pt"))
        self.model = DistributedDataParallel(model)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.rate)
        if source:
            self.optimizer.load_state_dict(torch.load(source / "optimizer.pt"))

    def save(self, folder, step):
        if dist.get_rank() == 0:
            place, partial = folder / f"step-{step}", folder / f"step-{step}.tmp"
            shutil.rmtree(partial, ignore_errors=True)
            partial.mkdir(parents=True)
            torch.save(self.model.module.state_dict(), partial / "model.pt")
            torch.save(self.optimizer.state_dict(), partial / "optimizer.pt")
            (partial / "state.json").write_text(json.dumps({"step": step}), encoding="utf-8")
            (partial / "done").write_text("1\n", encoding="utf-8")
            shutil.rmtree(place, ignore_errors=True)
            partial.rename(place)
        dist.barrier()

    def weights(self):
        return self.model.module.state_dict()


class Sharded:
    """FSDP: every rank saves its part, and can load what other numbers of ranks have saved."""

    def __init__(self, args, source):
        from torch.distributed.fsdp import FullyShardedDataParallel
        from torch.distributed.fsdp.wrap import ModuleWrapPolicy

        self.model = FullyShardedDataParallel(
            Gpt(args.width, args.layers, args.heads, args.context), auto_wrap_policy=ModuleWrapPolicy({Block}),
            device_id=torch.device("cpu"), use_orig_params=True)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=args.rate)
        if source:
            from torch.distributed.checkpoint import load
            from torch.distributed.checkpoint.state_dict import get_state_dict, set_state_dict

            model, optimizer = get_state_dict(self.model, self.optimizer)
            load({"model": model, "optimizer": optimizer}, checkpoint_id=source)
            set_state_dict(self.model, self.optimizer, model_state_dict=model, optim_state_dict=optimizer)

    def save(self, folder, step):
        from torch.distributed.checkpoint import save
        from torch.distributed.checkpoint.state_dict import get_state_dict

        model, optimizer = get_state_dict(self.model, self.optimizer)
        save({"model": model, "optimizer": optimizer}, checkpoint_id=folder / f"step-{step}")

    def weights(self):
        from torch.distributed.fsdp import FullyShardedDataParallel

        with FullyShardedDataParallel.summon_full_params(self.model, writeback=False):
            return {name: value.detach().clone() for name, value in self.model.named_parameters()}


def is_wanted(request):
    """Takes the request away before the save, so that one that comes meanwhile is a new one."""
    try:
        os.unlink(request)
        return True
    except FileNotFoundError:
        return False


def train(args):
    rank, world = dist.get_rank(), dist.get_world_size()
    folder = pathlib.Path(os.environ.get("TRAINYARD_CHECKPOINT_DIR", "out"))
    request = os.environ.get("TRAINYARD_CHECKPOINT_REQUEST", "")
    source = os.environ.get("TRAINYARD_RESUME_FROM")
    torch.manual_seed(1)
    trained = (Sharded if args.fsdp else Replicated)(args, pathlib.Path(source) if source else None)
    step = int(os.environ.get("TRAINYARD_RESUME_STEP", "0")) if source else 0
    if rank == 0 and source:
        print(f"resumed at step {step}", flush=True)
    loss_now, begun = math.nan, time.monotonic()
    while step < args.steps:
        tokens = batch_of(step, args, rank, world)
        logits = trained.model(tokens[:, :-1])
        # Summed here and divided by the global batch, so that ranks with unequal parts weigh right.
        loss = functional.cross_entropy(logits.reshape(-1, VOCABULARY), tokens[:, 1:].reshape(-1), reduction="sum")
        trained.optimizer.zero_grad(set_to_none=True)
        (loss * world / (args.batch * args.context)).backward()
        trained.optimizer.step()
        step += 1
        time.sleep(args.pause)
        wanted = rank == 0 and is_wanted(request)
        told = torch.tensor([loss.item(), float(wanted)])
        dist.all_reduce(told)  # all ranks must agree when to save
        wanted, loss_now = bool(told[1] > 0), told[0].item() / (args.batch * args.context)
        if rank == 0:
            speed = args.batch * args.context / max(time.monotonic() - begun, 1e-9)
            print(f"step: {step}/{args.steps} loss: {loss_now:.6f} tps: {speed:,.0f}", flush=True)
        begun = time.monotonic()
        if step % args.every == 0 or step == args.steps or wanted:
            trained.save(folder, step)
            if rank == 0:
                print(f"saved step-{step}", flush=True)
    total = sum(v.double().abs().sum().item() for v in trained.weights().values())
    if rank == 0 and args.final:
        args.final.write_text(json.dumps({"step": step, "loss": loss_now, "weights": total}), encoding="utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--every", type=int, default=20, help="steps between checkpoints")
    parser.add_argument("--batch", type=int, default=16, help="sequences of a step, over all ranks")
    parser.add_argument("--context", type=int, default=64)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--layers", type=int, default=2)
    parser.add_argument("--heads", type=int, default=4)
    parser.add_argument("--rate", type=float, default=3e-3)
    parser.add_argument("--fsdp", action="store_true", help="shard the weights; needs PyTorch 2.6")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds added to each step")
    parser.add_argument("--final", type=pathlib.Path, help="write step, loss and a sum of the weights here")
    args = parser.parse_args()
    if args.fsdp and tuple(map(int, torch.__version__.split(".")[:2])) < (2, 6):
        parser.error(f"--fsdp needs PyTorch 2.6, this is {torch.__version__}: before 2.1 FSDP does not run on CPUs")
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    if "RANK" in os.environ:
        dist.init_process_group("gloo")
    else:  # without torchrun: one rank
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    train(args)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
