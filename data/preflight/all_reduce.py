"""A short all-reduce on this machine with PyTorch; `trainyard preflight` runs it as `python3 -c`.

arguments: BACKEND (nccl or gloo) RANKS BYTES

Prints one JSON object: bus_bandwidth (bytes a second, as nccl-tests counts it), library; or skipped, or problem: why not.
"""

import datetime
import json
import os
import sys
import tempfile
import time


def tell(**answer):
    print(json.dumps(answer), flush=True)
    os._exit(0)


try:
    import torch
    import torch.distributed as dist
except ImportError:
    tell(skipped=f"{sys.executable} has no PyTorch")

BACKEND, RANKS, BYTES = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ROUNDS = 5


def measure(rank, folder):
    if BACKEND == "nccl":
        if torch.cuda.device_count() < RANKS:
            tell(skipped=f"PyTorch {torch.__version__} sees {torch.cuda.device_count()} of {RANKS} GPUs")
        torch.cuda.set_device(rank)
    place = f"cuda:{rank}" if BACKEND == "nccl" else "cpu"
    dist.init_process_group(BACKEND, store=dist.FileStore(os.path.join(folder, "store"), RANKS), rank=rank,
                            world_size=RANKS, timeout=datetime.timedelta(seconds=30))
    tensor = torch.empty(BYTES // 4, device=place)

    def one():
        tensor.fill_(rank + 1)
        if BACKEND == "nccl":
            torch.cuda.synchronize()
        dist.barrier()
        begun = time.perf_counter()
        dist.all_reduce(tensor)
        if BACKEND == "nccl":
            torch.cuda.synchronize()
        return time.perf_counter() - begun

    one()  # connections are made in the first
    taken = sorted(one() for _ in range(ROUNDS))[ROUNDS // 2]
    right = bool((tensor == RANKS * (RANKS + 1) / 2).all())
    slowest = torch.tensor([taken, 0.0 if right else 1.0], device=place)
    dist.all_reduce(slowest, dist.ReduceOp.MAX)
    if rank == 0 and slowest[1].item() > 0:
        tell(problem="the sum of an all-reduce is wrong")
    if rank == 0:
        engine = "NCCL " + ".".join(map(str, torch.cuda.nccl.version())) if BACKEND == "nccl" else "Gloo"
        tell(bus_bandwidth=2 * (RANKS - 1) / RANKS * BYTES / slowest[0].item(),
             library=f"{engine} of PyTorch {torch.__version__}")


def main():
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        ranks = []
        for rank in range(RANKS):
            ranks.append(os.fork())
            if ranks[-1] == 0:
                try:
                    measure(rank, folder)
                except Exception as why:  # whatever the libraries raise is the answer
                    tell(problem=f"rank {rank}: {why}".splitlines()[0][:300])
                os._exit(0)
        for rank in ranks:
            os.waitpid(rank, 0)


main()
