"""Rankings where the design is no full factorial: fractions, Latin hypercubes, constraints; run once or more."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest

from constrained_design import LINE, SIGMA, cells
from constrained_design import NAMES as LAYOUT
from iosonde.commands.rank.answer import rank
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.sensitivity.ranking import Ranking
from iosonde.store import Store
from messages import assert_problem, codes, with_code

HALF = np.array([(a, b, c, a ^ b ^ c) for a, b, c in itertools.product((0, 1), repeat=3)])
NAMES = ("cache", "hints", "stripe", "sieve")


def store_of(path, names: Sequence[str], settings: np.ndarray, rates: Sequence[float]) -> str:
    """One trial a row of ``settings``; every column is a declared factor."""
    rows = [dict(zip(names, row.tolist(), strict=True)) for row in settings]
    factors = [
        Factor(name, "", tuple(np.unique(column).tolist())) for name, column in zip(names, settings.T, strict=True)
    ]
    store = Store.create(path)
    store.save_experiment(
        Experiment(
            "e", "e", factors, {}, [Trial(n, row, 0, 0, n) for n, row in enumerate(rows)], 1, "2026-11-21T10:00:00Z"
        )
    )
    store.append_many(
        [
            Run(
                f"e-{n:04}",
                "e",
                "iosonde run",
                f"2026-11-21T10:{n // 60:02}:{n % 60:02}Z",
                1.0,
                {**row, "repetition": 0},
                [Observation("write", "bandwidth_last_done", float(rate), "bytes/s")],
            )
            for n, (row, rate) in enumerate(zip(rows, rates, strict=True))
        ]
    )
    return str(path)


def ranking_of(path: str, on: tuple[str, ...] = ()) -> Ranking:
    (made,) = rank(open_data(path), ResponseQuery(("write",), on)).rankings
    return made


@pytest.mark.parametrize("on", [(), NAMES])
@pytest.mark.parametrize("repeats", [3, 1])
def test_the_only_factor_of_a_half_fraction_that_acts_is_first(tmp_path, repeats, on):
    """The fourth factor is the product of the others: it was dropped, and they were blamed."""
    x = np.repeat(HALF, repeats, axis=0)
    y = 1e8 + 2e7 * x[:, 3] + 1e6 * np.random.default_rng(0).normal(size=len(x))
    made = ranking_of(store_of(tmp_path / "s", NAMES, x, y), on)
    assert {factor.name for factor in made.factors} == set(NAMES)
    assert made.order == (("sieve",),) and made.sentence.startswith("sieve ")
    assert made.factors[0].over_all.s1.value > 0.98 and made.with_dummies().factors[0].p < 1e-3
    assert all(factor.over_all.s1.value < 0.02 for factor in made.factors[1:])
    assert made.noise_from == ("repeats" if repeats > 1 else "lack_of_fit")


def test_few_settings_and_repeats_allow_too_few_shuffles_and_the_f_test_speaks(tmp_path):
    """Two by two with two repeats: the least p of its 36 orders is 0.056, whatever the factor does."""
    x = np.repeat(list(itertools.product((0, 1), repeat=2)), 2, axis=0)
    y = 1e8 + 2e7 * x[:, 0] + 1e6 * np.random.default_rng(0).normal(size=len(x))
    made = ranking_of(store_of(tmp_path / "s", ("cache", "hints"), x, y))
    p = {factor.name: factor.p for factor in made.with_dummies().factors}
    assert p["cache"] < 1e-4 and p["hints"] > 0.05
    assert made.order[0] == ("cache",) and made.sentence.startswith("cache ")


def test_the_p_of_a_fraction_is_that_of_anova(tmp_path):
    x = np.repeat(HALF, 3, axis=0)
    y = 1e8 + 2e7 * x[:, 3] + 1e6 * x[:, 1] + 1e6 * np.random.default_rng(0).normal(size=len(x))
    path = store_of(tmp_path / "s", NAMES, x, y)
    made = {factor.name: factor.p for factor in ranking_of(path).with_dummies().factors}
    f = (y[x[:, 3] == 1].mean() - y[x[:, 3] == 0].mean()) ** 2 * 6
    groups = y.reshape(8, 3)
    noise = ((groups - groups.mean(1, keepdims=True)) ** 2).sum() / 16
    from scipy.stats import f as of_f

    assert made["sieve"] == pytest.approx(of_f.sf(f / noise, 1, 16), rel=1e-6) and made["sieve"] < 1e-15


@pytest.mark.parametrize("repeats", [1, 2])
@pytest.mark.parametrize("n", [6, 10, 24])
def test_the_factors_of_a_latin_hypercube_are_ranked(tmp_path, n, repeats):
    """Each level of one goes with one of every other: all but the first were dropped."""
    rng = np.random.default_rng(n)
    x = np.repeat(np.column_stack([rng.permutation(n) for _ in range(3)]), repeats, axis=0)
    y = 1e8 + 2e7 * x[:, 2] + 1e6 * rng.normal(size=len(x))
    made = ranking_of(store_of(tmp_path / "s", ("a", "b", "c"), x, y))
    assert {factor.name for factor in made.factors} == {"a", "b", "c"} and made.order == (("c",),)
    assert not {"confounded", "confounded-in-cells"} & set(codes(made.warnings))
    if repeats == 1:
        assert made.noise is None and any("noise" in text for text in made.warnings)


def test_numbers_that_rise_together_stay_one_factor(tmp_path):
    x = np.column_stack([np.arange(8), 4 * np.arange(8) ** 2, np.tile([0, 1], 4)])
    made = ranking_of(store_of(tmp_path / "s", ("a", "b", "c"), x, 1e8 + 1e6 * x[:, 0] ** 1.5))
    assert {factor.name for factor in made.factors} == {"a", "c"}
    assert_problem(with_code(made.warnings, "confounded"), "confounded", factor="b", twin="a")


@pytest.mark.parametrize("repeats", [2, 1])
def test_a_constraint_does_not_put_striping_above_servers(tmp_path, repeats):
    x = np.repeat(cells(), repeats, axis=0)
    y = 1e6 * (1000 + x @ LINE + SIGMA * np.random.default_rng(2).normal(size=len(x)))
    made = ranking_of(store_of(tmp_path / "s", LAYOUT, x, y))
    place = {name: at for at, group in enumerate(made.order) for name in group}
    assert place["servers"] <= place.get("striping", 9) and made.by == "adjusted"
    names = [factor.name for factor in made.factors]
    assert names.index("servers") < names.index("striping")
    shares = {factor.name: factor for factor in made.factors}
    assert shares["striping"].over_all.s1.value > shares["servers"].over_all.s1.value
    assert shares["servers"].over_all.importance > shares["striping"].over_all.importance
    assert "servers (" in made.sentence
    assert any({"striping", "replication"} <= set(text.split()) for text in made.warnings)


def test_blocks_of_a_fraction_give_the_share_to_the_block_of_its_factor(tmp_path):
    from iosonde.commands.rank.answer import Ranked

    x = np.repeat(HALF, 3, axis=0)
    y = 1e8 + 2e7 * x[:, 3] + 5e6 * x[:, 0] + 1e6 * np.random.default_rng(0).normal(size=len(x))
    path = store_of(tmp_path / "s", NAMES, x, y)
    how = Ranked(blocks={"hardware": ["cache", "hints"], "settings": ["stripe", "sieve"]})
    (made,) = rank(open_data(path), ResponseQuery(("write",)), how).rankings
    hardware, settings = made.blocks.blocks
    assert 0.04 < hardware.added.share.value < 0.08 and hardware.order == (("cache",),)
    assert settings.added.share.value > 0.9 and settings.order == (("sieve",),)
    importance = {factor.name: factor.over_all.importance for factor in made.factors}
    assert sum(importance.values()) == pytest.approx(1) and importance["sieve"] > 0.9


@pytest.mark.parametrize("design", ["fraction", "hypercube"])
def test_the_page_ranks_the_same_factors(tmp_path, design):
    """It dropped what followed from the other factors."""
    from iosonde.commands.report.answer import report
    from iosonde.commands.report.query import ReportQuery

    rng = np.random.default_rng(5)
    x = HALF if design == "fraction" else np.column_stack([rng.permutation(12) for _ in range(4)])
    x = np.repeat(x, 3, axis=0)
    y = 1e8 + 2e7 * x[:, 3] + 1e6 * rng.normal(size=len(x))
    path = store_of(tmp_path / "s", NAMES, x, y)
    (influence,) = report(ReportQuery(str(path))).influences.items
    assert {share.name for share in influence.ranking.shares} == set(NAMES)
    assert influence.ranking.sentence.startswith("sieve ")
