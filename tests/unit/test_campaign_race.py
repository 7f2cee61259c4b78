"""A race as a campaign: what is planned and sealed, who leaves, when it ends, resuming. No trial takes time."""

import math
import time

import numpy as np
import pytest

from iosonde.campaign import trials
from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.race import Race
from iosonde.campaign.request import Request
from iosonde.campaign.resume import build_looks, resume_or_begin
from iosonde.core import decision
from iosonde.core.message import Message
from iosonde.core.problems import SpecError
from iosonde.core.types import Observation, Run
from iosonde.selection.plan import RacePlan, build_race_plan
from iosonde.selection.runs import RaceRuns
from iosonde.selection.standing import FIRST_STAGE
from iosonde.selection.words import describe_race
from iosonde.store import Store
from messages import assert_problem, raises

SECONDS = {1: 1.0, 2: 1.02, 3: 1.3, 4: 2.0}  # by level of t


def build(tmp_path, **options):
    values = {"store": str(tmp_path / "store"), "seed": 7, "set": ("t=1,2,3,4",), "find": "best", **options}
    return build_campaign(Request(what="tool ${t}", **values))


class Bench:
    """A campaign with made-up trials."""

    def __init__(self, tmp_path, cv=0.03, seconds=SECONDS, **options):
        self.campaign = build(tmp_path, **options)
        self.path, self.cv, self.seconds = tmp_path / "store", cv, seconds
        self.messages = []

    def measure(self, trial):
        generator = np.random.default_rng([trial.seed, trial.repetition])
        value = self.seconds[trial.factors["t"]] * math.exp(self.cv * generator.standard_normal())
        number = len(list((self.path / "runs").iterdir()))
        return Run(
            f"{self.experiment.id}-{number:04d}",
            self.experiment.id,
            "iosonde commands",
            "2030-01-01T00:00:00Z",
            1.0,
            {**trial.factors, "repetition": trial.repetition, "block": trial.block},
            [Observation("step-01", "seconds", value, "s"), Observation("step-01", "files", 1 / value, "files")],
            facts={"order": trial.index},
        )

    def run(self, stop_after=math.inf, ends_at=None):
        """Measure so many trials, as if killed then; the same again resumes."""
        store = Store.open(self.path) if (self.path / "store.json").exists() else None
        self.experiment, done = resume_or_begin(store, self.campaign, 0.95, self.messages.append)
        store = store or Store.create(self.path)
        store.save_experiment(self.experiment)
        n_measured = 0

        def measure(trial):
            nonlocal n_measured
            if n_measured >= stop_after:
                raise KeyboardInterrupt
            n_measured += 1
            return self.measure(trial)

        rules = trials.Rules(
            looks=build_looks(self.experiment, store), ends_at=ends_at, ends_because=Message("budget-exhausted", "time")
        )
        try:
            return trials.measure_planned_trials(
                self.experiment, done, rules, measure, store.append, store.save_experiment, lambda *_: None
            )
        except KeyboardInterrupt:
            return None

    def state(self):
        store = Store.open(self.path)
        experiment = store.experiments()[-1]
        return Race(build_race_plan(experiment), experiment, store).judge()


def test_only_the_first_stage_is_planned_and_the_rule_is_sealed(tmp_path):
    bench = Bench(tmp_path, within="3%", sure="90%", metric="seconds")
    bench.run(stop_after=0)
    (experiment,) = Store.open(bench.path).experiments()
    assert len(experiment.trials) == 4 * FIRST_STAGE
    sealed = experiment.settings[decision.KEY]
    assert decision.explain_broken_seal(sealed, experiment.id, None) == ""
    assert sealed["race"] == {"metric": "seconds", "margin": 0.03, "confidence": 0.9, "most": 100}
    assert "pairs" not in sealed
    assert bench.campaign.margin == 0.03


def test_worse_settings_leave_with_their_trials_kept(tmp_path):
    bench = Bench(tmp_path)
    ended = bench.run()
    assert ended.early == ""
    state = bench.state()
    assert state.standing.is_settled
    assert state.settings == [{"t": 1}, {"t": 2}, {"t": 3}, {"t": 4}]
    assert state.standing.leader in (0, 1)
    assert state.counts[2:] == [FIRST_STAGE, FIRST_STAGE]
    assert sum(state.counts) == ended.measured == len(Store.open(bench.path).experiments()[0].trials)
    assert [trial.index for trial in ended.experiment.trials] == list(range(ended.measured))
    assert describe_race(state, {}).code == "race-best"


def test_settings_without_a_difference_are_ties(tmp_path):
    bench = Bench(tmp_path, seconds={1: 1.0, 2: 1.0, 3: 1.0, 4: 2.0}, cv=0.02)
    bench.run()
    state = bench.state()
    assert state.standing.is_settled
    assert {*state.ties, state.standing.leader} == {0, 1, 2}


def test_only_a_metric_that_all_runs_have_decides(tmp_path):
    plan = RacePlan("", 0.05, 0.95)
    race = RaceRuns(plan, build(tmp_path).experiment())
    rows = [("read", "bandwidth", "bytes/s", 2.0), ("step-01", "seconds", "s", 1.0)]
    race.add({"t": 1, "repetition": 0}, rows)
    assert race.judge().name == ("read", "bandwidth", "bytes/s")
    race.add({"t": 2, "repetition": 0}, rows[1:])
    assert race.judge().name == ("step-01", "seconds", "s")
    race.add({"t": 3, "repetition": 0}, [])
    assert race.judge().name is None


def test_the_direction_is_that_of_the_metric(tmp_path):
    bench = Bench(tmp_path, metric="files", seconds={1: 2.0, 2: 1.5, 3: 1.3, 4: 1.0})
    bench.run()
    assert bench.state().standing.leader == 3


def test_the_most_blocks_end_it_with_what_remains_and_what_it_would_take(tmp_path):
    bench = Bench(tmp_path, cv=0.4, repetitions=8)
    bench.run()
    state = bench.state()
    assert not state.standing.is_settled
    assert state.is_over
    assert state.within > 0.05
    assert state.blocks_needed > 8
    assert state.standing.confidence < 0.95
    sentence = describe_race(state, {})
    assert sentence.code == "race-undecided"
    assert sentence.values["n"] == len(state.standing.remaining)


def test_before_the_first_stage_all_remain(tmp_path):
    bench = Bench(tmp_path)
    bench.run(stop_after=9)
    sentence = describe_race(bench.state(), {})
    assert sentence.code == "race-undecided"
    assert (sentence.values["n"], sentence.values["first_stage"]) == (4, FIRST_STAGE)


def test_time_ends_it_between_trials(tmp_path):
    bench = Bench(tmp_path)
    ended = bench.run(ends_at=time.monotonic() - 1)
    assert_problem(ended.early, "budget-exhausted", n_ahead=24, n=24)
    assert bench.state().standing.leader is None


@pytest.mark.parametrize("killed_after", [1, 23, 24, 25, 29])
def test_a_resumed_race_is_the_undisturbed_one(tmp_path, killed_after):
    bench, whole = Bench(tmp_path / "a", cv=0.06), Bench(tmp_path / "b", cv=0.06)
    bench.run(stop_after=killed_after)
    bench.run()
    whole.run()
    (experiment,) = Store.open(bench.path).experiments()
    assert [trial.factors for trial in experiment.trials] == [
        trial.factors for trial in Store.open(whole.path).experiments()[0].trials
    ]
    np.testing.assert_array_equal(bench.state().values, whole.state().values)
    assert len(experiment.trials) > 24


def test_another_margin_is_another_race(tmp_path):
    plain = build(tmp_path)
    assert build(tmp_path, within="0.05").identity() == plain.identity()
    assert build(tmp_path, within="1%").identity() != plain.identity()
    assert "find" not in build(tmp_path, find=None).identity()


def test_a_metric_that_no_run_has_ends_it(tmp_path):
    with raises("unknown-metric", metric="bandwith"):
        Bench(tmp_path, metric="bandwith").run()


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"until": "ci<5%"}, "conflicting-keys"),
        ({"repetitions": 3}, "too-few-trials"),
        ({"within": "0%"}, "out-of-range"),
        ({"sure": "0%"}, "out-of-range"),
        ({"set": ("t=1",)}, "single-setting"),
    ],
)
def test_impossible_races_are_refused_before_the_first_trial(tmp_path, options, code):
    with pytest.raises(SpecError) as error:
        build(tmp_path, **options)
    assert [(problem.key, problem.code) for problem in error.value.problems] == [("find", code)]


def test_options_of_a_race_need_one(tmp_path):
    with raises("option-requires-option", option="within"):
        build(tmp_path, find=None, within="5%")
