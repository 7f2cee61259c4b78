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


def test_incomplete_trials_that_are_accepted_end_nothing_but_an_unusable_target_does():
    bench = Bench(missing={index: ["the score is marked invalid"] for index in range(10)})
    ended = bench.run(experiment(5), rules=campaign.Rules(accepts_incomplete=True))
    assert (len(bench.measured()), ended.incomplete, ended.early) == (10, 10, "")
    full = Bench(missing={2: [f"write: rank 1: {os.strerror(errno.ENOSPC)}"]})
    assert full.run(experiment(5), rules=campaign.Rules(accepts_incomplete=True)).early.code == "target-unusable"


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


@pytest.mark.parametrize(
    ("missing", "measured", "code"),
    [
        (["rank 0: quota exceeded"], [0], "target-unusable"),
        (["rank 0: /t is not visible there"], [0], "target-unusable"),
        (["a rank died", Message("another-fault", "of no consequence")], [0, 1, 2], "incomplete-in-a-row"),
        ([Message("silent-nodes", "nodes are silent")], [0], "target-unusable"),
    ],
)
def test_the_reason_decides_how_often_a_failure_is_repeated(missing, measured, code):
    bench = Bench(missing=dict.fromkeys(range(10), missing))
    ended = bench.run(experiment(5))
    assert (bench.measured(), ended.measured, ended.incomplete) == (measured, len(measured), len(measured))
    n = {"n": 3} if len(measured) == 3 else {}
    assert_problem(ended.early, code, reason=missing[0], **n)


class Looks:
    """A rule that wants ``n`` repetitions, and notes the runs that it sees."""

    def __init__(self, n):
        self.n, self.seen = n, []

    def add(self, run):
        self.seen.append(int(run.id))

    def check_metric(self):
        pass

    def needed(self, experiment):
        return self.n

    def needs_trial(self, trial):
        return True


def test_a_rule_that_looks_sees_every_run_and_adds_up_to_what_it_needs():
    bench, looks = Bench(), Looks(4)
    ended = bench.run(experiment(3), rules=campaign.Rules(looks=looks, needed=lambda: 9))
    assert bench.measured() == looks.seen == list(range(8))
    assert [trial.repetition for trial in ended.experiment.trials] == [0, 0, 1, 1, 2, 2, 3, 3]
    assert (ended.early, ended.capped) == ("", 0)


def test_a_rule_that_looks_ends_after_three_failures_of_one_cell():
    planned = experiment(5)
    one_node = [trial.index for trial in planned.trials if trial.factors["nodes"] == 1]
    failures = {index: ["a rank died"] for index in one_node}
    bench = Bench(missing=failures)
    ended = bench.run(planned, rules=campaign.Rules(looks=Looks(5)))
    assert bench.measured() == list(range(one_node[2] + 1))
    assert_problem(ended.early, "incomplete-in-a-row", n=3, reason="a rank died")
    bench = Bench(missing={index: failures[index] for index in one_node if index != one_node[2]})
    assert bench.run(planned, rules=campaign.Rules(looks=Looks(5))).early == ""


def test_each_trial_is_announced_with_its_place_among_all():
    places = []
    planned = experiment(2)
    campaign.measure_planned_trials(
        planned,
        {0, 2},
        campaign.Rules(),
        Bench().measure,
        lambda _: None,
        lambda _: None,
        lambda trial, place, total: places.append((trial.index, place, total)),
    )
    assert places == [(1, 2, 4), (3, 3, 4)]


@pytest.mark.parametrize(("needed", "most", "capped"), [(5, 5, 0), (6, 5, 6), (0, 5, 0)])
def test_only_more_than_the_maximum_is_cut(needed, most, capped):
    ended = Bench().run(experiment(3), rules=campaign.Rules(needed=lambda: needed, max_repetitions=most))
    assert (ended.capped, len(ended.experiment.trials)) == (capped, 2 * max(3, min(needed, most)))


@pytest.mark.parametrize(("ends_at", "measured"), [(112.0, 1), (111.9, 0), (126.3, 1), (126.4, 2)])
def test_the_longest_trial_and_a_fifth_must_fit_before_the_end(monkeypatch, ends_at, measured):
    now = [100.0]
    monkeypatch.setattr(campaign.time, "monotonic", lambda: now[0])
    bench = Bench(wait=lambda: now.append(now.pop() + 12))
    bench.run(experiment(5), rules=campaign.Rules(ends_at=ends_at, expected_s=10.0))
    assert len(bench.measured()) == measured
