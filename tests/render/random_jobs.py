#!/usr/bin/python3
"""Random jobs, planned and rendered for every target: whatever a target accepts must parse, be the same byte for byte the
second time, and carry the plan's hash; a refusal names another target or another plan.

usage: random_jobs.py --binary PATH [--jobs N] [--seed N]

With TRAINYARD_PEERS=1 every file is also held against the real tools (tests/peers). Exit: 0 right, 1 wrong.
"""

import argparse
import hashlib
import json
import pathlib
import random
import re
import sys
import tempfile

import rendering

sys.path.insert(0, str(rendering.ROOT / "tests" / "peers"))

MODELS = ["gpt2", "llama-3.1-8b", "llama-3.1-70b", "llama-2-7b", "mixtral-8x7b", "qwen2.5-7b", "mistral-7b-v0.1"]
TYPES = ["p5.48xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5en.48xlarge", "p6-b200.48xlarge", "p6-b300.48xlarge",
         "g6e.48xlarge", "g6e.2xlarge", "g5.12xlarge", "g5.48xlarge", "trn1.32xlarge", "trn2.48xlarge", "p3dn.24xlarge"]


def random_words(rng):
    """The words behind `trainyard plan` of one job."""
    words = [rng.choice(MODELS), "--tokens", rng.choice(["20M", "1B", "30B", "300B", "2T"])]
    if rng.random() < 0.7:
        kind = rng.choice(TYPES)
        words += ["--instance", kind]
        if kind.startswith("trn"):
            words.append("--trainium")
        if rng.random() < 0.7:
            words += ["--nodes", str(rng.choice([1, 2, 3, 4, 8, 16, 32]))]
    if rng.random() < 0.3:
        words += ["--method", "lora", "--rank", "16"]
    words += rng.choice([[], [], ["--prefer-spot"], ["--no-spot"], ["--resume", "none"]])
    words += rng.choice([[], ["--deadline", "3d"], ["--deadline", "60d"]])
    words += rng.choice([[], [], ["--kubernetes"]])
    return words


def check_answer(code, files, said, digest):
    if code == rendering.REFUSED:
        way = said.split("fix:")[-1]
        known = any(word in way for word in ("--target", "--framework", "plan"))
        return [] if known else [f"refused without a way on: {said}"]
    if code != rendering.ANSWERED:
        return [f"exit {code}: {said[:300]}"]
    wrong = rendering.unreadable(files)
    if digest not in files["README.md"]:
        wrong.append("README.md: no plan hash")
    for path, text in files.items():
        if not path.endswith((".json", ".csv")) and digest not in text:
            wrong.append(f"{path}: no plan hash")
    return wrong


def keep_for_peers(target, files, folder, by_tool):
    import render as peers

    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text, encoding="utf-8")
    return peers.assign(target, folder, files, by_tool)


def peers_say(by_tool, words_of):
    """What the real tools find, with the plan behind the directory that a line names."""
    import render as peers

    skipped = set()
    lines = []
    for line in peers.check_files(by_tool, skipped):
        number = re.search(r"job(\d+)/", line)
        lines.append(line + (f" (plan {' '.join(words_of[int(number[1])])})" if number else ""))
    return lines, skipped


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    parser.add_argument("--jobs", type=int, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rng = random.Random(options.seed)
    import tools

    with_peers = tools.why_missing("none") is None
    counts = {target: [0, 0] for target in rendering.targets()}
    failed = planned = tries = 0
    by_tool = {}
    words_of = {}
    work = tempfile.TemporaryDirectory()
    while planned < options.jobs and tries < 20 * options.jobs:
        tries += 1
        words = random_words(rng)
        code, plan, said = rendering.run(options.binary, ["plan", *words, "--json"])
        if code != 0:
            print(f"plan {' '.join(words)}: exit {code}: {said[:300]}")
            failed += code not in (2, 3)
            continue
        if "chosen" not in json.loads(plan):
            continue
        planned += 1
        words_of[planned] = words
        digest = hashlib.sha256(plan).hexdigest()
        for target, count in counts.items():
            answer = rendering.render(options.binary, plan, target)
            wrong = check_answer(*answer, digest)
            if rendering.render(options.binary, plan, target) != answer:
                wrong.append("the second rendering differs")
            if with_peers and not wrong and answer[0] == rendering.ANSWERED:
                folder = pathlib.Path(work.name) / f"job{planned}" / target
                wrong += keep_for_peers(target, answer[1], folder, by_tool)
            count[answer[0] != rendering.ANSWERED] += 1
            failed += bool(wrong)
            for line in wrong:
                print(f"{target}: plan {' '.join(words)}: {line}")
    lines, skipped = peers_say(by_tool, words_of)
    failed += len(lines)
    for line in lines:
        print(line)
    work.cleanup()
    for target, (rendered, refused) in counts.items():
        print(f"{target}: {rendered} rendered, {refused} refused")
        failed += not rendered
    for line in sorted(skipped):
        print(f"skipped: {line}")
    print(f"{planned} plans, {failed} failures, seed {options.seed}")
    return 1 if failed or planned < options.jobs else 0


if __name__ == "__main__":
    sys.exit(main())
