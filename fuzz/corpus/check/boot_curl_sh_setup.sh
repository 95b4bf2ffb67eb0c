#!/bin/bash
curl -fsSL https://example.com/install.sh | sudo bash -s -- --all
# curl x | sh
