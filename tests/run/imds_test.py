#!/usr/bin/env python3
"""The fault matrix of the metadata service, against a fake one: what `trainyard run` sees and does.

usage: tests/run/imds_test.py --binary PATH [CASE ...]

The cases are numbered as in the list of docs/reference/supervisor.md.
"""

import os
import subprocess
import sys
import time
import urllib.request

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "support")]
from fake_imds import ACTION, LIFECYCLE, MAINTENANCE, REBALANCE, FakeImds  # noqa: E402
from fault_server import ACCESS, SECRET  # noqa: E402
from harness import ROOT, Run, expect, kill, main  # noqa: E402


def begin(run, fake, *trainer):
    run.options += ["--imds", fake.url, "--poll", "100ms"]
    run.trainer = ["--step-time", "0.05", "--every", "1000", "--steps", "2000", *trainer]
    run.start()
    run.until_step(3)
    return fake


def watched(run):
    run.until(lambda: "watching for interruption notices" in run.stderr(), "first answer")


def preempted(run, within=20):
    """It ends as preempted, with a checkpoint taken for it and nothing counted as a failure."""
    begun = time.monotonic()
    expect(run.wait(within) == 75, "exit 75", run)
    expect(not run.events("failed"), "no failure", run)
    steps = run.stored_steps()
    expect(len(steps) == 1, f"one checkpoint, taken for the notice: {steps}", run)
    expect(not run.processes(), "nothing is left behind", run)
    return time.monotonic() - begun


def undisturbed(run, seconds=1.5):
    time.sleep(seconds)
    expect(run.process.poll() is None, "it goes on", run)
    expect(not run.events("drain"), "no drain", run)


def stop(run):
    run.process.terminate()
    expect(run.wait() == 75, "exit 75", run)


def case_imds_01_notice(run):
    fake = begin(run, FakeImds())
    watched(run)
    undisturbed(run)
    fake.notice(120)
    expect(preempted(run) < 10, "within 10 s", run)
    expect("spot terminate at 20" in run.stderr(), "it says what was announced", run)


def case_imds_01_notice_by_signal(run):
    fake = begin(run, FakeImds(), "--by-signal")
    watched(run)
    fake.notice(120)
    preempted(run)


def case_imds_02_short_notice(run):
    fake = begin(run, FakeImds(), "--deaf")
    fake.notice(8)
    begun = time.monotonic()
    expect(run.wait(15) == 75, "exit 75", run)
    expect(time.monotonic() - begun < 9, "before the time is over", run)
    expect("no checkpoint stands" in run.stderr(), "says what stands", run)


def case_imds_02_no_time_left(run):
    fake = begin(run, FakeImds())
    watched(run)
    fake.notice(0)
    expect(run.wait(5) == 75, "exit 75 at once", run)
    expect(run.events("does-not-fit"), "no checkpoint is begun", run)


def case_imds_03_no_notice(run):
    fake = FakeImds()
    run.options += ["--imds", fake.url]
    run.trainer = ["--step-time", "0.02", "--ranks", "2"]
    run.start()
    run.until_step(35)
    run.kill_supervisor()
    for pid, _ in run.processes():
        kill(pid)
    expect(run.go() == 0 and run.result()["step"] == 100, "periodic checkpoints are the guarantee", run)


def case_imds_04_rebalance_alone(run):
    fake = begin(run, FakeImds())
    fake.set(**{REBALANCE: '{"noticeTime": "{left:0}"}'})
    run.until_event("rebalance")
    run.until(lambda: run.stored_steps(), "checkpoint taken for it")
    undisturbed(run)
    expect(len(run.events("rebalance")) == 1, "told once", run)
    expect(len(run.stored_steps()) == 1, "asked once", run)
    stop(run)


def case_imds_05_rebalance_then_notice(run):
    fake = begin(run, FakeImds())
    fake.set(**{REBALANCE: '{"noticeTime": "{left:0}"}'})
    run.until_event("committed")
    fake.notice(120)
    expect(run.wait(20) == 75, "exit 75", run)
    expect(len(run.stored_steps()) == 2, "another one for the notice", run)


def case_imds_06_both_at_once(run):
    fake = begin(run, FakeImds())
    watched(run)
    fake.set(**{REBALANCE: '{"noticeTime": "{left:0}"}',
                ACTION: '{"action": "terminate", "time": "{left:120}"}'})
    preempted(run)


def case_imds_07_stop(run):
    begin(run, FakeImds()).notice(120, "stop")
    preempted(run)
    expect("spot stop at" in run.stderr(), "the action is told", run)


def case_imds_07_hibernate(run):
    begin(run, FakeImds()).notice(120, "hibernate")
    preempted(run)


def case_imds_08_token_expires(run):
    fake = begin(run, FakeImds(token_life=0.5))
    watched(run)
    undisturbed(run, 2)
    expect(fake.count("GET", ACTION, 401) >= 2, "tokens did expire")
    expect(fake.count("PUT", status=200) >= 3, "and were asked for again")
    fake.notice(120)
    preempted(run)


def case_imds_09_hop_limit(run):
    fake = FakeImds()
    fake.set(put="hang")
    begin(run, fake)
    run.until(lambda: "hop limit is too low" in run.stderr(), "reason")
    undisturbed(run)
    stop(run)


def case_imds_10_version_1(run):
    fake = FakeImds()
    fake.set(version_1=True)
    begin(run, fake)
    watched(run)
    fake.notice(120)
    preempted(run)


def case_imds_10_switched_off(run):
    fake = FakeImds()
    fake.set(put="403")
    begin(run, fake)
    run.until(lambda: "switched off for this instance" in run.stderr(), "reason")
    undisturbed(run)
    stop(run)


def case_imds_11_throttled(run):
    fake = begin(run, FakeImds())
    watched(run)
    for status in ("429", "503"):
        fake.set(get=status)
        undisturbed(run, 0.5)
        fake.set(get="ok")
        time.sleep(0.2)
    fake.set(get="503")
    fake.notice(120)
    time.sleep(1)
    fake.set(get="ok")
    preempted(run)


def case_imds_11_blind(run):
    fake = begin(run, FakeImds())
    watched(run)
    fake.set(get="503")
    run.until(lambda: "no answer from the metadata service for" in run.stderr(), "alarm", 15)
    fake.set(get="ok")
    run.until(lambda: "answers again" in run.stderr(), "end of the alarm")
    stop(run)


def case_imds_12_malformed(run):
    fake = begin(run, FakeImds())
    watched(run)
    for body in ("", "<html><body>terminate</body></html>", '{"action": ', "[]", '{"time": "x"}', "\x00\x01"):
        fake.set(**{ACTION: body})
        undisturbed(run, 0.4)
    expect("cannot be read" in run.stderr(), "it says so", run)
    fake.set(**{ACTION: '{"action": "terminate", "time": "soon"}'})
    preempted(run)  # an action without a readable time still is one


def case_imds_12_other_times(run):
    fake = begin(run, FakeImds(), "--deaf")
    watched(run)
    later = time.strftime("%Y-%m-%dT%H:%M:%S.5+01:00", time.gmtime(time.time() + 3600 + 60))
    fake.set(**{ACTION: f'{{"action": "terminate", "time": "{later}"}}'})
    run.until_event("drain")
    left = float(run.events("drain")[0]["text"].split("; ")[1].split()[0])
    unit = run.events("drain")[0]["text"].split("; ")[1].split()[1]
    expect(unit == "s" and 55 <= left <= 61 or unit == "min" and left == 1, "an hour's offset counts", run)


def case_imds_13_skewed_clock(run):
    """The service's clock is 90 s behind ours: its own date tells the time that is left."""
    fake = begin(run, FakeImds(skew=-90.0))
    watched(run)
    fake.notice(60)
    run.until_event("drain")
    expect("min left" in run.stderr() or " s left" in run.stderr(), "time left", run)
    preempted(run)


def case_imds_13_past_without_date(run):
    fake = FakeImds(skew=-90.0)
    fake.set(date=False)
    begin(run, fake)
    watched(run)
    fake.notice(60)
    preempted(run)


def case_imds_14_notice_disappears(run):
    fake = begin(run, FakeImds(), "--deaf")
    watched(run)
    fake.notice(120)
    run.until_event("drain")
    fake.set(get="503")  # one that cannot be read is not one that is gone
    time.sleep(0.5)
    expect(not run.events("notice-gone"), "still there", run)
    fake.set(get="ok", **{ACTION: None})
    run.until_event("notice-gone")
    time.sleep(0.5)
    expect(run.process.poll() is None and run.ranks(), "the run goes on", run)
    fake.notice(7)
    expect(run.wait(15) == 75, "a second notice is heard", run)


def case_imds_15_slow_body(run):
    fake = begin(run, FakeImds())
    watched(run)
    fake.set(slow=True)
    fake.notice(120)
    time.sleep(2.5)
    expect(not run.events("drain"), "not read yet", run)
    fake.set(slow=False)
    preempted(run)


def case_imds_16_service_restarts(run):
    fake = begin(run, FakeImds())
    watched(run)
    fake.set(forget=True)
    undisturbed(run, 0.5)
    fake.set(forget=True)
    fake.notice(120)
    preempted(run)


def case_imds_17_maintenance(run):
    fake = FakeImds()
    event = '[{{"NotBefore": "21 Jan 2027 09:00:43 GMT", "Code": "system-reboot", "State": "{}"}}]'
    fake.set(**{MAINTENANCE: event.format("active")})
    begin(run, fake)
    run.until_event("maintenance")
    expect("system-reboot" in run.stderr(), "what is planned", run)
    fake.set(**{MAINTENANCE: event.format("canceled")})
    run.until_event("maintenance", 2)
    undisturbed(run, 0.5)
    stop(run)


def case_imds_18_several_nodes(run):
    """Notices to two of three within seconds: each ends by itself, the third goes on."""
    fakes = [FakeImds() for _ in range(3)]
    runs = [run, Run(run.binary, run.work / "b"), Run(run.binary, run.work / "c")]
    try:
        for one, fake in zip(runs, fakes):
            begin(one, fake)
            watched(one)
        fakes[0].notice(120)
        time.sleep(0.5)
        fakes[1].notice(119)
        preempted(runs[0])
        preempted(runs[1])
        undisturbed(runs[2], 0.5)
        stop(runs[2])
    finally:
        for one in runs[1:]:
            one.process.kill()
            for pid, _ in one.processes():
                kill(pid)


def case_imds_19_second_notice_in_flight(run):
    """The second notice is earlier and comes while the checkpoint of the first is being written."""
    fake = begin(run, FakeImds(), "--save-time", "2")
    watched(run)
    fake.notice(120)
    run.until_event("asked")
    fake.notice(60)
    preempted(run)


def case_imds_20_auto_scaling(run):
    fake = begin(run, FakeImds())
    fake.set(**{LIFECYCLE: "InService"})
    watched(run)
    undisturbed(run, 0.5)
    fake.set(**{LIFECYCLE: "Terminated"})
    preempted(run)
    expect("Auto Scaling terminates" in run.stderr(), "it says why", run)


class Throttled:
    """The store behind a slow link."""

    def __init__(self, run, rate):
        self.server = subprocess.Popen([sys.executable, str(ROOT / "tests/support/fault_server.py"), "--rate", str(rate)],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = f"http://127.0.0.1:{int(self.server.stdout.readline())}"
        run.store = "s3://bkt1/run"
        run.env = {"AWS_ENDPOINT_URL_S3": self.url, "AWS_ACCESS_KEY_ID": ACCESS, "AWS_SECRET_ACCESS_KEY": SECRET,
                   "AWS_REGION": "us-east-1", "AWS_CONFIG_FILE": os.devnull, "AWS_SHARED_CREDENTIALS_FILE": os.devnull}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.kill()
        self.server.wait()

    def rate(self, rate):
        urllib.request.urlopen(f"{self.url}/-/rate?{rate}", timeout=5).read()


def begin_throttled(run):
    """One checkpoint is in the store, by a link that took about 3 s for it; its step."""
    fake = begin(run, FakeImds(), "--size", "500000", "--ranks", "4")
    fake.set(**{REBALANCE: '{"noticeTime": "{left:0}"}'})
    run.until_event("committed")
    return fake, run.stored_steps()[0]


def case_notice_with_a_slow_upload(run):
    """12 s for a notice's 120, an upload of 3 s for one of 30: committed before the last 5 s."""
    with Throttled(run, 700_000):
        fake, first = begin_throttled(run)
        fake.notice(12)
        begun = time.monotonic()
        run.until_event("committed", 2, limit=9)
        took = time.monotonic() - begun
        expect(2 < took < 7.5, f"committed after {took:.1f} s", run)
        expect(run.wait(5) == 75, "exit 75", run)
        expect(run.stored_steps()[0] > first, "the one that was asked for", run)


def case_notice_too_short_for_the_upload(run):
    """What took 3 s is not begun with 2 s left for it."""
    with Throttled(run, 700_000):
        fake, first = begin_throttled(run)
        asked = len(run.events("asked"))
        fake.notice(7)
        expect(run.wait(7) == 75, "exit 75", run)
        expect(run.events("does-not-fit") and len(run.events("asked")) == asked, "none is asked for", run)
        expect(f"the last one committed stands: step {first}" in run.stderr(), "it says what stands", run)
        expect(run.stored_steps() == [first], "and that is there", run)


def case_notice_and_the_link_slows_down(run):
    """It fitted when it was begun; then it is given up in time, and the last committed one stands."""
    with Throttled(run, 700_000) as link:
        fake, first = begin_throttled(run)
        fake.notice(10)
        run.until_event("saved", 2)
        link.rate(50_000)
        expect(run.wait(10) == 75, "exit 75", run)
        expect("not committed in time" in run.stderr(), "the upload gave up", run)
        expect(f"the last one committed stands: step {first}" in run.stderr(), "it says what stands", run)
        link.rate(0)
        expect(run.stored_steps() == [first], "no half of another", run)


if __name__ == "__main__":
    sys.exit(main({name[5:]: case for name, case in globals().items() if name.startswith("case_")}))
