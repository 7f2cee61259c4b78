"""Verdicts of sealed pairs by themselves: what one side alone runs, which metrics are shown and gated."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

pytest.importorskip("iosonde.engine._native")
from iosonde.commands.compare.against import (
    PairVerdicts,
    _explain_missing_verdict,
    _is_selected,
    _list_single_side_commands,
    find_sealed_experiments,
)
from iosonde.commands.compare.answer import _refuse_unsealed_options
from iosonde.commands.compare.gated import select_gated_pairs
from iosonde.commands.compare.sides import Sides
from iosonde.commands.plot.over_time import ClassesOverTime, _list_operations
from iosonde.core import decision
from iosonde.core.errors import InputError
from iosonde.core.pair_rule import PairRule
from iosonde.core.stored import StoredPhase
from iosonde.core.types import Estimate, Experiment
from iosonde.data.query import ResponseQuery
from iosonde.stats.estimate.pairs import PairVerdict
from messages import raises

RULE = PairRule("fs", "nfs", "afs", "write", 0.05, 0.95, 20)


def experiment(name: str = "e", **settings: Any) -> Experiment:
    return Experiment(name, "x", [], settings, [], 0, "2026-11-21T10:00:00Z")


def verdict(operation: str, metric: str = "seconds", primary: bool = True, **cell: Any) -> PairVerdict:
    ratio = Estimate(2.0, 1.5, 3.0, 0.95, 4)
    return PairVerdict(cell, (operation, metric, "s"), primary, RULE, np.ones(4), np.full(4, 2.0), ratio)


def test_commands_that_one_side_alone_runs() -> None:
    def step(command: str | None, **when: str) -> dict[str, Any]:
        return {"command": command, "when": when}

    steps = [step("a", fs="afs"), step("both", fs="nfs"), step("both", fs="afs"), step("all"), step(None, fs="nfs")]
    settings = {
        "set_up": [step("n", fs="nfs")],
        "steps": [*steps, {"command": "plain", "when": None}, step("x", v="nfs")],
    }
    assert _list_single_side_commands(experiment(**settings), RULE) == [("nfs", "n"), ("afs", "a")]
    assert _list_single_side_commands(experiment(), RULE) == []


def test_why_pairs_have_no_verdict() -> None:
    def explain(*sides: str) -> Any:
        return _explain_missing_verdict(RULE, [SimpleNamespace(side=side) for side in sides])  # type: ignore[misc]

    assert explain("nfs", "afs").code == "no-common-metric"
    incomplete = explain("nfs", "nfs")
    assert (incomplete.code, incomplete.values["n_a"], incomplete.values["n_b"]) == ("no-complete-pair", 2, 0)
    assert (explain("afs").values["n_a"], explain("afs").values["n_b"]) == (0, 1)


def test_a_response_selects_by_operation_metric_or_both() -> None:
    pair = verdict("write", "seconds")
    both = " ".join(pair.name[:2])
    assert [_is_selected(pair, response) for response in ((), ("write",), ("seconds",), (both,), ("x", "write"))] == [
        True
    ] * 5
    assert not _is_selected(pair, ("read",)) and not _is_selected(pair, ("s",))


def test_the_gate_covers_the_metrics_of_the_query_else_the_sealed_ones_else_all() -> None:
    write, read = verdict("write"), verdict("read", primary=False)
    pairs, names = [write, read], [read.name]
    assert select_gated_pairs(RULE, pairs, names, ResponseQuery(metric=("read",))) == [read]
    assert select_gated_pairs(RULE, pairs, [], ResponseQuery(metric=("read",))) == pairs
    assert select_gated_pairs(RULE, pairs, names, ResponseQuery()) == [write]
    assert select_gated_pairs(RULE, [read], names, ResponseQuery()) == [read]


def test_verdicts_repeat_a_single_primary_one_at_the_top() -> None:
    items = verdict("write", nodes=1), verdict("read", primary=False, nodes=1)
    single = PairVerdicts(items, RULE, "e", (("nfs", "a"),), ("w",))
    content = single.content()
    assert (single.primary, len(content["comparisons"]), content["verdict"]) == (items[:1], 2, items[0].verdict)
    assert (content["level"], content["group"], content["experiment"]) == (0.95, "fs", "e")
    assert (content["commands"], content["fail_if"], content["warnings"][0]) == (
        [{"side": "nfs", "command": "a"}],
        None,
        "w",
    )
    row = single.records()[0]
    assert [row[name] for name in ("operation", "metric", "unit", "primary", "a", "b", "pairs", "ratio", "nodes")] == [
        "write",
        "seconds",
        "s",
        True,
        "nfs",
        "afs",
        4,
        2.0,
        1,
    ]
    assert {claim.family for claim in single.verdicts} == {2} and not single.problem
    several = PairVerdicts((verdict("write", nodes=1), verdict("write", nodes=2)), RULE, "e")
    assert "verdict" not in several.content() and len(several.sentences) == 2
    missing = PairVerdicts((), RULE, "e", lacking="reason")
    (sentence,) = missing.sentences
    assert "reason" in sentence and missing.verdicts == ()


def test_sealed_experiments_are_those_of_the_group() -> None:
    pairs = {"factor": "fs", "a": "nfs", "b": "afs", "metric": "", "margin": 0.05, "level": 0.95, "most": 20}
    sealed, plain = experiment("sealed", **{decision.KEY: {"pairs": pairs}}), experiment("plain")
    source: Any = SimpleNamespace(all_experiments=[sealed, plain], experiments=[plain, sealed], experiment=None)
    assert find_sealed_experiments(source, None, False) == find_sealed_experiments(source, "fs", False) == [sealed]
    assert find_sealed_experiments(source, "nodes", False) == find_sealed_experiments(source, None, True) == []
    source.experiment = "plain"
    assert find_sealed_experiments(source, None, False) == []
    source.experiment, source.experiments = "none", []
    assert find_sealed_experiments(source, None, False) == [sealed]


@pytest.mark.parametrize("options", [{"margin": 0.1}, {"pair": ("n",)}, {"adjust": ()}, {"base_only": True}])
def test_options_that_a_seal_leaves_no_effect(options: dict[str, Any]) -> None:
    with raises("sealed-rule", InputError):
        _refuse_unsealed_options(Sides(**options))
    _refuse_unsealed_options(Sides(("a", "b"), "fs", ("n",)))


def test_classes_over_time_are_counted_from_the_start_of_the_phase() -> None:
    period = SimpleNamespace(begin_s=1.0, end_s=2.0, shares=(0.25, 0.75), time_shares=(0.5, 0.5))
    slow = SimpleNamespace(label="b", low_s=0.1, high_s=0.2, cause=None, reading=None)
    fast = SimpleNamespace(label="a", low_s=0.0, high_s=0.1, cause="c", reading=SimpleNamespace(words="r"))
    group = SimpleNamespace(kind="write", size=4096)
    diagnosis: Any = SimpleNamespace(drawn=SimpleNamespace(times=[period]), classes=[fast, slow], group=group)
    assert ClassesOverTime(diagnosis, 3.0).to_json() == {
        "kind": "write",
        "size": 4096,
        "classes": [
            {"label": "a", "low": 0.0, "high": 0.1, "cause": "c", "reading": "r"},
            {"label": "b", "low": 0.1, "high": 0.2, "cause": None, "reading": None},
        ],
        "over_time": [{"begin_s": 4.0, "end_s": 5.0, "shares": [0.25, 0.75], "time_shares": [0.5, 0.5]}],
    }
    phases = [StoredPhase({"index": at, "name": name}) for at, name in enumerate(("write", "read", "write"))]
    assert _list_operations(phases).split() == ["write", "and", "read"]
