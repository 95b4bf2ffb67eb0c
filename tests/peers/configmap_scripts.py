#!/usr/bin/env python3
"""Scripts inside ConfigMaps: bash must parse each and its first line must name bash. usage: configmap_scripts.py FILE…"""

import subprocess
import sys

import yaml

wrong = False
for path in sys.argv[1:]:
    with open(path, encoding="utf-8") as file:
        maps = [d for d in yaml.safe_load_all(file) if isinstance(d, dict) and d.get("kind") == "ConfigMap"]
    for name, text in (item for m in maps for item in m.get("data", {}).items() if item[0].endswith(".sh")):
        done = subprocess.run(["bash", "-n"], input=text, capture_output=True, text=True, check=False)
        said = done.stderr.strip() or ("" if text.startswith("#!/bin/bash\n") else "the first line is not #!/bin/bash")
        if said:
            wrong = True
            print(f"{path}: {name}: {said}")
sys.exit(1 if wrong else 0)
