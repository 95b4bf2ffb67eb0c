#!/usr/bin/python3
"""The HTML report: loads nothing, holds exactly the JSON, shows user text as text. With node it is also drawn on a
stand-in for the browser (page.js), and what the charts are given is compared with the JSON.

usage: tests/simulate/page_test.py --binary PATH
"""

import argparse
import html.parser
import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
HOSTILE = '</script><script>alert("1")</script><!-- <img src=x onerror=alert(2)>'
VOID = {"meta", "link", "br", "img", "input", "hr"}
LOADING = {"src", "href", "srcset", "data", "action", "poster", "background"}

BINARY = ""


class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.scripts, self.loads, self.ids, self.bad = [], [], [], set(), []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "script":
            self.scripts.append([dict(attrs), ""])
        for name, value in attrs:
            if name in LOADING:
                self.loads.append(f"{tag} {name}={value}")
            if name.startswith("on"):
                self.bad.append(f"{tag} {name}")
            if name == "id":
                self.ids.add(value)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.bad.append(f"</{tag}>")

    def handle_data(self, data):
        if self.open and self.open[-1] == "script":
            self.scripts[-1][1] += data


def simulate(folder, plan, *more):
    path = folder / "plan.json"
    path.write_text(json.dumps(plan), encoding="utf-8")
    page = folder / "report.html"
    command = [BINARY, "simulate", str(path), "--json", "--html", str(page), "--runs", "2000", "--rules", *more]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout), page.read_text(encoding="utf-8")


class PageTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        plan = json.loads((HERE / "plan.json").read_text(encoding="utf-8"))
        plan["job"] = HOSTILE
        plan["chosen"]["run"]["name"] = HOSTILE
        cls.json, cls.text = simulate(pathlib.Path(cls.folder.name), plan)
        cls.page = Page()
        cls.page.feed(cls.text)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def data(self):
        found = [text for attrs, text in self.page.scripts if attrs.get("id") == "data"]
        self.assertEqual(len(found), 1)
        return json.loads(found[0])

    def test_is_well_formed(self):
        self.assertTrue(self.text.startswith("<!DOCTYPE html>"))
        self.assertEqual(self.page.open, [])
        self.assertEqual(self.page.bad, [])
        self.assertNotIn("/*{", self.text)
        self.assertEqual(len(self.page.scripts), 3)

    def test_loads_nothing(self):
        self.assertEqual(self.page.loads, [])
        self.assertIn("default-src 'none'", self.text)
        for pattern in (r"@import", r"url\(", r"\bfetch\(", r"XMLHttpRequest", r"\bimport\("):
            self.assertIsNone(re.search(pattern, self.text), pattern)

    def test_keeps_the_licence_of_the_chart_library(self):
        self.assertIn("Chart.js v3", self.text)
        self.assertIn("Permission is hereby granted, free of charge", self.text)

    def test_holds_the_json(self):
        self.assertEqual(self.data(), self.json)

    def test_user_text_stays_text(self):
        self.assertEqual(self.data()["job"], HOSTILE)
        before, after = self.text.split('id="data">')
        self.assertNotIn("alert", before + after.split("</script>", 1)[1])

    @unittest.skipUnless(shutil.which("node"), "node is not installed")
    def test_charts_show_the_json(self):
        path = pathlib.Path(self.folder.name) / "report.html"
        done = subprocess.run(["node", HERE / "page.js", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        drawn = json.loads(done.stdout)
        charts, texts, data = drawn["charts"], drawn["texts"], self.json
        pareto = charts["pareto"]["datasets"][0]["data"]
        self.assertEqual(
            [(p["x"], p["y"]) for p in pareto],
            [(s["time_s"]["p50"], s["cost_usd"]["p50"]) for s in data["policies"]],
        )
        for name in ("time", "cost"):
            shares = [p["y"] for p in charts[name]["datasets"][0]["data"]]
            self.assertAlmostEqual(sum(shares), 1, places=9)
        for index, policy in enumerate(data["policies"]):
            parts = sum(d["data"][index] for d in charts["goodput"]["datasets"])
            self.assertAlmostEqual(parts, 1, delta=0.005, msg=policy["policy"])
        self.assertEqual(
            [p["y"] for p in charts["curve"]["datasets"][0]["data"]],
            [p["mean_cost_usd"] for p in data["cadence_curve"]],
        )
        self.assertEqual(
            [p["y"] for p in charts["timeline"]["datasets"][0]["data"]],
            [e["nodes"] for e in data["sampled_run"]["events"]],
        )
        self.assertIn(data["verdict"], texts)
        self.assertIn(HOSTILE, texts)
        for assumption in data["assumptions"]:
            self.assertIn(assumption["text"], texts)


def main():
    global BINARY
    parser = argparse.ArgumentParser()
    parser.add_argument("--binary", required=True)
    options, rest = parser.parse_known_args()
    BINARY = str(pathlib.Path(options.binary).resolve())
    unittest.main(argv=[__file__, *rest])


if __name__ == "__main__":
    main()
