#!/bin/bash
pip install torch transformers==4.57.1 numpy
