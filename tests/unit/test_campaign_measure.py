"""A campaign from its first trial to its last: when it ends, what is saved, and what is cleaned up."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.campaign import begun as begun_campaigns
from iosonde.campaign import each_trial, lab_by_lab, measure, resume
from iosonde.campaign.request import Request
from iosonde.campaign.trials import Ended, Rules
from iosonde.core.errors import TargetFaultError
from iosonde.core.pair_rule import PairRule
from iosonde.core.types import Experiment, Run, Trial
from iosonde.measure.bench import Bench
from iosonde.measure.spec import CacheRegime, CommandStep, Control, NativeStep, Spec, Terms
from messages import assert_problem, codes, has_message

TRIALS = [Trial(at, {"nodes": 1, "ranks_per_node": 1}, at, 0, 0) for at in range(3)]
EXPERIMENT = Experiment("e1", "e", [], {}, TRIALS, 1, "2026-01-01T00:00:00Z")
NATIVE, COMMAND = NativeStep("envelope", {}), CommandStep("true", "all", None)
WALLTIME_END = "2026-01-01T00:10:00+00:00"
NOW_S = 1767225600.0  # 2026-01-01T00:00:00 UTC


class Workspace:
    """The files of a campaign on a target."""

    def __init__(self, fault: TargetFaultError | None = None) -> None:
        self.fault, self.calls = fault, []

    def create(self, **words):
        self.calls.append(("create", words))

    def remove(self):
        self.calls.append("remove")
        if self.fault:
            raise self.fault


@pytest.fixture
def begun(tmp_path, monkeypatch):
    """A campaign of three trials on two targets, and what it says and asks for."""
    said, limits = [], []
    targets = {"a": Path("/a"), "b": Path("/b")}
    spec = SimpleNamespace(
        until=None,
        targets=targets,
        controls=(),
        set_up=(),
        tear_down=(),
        cache=CacheRegime(),
        native=(NATIVE,),
        steps=(NATIVE,),
    )
    campaign = SimpleNamespace(terms=Terms(), spec=spec, nodes=(1, 4), max_ranks=8, spool=None)
    ready = SimpleNamespace(node={"scheduler": None}, launcher=SimpleNamespace(note="shared"), jobs=(), expected_s=7.0)
    keeper = SimpleNamespace(limit=limits.append, workspace=lambda *some: some)
    store = SimpleNamespace(path=tmp_path, experiments=list, save_experiment=lambda experiment: None)
    monkeypatch.setattr(measure, "read_measured_trials", lambda store, campaign: [])
    monkeypatch.setattr(measure, "time", SimpleNamespace(monotonic=lambda: 1000.0, time=lambda: NOW_S))
    return SimpleNamespace(
        store=store,
        campaign=campaign,
        experiment=EXPERIMENT,
        ready=ready,
        level=0.95,
        spool=None,
        remember=tmp_path / "left",
        say=said.append,
        said=said,
        limits=limits,
        hands=SimpleNamespace(keeper=keeper),
    )


@pytest.mark.parametrize(
    ("budget_s", "walltime_end", "ends_at", "code"),
    [
        (None, None, None, "budget-exhausted"),
        (60.0, None, 1060.0, "budget-exhausted"),
        (None, WALLTIME_END, 1570.0, "walltime-exhausted"),  # half a minute before its end
        (60.0, WALLTIME_END, 1060.0, "budget-exhausted"),
        (900.0, WALLTIME_END, 1570.0, "walltime-exhausted"),
    ],
)
def test_a_campaign_ends_with_its_budget_or_its_job(begun, budget_s, walltime_end, ends_at, code):
    begun.campaign.terms = Terms(budget_s=budget_s)
    begun.ready.node = {"scheduler": {"walltime_end": walltime_end}}
    rules = measure._build_rules(begun)
    assert (rules.ends_at, rules.ends_because.code) == (ends_at, code)
    assert (rules.needed, rules.looks, rules.expected_s, rules.accepts_incomplete) == (None, None, 0.0, False)
    assert (rules.ends_because is Rules.ends_because) is (ends_at is None)


def test_the_stopping_rule_is_that_of_the_file(begun, monkeypatch):
    monkeypatch.setattr(measure, "read_measured_trials", lambda *_: [SimpleNamespace(seconds=at) for at in (3.0, 9.0)])
    monkeypatch.setattr(measure, "compute_repetitions_needed", lambda *some: some)
    begun.campaign.spec.until = 0.05
    rules = measure._build_rules(begun)
    assert rules.needed() == (begun.store, begun.campaign, EXPERIMENT, 0.95)
    assert (rules.expected_s, rules.looks) == (9.0, None)
    rule = PairRule("v", "a", "b", "m", 0.05, 0.95, 20)
    monkeypatch.setattr(resume, "build_pair_rule", lambda experiment: rule)
    monkeypatch.setattr(resume, "Pairs", lambda *some: some)
    assert measure._build_rules(begun).looks == (rule, EXPERIMENT, begun.store)


@pytest.mark.parametrize(
    ("more", "can"),
    [
        ({}, False),
        ({"controls": (Control("f", "x", ""),)}, True),
        ({"set_up": (COMMAND,)}, True),
        ({"tear_down": (COMMAND,)}, True),
        ({"cache": CacheRegime(before_reads="x")}, True),
        ({"cache": CacheRegime("remount", unmount="x", mount="y")}, True),
        ({"steps": (NATIVE, COMMAND)}, True),
        ({"steps": (COMMAND,)}, True),
    ],
)
def test_any_command_may_unmount_the_target(more, can):
    values = {"targets": {}, "steps": (NATIVE,), "factors": ()} | more
    assert measure.can_unmount_target(SimpleNamespace(spec=Spec(**values))) is can


def fault(text: str) -> TargetFaultError:
    return TargetFaultError("io-error", text, "mend it")


def test_every_target_is_cleaned_and_the_first_fault_names_the_others():
    assert measure._clean_targets({}) is None
    places = {"a": Workspace(), "b": Workspace(fault("it broke")), "c": Workspace(fault("it hangs"))}
    error = measure._clean_targets(places)
    assert [place.calls for place in places.values()] == [["remove"]] * 3
    expected, text = "target b: it broke", "target c: it hangs"
    assert (str(error.message), [str(one) for one in error.details]) == (expected, [text])
    assert measure._clean_targets({"": Workspace()}) is None


@pytest.mark.parametrize(
    ("error", "limits", "said"),
    [(ValueError(), [], ["", "io-error"]), (KeyboardInterrupt(), [5.0], ["interrupted", "", "io-error"])],
)
def test_after_an_error_nodes_and_targets_are_cleaned_in_a_moment(begun, monkeypatch, error, limits, said):
    asked = []
    monkeypatch.setattr(measure.spools, "remove_on_nodes", lambda *some: asked.append(some) or "nodes stay")
    measure._clean_up(begun, {"": Workspace(fault("it broke"))}, error)
    assert (begun.limits, codes(begun.said)) == (limits, said)
    assert asked == [(begun.ready.launcher, 4, "e1", None, 5.0)]
    begun.said.clear()
    monkeypatch.setattr(measure.spools, "remove_on_nodes", lambda *_: "")
    measure._clean_up(begun, {}, ValueError())
    assert begun.said == []


@pytest.mark.parametrize(("note", "ranks", "noted"), [("shared", 8, True), ("shared", 1, False), ("", 8, False)])
def test_notes_come_before_the_first_trial(begun, monkeypatch, note, ranks, noted):
    begun.ready.launcher.note, begun.campaign.max_ranks = note, ranks
    begun.ready.jobs = (SimpleNamespace(sentence=lambda: "a job"),)
    warning = fault("copies").message
    monkeypatch.setattr(measure.mpi_steps, "list_mpi_warnings", lambda spec: [warning])
    measure._show_initial_notes(begun)
    expected, text = "warning: copies", "note: shared"
    assert [str(one) for one in begun.said] == [*[text] * noted, "a job", expected]


@pytest.mark.parametrize(
    ("stored", "answer", "noted"), [([], "", False), ([EXPERIMENT], "", False), ([EXPERIMENT], "n2 stays", True)]
)
def test_what_an_interrupted_campaign_left_is_removed_when_it_is_resumed(begun, monkeypatch, stored, answer, noted):
    calls = []
    monkeypatch.setattr(measure.spools, "remove_here", lambda *some: calls.append(("here", *some)))
    monkeypatch.setattr(measure.spools, "remove_on_nodes", lambda *some: calls.append(("nodes", some[-1])) or answer)
    monkeypatch.setattr(measure.leftovers, "remove_remembered", lambda path: calls.append(("left", path)))
    begun.store.experiments = lambda: stored
    begun.store.save_experiment = lambda experiment: calls.append(("save", experiment.id))
    assert measure._save_experiment(begun) is bool(stored)
    nodes = [("nodes", 60.0)] if stored else []
    assert calls == [("save", "e1"), ("here", "e1", None), *nodes, ("left", begun.remember)]
    assert has_message(begun.said, "nodes-not-cleaned", reason="n2 stays") is noted


@pytest.mark.parametrize(("resumed", "can_unmount"), [(True, False), (False, True)])
def test_each_target_gets_a_workspace_after_old_ones_were_removed(begun, monkeypatch, resumed, can_unmount):
    removed, made = [], {}
    monkeypatch.setattr(measure.preflight, "remove_leftovers", lambda *some: removed.append(some[1:3]))
    monkeypatch.setattr(measure, "can_unmount_target", lambda campaign: can_unmount)
    begun.hands.keeper.workspace = lambda *some: made.setdefault(some, Workspace())
    workspaces = {}
    measure._make_workspaces(begun, workspaces, resumed)
    assert removed == [(Path("/a"), "e1"), (Path("/b"), "e1")] == list(made)
    assert list(workspaces) == ["a", "b"]
    for workspace in workspaces.values():
        assert workspace.calls == [("create", {"resumed": resumed, "hold": not can_unmount})]


ENDED = Ended("", 3, 0, EXPERIMENT)


@pytest.mark.parametrize(
    ("own", "left", "early", "said"),
    [(None, None, "", ""), (None, "stays", "target a: stays", "target a: stays"), ("own", "stays", "", "own")],
)
def test_a_fault_of_the_clean_up_ends_a_campaign_that_had_none(begun, monkeypatch, own, left, early, said):
    expected, cleared = [], []
    progress = SimpleNamespace(clear=lambda: cleared.append(1))
    begun.hands.caller = SimpleNamespace(progress=lambda seconds: expected.append(seconds) or progress)
    monkeypatch.setattr(measure, "_show_initial_notes", lambda begun: None)
    monkeypatch.setattr(measure, "_save_experiment", lambda begun: True)
    monkeypatch.setattr(
        measure, "_make_workspaces", lambda begun, places, resumed: places.update(a=Workspace(left and fault(left)))
    )
    monkeypatch.setattr(measure, "_build_bench", lambda *_: None)
    monkeypatch.setattr(measure, "_run_trials", lambda *_: Ended("", 3, 0, EXPERIMENT, fault=own and fault(own)))
    ended = measure.measure_trials(begun, set())
    assert (ended.early, str(ended.fault.message) if ended.fault else "") == (early, said)
    assert (expected, cleared, ended.measured) == ([7.0], [1], 3)
    cleaned = []

    def fail(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(measure, "_run_trials", fail)
    monkeypatch.setattr(measure, "_clean_up", lambda begun, places, error: cleaned.append((list(places), type(error))))
    with pytest.raises(KeyboardInterrupt):
        measure.measure_trials(begun, set())
    assert cleaned == [(["a"], KeyboardInterrupt)]


def run_of(missing=(), **facts) -> Run:
    return Run("r1", "e1", "test", "", 2.0, {"nodes": 1}, [], facts=facts, missing=list(missing))


class FakeStore:
    """A store that notes what it is told."""

    def __init__(self, ids=()):
        self.calls, self.ids = [], list(ids)
        self.notes = SimpleNamespace(change=lambda run, note: self.calls.append((run, note.code)))

    def append(self, run):
        self.calls.append(("append", run.id))

    def run_ids(self, experiment):
        return self.ids


@pytest.fixture
def trial_of(monkeypatch):
    """The steps of one trial, without a campaign."""
    each = object.__new__(each_trial.EachTrial)
    store = FakeStore()
    spec = SimpleNamespace(target_name=lambda factors: "a")
    campaign = SimpleNamespace(spec=spec, terms=Terms(abort_if="x"))
    each._begun = SimpleNamespace(store=store, campaign=campaign, experiment=EXPERIMENT)
    each._benches, each._started_s = {"a": "bench"}, 90.0
    each._pace = SimpleNamespace(add_finished=lambda *some: store.calls.append(("finished", some[1])))
    monkeypatch.setattr(each_trial.trial, "discard_files", lambda run: store.calls.append(("discard", run.id)))
    monkeypatch.setattr(
        each_trial.trial, "remove_trial_files", lambda bench, run: store.calls.append(("remove", bench))
    )
    monkeypatch.setattr(each_trial, "time", SimpleNamespace(monotonic=lambda: 100.0))
    return each


def test_a_run_is_stored_before_its_files_are_removed(trial_of, monkeypatch):
    store = trial_of._begun.store
    trial_of.keep(run_of())
    assert store.calls == [("append", "r1"), ("discard", "r1"), ("remove", "bench"), ("finished", 10.0)]
    store.calls.clear()

    def fail(*_):
        raise fault("stays")

    monkeypatch.setattr(each_trial.trial, "remove_trial_files", fail)
    with pytest.raises(TargetFaultError):
        trial_of.keep(run_of())
    assert store.calls == [("append", "r1"), ("discard", "r1"), ("r1", "io-error")]


@pytest.mark.parametrize(("ids", "noted"), [([], []), (["r1", "r2"], [("r2", "aborted")])])
def test_the_reason_of_an_early_end_is_noted_at_the_last_run(trial_of, monkeypatch, ids, noted):
    reason = fault("load").message
    monkeypatch.setattr(each_trial, "find_abort_reason", lambda command: reason if command == "x" else None)
    trial_of._begun.store.ids = ids
    assert trial_of.abort() is reason
    assert trial_of._begun.store.calls == noted
    trial_of._begun.campaign.terms = Terms()
    assert trial_of.abort() is None


def test_the_rest_is_said_once_after_the_first_block_if_it_takes_long(monkeypatch):
    now, said, total = [100.0], [], [29.9]
    monkeypatch.setattr(each_trial, "time", SimpleNamespace(monotonic=lambda: now[0]))
    predict = lambda ahead, finished: SimpleNamespace(total_s=total[0], basis="x")  # noqa: E731
    for total_s, notes in ((29.9, 0), (30.0, 1)):
        total[0] = total_s
        said.clear()
        pace = each_trial.Pace(predict, [], said.append, _began=40.0)
        for block in (0, 0, 1, 2):
            trial = Trial(0, {}, 0, block, 0)
            assert pace.rest_s(trial, TRIALS) == total_s
            assert len(said) == (notes if block else 0)
    assert_problem(said[0], "remaining-time", n_ahead=3, elapsed="1 min 00 s", basis="x")


def test_complete_trials_are_the_basis_of_what_is_predicted():
    pace = each_trial.Pace(None, [], None, _began=0.0)
    pace.add_finished(run_of(["x"]), 5.0)
    pace.add_finished(run_of(), 6.0)
    assert [(one.factors, one.seconds, one.lab_s) for one in pace.finished] == [({"nodes": 1}, 6.0, 0.0)]


@pytest.mark.parametrize(
    ("text", "needs"),
    [
        ("steps: [{workload: envelope}]", True),
        ("steps: ['true', {workload: envelope}]", True),
        ("steps: [{workload: envelope, cache: warm}]", False),
        ("steps: [{workload: envelope, cache: warm}, {workload: other}]", True),
        ("steps: ['true', {command: x}]", False),
        ("steps: [{workload: envelope}]\ncache: {before_reads: x}", False),
        ("steps: [{workload: envelope}]\ncache: {between_trials: drop}", True),
        ("steps: [{workload: envelope}]\ncache: drop", True),
    ],
)
def test_a_workload_that_reads_cold_needs_a_way_to_drop_caches(tmp_path, text, needs):
    (tmp_path / "a.yaml").write_text(text + "\n")
    request = Request(what=str(tmp_path / "a.yaml"), target=("/t",))
    assert lab_by_lab.needs_cache_regime(request) is needs


@pytest.mark.parametrize(
    ("conditions", "profile", "looks"),
    [((None, None), False, []), (({}, {"x": 1}), True, ["b"]), (({"x": 1},) * 2, 0, ["a", "b"])],
)
def test_each_target_has_a_bench_with_its_own_facts(conditions, profile, looks):
    facts = {name: {"condition": state, "of": name} for name, state in zip("ab", conditions, strict=True)}
    spec = SimpleNamespace(lab={"profile": profile}, targets={"a": Path("/a"), "b": Path("/b")})
    keeper = SimpleNamespace(condition=lambda path: path)
    hands = SimpleNamespace(keeper=keeper, caller=SimpleNamespace(servers=lambda path, counts: (path, counts)))
    begun = SimpleNamespace(campaign=SimpleNamespace(spec=spec), hands=hands, ready=SimpleNamespace(facts=facts))
    shared = Bench("e1", (), None, None, {"machine": 0, "seen": 1}, 10, 9.0)
    benches = begun_campaigns.build_target_benches(shared, begun, {"a": "wa", "b": "wb"})
    assert [(one.workspace, one.facts) for one in benches.values()] == [
        (f"w{name}", {"machine": facts[name], "target": f"/{name}", "seen": 1}) for name in "ab"
    ]
    assert [one.server_hands for one in benches.values()] == [(Path(f"/{name}"), bool(profile)) for name in "ab"]
    assert [name for name, one in benches.items() if one.look] == looks
    assert all(one.look() == Path(f"/{name}") for name, one in benches.items() if one.look)
    assert begun_campaigns.build_target_benches(shared, begun, {}) == {"": shared}
