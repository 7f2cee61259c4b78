"""A regression that nobody repaired stays open; what its two sides are; the verdict of each series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import history_sample
from iosonde.commands.watch.answer import Watch, Watching, watch
from iosonde.commands.watch.compare import compare_sides
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data

pytestmark = pytest.mark.slow  # stores of 100 nights are written
NIGHTS = 100


def history(tmp_path, *steps: tuple[int, float], watching: Watching | None = None) -> Watch:
    """Nights with noise of 1 %; from each of the nights on the level is so many times the first one."""
    values = 1e8 * (1 + 0.01 * np.random.default_rng(5).standard_normal(NIGHTS))
    for (night, level), end in zip(steps, [*(night for night, _ in steps[1:]), NIGHTS], strict=True):
        values[night:end] *= level
    store = history_sample.write_values(tmp_path / "s", values)
    return watch(open_data(store), ResponseQuery(), watching or Watching())


def test_an_old_regression_is_open_until_its_level_is_back(tmp_path):
    made = history(tmp_path, (50, 0.93))
    (change,) = made.changes
    assert change.open and not change.new and made.problem and not made.regressions
    assert made.sentence.startswith("1 ") and "since 2026-08-" in made.sentence
    assert made.verdicts[0].claim == "open" and made.verdicts[0].direction is Direction.DOWN
    assert made.to_dict()["changes"][0]["open"] and made.to_dict()["verdicts"][0]["state"] == "different"


@pytest.mark.parametrize(("level", "is_open"), [(1.0, False), (0.99, False), (0.965, True), (1.2, False)])
def test_it_is_back_within_what_counts(tmp_path, level, is_open):
    made = history(tmp_path, (40, 0.90), (70, level))
    assert [change.open for change in made.changes] == [False, is_open]
    assert made.problem is is_open and made.sentence.startswith("No ") is not is_open
    assert made.verdicts[1].claim == ("open" if is_open else "")


def test_a_new_regression_names_the_older_one(tmp_path):
    made = history(tmp_path, (40, 0.90), (90, 0.75))
    assert [change.new for change in made.changes] == [True, False] and "1 older" in made.sentence


def test_since_judges_later_changes_alone(tmp_path):
    made = history(tmp_path, (50, 0.93), watching=replace(Watching(), since="2026-09-15"))
    assert made.changes[0].open and not made.problem and "since 2026-09-15" in made.sentence
    assert made.sentence.startswith("No ")


def test_better_is_never_open_and_no_change_is_inconclusive(tmp_path):
    better = history(tmp_path / "a", (50, 1.1))
    assert not better.problem and not better.changes[0].open and better.verdicts[0].direction is Direction.UP
    quiet = history(tmp_path / "b", (0, 1.0))
    assert [verdict.state for verdict in quiet.verdicts] == [VerdictState.INCONCLUSIVE] and not quiet.problem


def test_a_change_is_compared_by_all_points_next_to_it(tmp_path):
    made = history(tmp_path, (30, 0.90), (70, 1.0))
    (repair, regression) = (compare_sides(change) for change in made.changes)
    (one,) = regression.items
    assert (one.comparison.a.side.n, one.comparison.b.side.n) == (30, 40)
    assert one.comparison.ratio.low < 0.90 < one.comparison.ratio.high < 0.92
    assert (repair.items[0].comparison.a.side.n, repair.items[0].comparison.b.side.n) == (40, 30)
