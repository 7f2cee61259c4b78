"""What the answers of several commands share: verdicts qualified, settings read, models named, numbers for JSON."""

from __future__ import annotations

import math
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from iosonde.answers.answer import Answer, build_level_columns, join_sentences, replace_nonfinite
from iosonde.answers.besides import Besides, add_response_drifts
from iosonde.answers.caveats import (
    format_some_texts,
    list_caveats,
    select_option_warnings,
    warn_confounded_cells,
    warn_logarithms,
)
from iosonde.answers.cluster import read_cluster, read_system
from iosonde.answers.constraints import build_constraint_check
from iosonde.answers.learned import build_candidates
from iosonde.answers.model_file import build_example_setting, complete_factor_name, parse_setting, rows_to_settings
from iosonde.answers.verdict import build_model_verdict
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.core.verdict import Direction, Verdict, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import choose_response
from iosonde.data.source import open_data
from iosonde.model.fit.choose import Choice
from iosonde.model.fit.features import Feature
from iosonde.model.fit.fitted import Model
from iosonde.stats.regression.held import AdjustedTerm
from iosonde.stats.regression.in_turn import DriftInTurn
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


VERDICT = Verdict("effect", "v", ("fs",), DIFFERENT, Direction.UP, doubts=("few-trials",))


def build_term(p: float | None, adjusted: float | None, **more) -> AdjustedTerm:
    return AdjustedTerm("fs", ("fs[nfs]",), p, adjusted, **more)


@pytest.mark.parametrize(
    ("besides", "state", "direction", "doubts"),
    [
        (Besides(), DIFFERENT, Direction.UP, ()),
        (Besides(("size",)), DIFFERENT, Direction.UP, ("varies-besides",)),
        (Besides(are_parts=True), INCONCLUSIVE, None, ("subsamples",)),
        (Besides(twins=(("host", "fs"),)), NOT_SEPARABLE, Direction.UP, ("goes-together",)),
        (Besides(twins=(("host", "mode"),)), DIFFERENT, Direction.UP, ()),
        (
            Besides(("size",), terms=(build_term(0.01, None, aliased=True),)),
            NOT_SEPARABLE,
            Direction.UP,
            ("varies-besides", "goes-together"),
        ),
        (Besides(missing="some"), DIFFERENT, Direction.UP, ("missing-values",)),
        (Besides(drifts=(("fs", DriftInTurn(0.1, 0.01, False)),)), DIFFERENT, Direction.UP, ("order", "drift")),
        (Besides(drifts=(("fs", DriftInTurn(0.1, 0.01, True)),)), INCONCLUSIVE, None, ("order", "drift")),
        (Besides(drifts=(("mode", DriftInTurn(0.1, 0.01, True)),)), DIFFERENT, Direction.UP, ()),
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
    judged = besides.judge(VERDICT)
    assert (judged.state, judged.direction, judged.doubts) == (state, direction, ("few-trials", *doubts))
    assert besides.taken([VERDICT]) == (frozenset() if state is DIFFERENT else {"fs"})


def test_a_verdict_is_qualified_by_its_own_columns_and_their_levels():
    turned = Besides(("size",), terms=(build_term(0.01, 0.02, turns=True),))
    assert turned.judge(VERDICT, ["mode"]).state is DIFFERENT
    assert turned.judge(VERDICT, ["fs[nfs]"]).state is INCONCLUSIVE
    twin = Besides(twins=(("host", "fs"),))
    assert twin.judge(VERDICT, ["fs[nfs]"]).state is NOT_SEPARABLE and twin.judge(VERDICT, ["fsx"]).state is DIFFERENT
    equal = replace(VERDICT, state=VerdictState.EQUAL)
    assert Besides(are_parts=True).judge(equal).state is VerdictState.EQUAL
    assert turned.taken([equal]) == frozenset()


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
    assumed = Message("assumed-factors", "{factors} {excluded}", factors="fs", excluded="host")
    warnings = select_option_warnings(["plain", assumed], "by")
    assert codes(warnings) == ["", "assumed-factors"]
    assert has_message(warnings, "assumed-factors", factors="fs", excluded="host")
    response = build_response(warnings=["plain"], within_run=True, confounded=[("a", "b")])
    caveats = list_caveats(response)
    assert codes(caveats) == ["", "within-run", "confounded"] and has_message(
        caveats, "confounded", factor="a", twin="b"
    )
    assert list_caveats(build_response()) == []
    rows = build_table({"nodes": [1, 1, 2, 2], "ranks": [1, 1, 2, 2], "fs": list("aabb")})
    cells = warn_confounded_cells(
        build_response(rows=rows, confounded=[("nodes", "ranks"), ("ranks", "fs"), ("fs", "nodes")])
    )
    assert codes(cells) == ["confounded-in-cells"] and has_message(
        cells, "confounded-in-cells", factor="fs", twin="nodes"
    )


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
    verdict = build_model_verdict(build_choice(n, family, estimate), "v", ("fs",))
    assert verdict == Verdict("model", "v", ("fs",), state, None, family, estimate)


def test_numbers_in_lists_and_tables_are_finite():
    assert replace_nonfinite([np.float64("nan"), (1, [math.inf])]) == [None, [1, [None]]]


@pytest.mark.parametrize(("drift", "doubts"), [(1.0, {"order", "drift"}), (0.0, set())])
def test_a_drift_inside_levels_that_were_measured_in_turn_is_a_doubt(drift, doubts):
    """Twelve trials of A, then twelve of B; all get slower with time."""
    noise = np.random.default_rng(5).normal(0, 0.3, 24)
    speeds = (100.0 - drift * np.arange(24) + noise).tolist()
    rows = build_table({"fs": ["A"] * 12 + ["B"] * 12, "v": speeds})
    response = choose_response(open_data(rows), ResponseQuery(("v",), ("fs",)))
    besides = add_response_drifts(Besides(), response, ["fs"])
    assert {column for column, _ in besides.drifts} == ({"fs"} if doubts else set())
    judged = besides.judge(replace(VERDICT, doubts=()))
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
