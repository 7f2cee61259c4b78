"""A campaign and its outcome: names, decisions, notes for the user, and the error with which it ends."""

from __future__ import annotations

import contextlib
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.campaign import campaign as campaigns
from iosonde.campaign import run as runs
from iosonde.campaign.campaign import Campaign
from iosonde.campaign.run import CampaignOutcome, LabCampaign
from iosonde.campaign.trials import Ended
from iosonde.core import decision
from iosonde.core.errors import IncompleteError, TargetFaultError
from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Experiment, Factor, Trial
from iosonde.measure.spec import Against, CommandStep, NativeStep, Spec, Terms
from messages import assert_problem, codes, raises

RULE = PairRule("v", "a", "b", "m", 0.05, 0.95, 20)


def experiment(repetitions: int = 6, **settings) -> Experiment:
    trials = [Trial(at, {"nodes": 1, "ranks_per_node": 1}, at, 0, 0) for at in range(repetitions)]
    return Experiment("e1", "e", [], settings, trials, 1, "2026-01-01T00:00:00Z")


def ended(**more) -> Ended:
    return Ended(**({"early": "", "measured": 6, "incomplete": 0, "experiment": experiment()} | more))


FAULT = TargetFaultError("io-error", "it broke", "mend it")
UNTIL = experiment(until="ci<5%")


@pytest.mark.parametrize(
    ("more", "notes"),
    [
        ({}, {}),
        ({"experiment": experiment()}, {}),
        ({"others": 2}, {}),
        ({"experiment": experiment(), "others": 2}, {"other-experiments": {"experiment": "e1", "n_others": 2}}),
        ({"ended": ended()}, {}),
        ({"ended": ended(capped=150)}, {"too-few-repetitions": {"n_needed": 150, "n": 6}}),
        ({"ended": ended(experiment=UNTIL)}, {"rare-mode": {"n": 6, "pilot": 6, "one_in": 10.0, "n_needed": 29}}),
        ({"ended": ended(experiment=UNTIL, early="x")}, {"ended-early": {"reason": "x"}}),
        ({"ended": ended(experiment=experiment(28, until="x"))}, {"rare-mode": {"n": 28}}),
        ({"ended": ended(experiment=experiment(29, until="x"))}, {}),
        ({"ended": ended(early="x")}, {"ended-early": {"reason": "x"}}),
        ({"ended": ended(early="x", incomplete=1)}, {}),
        ({"ended": ended(early="x", fault=FAULT)}, {}),
    ],
)
def test_the_notes_of_an_outcome(more, notes):
    remarks = CampaignOutcome("s", **more).remarks()
    assert codes(remarks) == ["stored", *notes]
    for note, values in zip(remarks[1:], notes.values(), strict=True):
        assert_problem(note, note.code, **values)
    assert remarks[0].values == {"store": "s"}


def test_how_likely_a_rare_mode_is_missed():
    """A mode of 1 trial in 10 is missed by 6 trials with probability 0.9 ** 6."""
    [note] = runs._warn_of_rare_modes(6)
    assert note.values["missed_percent"] == pytest.approx(100 * 0.9**6)
    assert note.values["seen_percent"] == pytest.approx(95.0)


def test_an_outcome_with_incomplete_trials_is_an_error_with_the_reason():
    CampaignOutcome("s").check()
    CampaignOutcome("s", ended=ended(early="x")).check()
    for early, reason in (("full", "full"), ("", "see: iosonde show s")):
        values = {"n_incomplete": 2, "n_measured": 6, "reason": reason}
        with raises("incomplete-trials", IncompleteError, **values):
            CampaignOutcome("s", ended=ended(early=early, incomplete=2)).check()


@pytest.mark.parametrize(("incomplete", "also"), [(0, ""), (2, ", 2 of them incomplete")])
def test_a_fault_is_raised_with_what_was_stored_before(incomplete, also):
    fault = TargetFaultError("io-error", "it broke", "mend it")
    fault.details = ("before",)
    with raises("io-error"):
        CampaignOutcome("s", ended=ended(fault=fault, incomplete=incomplete)).check()
    first, stored = fault.details
    assert first == "before"
    assert_problem(stored, "stored-trials", n=6, incomplete=also)


def test_the_rule_of_pairs_is_that_of_the_experiment():
    assert CampaignOutcome("s").pairs is None
    assert CampaignOutcome("s", experiment()).pairs is None
    sealed = decision.seal_decision(decision.Decision("m", 0.05, 0.95, "x", RULE.sealed()), "e1")
    assert CampaignOutcome("s", experiment(decision=sealed)).pairs == RULE


STUDY = {"workload": "path-study"}


@pytest.mark.parametrize(
    ("steps", "is_study"),
    [
        ([STUDY], True),
        ([STUDY, STUDY], True),
        ([STUDY, "true"], False),
        ([{"workload": "envelope"}], False),
        ([], False),
    ],
)
def test_a_path_study_is_one_if_nothing_else_was_measured(steps, is_study):
    assert CampaignOutcome("s", experiment(steps=steps)).is_path_study is is_study
    assert not CampaignOutcome("s").is_path_study and not CampaignOutcome("s", experiment()).is_path_study


def test_a_batch_job_needs_a_command_to_submit(monkeypatch):
    submitted = []
    monkeypatch.setattr(runs.reserve, "submit_job", lambda *some: submitted.append(some) or "77")
    assert runs._submit_job("sbatch -p x", 3, SimpleNamespace(again=["iosonde", "run"])) == "77"
    assert submitted == [("sbatch -p x", 3, ["iosonde", "run"])]
    with raises("no-submitted-command", launcher="sbatch"):
        runs._submit_job("sbatch", 3, SimpleNamespace(again=None))


def test_a_campaign_in_labs_counts_its_own_runs(monkeypatch):
    stored = SimpleNamespace(
        experiments=lambda: [experiment(), Experiment("other", "o", [], {}, [], 1, "")],
        runs=lambda experiment: [
            {"facts": {"order": 0}, "missing": []},
            {"facts": {"order": 1}, "missing": ["x"]},
            {"facts": {"order": 2}, "missing": []},
        ],
    )
    monkeypatch.setattr(runs.Store, "open", lambda path: stored)
    monkeypatch.setattr(runs.in_lab, "choose_next_setting", lambda *some: some)
    labs = LabCampaign(SimpleNamespace(store="s", terms=Terms(budget_s=7.0)), "e1")
    assert (labs.store, labs.budget().total_s, labs.count_runs()) == ("s", 7.0, 3)
    assert labs.next_setting(["tried"])[1:] == ({0, 2}, labs.campaign, ["tried"])
    outcome = labs.outcome()
    assert (outcome.store, outcome.experiment.id, outcome.others, outcome.ended) == ("s", "e1", 1, None)


def test_the_fault_of_a_campaign_that_measured_nothing_is_raised_at_once(monkeypatch):
    definition = SimpleNamespace(
        terms=Terms(idle_timeout_s=9.0), spec=SimpleNamespace(reserve=""), nodes=(1, 4), store="s"
    )
    limits, outcomes = [], []
    keeper = SimpleNamespace(resolve=None, limit=limits.append)
    monkeypatch.setattr(runs.preflight, "open_keeper", lambda *_: contextlib.nullcontext(keeper))
    monkeypatch.setattr(runs.preflight, "check_places", lambda *_: None)
    monkeypatch.setattr(runs, "build_campaign", lambda *_: definition)
    monkeypatch.setattr(runs, "_measure_campaign", lambda *some: outcomes[-1])
    request = SimpleNamespace(idle_timeout=None)
    for measured, is_raised in ((0, True), (1, False)):
        outcomes.append(CampaignOutcome("s", ended=ended(measured=measured, fault=FAULT)))
        if is_raised:
            with raises("io-error"):
                runs.run_campaign(request)
        else:
            assert runs.run_campaign(request) is outcomes[-1]
    assert limits == [9.0, 9.0]
    submitted = []
    definition.spec.reserve = "sbatch"
    monkeypatch.setattr(runs.reserve, "is_batch", lambda words: words == "sbatch")
    monkeypatch.setattr(runs, "_submit_job", lambda words, nodes, caller: submitted.append((words, nodes)) or "77")
    assert runs.run_campaign(request) == CampaignOutcome("s", job="77")
    assert submitted == [("sbatch", 4)]


NODES = (Factor("nodes", "nodes", (1, 3)), Factor("ranks_per_node", "ranks", (2, 5)))
COMMAND = CommandStep("x" * 70, "all", None)


def campaign(terms: Terms = Terms(), file=None, **spec) -> Campaign:  # noqa: B008
    values = {"targets": {}, "steps": (COMMAND,), "factors": NODES}
    return Campaign(Spec(**(values | spec)), terms, file=file)


@pytest.mark.parametrize(
    ("spec", "file", "name"),
    [
        ({"name": "own", "targets": {"": Path("/a/t")}}, {"name": "f.yaml"}, "own"),
        ({"targets": {"": Path("/a/t")}}, {"name": "f.yaml"}, "t"),
        ({"targets": {"x": Path("/a"), "y": Path("/b")}}, None, "x, y"),
        ({}, {"name": "f.yaml"}, "f"),
        ({"steps": (NativeStep("envelope", {}), COMMAND)}, None, "x" * 60),
        ({"steps": (NativeStep("envelope", {}),)}, None, "target"),
    ],
)
def test_the_name_of_a_campaign_for_people(spec, file, name):
    assert campaign(file=file, **spec)._name() == name


def test_a_campaign_has_the_largest_counts_and_defaults():
    plain = campaign()
    assert (plain.nodes, plain.max_ranks, plain.store, plain.margin) == ((1, 3), 15, "iosonde-store", 0.02)
    assert plain.pacing == campaigns.NO_PACE
    other = campaign(Terms(store="s", pace="50%"), against=Against("v", 0.1, "m"))
    assert (other.store, other.margin, other.pacing.share) == ("s", 0.1, 0.5)


PARSED = CommandStep("fio", "all", "fio")
AUTO = CommandStep("fio", "all", "auto")
RATES = "every rate and bandwidth until the last rank is done"
READ = "every metric that is read from the commands' output"
NATIVE = NativeStep("envelope", {})


@pytest.mark.parametrize(
    ("spec", "metrics"),
    [
        ({}, ["how long each command takes, until the last rank is done"]),
        ({"steps": (NATIVE,)}, [RATES]),
        ({"steps": (PARSED,)}, [READ]),
        ({"steps": (AUTO,)}, [READ + ", else how long it takes"]),
        ({"steps": (AUTO, COMMAND)}, [READ + ", else how long it takes"]),
        ({"steps": (AUTO, PARSED)}, [READ]),
        ({"steps": (NATIVE, PARSED)}, [RATES, READ]),
        ({"against": Against("v", 0.1, "m"), "steps": (PARSED,)}, ["m"]),
        ({"against": Against("v", 0.1, "")}, [campaigns.deciding.WORDS]),
    ],
)
def test_what_decides(spec, metrics):
    assert campaign(**spec).metrics() == metrics


@pytest.mark.parametrize(
    ("spec", "stopping"),
    [
        ({}, "6 trials of every node count"),
        ({"repetitions": 9, "factors": (*NODES, Factor("f", "", (1,)))}, "9 trials of every cell"),
        (
            {"until": 0.05},
            "6 trials of every node count as a pilot, then as many as make every interval narrower than ± 5.0% (Stein)",
        ),
    ],
)
def test_the_sealed_decision(spec, stopping):
    metrics = "how long each command takes, until the last rank is done"
    assert campaign(**spec).decision(0.9) == decision.Decision(metrics, 0.02, 0.9, stopping)


def test_the_rule_of_pairs_counts_its_cells():
    against = Against("v", 0.1, "m", ("slower>5%",))
    factors = (*NODES, Factor("v", "", ("a", "b")), Factor("f", "", (1, 2, 3)))
    paired = campaign(against=against, factors=factors, repetitions=30)
    rule = PairRule("v", "a", "b", "m", 0.1, 0.9, 30, 12, ("slower>5%",))
    assert paired.pair_rule(0.9) == rule
    sealed = paired.decision(0.9)
    assert (sealed.metric, sealed.margin, sealed.level, sealed.pairs) == ("m", 0.1, 0.9, rule.sealed())
    assert campaign().pair_rule(0.9) is None
    assert (len({one.repetition for one in paired.experiment(1).trials}), paired.experiment(1).seed) == (
        campaigns.LEAST,
        1,
    )


def test_a_campaign_is_known_by_its_identity_whatever_was_noted_with_it():
    own = campaign(repetitions=2, seed=5)
    made = own.experiment()
    assert (made.seed, len(made.trials), made.name, own.experiment(9).seed) == (5, 8, "x" * 60, 9)
    made.settings |= {"decision": {}, "file": {"name": "x"}, "questions": [1]}
    assert own.is_of(made)
    made.settings["x"] = 1
    assert not own.is_of(made)
    asked = campaign(Terms(questions=({"a": 1},)), file={"name": "f", "text": "t"})
    assert asked.experiment(1).settings["questions"] == [{"a": 1}]
    assert asked.experiment(1).settings["file"] == {"name": "f", "text": "t"}
    assert {"questions", "file"}.isdisjoint(own.experiment(1).settings)


@pytest.mark.parametrize(
    ("hosts", "job", "name"),
    [
        (("n1", "n2"), {"node_list": "n[1-9]"}, "n1,n2"),
        ((), {"node_list": "n[1-9]"}, "n[1-9]"),
        ((), None, None),
        ((), {"node_list": None}, None),
    ],
)
def test_the_set_of_nodes_is_named_by_hosts_else_the_job_else_this_host(hosts, job, name):
    expected = name or campaigns.get_this_host().name
    assert campaign(hosts=hosts).allocation({"scheduler": job}) == expected


@pytest.mark.parametrize(
    ("word", "software", "commit"),
    [
        (None, {}, None),
        (" v1 ", {}, "v1"),
        ("auto", {"commit": "abc", "commit_modified": False}, "abc"),
        ("auto", {"commit": "abc", "commit_modified": True}, "abc+"),
        ("autox", {"commit": "abc"}, "autox"),
    ],
)
def test_the_version_of_what_is_measured(monkeypatch, word, software, commit):
    monkeypatch.setattr(campaigns.machine, "describe_software", lambda path: software)
    assert campaigns.resolve_subject_commit(word) == commit


@pytest.mark.parametrize(("word", "code"), [(" ", "empty-option-value"), ("auto", "not-a-git-repository")])
def test_a_version_that_nobody_knows_is_refused(monkeypatch, word, code):
    monkeypatch.setattr(campaigns.machine, "describe_software", lambda path: {"commit": None})
    with raises(code):
        campaigns.resolve_subject_commit(word)
