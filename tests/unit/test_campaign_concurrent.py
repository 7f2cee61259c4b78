"""A run records every other process that measured on the machine before or after it."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace

import pytest

from iosonde.campaign import each_trial, probe, turn
from iosonde.core.front_end import Silent
from iosonde.core.types import Experiment, Factor, Run
from iosonde.measure import design
from iosonde.measure.probe.repetition import ProbeBench
from iosonde.store import Store

SEEN = [  # processes before each trial and after it, the fact
    ([], [], None),
    ([7], [], (7,)),
    ([], [8], (8,)),
    ([9, 7], [7, 8], (7, 8, 9)),
]


def run_of(trial, run_id, missing=()):
    return Run(run_id, "e", "test", "", 0.0, dict(trial.factors), [], facts={"hosts": ["n1"]}, missing=list(missing))


@pytest.fixture
def plan(monkeypatch):
    looks = iter([pids for before, after, _ in SEEN for pids in (before, after)])
    monkeypatch.setattr(turn, "list_other_processes", lambda: next(looks))
    factors = [Factor("nodes", "nodes", (1,))]
    trials = design.build_trials(factors, design.FULL, range(len(SEEN)), 0, seed=1)
    return Experiment("e", "e", factors, {}, trials, 1, "2026-01-01T00:00:00Z")


def concurrent(run):
    pids = run.facts.get("measured_beside")
    return None if pids is None else tuple(pids)


def probed(plan, tmp_path, monkeypatch, missing_at=None):
    measured = []

    def run_repetition(bench, repetition, run_id):
        measured.append((repetition, run_id))
        missing = ["no disk"] if repetition == missing_at else []
        return run_of(plan.trials[repetition], run_id, missing)

    monkeypatch.setattr(probe.repetition, "run_repetition", run_repetition)
    store = Store.create(tmp_path / "store")
    store.save_experiment(plan)
    bench = ProbeBench("e", None, 1, None, 2**20, False, {}, 60.0)
    caller = SimpleNamespace(stopping=lambda: nullcontext(Silent()))
    return probe._run_repetitions(bench, plan, store, Silent(), caller), store, measured


def test_a_probe_records_who_measured_before_or_after_each_repetition(plan, tmp_path, monkeypatch):
    runs, store, measured = probed(plan, tmp_path, monkeypatch)
    assert [concurrent(run) for run in runs] == [fact for _, _, fact in SEEN]
    assert measured == [(place, f"e-{place:04d}") for place in range(4)]
    assert store.run_ids("e") == [run.id for run in runs]


def test_the_first_incomplete_repetition_is_stored_and_the_last(plan, tmp_path, monkeypatch):
    runs, store, measured = probed(plan, tmp_path, monkeypatch, missing_at=1)
    assert [run.complete for run in runs] == [True, False]
    assert len(measured) == 2 == len(store.run_ids("e"))


def test_a_trial_records_who_measured_before_or_after_it(plan, tmp_path, monkeypatch):
    monkeypatch.setattr(each_trial.trial, "run_trial", lambda _bench, which, run_id, _limit_s: run_of(which, run_id))
    monkeypatch.setattr(each_trial, "replace", lambda bench, **_: bench)
    store = Store.create(tmp_path / "store")
    store.save_experiment(plan)
    trials = object.__new__(each_trial.EachTrial)
    spec = SimpleNamespace(target_name=lambda _: "", trial_timeout_s=None)
    hands = SimpleNamespace(stop=Silent())
    trials._begun = SimpleNamespace(
        campaign=SimpleNamespace(spec=spec), hands=hands, store=store, experiment=plan, level=0.95
    )
    trials._benches, trials._probes, trials.breaks = {"": None}, [], SimpleNamespace(waited_s=0.0)
    trials._bring_ups = SimpleNamespace(
        begin=lambda _: None, ended=lambda _: None, controls=(), columns={"bring_up": 3}
    )
    runs = [trials.measure(which) for which in plan.trials]
    assert [concurrent(run) for run in runs] == [fact for _, _, fact in SEEN]
    assert all(run.factors == {"nodes": 1, "bring_up": 3} and "waited_s" not in run.facts for run in runs)
