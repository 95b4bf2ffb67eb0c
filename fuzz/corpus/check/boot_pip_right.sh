#!/bin/bash
pip install torch==2.9.1 -r requirements.txt
