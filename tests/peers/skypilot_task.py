#!/usr/bin/env python3
"""SkyPilot's own reading of task files; not whether a type exists: its catalog is fetched at run time. usage: skypilot_task.py FILE…"""

import sys

import sky

wrong = False
for path in sys.argv[1:]:
    try:
        task = sky.Task.from_yaml(path)
        if not task.run:
            raise ValueError("nothing to run")
    except Exception as error:  # SkyPilot has a class for each kind of mistake
        wrong = True
        print(f"{path}: {type(error).__name__}: {error}")
sys.exit(1 if wrong else 0)
