"""Effects of factors whose levels were measured in turn, and settings that lack values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import iosonde
from iosonde.core.verdict import VerdictState
from iosonde.stats.overview.uneven_missing import uneven_missing
from iosonde.stats.regression.in_turn import drift_in_turn

NO_CELLS = np.zeros(20, dtype=np.intp)


def in_turn(slope: float, step: float, seed: int = 1) -> pd.DataFrame:
    """A ten times, then B ten times; values fall by ``slope`` a trial, and B is ``step`` higher."""
    places = np.arange(20)
    noise = np.random.default_rng(seed).standard_normal(20)
    return pd.DataFrame({
        "v": np.repeat(["A", "B"], 10), "start": [f"2026-11-20T10:{minute:02}:00" for minute in places],
        "y": 100 - slope * places + step * (places >= 10) + noise,
    })  # fmt: skip


def effect_of(answer) -> dict[str, object]:
    """The verdict about v."""
    return next(one for one in answer.to_dict()["verdicts"] if one["question"] == "effect" and one["subject"] == ["v"])


ASKED = {
    "summary": lambda data: iosonde.summary(data, "y", by="v"),
    "rank": lambda data: iosonde.rank(data, response="y", on="v"),
}


@pytest.mark.parametrize("command", ASKED)
def test_a_drift_that_explains_an_effect_leaves_it_open(command):
    verdict = effect_of(ASKED[command](in_turn(0.8, 0.0)))
    assert verdict["state"] == VerdictState.INCONCLUSIVE
    assert {"order", "drift"} <= set(verdict["doubts"])


@pytest.mark.parametrize("command", ASKED)
def test_a_step_beyond_the_drift_is_an_effect_with_its_doubt(command):
    verdict = effect_of(ASKED[command](in_turn(0.8, -40.0)))
    assert verdict["state"] == VerdictState.DIFFERENT
    assert "drift" in verdict["doubts"]


@pytest.mark.parametrize("command", ASKED)
def test_an_effect_without_drift_has_no_doubt(command):
    verdict = effect_of(ASKED[command](in_turn(0.0, -40.0)))
    assert (verdict["state"], verdict["doubts"]) == (VerdictState.DIFFERENT, [])


def test_rows_in_another_order_than_time_are_put_in_order():
    data = in_turn(0.8, 0.0)
    mixed = data.assign(start=data["start"].sample(frac=1, random_state=3).tolist())
    assert effect_of(ASKED["summary"](mixed))["doubts"] == []


def test_levels_that_take_turns_are_not_in_turn():
    levels = np.tile([0, 1], 10)
    assert drift_in_turn(levels, 100.0 - np.arange(20), NO_CELLS, np.arange(20.0), 0.95) is None


def test_three_levels_in_turn_are_held_one_against_the_next():
    levels = np.repeat([0, 1, 2], 10)
    noise = np.random.default_rng(2).standard_normal(30)
    drift = drift_in_turn(levels, 100 - np.arange(30) + noise, np.zeros(30, dtype=np.intp), np.arange(30.0), 0.95)
    assert drift is not None
    assert drift.explains_effect
    stepped = 100 - np.arange(30) + noise - 50 * (levels == 2)
    drift = drift_in_turn(levels, stepped, np.zeros(30, dtype=np.intp), np.arange(30.0), 0.95)
    assert drift is not None
    assert not drift.explains_effect


def lacking(a: int, b: int) -> pd.DataFrame:
    """So many of ten values of each side are missing."""
    y = np.arange(20.0) % 7 + 50
    y[:a], y[10 : 10 + b] = np.nan, np.nan
    return pd.DataFrame({"v": np.repeat(["A", "B"], 10), "y": y})


@pytest.mark.parametrize(("a", "b", "uneven"), [(0, 5, True), (5, 5, False), (0, 1, False), (6, 0, True)])
def test_a_setting_that_lacks_more_values_is_named(a, b, uneven):
    answer = iosonde.summary(lacking(a, b), "y", by="v")
    best = next(one for one in answer.to_dict()["verdicts"] if one["question"] == "best")
    assert ("missing-values" in best["doubts"]) is uneven


def test_many_settings_are_corrected_for():
    names = [f"s{place}" for place in range(20)]
    data = pd.DataFrame({"v": np.repeat(names, 4), "y": np.where(np.isin(np.arange(80), [0, 1, 40]), np.nan, 1.0)})
    table = iosonde.open(data).table
    assert uneven_missing(table, "y", ["v"]) == ""
    assert uneven_missing(table.take(np.arange(8)), "y", ["v"]) == ""


def slope_of(data):
    """The state and the doubts of what regress, and anova, say of v."""
    for answer in (iosonde.regress(data, response="y", on="v"), iosonde.anova(data, response="y", on="v")):
        verdict = answer.to_dict()["verdicts"][0]
        yield verdict["state"], set(verdict["doubts"])


def test_a_slope_that_a_drift_explains_is_open():
    for state, doubts in slope_of(in_turn(0.8, 0.0)):
        assert state == VerdictState.INCONCLUSIVE
        assert {"order", "drift"} <= doubts


def test_a_slope_without_drift_has_no_doubt():
    for state, doubts in slope_of(in_turn(0.0, -40.0)):
        assert state == VerdictState.DIFFERENT
        assert not doubts


def test_a_column_that_changes_with_the_level_does_not_hide_the_step():
    levels = np.repeat([0, 1], 10)
    drift = drift_in_turn(levels, np.arange(20.0) + 800 * levels, levels, np.arange(20.0), 0.95)
    assert drift is not None
    assert not drift.explains_effect
