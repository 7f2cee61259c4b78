"""The best setting at each number of nodes: by what one node gets, with those that are not told apart from it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from iosonde.core.table import build_table
from iosonde.model.scaling.best import select_best_settings
from iosonde.model.scaling.series import Series, build_series

TRIALS = {  # setting → nodes → trials
    "wide": {1: [9.0, 9.1, 8.9], 8: [79.0, 80.0, 81.0]},
    "narrow": {1: [10.0, 10.1, 9.9], 8: [40.0, 41.0, 39.0]},
    "odd": {1: [9.95, 10.05, 9.9]},
}


def series(trials: dict) -> list[Series]:
    rows = [(fs, n, rate) for fs, sizes in trials.items() for n, rates in sizes.items() for rate in rates]
    names = ("setting", "nodes", "rate_MiB/s")
    table = build_table({name: [row[place] for row in rows] for place, name in enumerate(names)})
    return build_series(table, names[2], "nodes", ["setting"])[0]


def test_each_number_of_nodes_has_its_best_and_what_is_like_it():
    few, many = select_best_settings(series(TRIALS), 0.95)
    assert (few.size, few.by, few.n_settings, few.alike) == (1, {"setting": "narrow"}, 3, 1)
    assert few.each.value == pytest.approx(10) and few.each.n == 3 and few.each.low < 10 < few.each.high
    assert (many.size, many.by, many.n_settings, many.alike) == (8, {"setting": "wide"}, 2, 0)
    assert many.each.value == pytest.approx(10), "80 of 8 nodes"
    assert many.to_json()["each_low"] == many.each.low and many.to_json()["not_told_apart"] == 0


def test_single_trials_tell_nothing_apart_and_one_setting_has_no_best():
    alone = {name: {n: rates[:1] for n, rates in sizes.items()} for name, sizes in TRIALS.items()}
    (few, _) = select_best_settings(series(alone), 0.95)
    assert few.alike is None and few.each.low is None
    assert select_best_settings(series({"wide": TRIALS["wide"]}), 0.95) == []


def test_a_best_setting_in_json():
    (few, _) = select_best_settings([replace(curve, unit="MiB/s") for curve in series(TRIALS)], 0.95)
    assert few.to_json() == {
        "response": few.response,
        "unit": "MiB/s",
        "size": 1.0,
        "by": {"setting": "narrow"},
        "each": few.each.value,
        "each_low": few.each.low,
        "each_high": few.each.high,
        "n": 3,
        "settings": 3,
        "not_told_apart": 1,
    }


def test_each_response_has_its_own_best():
    first, second = series(TRIALS), series({"wide": {1: [30.0, 30.1]}, "narrow": {1: [20.0, 20.1]}})
    other = [replace(curve, response="other") for curve in second]
    found = select_best_settings([*first, *other], 0.95)
    assert [(best.response, best.size, best.by["setting"]) for best in found][2:] == [("other", 1, "wide")]
    assert len(found) == 3 and found[2].alike == 0
