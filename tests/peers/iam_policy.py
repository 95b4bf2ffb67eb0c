#!/usr/bin/env python3
"""Check IAM policy documents (policy-*.json) with parliament: actions that do not exist, resources that an action does not
take, wrong condition keys, broken structure.

usage: iam_policy.py FILE ...
Exit: 0 no findings, 1 findings, 77 parliament is missing.
"""

import pathlib
import sys

# Advice about the account that a file cannot know.
PASSED_OVER = {"CREDENTIALS_EXPOSURE"}


def main():
    try:
        import parliament
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    wrong = 0
    for name in sys.argv[1:]:
        policy = parliament.analyze_policy_string(pathlib.Path(name).read_text(encoding="utf-8"))
        for finding in policy.findings:
            if finding.issue not in PASSED_OVER:
                wrong += 1
                print(f"{name}: {finding.issue}: {finding.detail} {finding.location}")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
