"""Rows that are parts of one trial: ranks, or a tool's own iterations."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.core.table import Table, build_table
from iosonde.data.subsamples import average_trials

RNG = np.random.default_rng


def ranks(seed: int = 1, trials: int = 3, n: int = 8, order: str = "trial") -> Table:
    noise, rows = RNG(seed), []
    for side in "ab":
        for trial in range(trials):
            mean = 100 + 8 * noise.standard_normal()
            rows += [(side, trial, rank, float(mean + 4 * noise.standard_normal())) for rank in range(n)]
    if order == "rank":
        rows.sort(key=lambda row: (row[2], row[0]))
    names = ("side", "trial", "rank", "y")
    return build_table({name: [row[place] for row in rows] for place, name in enumerate(names)})


def without(table: Table, *names: str) -> Table:
    return Table({name: column for name, column in table.columns.items() if name not in names})


@pytest.mark.parametrize("gone", [(), ("trial",), ("rank",)])
def test_the_parts_of_a_trial_are_averaged(gone):
    whole = ranks()
    made = average_trials(without(whole, *gone), ["y"])
    expected = whole.numbers("y").reshape(6, 8).mean(axis=1)
    assert made.rows.numbers("y") == pytest.approx(expected) and not made.are_parts
    assert made.note.code == "averaged-parts"


def test_ranks_of_unknown_trials_are_said():
    made = average_trials(without(ranks(order="rank"), "trial"), ["y"])
    assert made.are_parts and len(made.rows) == 48 and made.note.code == "missing-trial-column"


def test_ranks_that_are_asked_about_are_kept_apart():
    made = average_trials(ranks(), ["y"], ["rank"])
    assert len(made.rows) == 48 and not made.note


def test_repetitions_of_each_setting_are_trials():
    rows = {"size": [4, 4, 4, 64, 64, 64] * 2, "fs": ["a"] * 6 + ["b"] * 6, "repetition": [1, 2, 3] * 4}
    made = average_trials(build_table({**rows, "y": RNG(2).random(12).tolist()}), ["y"], ["fs"])
    assert len(made.rows) == 12 and not made.note


def test_iterations_of_runs_are_averaged_by_run():
    rows = {"fs": ["a"] * 6 + ["b"] * 6, "run": [1, 1, 2, 2, 3, 3] * 2, "iteration": [1, 2] * 6}
    values = RNG(3).random(12)
    made = average_trials(build_table({**rows, "y": values.tolist()}), ["y"])
    assert made.rows.numbers("y") == pytest.approx(values.reshape(6, 2).mean(axis=1))


def test_a_run_that_is_the_same_everywhere_tells_no_trials_apart():
    rows = {"fs": ["a", "b"] * 6, "run": [1] * 12}
    assert len(average_trials(build_table({**rows, "y": RNG(4).random(12).tolist()}), ["y"]).rows) == 12


def test_missing_values_are_left_out_of_the_mean():
    table = ranks(n=2)
    column = table.columns["y"]
    values = column.values.copy()
    values[:3] = np.nan
    made = average_trials(Table({**table.columns, "y": type(column)("y", values)}), ["y"]).rows.numbers("y")
    assert np.isnan(made[0]) and made[1] == values[3] and not np.isnan(made[2:]).any()


PAIRS = [1.5, 3.5, 5.5, 7.5, 2.5, 4.5, 6.5, 8.5]
DATES = [f"2026-11-{day:02}" for day in range(1, 9)]


@pytest.mark.parametrize(
    ("columns", "means", "parts"),
    [
        ({"run": [1, 1, 2, 2] * 2, "fs": ["a"] * 4 + ["b"] * 4}, [2.5, 6.5, 3.5, 7.5], "rows"),
        ({"run": [1, 1, 2, 2] * 2, "fs": ["a"] * 4 + ["b"] * 4, "when": DATES}, PAIRS, None),  # each has its date
        ({"run": [1, 1, 2, 2] * 2, "fs": ["a"] * 4 + ["b"] * 4, "rank": [0, 1] * 4}, [2.5, 6.5, 3.5, 7.5], "ranks"),
        (
            {"trial": [1, 1, 2, 2] * 2, "block": [1] * 4 + [2] * 4, "rank": [0, 1] * 4},
            [2.5, 6.5, 3.5, 7.5],  # the numbers begin anew in each block
            "ranks",
        ),
        ({"trial": [1, 1, 2, 2] * 2, "block": [1] * 4 + [2] * 4}, PAIRS, None),
        ({"run": [1] * 4 + [2] * 4, "iteration": [1, 2, 3, 4] * 2}, [4.5, 5.5], "rows"),  # the outer one decides
        ({"iteration": [1, 2, 3, 4] * 2, "run": [1] * 4 + [2] * 4}, [4.5, 5.5], "rows"),
        ({"trial": [1, 2] * 4, "rank": [0, 0, 1, 1] * 2, "fs": ["a"] * 4 + ["b"] * 4}, [3.5, 5.5, 4.5, 6.5], "ranks"),
        ({"rank": [0, 1, 1, 0] * 2, "fs": ["a"] * 4 + ["b"] * 4}, [2.5, 6.5, 3.5, 7.5], "ranks"),  # by turns
        ({"run": list(range(8))}, PAIRS, None),
        ({"fs": ["a", "b"] * 4}, PAIRS, None),
    ],
)
def test_trials_are_told_apart_by_their_numbers_or_turns(columns, means, parts):
    made = average_trials(build_table({**columns, "y": PAIRS}), ["y"])
    assert (made.rows.numbers("y").tolist(), made.are_parts) == (means, False)
    assert made.note == "" if parts is None else made.note.values == {"parts": parts}


def test_each_response_is_averaged_and_other_columns_are_those_of_the_first_row():
    data = {"rank": [1, 0, 0, 1], "trial": [1, 1, 2, 2], "y": [1.5, 2.5, 4.5, 5.5], "z": [10.25, 20.25, 30.25, 50.25]}
    made = average_trials(build_table(data), ["y", "z"]).rows
    assert {name: made.numbers(name).tolist() for name in data} == {
        "rank": [1, 0],
        "trial": [1, 2],
        "y": [2.0, 5.0],
        "z": [15.25, 40.25],
    }
