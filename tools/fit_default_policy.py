#!/usr/bin/env python3
"""Fits the prior of the default spot policy on recorded availability.

    tools/fit_default_policy.py TRACE.json... [--regimes 3] [--write]

TRACE.json: {"metadata": {"gap_seconds": s}, "data": [1, 0, ...]}, 1 = a launch would have succeeded; all of one length
and gap. The model (docs/model/spot-policy.md): hidden regimes that change slowly, each with a hazard of loss and one of
return that depend on the age of the state, in age classes that double. Expectation-maximisation over all traces at
once from a fixed start, so the same input gives the same output. A class that a regime hardly visits is drawn to the
hazard of all traces together by the weight of one event. Time in the first state of a trace, whose age is unknown, is
not used.

Prints the log likelihood. --write rewrites data/spot/default_policy.csv (fit "all") and
tests/spot/default_policy_leave_one_out.csv: one fit per trace, on the others. Needs numpy.
"""
import argparse
import json
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ALL = os.path.join(ROOT, "data", "spot", "default_policy.csv")
LEAVE_ONE_OUT = os.path.join(ROOT, "tests", "spot", "default_policy_leave_one_out.csv")
AGE_FROM = np.array([0, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6])  # hours; policy_default_model.hpp
AGES = len(AGE_FROM)
SWITCH_HOURS = 24  # first guess of a regime's life
MOST_ROUNDS = 80
ENOUGH = 0.05  # gain in log likelihood at which to stop
HEAD = """# {title}
# Hidden regimes of spot capacity, fitted by tools/fit_default_policy.py on SkyPilot's availability traces of AWS
# p3.2xlarge, seven zones, 2023-02-15 to 2023-04-02 (github.com/skypilot-org/spot-traces, set aws-02-15-2023; the series
# are also in skynomad-artifact under Apache-2.0). status: fitted. as of: 2023-04-02
# share: of time in the regime. to: changes per hour into regime `key`. loss, return: hazard per hour while up, down,
# for ages of at least `key` hours.
fit,regime,what,key,value
"""


def read_trace(path):
    with open(path) as f:
        trace = json.load(f)
    return np.array(trace["data"]) > 0, float(trace["metadata"]["gap_seconds"])


def prepare(up, hours):
    """State, age class (-1: unknown) and whether the state changes, per tick."""
    age = np.full(len(up), -1)
    for i in range(1, len(up)):
        if up[i] != up[i - 1]:
            age[i] = 0
        elif age[i - 1] >= 0:
            age[i] = age[i - 1] + 1
    classes = np.searchsorted(AGE_FROM, np.maximum(age, 0) * hours + 1e-9, side="right") - 1
    return up[:-1].astype(int), np.where(age >= 0, classes, -1)[:-1], up[1:] != up[:-1]


class Fit:
    def __init__(self, traces, hours, regimes):
        columns = [prepare(up, hours) for up in traces]
        self.state = np.array([c[0] for c in columns]).T
        age = np.array([c[1] for c in columns]).T
        self.change = np.array([c[2] for c in columns]).T
        self.known = age >= 0
        self.age = np.maximum(age, 0)
        self.hours = hours
        self.regimes = regimes
        events = np.zeros((2, AGES))
        exposure = np.zeros((2, AGES))
        where = (self.state[self.known], self.age[self.known])
        np.add.at(exposure, where, hours)
        np.add.at(events, where, self.change[self.known])
        self.pooled = (events + 0.5) / (exposure + 0.5)
        worse = np.exp(np.linspace(-1, 1, regimes)) if regimes > 1 else np.ones(1)
        # [regime][0: return, 1: loss][age]
        self.hazard = np.stack([np.stack([self.pooled[0] / w, self.pooled[1] * w]) for w in worse[::-1]])
        leave = hours / SWITCH_HOURS
        self.switch = np.full((regimes, regimes), leave / max(regimes - 1, 1))
        np.fill_diagonal(self.switch, 1 - leave if regimes > 1 else 1)
        self.share = np.full(regimes, 1 / regimes)
        self.likelihood = -np.inf

    def round(self):
        """One round; returns the gain in log likelihood."""
        probability = -np.expm1(-self.hazard * self.hours)[:, self.state, self.age]
        seen = np.where(self.known, np.where(self.change, probability, 1 - probability), 1.0).transpose(1, 2, 0)
        ticks, traces, regimes = seen.shape
        forward = np.empty((ticks + 1, traces, regimes))
        scale = np.empty((ticks, traces, 1))
        forward[0] = self.share
        for t in range(ticks):
            joint = forward[t] * seen[t]
            scale[t] = joint.sum(1, keepdims=True)
            forward[t + 1] = (joint / scale[t]) @ self.switch
        backward = np.ones((traces, regimes))
        moves = np.zeros((regimes, regimes))
        weight = np.empty((ticks, traces, regimes))
        for t in range(ticks - 1, -1, -1):
            scaled = seen[t] / scale[t]
            moves += (forward[t] * scaled).T @ backward
            backward = scaled * (backward @ self.switch.T)
            weight[t] = forward[t] * backward
        likelihood = np.log(scale).sum()
        self.update(weight, moves * self.switch)
        gain = likelihood - self.likelihood
        self.likelihood = likelihood
        return gain

    def update(self, weight, moves):
        prior = -np.expm1(-self.pooled * self.hours)
        for r in range(self.regimes):
            for state in (0, 1):
                for a in range(AGES):
                    here = self.known & (self.state == state) & (self.age == a)
                    exposure = weight[:, :, r][here].sum()
                    events = weight[:, :, r][here & self.change].sum()
                    probability = (events + 1) / (exposure + 1 / prior[state, a])
                    self.hazard[r, state, a] = -np.log1p(-min(probability, 1 - 1e-9)) / self.hours
        self.switch = (moves + 1e-9) / (moves + 1e-9).sum(1, keepdims=True)
        self.share = weight.mean((0, 1))

    def run(self):
        for i in range(MOST_ROUNDS):
            if self.round() < ENOUGH and i > 10:
                break
        return self

    def rows(self, name):
        for r in range(self.regimes):
            yield name, r, "share", "", f"{self.share[r]:.5f}"
            for q in range(self.regimes):
                if q != r:
                    yield name, r, "to", q, f"{self.switch[r, q] / self.hours:.3g}"
            for state, what in ((1, "loss"), (0, "return")):
                for a in range(AGES):
                    yield name, r, what, AGE_FROM[a], f"{self.hazard[r, state, a]:.4g}"


def write(path, title, rows):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as f:
        f.write(HEAD.format(title=title))
        for row in rows:
            f.write(",".join(f"{cell:g}" if isinstance(cell, float) else str(cell) for cell in row) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+")
    parser.add_argument("--regimes", type=int, default=3)
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    names = [os.path.basename(path).removesuffix(".json").removesuffix("_v100_1") for path in options.traces]
    read = [read_trace(path) for path in options.traces]
    if len({(len(up), gap) for up, gap in read}) != 1:
        sys.exit("the traces must have one length and one gap")
    hours = read[0][1] / 3600
    fit = Fit([up for up, _ in read], hours, options.regimes).run()
    print(f"all {fit.likelihood:.1f} shares {np.round(fit.share, 3)}", flush=True)
    if not options.write:
        return
    write(ALL, "The prior of the default spot policy (docs/model/spot-policy.md).", fit.rows("all"))
    rows = []
    for i, name in enumerate(names):
        fit = Fit([up for j, (up, _) in enumerate(read) if j != i], hours, options.regimes).run()
        print(f"without {name} {fit.likelihood:.1f} shares {np.round(fit.share, 3)}", flush=True)
        rows += fit.rows(name)
    write(LEAVE_ONE_OUT, "Priors of the default spot policy fitted without the zone that names each fit.", rows)


if __name__ == "__main__":
    main()
