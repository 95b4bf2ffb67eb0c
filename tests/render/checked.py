#!/usr/bin/python3
"""What `trainyard render` writes has nothing that `trainyard check --plan` objects to: each plan of the corpus, for every target.

usage: checked.py --binary PATH
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import sys
import tempfile

import rendering

PLANS = sorted((rendering.ROOT / "fuzz" / "corpus" / "render").glob("[!h]*.json"))


def check(binary, plan, target, folder):
    """(rendered?, what the checker says)"""
    code, _, _ = rendering.run(binary, ["render", str(plan), "--target", target, "-o", str(folder)])
    if code != rendering.ANSWERED:
        return False, []
    code, out, said = rendering.run(binary, ["check", "--json", "--plan", str(plan), str(folder)])
    if code not in (0, 1):  # 1: it found something
        return True, [f"{plan.stem}, {target}: check ends with {code}: {said}"]
    found = [f for f in json.loads(out)["findings"] if f["severity"] != "note"]
    return True, [f"{plan.stem}, {target}: {f['rule']}: {f['what']}" for f in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    binary = parser.parse_args().binary
    rendered = {target: 0 for target in rendering.targets()}
    lines = []
    with tempfile.TemporaryDirectory() as folder, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        work = [(plan, target) for plan in PLANS for target in rendered]
        asked = [(t, pool.submit(check, binary, p, t, pathlib.Path(folder) / f"{p.stem}.{t}")) for p, t in work]
        for target, answer in asked:
            done, said = answer.result()
            rendered[target] += done
            lines += said
    for line in lines:
        print(line)
    print(f"{sum(rendered.values())} directories checked, {len(lines)} findings")
    return 1 if lines or not all(rendered.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
