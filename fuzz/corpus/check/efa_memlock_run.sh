#!/bin/bash
docker run --gpus all --network host --device /dev/infiniband/uverbs0 -e FI_PROVIDER=efa train:1 \
  torchrun --nnodes=2 --nproc-per-node=8 train.py
