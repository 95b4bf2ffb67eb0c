#!/usr/bin/env python3
"""What `trainyard run` makes of progress: hangs, a loss that is no number, money, metrics; status, stop and resume.

usage: tests/run/watch_test.py --binary PATH [CASE ...]
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from harness import ROOT, expect, main  # noqa: E402


def call(run, command, *options):
    return subprocess.run([run.binary, command, "--state", str(run.work / "state"), *options], capture_output=True,
                          text=True, check=False, env=run.environment(), timeout=60)


def status(run):
    done = call(run, "status", "--json")
    expect(done.returncode == 0, done.stderr)
    return json.loads(done.stdout)


def case_hang(run):
    """A command that stands still is ended, counted and started again; twice the same step more is poison."""
    run.options += ["--hang-after", "1s", "--grace", "1s", "--poison-after", "2"]
    run.trainer = ["--hang-at", "26", "--step-time", "0.05"]
    expect(run.go() == 76, "exit 76", run)
    hangs = run.events("hang")
    expect(len(hangs) == 2 and hangs[0]["step"] == 25, "two hangs at step 25", run)
    expect("no progress for" in hangs[0]["text"] and "python3" in hangs[0]["text"], "evidence", run)
    expect(not run.processes(), "nothing is left behind", run)


def case_heartbeat(run):
    """A long step is no hang while the heartbeat file is touched."""
    script = ('import os, time, pathlib\n'
              'print("step: 1", flush=True)\n'
              'for _ in range(30): pathlib.Path(os.environ["TRAINYARD_HEARTBEAT"]).touch(); time.sleep(0.1)\n'
              'print("step: 2", flush=True)\n')
    run.options += ["--hang-after", "2s"]
    expect(run.go([sys.executable, "-c", script]) == 0, "exit 0", run)
    expect(not run.events("hang"), "no hang", run)


def case_start_limit(run):
    run.options += ["--start-limit", "1s", "--max-restarts", "0", "--grace", "1s"]
    expect(run.go(["sleep", "60"]) == 78, "exit 78", run)
    expect("since the command was started" in run.events("hang")[0]["text"], "evidence", run)


def case_nan_warns(run):
    run.trainer = ["--nan-at", "35"]
    expect(run.go() == 0, "exit 0", run)
    alarms = run.events("bad-loss")
    expect(len(alarms) == 1 and alarms[0]["level"] == "alarm", "one alarm", run)
    expect("the loss is nan at step 35" in alarms[0]["text"], alarms[0]["text"])


def case_nan_stops(run):
    """Nothing that was saved after it goes to the store."""
    run.options += ["--on-nan", "stop"]
    run.trainer = ["--nan-at", "35", "--step-time", "0.1"]
    expect(run.go() == 82, "exit 82", run)
    expect(max(run.stored_steps(), default=0) <= 30, f"{run.stored_steps()}", run)


def case_budget(run):
    """$3.60 an hour is a tenth of a cent a second: it warns, saves and stops under the cap."""
    run.options += ["--price-per-hour", "3.6", "--budget", "0.02", "--grace", "8s"]
    run.trainer = ["--step-time", "0.05", "--steps", "5000", "--every", "5000"]
    begun = time.monotonic()
    expect(run.go() == 79, "exit 79", run)
    expect(time.monotonic() - begun < 20, "before the money is spent", run)
    expect(len(run.stored_steps()) == 1, "the last checkpoint is in the store", run)
    done = status(run)
    expect(0 < done["cost_usd"] < 0.02 and done["budget_usd"] == 0.02, f"{done['cost_usd']} under the cap", run)
    expect(not run.processes(), "nothing is left running", run)


def case_budget_warnings(run):
    run.options += ["--price-per-hour", "7200", "--budget", "24", "--grace", "1ms"]
    run.trainer = ["--step-time", "0.05", "--steps", "5000"]
    expect(run.go() == 79, "exit 79", run)
    texts = " ".join(e["text"] for e in run.events("budget"))
    expect(re.search(r"\(5\d %\)", texts), texts)


def case_price_of_a_plan(run):
    chosen = {"nodes": 5, "step_time_s": 0.01, "offer": {"usd_per_instance_hour": 11.8}}
    plan = run.work / "plan.json"
    plan.write_text(json.dumps({"schema": "trainyard.plan", "schema_version": 1, "chosen": chosen}), encoding="utf-8")
    run.options += ["--plan", str(plan)]
    run.trainer = ["--step-time", "0.02"]
    expect(run.go() == 0, "exit 0", run)
    done = status(run)
    hours = sum(done["time"].values()) / 3600
    price = chosen["nodes"] * chosen["offer"]["usd_per_instance_hour"]
    expect(abs(done["cost_usd"] - hours * price) < 0.02 * hours * price, f"{done['cost_usd']} for {hours} h")
    expect(done["planned_step_time_s"] == chosen["step_time_s"], "the planned step time")
    record = json.loads((run.work / "state" / "record.json").read_text(encoding="utf-8"))
    expect(record["schema"] == "trainyard.record" and record["run_id"], f"{record}")
    expect(record["plan"]["chosen"] == {"nodes": 5, "step_time_s": 0.01}, "what of the plan is kept")
    span = record["spans"][0]
    each = span["time_s"] / (span["last"] - span["first"])
    expect(0.02 <= each < 0.5 and span["last"] <= 100, f"{span}")


def case_idle(run):
    run.options += ["--idle-stop", "2s", "--poison-after", "99", "--max-restarts", "99"]
    run.trainer = ["--fail-at", "15"]
    expect(run.go() == 80, "exit 80", run)


def case_status_stop_resume(run):
    run.steps = 250
    run.trainer = ["--step-time", "0.05", "--every", "20"]
    run.start()
    run.until_step(25)
    run.until(lambda: status(run).get("committed_step", 0) >= 20 and "step_time_s" in status(run), "a committed step")
    now = status(run)
    expect(now["state"] == "running" and now["supervisor_alive"] and now["step"] >= 20, f"{now}")
    expect(now["last_step"] == 250 and 0.03 < now["step_time_s"] < 0.5, f"{now}")
    expect(0 < now["goodput"] <= 1, f"{now}")
    text = call(run, "status").stdout
    expect(text.startswith("running\n") and "in the store" in text, text)
    done = call(run, "stop")
    expect(done.returncode == 0 and "ended: stopped" in done.stderr, done.stderr)
    expect(run.wait(5) == 81, "exit 81", run)
    expect(run.stored_steps()[0] > 20, "saved for it", run)
    expect("nothing runs here" in call(run, "stop").stderr, "a second stop")
    expect(status(run)["state"] == "ended: stopped", "status afterwards")
    resumed = call(run, "resume")
    expect(resumed.returncode == 0, resumed.stderr)
    expect(run.result()["step"] == 250, "it went to its end")


def case_stop_without_supervisor(run):
    run.trainer = ["--step-time", "0.05"]
    run.start()
    run.until_step(5)
    run.kill_supervisor()
    expect(status(run)["state"] == "running without its supervisor", "status")
    done = call(run, "stop", "--grace", "1s")
    expect(done.returncode == 0 and "the supervisor was gone" in done.stderr, done.stderr)
    expect(not run.ranks(), "the command is ended", run)
    expect(call(run, "resume").returncode == 0, "resume", run)


def case_metrics(run):
    run.options += ["--metrics", "0"]
    run.trainer = ["--step-time", "0.05"]
    run.start()
    run.until_event("metrics")
    url = re.search(r"http://127\.0\.0\.1:\d+/metrics", run.stderr())[0]
    run.until_step(40)
    time.sleep(2.2)
    text = urllib.request.urlopen(url, timeout=5).read().decode()
    values = dict(line.rsplit(" ", 1) for line in text.splitlines() if not line.startswith("#"))
    expect(float(values["trainyard_step"]) >= 40 and values["trainyard_up"] == "1", text)
    expect(float(values["trainyard_committed_step"]) >= 10, text)
    expect(float(values['trainyard_time_seconds_total{kind="useful"}']) > 0, text)
    expect(0 < float(values["trainyard_goodput_ratio"]) <= 1, text)
    board = (ROOT / "docs" / "grafana" / "trainyard-run.json").read_text(encoding="utf-8")
    named = set(re.findall(r"trainyard_[a-z_]+", "".join(t["expr"] for p in json.loads(board)["panels"] for t in p["targets"])))
    served = set(re.findall(r"^# TYPE (\S+)", text, re.M)) | {"trainyard_cost_usd"}  # only with a price
    expect(named <= served, f"the dashboard asks for {named - served}")
    run.process.send_signal(signal.SIGINT)
    run.wait()


def case_no_state(run):
    for command in ("status", "stop", "resume"):
        done = call(run, command)
        expect(done.returncode == 4 and "no run has its state here" in done.stderr, done.stderr)
    expect(not (run.work / "state").exists(), "nothing is made by asking")


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
