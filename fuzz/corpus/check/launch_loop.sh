#!/bin/bash
A="${A:=$B}"
B="$A$A$A"
torchrun --nnodes=$A --nproc-per-node=${B} $(x) $A "
