"""What a campaign that ended shows: its answer, its page, the notes and the fault, whatever the page came to."""

from __future__ import annotations

import pytest

import sample_store
from iosonde.campaign.run import CampaignOutcome
from iosonde.campaign.trials import Ended
from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.run import measurement
from iosonde.commands.run.measurement import Measurement
from iosonde.commands.summary.answer import Summary
from iosonde.core.errors import UNTRIED, IncompleteError, SystemFaultError, UntriedError
from iosonde.core.front_end import FrontEnd, use_front_end
from iosonde.core.types import Experiment
from iosonde.store import Store
from messages import codes, raises
from unit.test_campaign_against import Bench

ID = "envelope-7f3a"


class Listener(FrontEnd):
    """Keeps what is said."""

    def __init__(self) -> None:
        self.notes: list[str] = []
        self.remarks: list[str] = []

    def note(self, text: str) -> None:
        self.notes.append(text)

    def remark(self, text: str) -> None:
        self.remarks.append(text)


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> str:
    path = str(tmp_path_factory.mktemp("measurement") / "store")
    sample_store.main(path)
    return path


@pytest.fixture
def pages(monkeypatch) -> list[tuple]:
    """The arguments of each page that would be written."""
    calls: list[tuple] = []
    monkeypatch.setattr(measurement, "write_experiment_page", lambda *words: calls.append(words))
    return calls


def ended(store: str, others: int = 0, settings: dict | None = None, **changes) -> CampaignOutcome:
    experiment = Store.open(store).experiments()[0]
    experiment = Experiment(**vars(experiment) | {"settings": settings or experiment.settings})
    values = {"early": "", "measured": 6, "incomplete": 0, "experiment": experiment}
    return CampaignOutcome(store, experiment, Ended(**values | changes), others=others)


@pytest.mark.parametrize("is_incomplete", [False, True])
def test_the_page_is_written_with_the_level_also_when_trials_of_labs_are_missing(store, pages, is_incomplete):
    Measurement(ended(store), 0.9, "page.html", is_incomplete).write()
    Measurement(ended(store), 0.9, None, is_incomplete).write()
    assert pages == [(store, ID, 0.9, "page.html")]


def test_a_job_that_waits_writes_nothing_and_says_its_number(store, pages):
    waiting = Measurement(CampaignOutcome(store, job="17"), 0.95, "page.html")
    with use_front_end(listener := Listener()):
        waiting.write()
    assert (pages, listener.notes, waiting.problem) == ([], [], False)
    assert waiting.to_dict() == {"schema": 1, "job": "17", "store": store}
    assert len(list(waiting.text())) == 1 and "17" in str(waiting) and store in str(waiting)
    assert Measurement(CampaignOutcome(store, job="17"), 0.95, is_incomplete=True).problem


def test_where_the_runs_are_is_a_note_and_what_else_is_known_a_remark(store, pages):
    with use_front_end(listener := Listener()):
        Measurement(ended(store, others=2, early="budget spent"), 0.95).write()
    assert codes(listener.notes) == ["stored"]
    assert codes(listener.remarks) == ["other-experiments", "ended-early"]


def test_a_campaign_within_another_leaves_the_place_of_its_runs_to_that(store, monkeypatch):
    monkeypatch.setattr("iosonde.campaign.turn.is_part_of_another", lambda: True)
    with use_front_end(listener := Listener()):
        Measurement(ended(store, others=1), 0.95).write()
    assert listener.notes == [] and codes(listener.remarks) == ["other-experiments"]


def test_a_page_that_cannot_be_written_hides_neither_notes_nor_missing_trials(store, monkeypatch):
    def fail(*_: object) -> None:
        raise SystemFaultError("disk-full", "no space")

    monkeypatch.setattr(measurement, "write_experiment_page", fail)
    with use_front_end(listener := Listener()), raises("incomplete-trials", IncompleteError, n_incomplete=1):
        Measurement(ended(store, incomplete=1), 0.95, "page.html").write()
    assert codes(listener.notes) == ["stored"]
    with raises("disk-full", SystemFaultError):
        Measurement(ended(store), 0.95, "page.html").write()


def test_missing_trials_of_labs_are_a_problem_and_a_sound_summary_is_none(store):
    assert [Measurement(ended(store), 0.95, None, missing).problem for missing in (False, True)] == [False, True]


def test_the_answer_is_a_summary_unless_it_is_a_path_study(store):
    made = Measurement(ended(store), 0.9)
    assert isinstance(made.summary.answer, Summary)
    assert made.to_dict() == made.summary.to_dict() and list(made.text()) == list(made.summary.text())
    assert made.to_dict()["level"] == 0.9
    study = Measurement(ended(store, settings={"steps": [{"workload": "path-study"}]}), 0.95)
    with raises("no-path-study", name=store):
        study.to_dict()


def test_the_answer_of_two_sides_is_their_comparison_at_the_sealed_level(tmp_path, pages):
    bench = Bench(tmp_path, ratio=1.3)
    done = bench.run()
    made = Measurement(CampaignOutcome(str(bench.path), done.experiment, done), 0.5, "page.html")
    assert isinstance(made.comparison.answer, PairVerdicts) and made.to_dict() == made.comparison.to_dict()
    made.write()
    assert pages == [(str(bench.path), done.experiment.id, 0.95, "page.html")]


def measure_gated(tmp_path, **bench) -> tuple[Bench, Measurement]:
    gated = Bench(tmp_path, fail_if=("slower>10%",), **bench)
    done = gated.run()
    return gated, Measurement(CampaignOutcome(str(gated.path), done.experiment, done), 0.95)


@pytest.mark.parametrize("side", ["old", "new"])
def test_a_gate_whose_side_cannot_be_measured_has_an_exit_code_of_its_own(tmp_path, side):
    _, made = measure_gated(tmp_path, fails=lambda trial: trial.factors["variant"] == side)
    with raises("untried-gate", UntriedError) as caught:
        made.write()
    assert caught.value.exit_code == UNTRIED and caught.value.values["reason"].code == "incomplete-trials"


@pytest.mark.parametrize(("ratio", "kind"), [(1.3, IncompleteError), (1.0, UntriedError)])
def test_a_limit_that_is_passed_is_an_answer_though_a_trial_is_incomplete(tmp_path, ratio, kind):
    _, made = measure_gated(tmp_path, ratio=ratio, fails=lambda trial: trial.index == 3)
    with pytest.raises(IncompleteError) as caught:
        made.write()
    assert type(caught.value) is kind and made.problem is (kind is IncompleteError)


def test_a_budget_without_a_pair_gives_a_gate_no_answer(tmp_path):
    gated = Bench(tmp_path, fail_if=("slower>10%",))
    done = gated.run(ends_at=0.0)
    with raises("untried-gate", UntriedError):
        Measurement(CampaignOutcome(str(gated.path), done.experiment, done), 0.95).write()


def test_a_gate_with_an_answer_ends_with_it(tmp_path):
    _, made = measure_gated(tmp_path, ratio=1.3)
    made.write()
    assert made.problem
