"""What the answers of several commands share: verdicts qualified, settings read, models named, numbers for JSON."""

from __future__ import annotations

import errno
import math
import os
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest
from scipy.stats import ttest_ind
from stats_sample import store

from iosonde.answers import learned as learned_module
from iosonde.answers.answer import Answer, build_level_columns, join_sentences, replace_nonfinite
from iosonde.answers.besides import (
    SINGLE_RANKS,
    Besides,
    add_response_checks,
    adjust_for_columns,
    adjust_rows_for_columns,
    list_level_terms,
    list_varying_columns,
)
from iosonde.answers.caveats import (
    format_some_texts,
    list_caveats,
    warn_confounded,
    warn_confounded_cells,
    warn_logarithms,
)
from iosonde.answers.cluster import read_cluster, read_system
from iosonde.answers.constraints import (
    SettingConstraints,
    build_constraint_check,
    build_user_check,
    collect_designed,
)
from iosonde.answers.learned import Learned, Learning, build_candidates, list_set_factors, select_examples
from iosonde.answers.model_file import (
    build_example_setting,
    complete_factor_name,
    parse_setting,
    read_model,
    rows_to_settings,
)
from iosonde.answers.operations import Percentiles, visit_runs
from iosonde.answers.row_summaries import represent_trials
from iosonde.answers.tools import find_own_clock, list_tool_clocks
from iosonde.answers.trials import (
    _build_cells,
    add_computed_columns,
    build_measured_cells,
    estimate_tested_effects,
    select_headline_responses,
)
from iosonde.answers.verdict import build_model_claim, describe_choice
from iosonde.core.errors import DataError, InputError
from iosonde.core.table import build_table
from iosonde.core.types import Estimate, Factor, Role
from iosonde.core.verdict import Direction, UncheckedClaim, Verdict, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import build_responses, choose_response
from iosonde.data.source import Source, open_data
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.features import Feature, build_examples
from iosonde.model.fit.fitted import Model
from iosonde.model.fit.folds import Groups
from iosonde.model.fit.validate import Candidate
from iosonde.stats.assumptions import AssumptionCheck, doubtful, fails, holds, judge, list_withdrawn_subjects
from iosonde.stats.assumptions.drift import DriftInTurn, check_drift
from iosonde.stats.assumptions.required import REQUIRED
from iosonde.stats.estimate import percentiles
from iosonde.stats.regression.held import AdjustedTerm
from messages import codes, has_message, raises

DIFFERENT, INCONCLUSIVE, NOT_SEPARABLE = (
    VerdictState.DIFFERENT,
    VerdictState.INCONCLUSIVE,
    VerdictState.NOT_SEPARABLE,
)


class Claims(Answer):
    """An answer with a claim."""

    schema = 3

    def content(self) -> dict[str, Any]:
        return {"a": (1, math.inf, {"b": math.nan, "c": "nan"}), "d": -math.inf, "e": 0.5, "f": True}

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return (Verdict("effect", "v", ("fs",), DIFFERENT, Direction.UP, p=math.nan),)


def test_an_answer_has_its_schema_its_verdicts_and_no_number_that_json_lacks():
    answer = Claims()
    assert answer.to_dict() == {
        "schema": 3,
        "a": [1, None, {"b": None, "c": "nan"}],
        "d": None,
        "e": 0.5,
        "f": True,
        "verdicts": [replace_nonfinite(answer.verdicts[0].to_json())],
    }
    assert answer.to_dict()["verdicts"][0]["p"] is None and not answer.problem and answer.records() == []


def test_a_factor_that_is_called_as_a_column_stands_beside_it():
    assert build_level_columns({"n": 1, "fs": "a"}, ("n", "mean")) == {"n (factor)": 1, "fs": "a"}


def test_sentences_have_subjects_where_there_are_several():
    assert join_sentences([("read", "It is fast.")]) == "It is fast."
    assert join_sentences([("read", "Fast."), ("write", "Slow.")]) == "read: Fast. write: Slow."


PARTS = (fails("subsamples", INCONCLUSIVE, SINGLE_RANKS),)
MISSING = (doubtful("missing-values", "some"),)
CLAIM = UncheckedClaim("effect", "v", ("fs",), DIFFERENT, Direction.UP)


def build_drift(column: str, drift: DriftInTurn) -> tuple[AssumptionCheck, ...]:
    return check_drift(column, drift, (column,))


def judge_besides(besides: Besides, claim: UncheckedClaim = CLAIM) -> Verdict:
    return judge(claim, (*besides.checks, *holds(*REQUIRED[claim.question])))


def build_term(p: float | None, adjusted: float | None, **more) -> AdjustedTerm:
    return AdjustedTerm("fs", ("fs[nfs]",), p, adjusted, **more)


@pytest.mark.parametrize(
    ("besides", "state", "direction", "doubts"),
    [
        (Besides(), DIFFERENT, Direction.UP, ()),
        (Besides(("size",)), DIFFERENT, Direction.UP, ("varies-besides",)),
        (Besides(rows=PARTS), INCONCLUSIVE, None, ("subsamples",)),
        (Besides(twins=(("host", "fs"),)), NOT_SEPARABLE, Direction.UP, ("goes-together",)),
        (Besides(twins=(("host", "mode"),)), DIFFERENT, Direction.UP, ()),
        (
            Besides(("size",), terms=(build_term(0.01, None, aliased=True),)),
            NOT_SEPARABLE,
            Direction.UP,
            ("varies-besides", "goes-together"),
        ),
        (Besides(rows=MISSING), DIFFERENT, Direction.UP, ("missing-values",)),
        (Besides(rows=build_drift("fs", DriftInTurn(0.1, 0.01, False))), DIFFERENT, Direction.UP, ("order", "drift")),
        (Besides(rows=build_drift("fs", DriftInTurn(0.1, 0.01, True))), INCONCLUSIVE, None, ("order", "drift")),
        (Besides(rows=build_drift("mode", DriftInTurn(0.1, 0.01, True))), DIFFERENT, Direction.UP, ()),
        # Significant in both models: only a sign that turns changes the claim.
        (Besides(("size",), terms=(build_term(0.01, 0.02),)), DIFFERENT, Direction.UP, ("varies-besides",)),
        (Besides(("size",), terms=(build_term(0.01, 0.02, turns=True),)), INCONCLUSIVE, None, ("varies-besides",)),
        # Significant in one model: the effect has to differ, or to lose half.
        (
            Besides(("size",), terms=(build_term(0.01, 0.2, share=0.51, p_same=0.06),)),
            DIFFERENT,
            Direction.UP,
            ("varies-besides",),
        ),
        (
            Besides(("size",), terms=(build_term(0.01, 0.2, share=0.5, p_same=0.06),)),
            INCONCLUSIVE,
            None,
            ("varies-besides",),
        ),
        (
            Besides(("size",), terms=(build_term(0.01, 0.2, share=0.9, p_same=0.04),)),
            INCONCLUSIVE,
            None,
            ("varies-besides",),
        ),
        (
            Besides(("size",), terms=(build_term(0.2, 0.01, share=0.1, p_same=0.06),)),
            DIFFERENT,
            Direction.UP,
            ("varies-besides",),
        ),
        (Besides(("size",), terms=(build_term(0.2, 0.01, p_same=0.04),)), INCONCLUSIVE, None, ("varies-besides",)),
        (Besides(("size",), terms=(build_term(0.06, 0.2, turns=True),)), DIFFERENT, Direction.UP, ("varies-besides",)),
        (
            Besides(("size",), terms=(build_term(0.06, 0.06, turns=True),), level=0.9),
            INCONCLUSIVE,
            None,
            ("varies-besides",),
        ),
    ],
)
def test_columns_beside_the_question_qualify_its_verdict(besides, state, direction, doubts):
    judged = judge_besides(besides)
    assert (judged.state, judged.direction, judged.doubts) == (state, direction, doubts)
    assert bool(judged.why) is bool(judged.remedy) is (state is not DIFFERENT)
    assert list_withdrawn_subjects([CLAIM], besides.checks) == (frozenset() if state is DIFFERENT else {"fs"})


def test_a_verdict_is_qualified_by_its_own_columns_and_their_levels():
    turned = Besides(("size",), terms=(build_term(0.01, 0.02, turns=True),))
    twin = Besides(twins=(("host", "fs"),))
    states = [(turned, "mode", DIFFERENT), (turned, "fs[nfs]", INCONCLUSIVE), (twin, "fs[nfs]", NOT_SEPARABLE)]
    for besides, name, state in [*states, (twin, "fsx", DIFFERENT)]:
        assert judge_besides(besides, replace(CLAIM, subject=(name,))).state is state
    equal = replace(CLAIM, state=VerdictState.EQUAL)
    assert judge_besides(Besides(rows=PARTS), equal).state is INCONCLUSIVE
    assert judge_besides(twin, equal).state is VerdictState.EQUAL
    assert list_withdrawn_subjects([equal], turned.checks) == frozenset()


def test_columns_that_vary_are_named_once():
    assert Besides().warnings == [] and Besides().sentence == ""
    [one], [two] = Besides(("size",)).warnings, Besides(("size", "host")).varying_warnings("by")
    assert (one.code, one.values["columns"], one.values["verb"], one.values["pronoun"]) == (
        "varies-besides",
        "size",
        "varies",
        "it",
    )
    expected = ("size, host", "vary", "them")
    assert (two.values["columns"], two.values["verb"], two.values["pronoun"]) == expected


@pytest.mark.parametrize(("n", "text"), [(2, "0, 1"), (4, "0, 1, 2, 3"), (5, "0, 1, 2, 3 and 1 more")])
def test_of_many_texts_the_first_are_listed(n, text):
    assert format_some_texts([str(number) for number in range(n)]) == text


def build_response(**more) -> Any:
    defaults = {
        "warnings": [],
        "within_run": False,
        "confounded": [],
        "transform": "",
        "title": "log10(v)",
        "measured": "v",
    }
    return SimpleNamespace(**{**defaults, **more})


def test_the_caveats_of_a_response():
    pairs = build_table({"a": [1, 2], "b": [3, 4], "c": [5, 5]})
    response = build_response(warnings=["plain"], within_run=True, rows=pairs, confounded=[("a", "b"), ("c", "b")])
    caveats = list_caveats(response)
    assert codes(caveats) == ["", "within-run", "confounded"] and has_message(
        caveats, "confounded", factor="a", twin="b"
    )
    assert list_caveats(build_response()) == []
    rows = build_table(
        {"nodes": [1, 1, 2, 2], "ranks": [1, 1, 2, 2], "fs": list("aabb"), "tool": [None, None, "x", "x"]}
    )
    confounded = [("nodes", "ranks"), ("ranks", "fs"), ("fs", "nodes"), ("tool", "nodes")]
    cells = warn_confounded_cells(2 * [build_response(rows=rows, confounded=confounded)])
    assert codes(cells) == ["confounded-in-cells"] and has_message(
        cells, "confounded-in-cells", factor="fs", twin="nodes"
    )


def test_confounded_factors_are_one_note_that_names_the_groups():
    (note,) = warn_confounded([("a", "x"), ("b", "x"), ("c", "y"), ("a", "x")], " here")
    assert note.code == "confounded-in-cells" and str(note).startswith(
        "a and b change with x here; c changes with y here:"
    )
    assert warn_confounded([]) == []


@pytest.mark.parametrize(("transform", "is_warned"), [("log10", True), ("", False), ("sqrt", False)])
def test_logarithms_are_no_ratios(transform, is_warned):
    warnings = warn_logarithms(build_response(transform=transform))
    assert (
        has_message(warnings, "logarithmic-response", response="log10(v)", measured="v") == is_warned == bool(warnings)
    )


FEATURES = (
    Feature("size (KiB)", "KiB", (4.0, 64.0), True),
    Feature("wait (s)", "s", (1.0, 2.0), True),
    Feature("link (bytes/s)", "bytes/s", (1.0, 2.0), True),
    Feature("nodes", "", (1.0, 2.0), True),
    Feature("fs", "", ("nfs", "pvfs"), False),
)


@pytest.mark.parametrize(
    ("name", "value", "full", "expected"),
    [
        ("size", "64", "size (KiB)", 64.0),
        ("size (KiB)", "64 KiB", "size (KiB)", 64.0),
        ("size", "4MiB", "size (KiB)", 4096.0),
        ("size", 8, "size (KiB)", 8.0),
        ("size", "much", "size (KiB)", "much"),
        ("wait", "1500ms", "wait (s)", 1.5),
        ("link", "1KiB/s", "link (bytes/s)", 1024.0),
        ("nodes", "2", "nodes", 2.0),
        ("nodes", "2KiB", "nodes", "2KiB"),
        ("fs", 4.0, "fs", "4"),
        ("fs", "nfs", "fs", "nfs"),
        ("other", 4, "other", "4"),
    ],
)
def test_a_setting_is_read_in_the_unit_of_its_factor(name, value, full, expected):
    assert parse_setting(FEATURES, {name: value}) == {full: expected} and complete_factor_name(FEATURES, name) == full


def test_a_factor_is_given_once():
    with raises("duplicate-factor", InputError, factor="size (KiB)"):
        parse_setting(FEATURES, {"size": 1, "size (KiB)": 2})
    twins = (Feature("size", "", (1.0,), True), *FEATURES)
    assert complete_factor_name(twins, "size") == "size"


def test_a_constraint_is_of_factors_without_their_units():
    check = build_constraint_check(["size <= 64", "nodes * size < 100"], FEATURES)
    assert check({"size (KiB)": 64.0, "nodes": 1.0}) is None
    assert check({"size (KiB)": 65.0, "nodes": 1.0}) == "size <= 64"
    assert check({"size (KiB)": 64.0, "nodes": 2.0}) == "nodes * size < 100"
    with pytest.raises(InputError):
        build_constraint_check(["sizes < 1"], FEATURES)


def list_names(*texts: str, terms: str | None = None, n_settings: int = 20) -> list[str]:
    return [candidate.name for candidate in build_candidates(texts, n_settings, terms)]


def test_models_are_tried_from_the_simplest_on_and_once():
    assert [c.family for c in build_candidates(("tree,linear", "mean", "linear"), 20)] == ["mean", "linear", "tree"]
    [tree] = build_candidates(("tree depth=4 min_leaf=5",), 20)
    assert tree.family == "tree" and tree.options == {"depth": 4, "min_leaf": 5}
    [linear] = build_candidates(("linear",), 20, "a * b")
    assert linear.options["terms"] == "a * b"
    assert build_candidates(("linear terms=a",), 20, "b")[0].options["terms"] == "a"
    assert "terms" not in build_candidates(("tree",), 20, "a")[0].options
    assert list_names("auto") == list_names() and len(list_names("auto", "mean")) == len(
        set(list_names("auto", "mean"))
    )


@pytest.mark.parametrize(
    ("text", "code", "values"),
    [
        (" , ", "empty-option-value", {}),
        ("tree depth", "invalid-option-value", {"option": "depth"}),
        ("tree depth=many", "not-a-number", {"family": "tree", "key": "depth", "number": "many"}),
        ("tree depth=-1", "out-of-range", {"key": "depth", "number": "-1"}),
        ("tree depth=1000000000", "out-of-range", {"key": "depth", "number": "1000000000"}),
    ],
)
def test_a_family_that_cannot_be_read(text, code, values):
    if "=" not in text and len(text.split()) > 1:
        text += " min_leaf=5"
    with raises(code, InputError, **values):
        build_candidates((text,), 20)


def build_choice(n: int, family: str, gain: Estimate | None) -> Choice:
    judged = SimpleNamespace(candidate=SimpleNamespace(family=family, short=family))
    return cast(Choice, SimpleNamespace(tried=(judged,), chosen=0, groups=SimpleNamespace(n=n), gain=gain))


@pytest.mark.parametrize(
    ("n", "family", "gain", "state"),
    [
        (5, "tree", (0.2, 0.1, 0.3), DIFFERENT),
        (4, "tree", (0.2, 0.1, 0.3), VerdictState.NOT_TESTED),
        (5, "tree", None, VerdictState.NOT_TESTED),
        (5, "tree", (0.2, None, None), VerdictState.NOT_TESTED),
        (5, "tree", (0.2, 0.0, 0.3), INCONCLUSIVE),
        (5, "mean", (0.2, 0.1, 0.3), INCONCLUSIVE),
    ],
)
def test_a_model_is_better_than_the_mean_or_not(n, family, gain, state):
    estimate = gain and Estimate(*gain, 0.95, n)
    claim = build_model_claim(build_choice(n, family, estimate), "v", ("fs",))
    assert claim == UncheckedClaim("model", "v", ("fs",), state, None, family, estimate)


def test_numbers_in_lists_and_tables_are_finite():
    assert replace_nonfinite([np.float64("nan"), (1, [math.inf])]) == [None, [1, [None]]]


@pytest.mark.parametrize(("drift", "doubts"), [(1.0, {"order", "drift"}), (0.0, set())])
def test_a_drift_inside_levels_that_were_measured_in_turn_is_a_doubt(drift, doubts):
    """Twelve trials of A, then twelve of B; all get slower with time."""
    noise = np.random.default_rng(5).normal(0, 0.3, 24)
    speeds = (100.0 - drift * np.arange(24) + noise).tolist()
    rows = build_table({"fs": ["A"] * 12 + ["B"] * 12, "v": speeds})
    source = open_data(rows)
    response = choose_response(source, ResponseQuery(("v",), ("fs",)))
    besides = add_response_checks(Besides(), source, response, ["fs"])
    assert {check.subject for check in besides.checks if check.is_doubt} == ({("fs",)} if doubts else set())
    judged = judge_besides(besides)
    assert set(judged.doubts) == doubts and (judged.state is INCONCLUSIVE) == bool(doubts)


def test_a_cluster_is_a_mapping_of_sections_or_today_itself():
    today = {"clients": 1, "servers": 2, "network": "1MB/s"}
    assert read_system(today) == read_system({"today": today}) and read_system(today)[0]["servers"] == (2, 2, 2)
    with raises("no-cluster", InputError, name="the cluster"):
        read_system({"cpus": {"atom": {"points": 1, "watts": 1}}})
    with raises("wrong-argument-type", InputError, type_name="int"):
        read_cluster(cast(Any, 5))


def test_rows_of_data_are_settings_of_a_model():
    """A column may lack its unit, a number of text stays text, and an empty cell is refused with its place."""
    model = cast(Model, SimpleNamespace(features=(FEATURES[0], FEATURES[4]), response="v"))
    rows, _ = rows_to_settings(model, open_data(build_table({"size": [4.0, 5.5], "fs": ["a", "b"]})))
    assert rows == [{"size (KiB)": 4, "fs": "a"}, {"size (KiB)": 5.5, "fs": "b"}]
    assert build_example_setting(model) == {"size": 4.0, "fs": "nfs"}
    with raises("missing-value", DataError, name="size"):
        rows_to_settings(model, open_data(build_table({"size": [4.0, None], "fs": ["a", "b"]})))


def build_designed(*constraints: str, names: tuple[str, ...], columns: dict[str, list], **more) -> Any:
    """A source with one experiment that was designed under constraints."""
    factors = [SimpleNamespace(name=name) for name in names]
    experiment = SimpleNamespace(id="e1", settings={"design": {"constraints": list(constraints)}}, factors=factors)
    others = [
        SimpleNamespace(id="e2", settings={"design": {"constraints": ["nodes < 9"]}}, factors=factors),
        SimpleNamespace(id="e1", settings={"design": "balanced"}, factors=factors),
        SimpleNamespace(id="e1", settings={"design": None}, factors=factors),
        SimpleNamespace(id="e1", settings={"design": {}}, factors=factors),
    ]
    runs = [SimpleNamespace(experiment="e1")]
    return SimpleNamespace(experiments=[*others, experiment], runs=runs, table=build_table(columns), **more)


CELLS = {
    "size (KiB)": [4.0, 64.0, 4.0, 64.0],
    "nodes": [1.0, 1.0, 2.0, 2.0],
    "fs": ["nfs"] * 2 + ["pvfs"] * 2,
    "v": [1.0, 2.0, 3.0, 5.0],
}


@pytest.mark.parametrize(
    ("constraint", "taken", "reason"),
    [
        ("size * nodes <= 128", "size * nodes <= 128", ""),
        ("nodes <= clients", "nodes <= 4", ""),
        ("fs != host", "fs != 'zeus'", ""),
        ("clients < 3", "", ""),
        ("size < threads", "", "unknown-factor"),
        ("size <= 63", "", "constraint-violated"),
        ("size <= nowhere", "", "unknown"),
    ],
)
def test_a_constraint_of_an_experiment_is_over_the_factors_of_the_model(constraint, taken, reason):
    more = {"clients": [4.0] * 4, "host": ["zeus"] * 4, "threads": [1.0, 2.0, 1.0, 2.0]}
    columns = {name.partition(" (")[0]: cells for name, cells in (CELLS | more).items()}
    source = build_designed(constraint, names=tuple(columns), columns=columns)
    examples = build_examples(build_table(CELLS), "v", ["size (KiB)", "nodes", "fs"])
    designed, dropped = collect_designed(source, examples)
    assert designed == ([taken] if taken else [])
    assert codes(dropped) == (["constraint-dropped"] if reason else [])
    assert all(has_message([message], "constraint-dropped", constraint=constraint) for message in dropped)
    check, why = SettingConstraints(("size <= 64", *designed), source).over(examples)
    assert why == dropped
    assert check({"size (KiB)": 65.0, "nodes": 1.0, "fs": "nfs"}) == "size <= 64"
    assert check({"size (KiB)": 64.0, "nodes": 5.0, "fs": "zeus"}) == (taken or None)
    alone, none = SettingConstraints(("size <= 64",)).over(examples)
    assert none == [] and alone({"size (KiB)": 64.0, "nodes": 5.0, "fs": "zeus"}) is None


def test_a_constraint_of_the_user_holds_where_it_was_measured():
    examples = build_examples(build_table(CELLS), "v", ["size (KiB)", "nodes"])
    assert build_user_check((), examples)({"size (KiB)": 1e9, "nodes": 9}) is None
    assert build_user_check(("nodes < 3",), examples)({"size (KiB)": 1.0, "nodes": 3}) == "nodes < 3"
    with raises("constraint-violated", InputError, constraint="size * nodes < 128") as caught:
        build_user_check(("nodes < 3", "size * nodes < 128"), examples)
    assert [word.partition("=")[0] for word in caught.value.values["setting"].split(", ")] == ["size (KiB)", "nodes"]


def test_the_examples_of_a_table_are_the_rows_of_its_response():
    source = open_data(build_table({**CELLS, "v": [1.0, None, 3.0, 5.0]}))
    learned = select_examples(source, ResponseQuery(("v",), ("size (KiB)", "fs")))
    examples = learned.examples
    assert [(feature.name, feature.unit, feature.levels) for feature in examples.features] == [
        ("size (KiB)", "", (4, 64)),
        ("fs", "", ("nfs", "pvfs")),
    ]
    assert examples.y.tolist() == [1.0, 3.0, 5.0] and learned.response.title == "v"
    assumed = select_examples(source, ResponseQuery(("v",)))
    assert [feature.name for feature in assumed.examples.features] == ["size (KiB)", "nodes"]  # fs changes with nodes
    assert [one.code for one in assumed.examples.warnings if one.code == "assumed-factors"] == ["assumed-factors"]


def test_only_factors_that_were_set_are_learned_from(monkeypatch):
    rows = build_table({"a": [1.0, 2.0, 3.0], "b": [1.0, 1.0, 1.0], "c": [1.0, 2.0, 2.0], "v": [4.0, 5.0, 7.0]})
    factors = [Factor("a", role=Role.OBSERVED), Factor("b"), Factor("c")]
    response = SimpleNamespace(title="v", rows=rows, factors=factors, unit="s", warnings=["w"], within_run=False)
    response.confounded, response.with_scattered = [("a", "c")], lambda: response
    monkeypatch.setattr(learned_module, "choose_response", lambda source, query: response)
    source = SimpleNamespace(apart=lambda on: on, knows_factors=True, units=lambda: {"c": "MiB"})
    learned = select_examples(cast(Any, source), ResponseQuery())
    assert list_set_factors(cast(Any, response)) == ["b", "c"]
    assert [(feature.name, feature.unit) for feature in learned.examples.features] == [("c", "MiB")]
    assert learned.examples.unit == "s" and codes(learned.examples.warnings)[:2] == ["", "confounded"]
    response.factors = factors[:2]
    with raises("nothing-varies", DataError, title="v"):
        select_examples(cast(Any, source), ResponseQuery())


@pytest.mark.parametrize(("n_bring_ups", "n_warnings"), [(0, 1), (2, 0)])
def test_trials_of_one_bring_up_are_a_warning_unless_folds_keep_them_together(n_bring_ups, n_warnings):
    rows = build_table({"bring_up": [1.0, 1.0, 2.0, 2.0], "fs": list("aabb"), "v": [1.0, 2.0, 3.0, 4.0]})
    examples = build_examples(rows, "v", ["fs"])
    learned = Learned(cast(Any, SimpleNamespace(rows=rows)), examples)
    groups = Groups(np.arange(4), n_bring_ups=n_bring_ups)
    warnings = learned.add_single_trial_warning(groups).warnings[len(examples.warnings) :]
    assert codes(warnings) == ["shared-bring-ups"] * n_warnings
    assert all(has_message(warnings, "shared-bring-ups", finding="S311", columns="fs") for _ in range(n_warnings))


def test_terms_of_models_are_checked_before_they_are_tried():
    examples = build_examples(build_table(CELLS), "v", ["nodes", "fs"])
    assert [model.name for model in Learning(("mean,tree",)).candidates(examples)] == ["mean", "tree"]
    [linear] = Learning(("linear",), terms="nodes").candidates(examples)
    assert (linear.family, linear.options) == ("linear", {"terms": "nodes"})
    with pytest.raises((InputError, DataError)):
        Learning(("linear",), terms="nowhere").candidates(examples)


def build_clocked(rows: dict[str, list], **more) -> Any:
    def phase(*tools: str) -> Any:
        return SimpleNamespace(tools=tools)

    runs = [
        SimpleNamespace(id="1", imported=True, source="ior 4.0", phases=[]),
        SimpleNamespace(id="2", imported=False, source="x", phases=[phase("fio", "dd"), phase("fio")]),
        SimpleNamespace(id="3", imported=True, source="mdtest 3.3", phases=[phase("no")]),
    ]
    return SimpleNamespace(
        runs=runs,
        foreign={"write", "read"},
        trials=lambda choice: SimpleNamespace(rows=build_table(rows)),
        knows_factors=True,
        **more,
    )


def test_each_tool_is_named_with_what_its_clock_includes():
    rows = {
        "run": ["1", "2", "2", "3", "9", "3"],
        "operation": ["write", "read", "read", "stat", "write", "write"],
        "includes": ["open,close", "open", "close", "x", "y", None],
    }
    expected = (("ior", "open,close", False), ("fio", "", False), ("dd", "", False), ("mdtest", "", False))
    assert list_tool_clocks(build_clocked(rows), ResponseQuery()) == expected
    metrics = ["bandwidth_last_done", "bandwidth_sum_of_ranks", "time", "rate", "rate", "rate"]
    assert [
        clock.is_summed for clock in list_tool_clocks(build_clocked(rows | {"metric": metrics}), ResponseQuery())
    ] == [
        False,
        True,
        True,
        False,
    ]
    assert list_tool_clocks(build_clocked({"operation": ["write"]}), ResponseQuery()) == ()
    without = build_clocked(rows)
    without.runs = ()
    assert list_tool_clocks(without, ResponseQuery()) == ()
    queries = (ResponseQuery(clock="overlap"), ResponseQuery(("v",)), ResponseQuery(metric=("iops",)))
    assert [find_own_clock(without, query) for query in queries] == ["overlap", "", ""]


def test_each_run_is_read_once_for_all_who_want_it():
    runs = [SimpleNamespace(id=str(number), n_operations=number) for number in range(3)]
    reads, taken = [], []
    source = SimpleNamespace(runs=runs, operations=lambda run_id: reads.append(run_id) or np.zeros(int(run_id)))

    def visitor(name: str, *wanted: str) -> Any:
        take = lambda run, operations: taken.append((name, run.id, len(operations)))  # noqa: E731
        return SimpleNamespace(wants=lambda run: run.id in wanted, take=take)

    visit_runs(cast(Any, source), [visitor("a", "0", "2"), visitor("b", "2")])
    assert reads == ["2"] and taken == [("a", "0", 0), ("a", "2", 2), ("b", "2", 2)]


def test_percentiles_are_exact_where_every_operation_was_kept(monkeypatch):
    calls = []
    monkeypatch.setattr(
        percentiles,
        "percentiles_from_trial",
        lambda rows, exact, kinds, level, *_: calls.append((exact, level)) or ["exact"],
    )
    monkeypatch.setattr(
        percentiles,
        "percentiles_from_buckets",
        lambda operation, kind, edges, pairs, level, *_: (operation, kind, len(edges) > 100, pairs, level),
    )

    def phase(index: int, recorded_all: bool, **histograms: str) -> Any:
        return SimpleNamespace(index=index, recorded_all=recorded_all, operation=f"op{index}", histograms=histograms)

    visitor = Percentiles(cast(Any, SimpleNamespace(table=build_table({"run": ["1", "2"]}))), 0.9)
    runs = [
        SimpleNamespace(id="1", phases=[phase(0, True, read="a"), phase(1, False, read="b", write="c")]),
        SimpleNamespace(id="2", phases=[phase(3, False)]),
        SimpleNamespace(id="3", phases=[]),
    ]
    assert [visitor.wants(cast(Any, run)) for run in runs] == [True, True, False]
    for run in runs[:2]:
        visitor.take(cast(Any, run), np.zeros(1))
    buckets = [("op1", "read", True, "b", 0.9), ("op1", "write", True, "c", 0.9)]
    assert visitor.by_run == {"1": ["exact", *buckets], "2": []} and calls == [({0: "op0"}, 0.9)]
    table = Percentiles(cast(Any, SimpleNamespace(table=build_table({"v": [1.0]}))), 0.9)
    assert not table.wants(cast(Any, runs[0]))


def test_columns_are_held_that_vary_and_follow_from_no_other():
    rows = build_table(
        {
            "fs": list("aabbaabb"),
            "host": list("xxyyxxyy"),  # always changes with fs
            "site": list("pppppppp"),
            "size": [1.0, 2.0, 1.0, 2.0, 1.0, 2.0, 1.0, 2.0],
            "pair": [1.0, 2.0, 3.0, 4.0, 1.0, 2.0, 3.0, 4.0],
            "v": [1.0, 5.0, 2.0, 6.1, 1.1, 5.0, 2.1, 6.0],
        }
    )
    names = ["host", "site", "size", "pair"]
    source = open_data(rows)
    response = choose_response(source, ResponseQuery(("v",), ("fs",)))
    listed = list_varying_columns(source, response, names, ["fs"], 0.9)
    assert (listed.names, listed.twins, listed.terms, listed.level) == (("size", "pair"), (("host", "fs"),), (), 0.9)
    adjusted = adjust_rows_for_columns(rows, "v", ["fs"], ["size"], 0.95)
    [term] = adjusted.terms
    # The 1 of fs is small beside the 4 of size; with size held it is all that is left.
    assert (term.name, term.aliased, term.turns) == ("fs", False, False)
    assert term.p > 0.05 > term.p_adjusted and math.isclose(term.share, 1.0)
    assert adjust_rows_for_columns(rows, "v", ["fs"], ["host"], 0.95).terms == ()
    assert adjust_for_columns(source, response, ["fs"], ["size"], 0.95).terms == adjusted.terms
    assert list_level_terms(rows, ["fs", "size"]) == ["C(fs)", "C(size)"]
    many = build_table({"few": [float(n % 12) for n in range(13)], "many": [float(n) for n in range(13)]})
    assert list_level_terms(many, ["few", "many"]) == ["C(few)", "many"]


def test_trials_of_a_table_are_cells_of_its_factors():
    rows = build_table({"fs": list("abab"), "size": [1.0, 1.0, 2.0, 1.0], "v": [1.0, 2.0, 3.0, 4.0]})
    response = choose_response(open_data(rows), ResponseQuery(("v",), ("fs", "size")))
    cells = _build_cells(response, ())
    assert [(dict(cell.by), np.asarray(cell.values).tolist()) for cell in cells] == [
        ({"fs": "a", "size": 1.0}, [1.0]),
        ({"fs": "a", "size": 2.0}, [3.0]),
        ({"fs": "b", "size": 1.0}, [2.0, 4.0]),
    ]
    table, names = add_computed_columns(open_data(rows), rows, ResponseQuery(("v", "v/size")), ["fs"])
    assert names == ["v", "v/size"] and table.numbers("v/size").tolist() == [1.0, 2.0, 1.5, 4.0]


def test_trials_of_a_store_are_cells_with_their_rows_runs_and_times(tmp_path):
    source = open_data(store(tmp_path / "s", 3))
    measured = build_measured_cells(source, ResponseQuery())
    assert (measured.by, len(measured.rows), measured.warnings, measured.together) == (("nodes",), 12, (), {})
    assert [
        (dict(cell.by), cell.metric, cell.unit, cell.operation, list(cell.rows), list(cell.times))
        for cell in measured.cells
    ] == [
        ({"nodes": 1}, "rate_last_done", "operations/s", "create", [0, 4, 8], [0, 2, 4]),
        ({"nodes": 2}, "rate_last_done", "operations/s", "create", [2, 6, 10], [1, 3, 5]),
        ({"nodes": 1}, "bandwidth_last_done", "bytes/s", "read_1to1_large", [1, 5, 9], [0, 2, 4]),
        ({"nodes": 2}, "bandwidth_last_done", "bytes/s", "read_1to1_large", [3, 7, 11], [1, 3, 5]),
    ]
    assert list(measured.cells[1].places) == ["run x-2-00", "run x-2-01", "run x-2-02"]
    for cell in measured.cells:
        assert measured.rows.numbers("value")[cell.rows].tolist() == cell.values.tolist()
    query = ResponseQuery(("create",))
    [one, two] = build_measured_cells(source, query).cells
    assert (list(one.rows), list(two.rows)) == ([0, 2, 4], [1, 3, 5])

    [response] = build_responses(source, query)
    effects = estimate_tested_effects(source, query, [response], lambda chosen: (chosen, list(chosen.names), []))
    assert list(effects) == ["create rate_last_done", "read_1to1_large bandwidth_last_done"]
    tests = [effect.tests[0] for effect in effects.values()]
    read_values = [cell.values for cell in measured.cells[2:]]
    p_values = [ttest_ind(*sides, equal_var=False).pvalue for sides in ((one.values, two.values), read_values)]
    assert [test.p for test in tests] == pytest.approx(p_values, rel=1e-6)
    # Holm, over both responses: the smaller of two p values is doubled.
    assert [test.adjusted for test in tests] == pytest.approx([2 * p_values[0], p_values[1]], rel=1e-6)
    assert estimate_tested_effects(source, query, [response], lambda chosen: (chosen, [], [])) == {}
    headlines = select_headline_responses(source, query, ["nodes"])
    assert [headline.title for headline in headlines] == list(effects)
    for empty in ((ResponseQuery(), ["nodes"]), (query, []), (query, ["nowhere"])):
        assert select_headline_responses(source, *empty) == []


def test_a_computed_response_is_a_metric_of_its_own():
    rows = build_table({"fs": list("abab"), "run": list("wxyz"), "v": [1.0, 2.0, 3.0, 4.0]})
    response = replace(
        choose_response(open_data(rows), ResponseQuery(("v",), ("fs",))), at=np.array([5, 2, 7, 0]), operation="read"
    )
    places = np.array([30, -1, 10, -1, -1, 20, -1, 40])
    [a, b] = _build_cells(response, (), places)
    assert [(list(cell.rows), list(cell.places), list(cell.times)) for cell in (a, b)] == [
        ([20, 40], ["run w", "run y"], [0, 2]),
        ([10, 30], ["run x", "run z"], [1, 3]),
    ]
    assert (a.metric, a.operation, a.within_run, a.bring_ups) == (response.metric.name, "read", False, None)
    assert [cell.rows for cell in _build_cells(replace(response, at=None), (), places)] == [None, None]
    assert [cell.rows for cell in _build_cells(response, ())] == [None, None]
    [within, _] = _build_cells(replace(response, within_run=True, measured="v"), (), places)
    assert (within.rows, within.within_run, within.metric) == (None, True, "v")
    shared = build_table({"fs": list("abab"), "bring_up": [1.0, 1.0, 2.0, 2.0], "v": [1.0, 2.0, 3.0, 4.0]})
    for is_within, numbers in ((False, [0, 1]), (True, None)):
        [cell, _] = _build_cells(replace(response, rows=shared, within_run=is_within), ())
        assert (cell.bring_ups if cell.bring_ups is None else list(cell.bring_ups)) == numbers


@pytest.mark.parametrize(
    ("besides", "words"),
    [
        (Besides(("size",), terms=(build_term(0.01, 0.2, share=0.5, p_same=0.06),)), ["fs", "size"]),
        (Besides(("a", "b", "c"), terms=(build_term(0.2, 0.01, p_same=0.06),)), ["fs", "a, b", "c"]),
        (Besides(("a", "b", "c", "d"), terms=(build_term(0.2, 0.01),)), ["fs", "4"]),
        (Besides(("size",), terms=(build_term(0.01, None, aliased=True),)), ["fs", "size"]),
        (Besides(("size",), terms=(build_term(0.01, 0.2, share=0.51, p_same=0.06),)), []),
        (Besides(("size",), terms=(build_term(0.01, 0.02),)), []),
        (Besides(("size",), terms=(build_term(0.051, 0.051, turns=True),)), []),
        (Besides(("size",), terms=(build_term(None, None),)), []),
        (Besides(twins=(("host", "fs"),)), ["fs", "host"]),
        (Besides(rows=(*build_drift("fs", DriftInTurn(0.1, 0.01, False)), *MISSING)), ["fs ", " some."]),
    ],
)
def test_a_sentence_names_the_effects_that_change(besides, words):
    assert bool(besides.sentence) == bool(words) and all(word in besides.sentence for word in words)
    parts = replace(besides, rows=(*besides.rows, *PARTS)).sentence
    assert parts.startswith(besides.sentence) and len(parts) > len(besides.sentence)


def test_an_effect_that_turns_is_told_from_one_that_is_lost():
    turned, lost = (
        Besides(("size",), terms=(build_term(0.01, p, turns=True, share=0.1),)).sentence for p in (0.02, 0.2)
    )
    begin = lost.partition("its effect")[0]
    assert turned != lost and turned.startswith(begin)
    many = Besides(("a", "b", "c", "d"), terms=(build_term(0.2, 0.01),)).sentence
    assert "a, b" not in many


def build_tried(family: str, mae: float | None, **more) -> Any:
    return SimpleNamespace(candidate=Candidate(family), mae=SimpleNamespace(value=mae), **more)


def build_tried_choice(chosen: int, *errors: tuple[str, float | None], **more) -> Any:
    """A choice among models whose errors are these; the mean of everything errs by 8000."""
    defaults = {
        "tried": tuple(build_tried(*error) for error in errors),
        "chosen": chosen,
        "baseline": build_tried("mean", 8000.0),
        "groups": SimpleNamespace(n=5),
        "nested": None,
        "n_choice": 30,
        "model": SimpleNamespace(rows=30),
        "passed_over": (),
        "gain": Estimate(1.0, 0.5, 2.0, 0.95, 5),
        "between_levels": None,
    }
    return cast(Any, SimpleNamespace(**{**defaults, **more}))


NESTED = Estimate(3000.0, 2500.0, 3500.0, 0.95, 5)


@pytest.mark.parametrize(
    ("choice", "present", "absent"),
    [
        (build_tried_choice(0, ("tree", 2000.0), groups=SimpleNamespace(n=4)), "4. |5 ", "tree|kB"),
        (build_tried_choice(0, ("tree", 2000.0)), "tree: |2.00 kB|8.00 kB", "taken"),
        (build_tried_choice(0, ("mean", 8000.0)), "mean: |8.00 kB", "taken"),
        (build_tried_choice(0, ("mean", 8000.0), ("tree", 7000.0)), "tree|7.00 kB|8.00 kB", ""),
        (build_tried_choice(0, ("mean", 8000.0), ("tree", 9000.0), ("linear", None)), "mean", "tree|kB"),
        (
            build_tried_choice(1, ("linear", 3000.0), ("tree", 2000.0)),
            "tree is taken|2.00 kB|8.00 kB",
            "linear|3.00 kB",
        ),
        (build_tried_choice(0, ("linear", 3000.0), ("tree", 2000.0)), "linear is|of tree|3.00 kB", "2.00 kB"),
        (build_tried_choice(1, ("linear", 3.0), ("tree", 2.0), passed_over=(0,)), "(linear does)", "errs by 3"),
        (
            build_tried_choice(2, ("linear", 3.0), ("mean", 4.0), ("tree", 2.0), passed_over=(0, 1)),
            "(linear and mean do)",
            "does",
        ),
        (build_tried_choice(1, ("linear", 3.0), ("tree", 2.0), nested=NESTED), "3.00 kB|2.50–3.50:", "30 rows"),
        (build_tried_choice(1, ("linear", 3.0), ("tree", 2.0), nested=NESTED, n_choice=29), "29 rows", ""),
    ],
)
def test_the_sentence_of_a_choice_names_models_and_errors_in_their_unit(choice, present, absent):
    text = describe_choice(choice, (1000.0, "kB"))
    assert all(word in text for word in present.split("|")), text
    assert not any(word in text for word in absent.split("|") if word), text


@pytest.mark.parametrize(
    ("error", "low", "family", "kind"),
    [
        (8000.0, 0.5, "tree", "worse"),
        (7999.0, 0.5, "tree", "plain"),
        (7999.0, 0.0, "tree", "chance"),
        (9000.0, 0.5, "mean", "plain"),
        (0.0, 0.5, "tree", "plain"),
        (7000.0, None, "tree", "plain"),
    ],
)
def test_a_model_that_is_no_better_than_the_mean_is_said_to_be_so(error, low, family, kind):
    gain = None if low is None else Estimate(1.0, low, 2.0, 0.95, 5)
    text = describe_choice(build_tried_choice(0, (family, error), gain=gain))
    end = text.rpartition("8000")[2]
    assert {".": "plain", ":": "worse", ",": "chance"}[end[0]] == kind and (end == ".") == (kind == "plain")


def test_the_rows_of_a_response_are_settings_and_an_empty_cell_has_its_place():
    model = cast(Model, SimpleNamespace(features=(FEATURES[0], FEATURES[4]), response="log(v)"))
    table = build_table({"size (KiB)": [4.0, 5.5], "fs": ["a", "b"], "v": [1.0, 8.0]})
    for measured, columns in ((False, 3), (True, 4)):
        rows, used = rows_to_settings(model, open_data(table), measured)
        assert rows == [{"size (KiB)": 4, "fs": "a"}, {"size (KiB)": 5.5, "fs": "b"}]
        assert type(rows[0]["size (KiB)"]) is int and len(used.names) == columns
    with raises("missing-value", DataError, name="fs", row=table.place(1)):
        rows_to_settings(model, open_data(build_table({"size": [4.0, 5.0], "fs": ["a", None]})))
    assert parse_setting(FEATURES, {"fs": 4.5, "link": "2"}) == {"fs": "4.5", "link (bytes/s)": 2.0}


def test_a_model_file_that_cannot_be_read_is_named(tmp_path):
    with raises("unreadable-file", InputError, path=str(tmp_path / "gone"), reason=os.strerror(errno.ENOENT)):
        read_model(str(tmp_path / "gone"))


def test_factors_outside_a_constraint_do_not_matter():
    check = build_constraint_check(["nodes < 3"], FEATURES)
    assert check({"nodes": 2, "unknown": 9}) is None


def test_the_family_of_tests_is_over_the_factors_that_are_named(tmp_path):
    source = open_data(store(tmp_path / "s", 2))
    [response] = build_responses(source, ResponseQuery(("create",)))
    query = ResponseQuery(("create",), ("nodes", "reader"))
    seen = []
    estimate_tested_effects(source, query, [response], lambda one: (seen.append((one.title, one.names)) or one, [], []))
    assert seen[0] == (response.title, ["nodes"]) and seen[1][1] == ["nodes", "reader"]
    by_repetition = build_measured_cells(source, ResponseQuery(("create",), ("repetition",)))
    assert by_repetition.by == ("repetition",) and [dict(cell.by) for cell in by_repetition.cells] == [
        {"repetition": 0},
        {"repetition": 1},
    ]


def test_terms_of_regress_name_factors_and_are_those_of_linear_models(tmp_path):
    path = tmp_path / "t.csv"
    rows = [f"{n},{b},{35 * n**0.8 * b**0.3}" for n in (1, 2, 4, 8) for b in (1, 4, 16)]
    path.write_text("nodes,size,v\n" + "\n".join(rows) + "\n")
    learned = select_examples(open_data(path), ResponseQuery(("log(v)",), ("log(nodes)", "size")))
    assert [feature.name for feature in learned.examples.features] == ["nodes", "size"]
    assert learned.examples.terms == "log(nodes), size"
    candidates = Learning().candidates(learned.examples)
    assert {c.options["terms"] for c in candidates if "terms" in c.options} == {"log(nodes), size"}
    assert not select_examples(open_data(path), ResponseQuery(("v",), ("nodes", "size"))).examples.terms


def test_the_spread_of_another_metric_is_no_number_of_trials():
    columns = {"fs": ["a", "b", "c"], "bw mean": [9.5, 8.5, 7.5], "bw std": [4, 5, 6], "lat mean": [1.5, 2.5, 3.5]}
    source = Source(build_table({**columns, "lat std": [0.1, 0.2, 0.3]}), "t")
    assert len(represent_trials(source, ResponseQuery(("lat mean",))).table) == 3
    counted = Source(build_table({**columns, "lat std": [0.1, 0.2, 0.3], "n": [4, 5, 6]}), "t")
    assert len(represent_trials(counted, ResponseQuery(("lat mean",))).table) == 15
