#!/bin/bash
wandb login 3f9a1c7e5b2d8046f1e3a5c79b0d2486e1f3a5c7
export HF_TOKEN="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"
