#!/bin/bash
wandb login $WANDB_API_KEY
export HF_TOKEN=hf_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
export AWS_ACCESS_KEY_ID=AKIAIOSFODNN7EXAMPLE
