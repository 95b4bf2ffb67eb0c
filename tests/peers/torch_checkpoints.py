"""Writes real checkpoints with the PyTorch of this Python: step_10 by torch.save, step_20 by its distributed checkpoint.

usage: torch_checkpoints.py DIRECTORY PORT      exit 77: no PyTorch
"""

import dataclasses
import os
import pathlib
import sys

try:
    # PyTorch 1.13 has defaults that Python 3.11 takes only from classes with a hash.
    process = dataclasses._process_class

    def with_hash(cls, *args, **named):
        had = "__hash__" in cls.__dict__
        made = process(cls, *args, **named)
        if made.__hash__ is None and not had:
            made.__hash__ = object.__hash__
        return made

    dataclasses._process_class = with_hash
    import torch
    import torch.distributed as dist

    try:
        import torch.distributed.checkpoint as dcp
    except ImportError:  # before 2.0
        import torch.distributed._shard.checkpoint as dcp
except ImportError as reason:
    print(reason)
    sys.exit(77)

base = pathlib.Path(sys.argv[1])
model = torch.nn.Sequential(torch.nn.Linear(512, 1024), torch.nn.Linear(1024, 512))
optimizer = torch.optim.AdamW(model.parameters())
model(torch.ones(1, 512)).sum().backward()
optimizer.step()
plain = base / "step_10"
plain.mkdir()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "step": 10}, plain / "checkpoint.pt")
os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=sys.argv[2])
dist.init_process_group("gloo", rank=0, world_size=1)
sharded = base / "step_20"
sharded.mkdir()
dcp.save_state_dict(model.state_dict(), dcp.FileSystemWriter(str(sharded)))
