"""A ranking from rows to answer, on designs small enough to compute by hand; the slow truths are in sensitivity."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from iosonde.core.errors import DataError, InputError
from iosonde.model.sensitivity import factorial, permutation, scattered, surrogate
from iosonde.model.sensitivity.blocks import estimate_blocks_in_order
from iosonde.model.sensitivity.design import build_design
from iosonde.model.sensitivity.rank import REST, rank_factors
from iosonde.model.sensitivity.variances import Resampled
from iosonde.model.sensitivity.within import compute_shares_within_fixed
from iosonde.stats.estimate.variance_share import SumOfSquares, compute_share_limits
from iosonde.stats.regression.scattered import SCATTERED
from messages import codes, raises
from settings_table import data_of, grid

NOTHING: frozenset[int] = frozenset()


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def explained(x: np.ndarray, y: np.ndarray, *factors: int) -> float:
    """V(E(Y|X)) by a loop."""
    groups: dict[tuple[float, ...], list[float]] = {}
    for row, value in zip(x[:, list(factors)].tolist(), y.tolist(), strict=True):
        groups.setdefault(tuple(row), []).append(value)
    return float(sum(len(g) * (np.mean(g) - y.mean()) ** 2 for g in groups.values()) / len(y))


X = grid(2, 3, 2, repeats=3)
Y = 6.0 * X[:, 0] + 2.0 * X[:, 1] + generator(4).normal(size=len(X))


def test_a_factorial_is_ranked_by_its_group_means():
    heard: list[str] = []
    made = rank_factors(data_of(X, Y), 0.95, progress=heard.append)
    by_name = {factor.name: factor for factor in made.factors}
    noise = (Y.var() - explained(X, Y, 0, 1, 2)) * 36 / 24
    total = Y.var() + noise / 36
    for i in range(3):
        shares = by_name[f"f{i}"].over_all
        others = [j for j in range(3) if j != i]
        groups = len(np.unique(X[:, i]))
        assert shares.s1.value == pytest.approx(explained(X, Y, i) / Y.var())
        assert shares.s1_corrected == pytest.approx((explained(X, Y, i) - (groups - 1) * noise / 36) / total)
        st = explained(X, Y, 0, 1, 2) - explained(X, Y, *others)
        df = 12 - 12 // groups
        assert shares.st.value == pytest.approx(st / Y.var())
        assert shares.st_corrected == pytest.approx((st - df * noise / 36) / total)
    s1 = [by_name[f"f{i}"].over_all.s1.value for i in range(3)]
    assert [by_name[f"f{i}"].over_all.importance for i in range(3)] == pytest.approx([s / sum(s1) for s in s1])
    assert [factor.name for factor in made.factors[:2]] == ["f0", "f1"]
    assert (made.order, made.silent, made.order_within) == ((("f0",), ("f1",)), ("f2",), ())
    assert (made.n, made.n_cells, made.noise_from, made.intervals) == (36, 12, "repeats", factorial.BY_REPEATS)
    assert made.noise.value == pytest.approx(noise / total)
    assert (made.by, made.by_levels, made.links, made.fixed, made.fixed_share, made.blocks) == (
        "s1",
        True,
        (),
        (),
        None,
        None,
    )
    assert len(heard) == len(set(heard)) == 3
    by_name = {factor.name: factor for factor in made.with_dummies().factors}
    assert by_name["f0"].p == 0.001 and by_name["f2"].p > 0.05, "f0: the least of 999 shuffles"
    assert by_name["f0"].slope.raw.value == pytest.approx(Y[X[:, 0] == 1].mean() - Y[X[:, 0] == 0].mean())
    assert by_name["f0"].effect.p < 0.001 and not by_name["f0"].interacts


def test_within_fixed_factors_shares_are_of_the_rest():
    made = rank_factors(data_of(X, Y), 0.95, fixed=["f0"])
    by_name = {factor.name: factor for factor in made.factors}
    left = Y.var() - explained(X, Y, 0)
    for i in (1, 2):
        inner = by_name[f"f{i}"].within
        assert inner.s1.value == pytest.approx((explained(X, Y, 0, i) - explained(X, Y, 0)) / left)
        assert inner.st.value == pytest.approx((explained(X, Y, 0, 1, 2) - explained(X, Y, 0, 3 - i)) / left)
    assert made.fixed_share.value == pytest.approx(explained(X, Y, 0) / Y.var())
    assert (made.fixed, made.order_within, by_name["f0"].within, by_name["f0"].fixed) == (
        ("f0",),
        (("f1",),),
        None,
        True,
    )


def observed(x: np.ndarray, y: np.ndarray) -> Resampled:
    return factorial.resample_variances(build_design(data_of(x, y)), [NOTHING, frozenset([0])], generator())


def residual_ss(x: np.ndarray, y: np.ndarray) -> float:
    """Of an additive model."""
    levels = [x[:, i] == level for i in range(x.shape[1]) for level in np.unique(x[:, i])[1:]]
    matrix = np.column_stack([np.ones(len(y)), *levels]).astype(float)
    return float(((y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]) ** 2).sum())


HALF = {k: np.array([row for row in itertools.product((0, 1), repeat=k) if sum(row) % 2 == 0]) for k in (4, 5)}


@pytest.mark.parametrize(
    ("x", "how", "df", "code"),
    [
        (grid(3, 3), factorial.BY_INTERACTION, 4, "highest_interaction"),
        (grid(2, 4), "", 0, ""),
        (HALF[5], factorial.BY_MODEL, 10, "lack_of_fit"),
        (np.repeat(grid(2, 2), [1, 2, 2, 2], axis=0), "", 0, "lack_of_fit"),
        (np.repeat(grid(2, 2), 2, axis=0), factorial.BY_REPEATS, 4, "repeats"),
    ],
)
def test_the_noise_is_that_of_repeats_or_of_what_the_model_leaves(x, how, df, code):
    y = 2.0 * x[:, 0] + generator(3).normal(size=len(x))
    made = observed(x, y)
    assert (made.how, made.noise_df) == (how, df)
    if df:
        inside = len(y) * (y.var() - explained(x, y, *range(x.shape[1])))
        ss = inside if how == factorial.BY_REPEATS else residual_ss(x, y)
        assert float(made.observed.noise) == pytest.approx(ss / df)
        assert len(made.drawn.total) == 499 and made.groups == {NOTHING: 1, frozenset([0]): len(np.unique(x[:, 0]))}
    else:
        assert made.drawn is None
    assert rank_factors(data_of(x, y), 0.95).noise_from == code


def test_resampled_worlds_have_the_noise_of_the_data_around_the_true_means():
    made = factorial.resample_variances(build_design(data_of(X, Y)), [NOTHING, frozenset([0])], generator())
    noise = float(made.observed.noise)
    assert float(made.truth.plain[frozenset([0])]) == pytest.approx(explained(X, Y, 0))
    assert float(made.truth.noise) == pytest.approx(noise) and made.drawn.noise.mean() == pytest.approx(noise, rel=0.05)
    # A chance of noise adds 1/36 of it to each of 2 means, and as much spread: V(E(Y|f0)) sways by 2·√V·σ/√36.
    sway = 2 * np.sqrt(explained(X, Y, 0) * noise / 36)
    assert made.drawn.plain[frozenset([0])].std() == pytest.approx(sway, rel=0.15)


def wild(n: int = 60, repeats: int = 1) -> tuple[np.ndarray, np.ndarray]:
    x = np.repeat(generator(5).random((n, 2)), repeats, axis=0)
    return x, 10 * x[:, 0] + 3 * x[:, 1] + 0.3 * generator(6).normal(size=len(x))


def test_scattered_settings_are_ranked_by_bins_and_a_forest(monkeypatch):
    monkeypatch.setattr(permutation, "_SHUFFLES", 199)
    x, y = wild()
    made = rank_factors(data_of(x, y), 0.95, fixed=["f0"])
    first, second = made.factors
    assert (first.name, made.order, made.noise, made.noise_from) == ("f0", (("f0",), ("f1",)), None, "lack_of_fit")
    assert made.by_levels is False and made.intervals == scattered.HOW
    # Uniform numbers: 100 and 9 of 109.
    for factor, share in ((first, 100 / 109), (second, 9 / 109)):
        assert factor.over_all.s1.low < share < factor.over_all.s1.high
        st = factor.over_all.st
        assert st.low <= st.value <= st.high and st.low < share < st.high
        assert factor.over_all.st_corrected == st.value and not factor.interacts
    assert made.with_dummies().factors[0].p < 0.01 and second.over_all.importance < 0.3
    assert "few-settings" in codes(made.warnings) and "binned-factors" in codes(made.warnings)
    part, left = second.within, 1 - made.fixed_share.value
    assert part.s1.value > 0.7 and made.fixed_share.value == pytest.approx(0.9, abs=0.07) and first.within is None
    assert part.st.value == pytest.approx(min(1, second.over_all.st.value / left)) and part.st_corrected is None
    assert part.st.low == pytest.approx(min(1, second.over_all.st.low / left))


def test_a_forest_is_judged_out_of_the_bag():
    x, y = wild()
    design = build_design(data_of(x, y))
    forest, share = surrogate.fit_forest_out_of_bag(design, [0, 1], 3, 50)
    order = np.lexsort(x.T[::-1])
    assert 0.75 < share < 1 - np.mean((forest.predict(x[order]) - y[order]) ** 2) / y.var()
    nothing = surrogate.fit_forest_out_of_bag(build_design(data_of(x, generator(8).normal(size=60))), [0, 1], 3, 50)[1]
    assert nothing < 0.2, "chance explains nothing"


@pytest.mark.parametrize(("left", "refused"), [(0.19, False), (0.21, True)])
def test_a_forest_that_leaves_more_than_a_fifth_beside_the_noise_is_refused(left, refused):
    x, y = wild()
    design = build_design(data_of(x, y + 4 * generator(8).normal(size=60)))
    share = surrogate.fit_forest_out_of_bag(design, [0, 1], int(generator().integers(2**31)))[1]
    made = surrogate.estimate_total_shares_by_forest(design, 0.95, 1 - share - left, generator())
    assert codes([made.refused]) == (["poor-surrogate"] if refused else [""]) and set(made.of) == (
        set() if refused else {0, 1}
    )
    for estimate in made.of.values():
        assert estimate.high - estimate.low > left / 2 and estimate.low <= estimate.value <= estimate.high <= 1


def test_repeats_of_scattered_settings_are_the_noise_of_a_row():
    x, y = wild(30, 2)
    design = build_design(data_of(x, y))
    made = scattered.resample_variances(design, [NOTHING, frozenset([0])], generator()).observed
    assert design.kind == SCATTERED and float(made.noise) == pytest.approx(design.ss_within.sum() / 30)
    means, groups = design.means, design.codes[:, 0]
    sums = {g: 2 * (means[groups == g].mean() - y.mean()) ** 2 * (groups == g).sum() for g in set(groups.tolist())}
    assert float(made.plain[frozenset([0])]) == pytest.approx(sum(sums.values()) / 60)
    bias = sum(2 * means[groups == g].var(ddof=1) for g in sums) / 60
    lost = (4 * (means - y.mean()) ** 2).sum() / 60**2
    assert float(made.corrected[frozenset([0])]) == pytest.approx(sum(sums.values()) / 60 - max(bias - lost, 0))


def test_the_share_of_fixed_numbers_is_that_of_an_additive_model():
    x, y = wild()
    design = build_design(data_of(x, y))
    base = scattered.resample_variances(design, [NOTHING, frozenset([0])], generator())
    made = compute_shares_within_fixed(design, base, frozenset([0]), 0.95, generator())
    # A line with knots at quantiles: 60 settings of two factors are three pieces.
    scaled = (x[:, 0] - x[:, 0].min()) / np.ptp(x[:, 0])
    knots = np.quantile(scaled, [1 / 3, 2 / 3])
    matrix = np.column_stack([np.ones(60), scaled, *(np.maximum(scaled - knot, 0) for knot in knots)])
    rest = float(((y - matrix @ np.linalg.lstsq(matrix, y, rcond=None)[0]) ** 2).sum())
    total = y.var() * 60
    limits = compute_share_limits(SumOfSquares(total - rest, 3), SumOfSquares(0.0, 0), SumOfSquares(rest, 56), 60, 0.95)
    assert (made.fixed.value, made.fixed.low, made.fixed.high) == pytest.approx((1 - rest / total, *limits))
    assert made.shares.keys() == {1} and float(made.resampled.observed.total) == pytest.approx(rest / 60)


def test_blocks_of_a_balanced_design_are_sums_of_its_shares():
    design = build_design(data_of(X, Y))
    made = estimate_blocks_in_order(design, {"hw": [0], "sw": [1, 2]}, {"f0", "f1"}, 0.95, generator())
    noise = (Y.var() - explained(X, Y, 0, 1, 2)) * 36 / 24
    total = Y.var() * 36 + noise
    first, second = made.blocks
    assert first.added.share.value == pytest.approx((explained(X, Y, 0) * 36 - noise) / total)
    added = (explained(X, Y, 1) + explained(X, Y, 2)) * 36
    assert second.added.share.value == pytest.approx((added - 3 * noise) / total)
    assert second.rest_share.value == pytest.approx((added - 3 * noise) / (total - explained(X, Y, 0) * 36))
    assert second.added.f == pytest.approx(added / 3 / noise) and second.added.df == 3
    assert (first.order, second.order, list(second.factors)) == ((("f0",),), (("f1",),), ["f1", "f2"])
    alone = second.factors["f1"]
    assert alone.plain == pytest.approx(explained(X, Y, 1) / (Y.var() - explained(X, Y, 0)))
    assert made.interactions.df == 12 - 1 - 4 and made.unexplained_df == 24
    assert made.unexplained == pytest.approx(36 * noise / total)


@pytest.mark.parametrize(
    ("blocks", "wanted"),
    [
        ({"hw": ["f0"]}, {"hw": ["f0"], REST: ["f1", "f2"]}),
        ({"hw": ["f2", "f0"], "sw": ["f1"]}, {"hw": ["f0", "f2"], "sw": ["f1"]}),
        ({}, None),
    ],
)
def test_factors_in_no_block_are_the_last(blocks, wanted):
    made = rank_factors(data_of(X, Y), 0.95, blocks=blocks).blocks
    assert (made and {block.name: sorted(block.factors) for block in made.blocks}) == wanted


@pytest.mark.parametrize(
    ("arguments", "code", "values"),
    [
        ({"fixed": ["f3"]}, "unknown-factor", {"name": "f3", "factors": "f0, f1, f2"}),
        ({"fixed": ["f0", "f1", "f2"]}, "no-free-factor", {}),
        ({"blocks": {"hw": ["f9"]}}, "unknown-factor", {"name": "f9"}),
        ({"blocks": {"hw": ["f0", "f1"], "sw": ["f1"]}}, "duplicate-factor", {"name": "f1"}),
        ({"blocks": {"hw": ["f1", "f1"]}}, "duplicate-factor", {"name": "f1"}),
    ],
)
def test_factors_that_are_named_wrongly_are_refused(arguments, code, values):
    with raises(code, InputError, **values):
        rank_factors(data_of(X, Y), 0.95, **arguments)


@pytest.mark.parametrize(("rows", "refused"), [(2, True), (3, False)])
def test_there_are_more_rows_than_factors(rows, refused):
    data = data_of(np.array([[0, 0], [1, 1], [1, 0]])[:rows], np.arange(rows) * 1.0)
    if refused:
        with raises("too-few-settings", DataError, rows=2, factors=2):
            rank_factors(data, 0.95)
    else:
        assert rank_factors(data, 0.95).n == 3


@pytest.mark.parametrize("repeats", [1, 3])
@pytest.mark.parametrize("kept", [lambda row: True, lambda row: sum(row) % 2 == 0, lambda row: sum(row) != 2])
def test_a_ranking_does_not_depend_on_the_unit_of_the_response(kept, repeats, monkeypatch):
    monkeypatch.setattr(surrogate.fit_forest_out_of_bag, "__defaults__", (10,))
    x = np.array([row for row in grid(3, 2, 3, repeats=repeats).tolist() if kept(row)])
    y = 3.0 * x[:, 0] + x[:, 1] + generator(9).normal(size=len(x))
    one, other = (rank_factors(data_of(x, scale * y), 0.95) for scale in (1.0, 2.0**-30))
    assert (one.order, one.by, codes(one.warnings)) == (other.order, other.by, codes(other.warnings))
    for a, b in zip(one.factors, other.factors, strict=True):
        for name in ("name", "over_all", "p", "zero_line", "shapley", "interacts", "adjusted", "aliases"):
            assert getattr(a, name) == getattr(b, name), name
