#!/usr/bin/env python3
"""SkyPilot's own reading of task files, and of sky-config.yaml by its schema; not whether a type exists: its catalog is fetched at run time. usage: skypilot_task.py FILE…"""

import sys

import jsonschema
import sky
import yaml
from sky.utils import schemas

wrong = False
for path in sys.argv[1:]:
    try:
        if path.endswith("config.yaml"):
            with open(path, encoding="utf-8") as file:
                jsonschema.validate(yaml.safe_load(file), schemas.get_config_schema())
            continue
        task = sky.Task.from_yaml(path)
        if not task.run:
            raise ValueError("nothing to run")
    except Exception as error:  # SkyPilot has a class for each kind of mistake
        wrong = True
        print(f"{path}: {type(error).__name__}: {error}")
sys.exit(1 if wrong else 0)
