"""Which trials are measured, when a campaign ends, and that each run is kept before the next starts."""

import errno
import os
import time

import pytest

from iosonde.campaign import trials as campaign
from iosonde.core.errors import TargetFaultError
from iosonde.core.message import Message
from iosonde.core.types import Experiment, Factor, Run
from iosonde.measure import design
from messages import assert_problem

NODES = Factor("nodes", "nodes", (1, 2))


def experiment(repetitions):
    trials = design.build_trials([NODES], design.FULL, range(repetitions), 0, seed=1)
    return Experiment("e", "e", [NODES], {}, trials, 1, "2026-01-01T00:00:00Z")


class Bench:
    """Stands in for measuring and storing; notes the order of events."""

    def __init__(self, missing=None, wait=lambda: None):
        self.events, self.missing, self.wait = [], missing or {}, wait

    def measure(self, trial):
        self.events.append(("measure", trial.index))
        self.wait()
        missing = self.missing.get(trial.index, [])
        return Run(str(trial.index), "e", "test", "", 0.0, dict(trial.factors), [], missing=missing)

    def run(self, asked, done=(), rules=None):
        def keep(run):
            self.events.append(("keep", int(run.id)))

        def replan(longer):
            self.events.append(("replan", len(longer.trials)))

        return campaign.measure_planned_trials(
            asked, set(done), rules or campaign.Rules(), self.measure, keep, replan, lambda *_: None
        )

    def measured(self):
        return [index for what, index in self.events if what == "measure"]


def test_every_trial_is_kept_before_the_next_starts():
    bench = Bench()
    ended = bench.run(experiment(3))
    assert ended.measured == 6
    assert not ended.early
    assert bench.events == [event for i in range(6) for event in (("measure", i), ("keep", i))]


def test_what_is_done_is_not_measured_again():
    bench = Bench()
    bench.run(experiment(3), done={0, 1, 4})
    assert bench.measured() == [2, 3, 5]


def test_the_stopping_rule_is_asked_once_and_adds_whole_blocks():
    asked = []

    def needed():
        asked.append(1)
        return 5

    bench = Bench()
    ended = bench.run(experiment(3), rules=campaign.Rules(needed=needed))
    assert len(asked) == 1  # looking again after every trial would break the promised coverage
    assert bench.measured() == list(range(10))
    assert len(ended.experiment.trials) == 10
    assert ("replan", 10) in bench.events


def test_a_rule_that_has_enough_adds_nothing():
    bench = Bench()
    bench.run(experiment(3), rules=campaign.Rules(needed=lambda: 2))
    assert bench.measured() == list(range(6))


def test_a_rule_that_wants_too_much_is_cut_and_says_so():
    bench = Bench()
    ended = bench.run(experiment(3), rules=campaign.Rules(needed=lambda: 500, max_repetitions=4))
    assert bench.measured() == list(range(8))
    assert ended.capped == 500
    assert not Bench().run(experiment(3), rules=campaign.Rules(needed=lambda: 4, max_repetitions=4)).capped


def test_the_budget_starts_no_trial_that_would_end_late(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(campaign.time, "monotonic", lambda: now[0])
    bench = Bench(wait=lambda: now.append(now.pop() + 20))
    ended = bench.run(experiment(50), rules=campaign.Rules(ends_at=150.0))
    assert len(bench.measured()) == 2  # the third would end at 160
    assert_problem(ended.early, "budget-exhausted", n_ahead=98, n=100)


@pytest.mark.parametrize("error", [errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES])
def test_a_target_that_stays_so_ends_the_campaign_at_once(error):
    said = os.strerror(error)
    bench = Bench(missing={2: [f"write_large: rank 1: {said} (write of f at byte 0)"]})
    ended = bench.run(experiment(5))
    assert bench.measured() == [0, 1, 2]
    assert ended.early.code == "target-unusable" and said in ended.early.values["reason"]
    assert ended.incomplete == 1


def test_a_node_that_is_silent_also_when_asked_again_ends_the_campaign():
    lost = [
        "rank 1 on n2: no progress",
        Message("silent-nodes", "/tmp/spool and processes may be left on nodes that did not answer"),
    ]
    bench = Bench(missing={1: lost})
    ended = bench.run(experiment(5))
    assert bench.measured() == [0, 1]
    assert ended.early.code == "target-unusable" and ended.early.values["reason"] == lost[0] and ended.incomplete == 1


@pytest.mark.parametrize(("bad", "last"), [({0, 1, 2}, 2), ({0, 2, 4}, 9)])
def test_chance_failures_are_tolerated_three_in_a_row_are_not(bad, last):
    bench = Bench(missing={index: ["a rank died"] for index in bad})
    bench.run(experiment(5))
    assert bench.measured()[-1] == last


def test_what_is_known_to_outlast_the_walltime_is_not_started():
    bench = Bench()
    walltime = Message("walltime-exhausted", "the walltime")
    ended = bench.run(
        experiment(2),
        rules=campaign.Rules(ends_at=time.monotonic() + 5, ends_because=walltime, expected_s=60),
    )
    assert not bench.measured()
    assert_problem(ended.early, "walltime-exhausted", n_ahead=4, n=4)


@pytest.mark.parametrize("fails", ["measure", "keep"])
def test_a_target_that_fails_ends_the_campaign_and_costs_no_run(fails):
    bench = Bench()
    fault = TargetFaultError("server-gone", "the server of /mnt/x is gone", "mount it again")

    def failing(what):
        def does(given):
            done = getattr(Bench, what)(bench, given) if what == "measure" else bench.events.append(("keep", given.id))
            if fails == what and len(bench.events) > 2:
                raise fault
            return done

        return does

    ended = campaign.measure_planned_trials(
        experiment(3), set(), campaign.Rules(), failing("measure"), failing("keep"), lambda _: None, lambda *_: None
    )
    assert ended.fault is fault
    assert ended.early == fault.message
    assert [what for what, _ in bench.events].count("keep") == ended.measured == (1 if fails == "measure" else 2)
