#!/bin/bash
export NCCL_SOCKET_IFNAME=^docker0
srun torchrun train.py
