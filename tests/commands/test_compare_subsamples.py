"""Rows that are ranks or iterations of one trial: averaged before sides are compared, and never cells."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.commands.compare.answer import Comparisons, Sides, compare
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem


def compared(columns: dict, **sides) -> Comparisons:
    return compare(open_data(build_table(columns)), ResponseQuery(("y",)), Sides(group="v", **sides))


def ranks_of_trials(seed: int, trials: int = 3, ranks: int = 8, between: float = 8.0, b: float = 0.0) -> dict:
    rng = np.random.default_rng(seed)
    rows = [
        (v, trial, rank, 100 + b * (v == "b") + mood + rng.normal(0, 4))
        for v in "ab"
        for trial in range(trials)
        for mood in [rng.normal(0, between)]
        for rank in range(ranks)
    ]
    return dict(zip(("v", "trial", "rank", "y"), map(list, zip(*rows, strict=True)), strict=True))


@pytest.mark.long
@pytest.mark.parametrize("columns", [("trial", "rank"), ("trial",), ("rank",)])
def test_ranks_are_no_trials(columns):
    """43 to 52 of 100 were called different, within eight cells of rank."""
    false = 0
    for seed in range(200):
        data = ranks_of_trials(seed)
        made = compared({name: data[name] for name in ("v", *columns, "y")})
        (item,) = made.items
        assert (item.comparison.a.side.n, item.comparison.b.side.n, item.adjusted) == (3, 3, ())
        false += item.state is VerdictState.DIFFERENT
    assert false / 200 <= 0.065
    assert len(made.warnings) == 1


def test_the_means_of_the_trials_are_compared():
    data = ranks_of_trials(5, b=60)
    (item,) = compared(data).items
    y = np.reshape(data["y"], (2, 3, 8)).mean(axis=2)
    assert item.comparison.a.values == pytest.approx(y[0]) and item.comparison.b.values == pytest.approx(y[1])
    assert item.state is VerdictState.DIFFERENT and item.verdict(1).doubts == ()


def test_ranks_whose_trial_nothing_names_say_nothing():
    data = ranks_of_trials(6, b=200)
    order = np.argsort(data["rank"], kind="stable")
    made = compared({name: [data[name][i] for i in order] for name in ("v", "rank", "y")})
    (item,) = made.items
    assert item.state is VerdictState.INCONCLUSIVE and item.verdict(1).doubts == ("subsamples",)
    assert_problem(item.overriding.why, "single-ranks")
    assert item.overriding.why in item.sentence


def test_a_run_has_its_iterations_and_other_settings_are_held():
    rng = np.random.default_rng(7)
    rows = [
        (v, size, run, iteration, size * 100 + rng.normal(0, 1))
        for v in "ab"
        for size in (1, 2)
        for run in range(4)
        for iteration in range(3)
    ]
    data = dict(zip(("v", "size", "run", "iteration", "y"), map(list, zip(*rows, strict=True)), strict=True))
    (item,) = compared(data).items
    assert item.adjusted == ("size",) and (item.comparison.a.side.n, item.comparison.cells) == (8, 2)


@pytest.mark.parametrize("extra", ["none", "order", "block", "start", "run"])
def test_trials_stay_trials(extra):
    """A number that no trial repeats, or one that is counted anew in each block, day or setting."""
    rng = np.random.default_rng(8)
    data = {
        "v": ["a", "b"] * 12,
        "y": (100 + rng.normal(0, 1, 24)).tolist(),
        "repetition": [i // 2 % 4 for i in range(24)],
    }
    data |= {
        "none": {"repetition": [i // 2 for i in range(24)]},
        "order": {"order": list(rng.permutation(24))},
        "block": {"block": [i // 8 for i in range(24)]},
        "run": {"run": list(rng.permutation(24))},
        "start": {"start": [f"2026-11-21T10:{i:02d}:00" for i in range(24)]},
    }[extra]
    made = compared({name: list(map(str, x)) if name == "start" else list(x) for name, x in data.items()})
    assert made.items[0].comparison.a.side.n == 12 and not made.warnings


def test_two_tables_are_averaged_alike(tmp_path):
    for name in "ab":
        data = ranks_of_trials(ord(name))
        lines = [f"{t},{r},{y}" for t, r, y in zip(data["trial"], data["rank"], data["y"], strict=True)][:24]
        (tmp_path / f"{name}.csv").write_text("trial,rank,y\n" + "\n".join(lines) + "\n")
    made = compare(open_data(tmp_path / "a.csv"), ResponseQuery(("y",)), Sides(other=open_data(tmp_path / "b.csv")))
    assert made.items[0].comparison.a.side.n == 3 and [text for text in made.warnings if "rank" in text]


def test_two_tables_of_which_one_holds_ranks_of_unknown_trials(tmp_path):
    data = ranks_of_trials(9)
    order = np.argsort(data["rank"][:24], kind="stable")
    (tmp_path / "a.csv").write_text("y\n" + "\n".join(str(500 + y) for y in data["y"][24:]) + "\n")
    lines = [f"{data['rank'][place]},{data['y'][place]}" for place in order]
    (tmp_path / "b.csv").write_text("rank,y\n" + "\n".join(lines) + "\n")
    answer = compare(open_data(tmp_path / "a.csv"), ResponseQuery(("y",)), Sides(other=open_data(tmp_path / "b.csv")))
    (claim,) = answer.verdicts
    assert claim.state is VerdictState.INCONCLUSIVE and "subsamples" in claim.doubts


def test_a_column_of_trials_that_is_held_is_not_averaged():
    data = ranks_of_trials(10, b=60)
    data["iteration"] = data.pop("rank")
    (item,) = compared(data, adjust=("iteration",)).items
    assert item.adjusted == ("iteration",) and item.comparison.a.side.n == 24


@pytest.mark.parametrize("response", [("old", "new"), ("old", "new/2")])
def test_columns_of_a_wide_table_are_averaged_too(response):
    data = ranks_of_trials(11, trials=4)
    wide = {"trial": data["trial"][:32], "rank": data["rank"][:32], "old": data["y"][:32], "new": data["y"][32:]}
    answer = compare(open_data(build_table(wide)), ResponseQuery(response), Sides())
    (item,) = answer.items
    assert item.comparison.a.values == pytest.approx(np.reshape(wide["old"], (4, 8)).mean(axis=1))
    assert item.comparison.b.side.n == 4 and [text for text in answer.warnings if "rank" in text]


def test_columns_of_ranks_of_unknown_trials_say_nothing():
    data = ranks_of_trials(12, trials=4, b=500)
    order = np.argsort(data["rank"][:32], kind="stable")
    wide = {"rank": data["rank"][:32], "old": data["y"][:32], "new": data["y"][32:]}
    wide = {name: [cells[place] for place in order] for name, cells in wide.items()}
    (claim,) = compare(open_data(build_table(wide)), ResponseQuery(("old", "new")), Sides()).verdicts
    assert claim.state is VerdictState.INCONCLUSIVE and claim.doubts == ("subsamples",)
