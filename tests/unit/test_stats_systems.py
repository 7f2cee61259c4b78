"""A metric over many systems: each row goes to its system, and every number to its place."""

from __future__ import annotations

import math

import numpy as np
import pytest

from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.stats.estimate.clusters import Clustered, Explained, estimate_explained_by_number
from iosonde.stats.overview import systems
from iosonde.stats.overview.systems import BySetting, CorpusPhase, Placed, StandingOut, Systems, TwoScores

NAN = float("nan")
NODES = [4, 4, 8, 16, 32, 64, 4, 4]
PER_NODE = [2.0, 8.0, 4.0, 16.0, 1.0, 64.0]
KIND = ("easy_write", "bandwidth_last_done")
EVERY = np.arange(8)
SCORES = ("bandwidth", "rate")


def corpus(**changes: list) -> Systems:
    """Five systems, the first with two runs; two more runs have no usable value."""
    columns = {
        "operation": [KIND[0]] * 8,
        "metric": [KIND[1]] * 8,
        "unit": ["bytes/s"] * 8,
        "value": [8.0, 32.0, 32.0, 256.0, 32.0, 4096.0, 0.0, NAN],
        "run": [f"r{place}" for place in range(8)],
        "institution": ["i1", "i1", "i2", "i2", "i3", "i3", "i3", "i3"],
        "system": ["s", "s", "s", "t", None, "v", "v", "v"],
        "nodes": NODES,
        "api": ["P", "P", "P", "P", "M", "M", "M", "M"],
        "year": [2019, 2020, 2021, 2022, 2023, 2024, 2024, 2024],
    }
    table = build_table(columns | changes)
    return Systems(table, ["institution", "system"], ["api", "nodes", "year"], "nodes", 0.9)


def test_rows_belong_to_the_system_of_their_institution():
    made = corpus()
    assert made.of.tolist() == [0, 0, 1, 2, 3, 4, 4, 4]
    assert made.names.tolist() == ["s, i1", "s, i1", "s, i2", "t, i2", "?, i3", "v, i3", "v, i3", "v, i3"]
    assert made.size.tolist() == NODES and made.systems(np.array([0, 1, 3])) == 2
    assert Systems(made.rows, ["system"], [], "", 0.9).size.tolist() == [1.0] * 8


def test_every_number_of_a_metric_over_systems():
    made = corpus().phase(KIND, EVERY, None)
    clustered = Clustered(np.array(PER_NODE), np.array([0, 0, 1, 2, 3, 4]))
    assert (made.operation, made.metric, made.unit, made.per) == (*KIND, "bytes/s", "node")
    assert (made.name, made.title) == ("easy_write", "easy_write per node")
    assert (made.values, made.systems, made.without, made.placed) == (tuple(PER_NODE), 5, 2, None)
    assert made.names == ("s, i1", "s, i1", "s, i2", "t, i2", "?, i3", "v, i3")
    quantiles = {0.1: 1.0, 0.25: 2.0, 0.5: 4.0, 0.75: 16.0, 0.9: 64.0}
    assert {share: estimate.value for share, estimate in made.quantiles.items()} == quantiles
    assert made.quantiles[0.5] == clustered.quantile(0.5, 0.9)
    assert made.mean == clustered.geometric_mean(0.9)
    assert made.mean.value == pytest.approx((4 * 4 * 16 * 1 * 64) ** 0.2) and made.standing_out == ()
    assert list(made.explained) == ["api", "nodes", "year"]
    names = ["s, i1", "s, i2", "t, i2", "?, i3", "v, i3"]
    doublings = np.log2(NODES[:6])
    assert made.explained["nodes"] == estimate_explained_by_number(clustered, doublings, 0.9, names)
    years = np.arange(2019.0, 2025)
    assert made.explained["year"] == estimate_explained_by_number(clustered, years, 0.9, names)
    assert made.explained["year"].far == "s, i1"
    assert (made.explained["api"].levels, made.explained["api"].share.value) == (1, None)
    assert made.settings["api"] == BySetting(
        ("P", "P", "P", "P", "M", "M"),
        {"P": Clustered(clustered.values[:4], np.array([0, 0, 1, 2])).quantile(0.5, 0.9)},
    )
    assert made.settings["nodes"] == BySetting((4, 4, 8, 16, 32, 64), {}, True)
    assert made.settings["year"] == BySetting((2019, 2020, 2021, 2022, 2023, 2024), {}, False)
    assert made.steps() == [
        (1.0, pytest.approx(0.2), "?, i3"),
        (2.0, pytest.approx(0.3), "s, i1"),
        (4.0, pytest.approx(0.5), "s, i2"),
        (8.0, pytest.approx(0.6), "s, i1"),
        (16.0, pytest.approx(0.8), "t, i2"),
        (64.0, pytest.approx(1.0), "v, i3"),
    ]


def test_the_flat_form_of_a_metric_has_all_its_numbers():
    known = Estimate(0.5, 0.25, 0.75, 0.95, 4)
    made = CorpusPhase(
        "score",
        "total",
        "",
        "",
        (1.0, 3.0),
        ("a", "b"),
        2,
        {0.5: known},
        known,
        {"x": Explained(known, known, 3, 0.7, known, "b"), "y": Explained(known, None, 4)},
        (StandingOut("b", 3.0),),
        {},
        Placed(2.0, known),
        5,
    )
    expected = {
        "operation": "score",
        "metric": "total",
        "unit": "",
        "per": None,
        "runs": 2,
        "systems": 2,
        "left_out": 5,
        "quantiles": [{"share": 0.5, **known.to_json()}],
        "geometric_mean": known.to_json(),
        "ecdf": [[1.0, 0.5], [3.0, 1.0]],
        "explained": [
            {
                "by": "x",
                "levels": 3,
                "share": known.to_json(),
                "times_per_unit": known.to_json(),
                "leverage": 0.7,
                "leverage_of": "b",
                "without_far": known.to_json(),
            },
            {
                "by": "y",
                "levels": 4,
                "share": known.to_json(),
                "times_per_unit": None,
                "leverage": None,
                "leverage_of": None,
                "without_far": None,
            },
        ],
        "standing_out": [{"system": "b", "times": 3.0}],
        "placed": {"value": 2.0, "below": known.to_json()},
    }
    assert made.to_json() == expected
    assert (made.name, made.title) == ("score total", "score total")


def test_only_rates_are_divided_and_a_metric_without_a_value_is_none():
    seconds = corpus(unit=["s"] * 8).phase(KIND, EVERY, None)
    assert (seconds.per, seconds.values[:3], seconds.title) == ("", (8.0, 32.0, 32.0), "easy_write")
    assert corpus(unit=["operations/s"] * 8).phase(KIND, EVERY, None).values == tuple(PER_NODE)
    assert corpus().phase(KIND, np.array([6, 7]), None) is None
    one = corpus().phase(KIND, np.array([5, 6]), None)
    assert (one.values, one.names, one.without) == ((64.0,), ("v, i3",), 1)


def test_a_covariate_that_no_run_has_explains_nothing():
    made = corpus(api=[None] * 8, year=[NAN, 2020, *[NAN] * 6]).phase(KIND, EVERY, None)
    assert made.explained["api"].share.warnings[0].code == "missing-fact"
    assert made.settings["api"] == BySetting((None,) * 6, {})
    assert made.settings["year"] == BySetting((None, 2020, None, None, None, None), {})
    assert made.explained["year"].share.n == 1


def test_levels_of_a_number_with_many_values_have_no_medians():
    def medians_of(years: list[int]) -> dict:
        """Three systems in each year."""
        names = [f"s{place}" for place in range(3 * len(years))]
        columns = {"unit": ["s"] * len(names), "value": [1.0] * len(names), "system": names, "year": years * 3}
        made = Systems(build_table(columns), ["system"], ["year"], "", 0.9).phase(KIND, np.arange(len(names)), None)
        return made.settings["year"].medians

    assert list(medians_of(list(range(2011, 2017)))) == list(range(2011, 2017))
    assert medians_of(list(range(2011, 2018))) == {}


@pytest.mark.parametrize(("x", "far"), [([1.0, 4.0], True), ([1.0, 3.9], False), ([0.0, 8.0], False)])
def test_logs_are_used_of_a_fourfold_range_above_0(x, far):
    values = np.array(x)
    assert systems._is_far(values) is far


def test_a_system_far_from_all_others_stands_out_by_its_ratio_to_their_median():
    values = [*np.exp(np.linspace(-0.5, 0.5, 11)).tolist(), 1000.0]
    names = [f"s{place:02}" for place in range(12)]
    table = build_table({"unit": ["s"] * 12, "value": values, "system": names})
    (far,) = Systems(table, ["system"], [], "", 0.9).phase(KIND, np.arange(12), None).standing_out
    assert far == StandingOut(
        "s11", pytest.approx(1000 / math.exp(0.05))
    )  # the median of the logs is between 0 and 0.1


@pytest.mark.parametrize(
    ("own", "value"),
    [
        ({"value": [2.0, 32.0, 5.0], "nodes": [1, 4, 1]}, 4.0),
        ({"value": [0.0, 32.0, 5.0], "nodes": [1, 4, 1]}, 8.0),
        ({"value": [0.0, NAN, 5.0], "nodes": [1, 4, 1]}, None),
        ({"value": [2.0, 32.0, 5.0]}, None),
    ],
)
def test_an_own_value_is_placed_by_its_geometric_mean_per_node(own, value):
    names = {"operation": [KIND[0], KIND[0], "other"], "metric": [KIND[1], KIND[1], KIND[1]]}
    placed = corpus().phase(KIND, EVERY, build_table(names | own)).placed
    clustered = Clustered(np.array(PER_NODE), np.array([0, 0, 1, 2, 3, 4]))
    if value is None:
        assert placed is None
    else:
        assert placed == Placed(pytest.approx(value), clustered.estimate_share_below(placed.value, 0.9))


def test_an_own_value_of_another_metric_is_not_placed():
    own = {"operation": [KIND[0], "other"], "metric": ["rate", KIND[1]], "value": [1.0, 2.0], "nodes": [1, 1]}
    assert corpus().phase(KIND, EVERY, build_table(own)).placed is None


def test_both_scores_of_each_run_are_linked():
    runs = {"d": (8.0, 2.0), "a": (2.0, 4.0), "b": (4.0, 8.0), "c": (0.0, 9.0), "e": (16.0, 1.0)}
    rows = [
        (run, "score", metric, value) for run, both in runs.items() for metric, value in zip(SCORES, both, strict=True)
    ]
    rows += [("a", "other", "rate", 7.0), ("f", "score", "rate", 7.0)]
    columns = dict(zip(("run", "operation", "metric", "value"), map(list, zip(*rows, strict=True)), strict=True))
    table = build_table(columns | {"system": [{"e": "d"}.get(run, run) for run, *_ in rows]})
    explained, scores = Systems(table, ["system"], [], "", 0.9).linked()
    assert scores == (
        TwoScores("a", 2.0, 4.0),
        TwoScores("b", 4.0, 8.0),
        TwoScores("d", 8.0, 2.0),
        TwoScores("d", 16.0, 1.0),
    )
    clustered = Clustered(np.array([4.0, 8.0, 2.0, 1.0]), np.array([0, 1, 2, 2]))
    bandwidth = np.log([2.0, 4.0, 8.0, 16.0])
    line = estimate_explained_by_number(clustered, bandwidth, 0.9)
    assert (explained.share.value, explained.share.n) == (pytest.approx(line.share.value), 3)
    assert explained.slope.value == pytest.approx(line.slope.value)
    nothing = Systems(table.take(np.array([1])), ["system"], [], "", 0.9)
    assert nothing.linked() == (None, ())
