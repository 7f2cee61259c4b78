"""Shares of variance from set variances, and from small designs: by hand, by loops, by SciPy and statsmodels."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from iosonde.core.table import build_table
from iosonde.core.types import Estimate
from iosonde.model.fit.features import Examples, Feature, build_examples
from iosonde.model.sensitivity import factorial, parts, permutation, scattered
from iosonde.model.sensitivity import total as total_shares
from iosonde.model.sensitivity.additive import (
    build_factor_columns,
    build_joint_columns,
    compute_orthonormal_basis,
    compute_residuals_beyond_basis,
    remove_other_factors,
)
from iosonde.model.sensitivity.adjusted import compute_adjusted_shares, needs_adjusted_shares
from iosonde.model.sensitivity.aliases import find_aliases
from iosonde.model.sensitivity.design import build_design
from iosonde.model.sensitivity.effects import estimate_level_effects
from iosonde.model.sensitivity.parts import Scale
from iosonde.model.sensitivity.published import rank_line
from iosonde.model.sensitivity.shapley import estimate_shapley_effects
from iosonde.model.sensitivity.shapley_additive import AdditiveEffects, compute_additive_effects
from iosonde.model.sensitivity.shares import build_grouping
from iosonde.model.sensitivity.slopes import estimate_slopes
from iosonde.model.sensitivity.total import estimate_total_shares
from iosonde.model.sensitivity.variances import Resampled, Variances, VarianceShare, split_rounds_to_fit_memory
from iosonde.stats.estimate.variance_share import SumOfSquares, compute_share_limits
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION, GRID, SCATTERED, choose_bin_count
from messages import assert_problem, codes
from settings_table import data_of, grid

NOTHING: frozenset[int] = frozenset()
FIRST, BOTH = frozenset([0]), frozenset([0, 1])


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def variances(total: float, noise: float, *shares: float, corrected: tuple[float, ...] | None = None) -> Variances:
    """V(Y), the noise, and what no factor, f0, f1 and both explain."""
    sets = (NOTHING, FIRST, frozenset([1]), BOTH)
    plain = {key: np.array(value) for key, value in zip(sets, (0.0, *shares), strict=True)}
    less = plain if corrected is None else {k: np.array(v) for k, v in zip(sets, (0.0, *corrected), strict=True)}
    return Variances(np.array(total), np.array(total + noise / 10), np.array(noise), plain, less)


@pytest.mark.parametrize(
    ("share", "plain", "true", "corrected"),
    [
        (VarianceShare(FIRST), 4 / 10, 4 / 10, 3 / 10.2),
        (VarianceShare(None), 1.0, 8 / 10, 8.2 / 10.2),
        (VarianceShare(None, FIRST), 6 / 10, 4 / 10, 5.2 / 10.2),
        (VarianceShare(BOTH, FIRST), 3 / 10, 3 / 10, 2 / 10.2),
        (VarianceShare(BOTH, FIRST, FIRST), 3 / 6, 3 / 6, 2 / 7.2),
        (VarianceShare(None, BOTH, BOTH), 1.0, 1 / 3, 3.2 / 5.2),
    ],
)
def test_a_share_is_a_difference_of_variances(share, plain, true, corrected):
    """V(Y) 10 with noise 2; f0 explains 4, f1 2, both 7; without the noise's part 3, 1 and 5."""
    v = variances(10.0, 2.0, 4.0, 2.0, 7.0, corrected=(3.0, 1.0, 5.0))
    assert (share.plain(v), share.true(v), share.corrected(v)) == pytest.approx((plain, true, corrected))
    assert VarianceShare(FIRST, NOTHING, FIRST).plain(variances(4.0, 0.0, 4.0, 0.0, 4.0)) == 0.0, "nothing is left"


def resampled(df: int = 0, unseen: float = 0.0) -> Resampled:
    """Ten draws whose share of f0 is off by -0.4, -0.3 … 0.5 of a true 0.5."""
    drawn = np.arange(10) / 10 + 0.1
    ten = np.full(10, 10.0)
    plain = {NOTHING: 0 * ten, FIRST: 10 * drawn}
    draws = Variances(ten, ten, 10 * drawn / 2, plain, plain)
    truth = variances(10.0, 2.0, 5.0, 1.0, 7.0)
    groups = {NOTHING: 1, FIRST: 3, BOTH: 6}
    seen = variances(10.0, 2.0, 4.0, 2.0, 7.0, corrected=(3.57, 1.0, 5.0))
    return Resampled(seen, truth, draws, "", df, groups, 12, {FIRST: unseen})


def test_an_interval_without_degrees_of_freedom_is_the_basic_bootstrap():
    deviations = np.arange(10) / 10 - 0.4
    down, up = np.quantile(deviations, [0.75, 0.25])
    for unseen in (0.0, 0.1):
        made = resampled(unseen=unseen).estimate(VarianceShare(FIRST), 0.5, 12)
        assert (made.value, made.low, made.high) == pytest.approx((0.4, 0.35 - down, max(0.4, 0.35 - up + unseen)))
    assert resampled().compute_deviations(VarianceShare(FIRST)) == pytest.approx(deviations)
    blind = Resampled(resampled().observed, None, None, "")
    assert blind.compute_deviations(VarianceShare(FIRST)) is None
    assert codes(blind.estimate(VarianceShare(FIRST), 0.5, 12).warnings) == ["no-replication"]
    assert blind.estimate(VarianceShare(FIRST), 0.5, 12).low is None


def test_an_interval_with_degrees_of_freedom_is_that_of_sums_of_squares():
    made = resampled(df=6)
    first, rest = made.sum_of_squares(VarianceShare(FIRST)), made.sum_of_squares(VarianceShare(None, FIRST))
    assert (first, rest) == (SumOfSquares(48.0, 2), SumOfSquares(72.0 - 12.0, 3))
    assert made.sum_of_squares(VarianceShare(BOTH, FIRST)) == SumOfSquares(pytest.approx(36.0), 3)
    limits = compute_share_limits(first, SumOfSquares(60.0, 3), SumOfSquares(12.0, 6), 12, 0.9)
    estimate = made.estimate(VarianceShare(FIRST), 0.9, 12)
    assert (estimate.value, estimate.low, estimate.high) == pytest.approx((0.4, *limits))
    within = made.estimate(VarianceShare(BOTH, FIRST, FIRST), 0.9, 12)
    limits = compute_share_limits(SumOfSquares(36.0, 3), SumOfSquares(24.0, 0), SumOfSquares(12.0, 6), 12, 0.9)
    assert (within.value, within.low, within.high) == pytest.approx((0.5, *limits))


def test_the_share_of_the_noise_has_the_limits_of_what_is_left():
    made = resampled(df=6).noise(0.9, 12)
    low, high = compute_share_limits(SumOfSquares(108.0, 5), SumOfSquares(0.0, 0), SumOfSquares(12.0, 6), 12, 0.9)
    assert (made.value, made.low, made.high) == pytest.approx((2 / 10.2, 1 - high, 1 - low))
    made = resampled().noise(0.5, 12)
    down, up = np.quantile((np.arange(10) / 10 + 0.1) / 2 - 0.2, [0.75, 0.25])
    assert (made.value, made.low, made.high) == pytest.approx((2 / 10.2, max(0, 2 / 10.2 - down), 2 / 10.2 - up))
    assert Resampled(resampled().observed, None, None, "").noise(0.5, 12).low is None


@pytest.mark.parametrize(
    ("rounds", "width", "pieces"),
    [(10, 1_000_000, [2] * 5), (5, 1_000_000, [2, 2, 1]), (3, 5_000_000, [1, 1, 1]), (499, 1, [499]), (4, 0, [4])],
)
def test_rounds_are_split_to_fit_in_memory(rounds, width, pieces):
    assert split_rounds_to_fit_memory(rounds, width) == pieces


def scale(df: int = 8) -> Scale:
    return Scale(100.0, 20.0, 5, SumOfSquares(16.0, df), 14.0, 0.95, 14)


def test_a_part_of_the_variance_has_an_f_test_against_the_noise():
    from scipy.special import fdtrc

    made = scale().part(SumOfSquares(30.0, 2), SumOfSquares(10.0, 1))
    assert (scale().variance, made.f, made.p) == (2.0, 7.5, pytest.approx(fdtrc(2, 8, 7.5)))
    assert (made.plain, made.df, made.share.value) == (30 / 90, 2, pytest.approx((30 - 2 * 2) / (90 + 2)))
    limits = compute_share_limits(SumOfSquares(30.0, 2), SumOfSquares(40.0, 2), SumOfSquares(16.0, 8), 14.0, 0.95)
    assert (made.share.low, made.share.high) == pytest.approx(limits) and made.share.n == 14
    assert scale().unexplained_share == pytest.approx(14 * 2 / 102)
    assert Scale(100.0, 20.0, 5, SumOfSquares(0.0, 0), 14.0, 0.95, 14).unexplained_share == 0.2


@pytest.mark.parametrize(("df", "interval", "f"), [(4, True, 3.75), (3, False, None), (0, False, None)])
def test_few_degrees_of_freedom_have_no_interval(df, interval, f):
    made = scale(df).part(SumOfSquares(30.0, 2), SumOfSquares(0.0, 0))
    assert (made.share.low is not None, made.f, made.p is not None) == (interval, f, interval)
    assert interval or (made.share.value, codes(made.share.warnings)) == (0.3, ["no-replication"])
    assert (scale(df).f_test(SumOfSquares(30.0, 2))[0] is None) is (df == 0)
    assert scale().f_test(SumOfSquares(30.0, 0)) == (None, None)
    exact = Scale(100.0, 0.0, 5, SumOfSquares(0.0, 8), 14.0, 0.95, 14)
    assert exact.f_test(SumOfSquares(30.0, 2))[1] < 1e-100 and exact.f_test(SumOfSquares(0.0, 2)) == (None, 1.0)


def test_a_design_gathers_rows_by_setting():
    made = build_design(
        data_of(np.array([[2, 0], [1, 0], [2, 0], [1, 5], [2, 5]]), np.array([3.0, 1.0, 5.0, 2.0, 9.0]))
    )
    assert made.x.tolist() == [[1, 0], [1, 5], [2, 0], [2, 5]] and made.codes.tolist() == [
        [0, 0],
        [0, 1],
        [1, 0],
        [1, 1],
    ]
    assert (made.counts.tolist(), made.means.tolist(), made.ss_within.tolist()) == (
        [1, 1, 2, 1],
        [1, 2, 4, 9],
        [0, 0, 2, 0],
    )
    assert (made.y.tolist(), made.starts.tolist()) == ([1, 2, 3, 5, 9], [0, 1, 2, 4])
    assert (made.n, made.n_cells, made.df_repeats, made.n_groups, made.kind) == (5, 4, 1, (2, 2), FACTORIAL)
    assert made.total == pytest.approx(np.var([1, 2, 3, 5, 9])) and made.binned == ()
    assert made.centred_means == pytest.approx([-3, -2, 0, 5])
    joint, n = made.joint([0, 1])
    assert (joint.tolist(), n, made.joint([])[1]) == ([0, 1, 2, 3], 4, 1)


TEN = list(itertools.product(range(2), range(5)))
SQUARE = [(i, j) for i in range(5) for j in range(5)]


@pytest.mark.parametrize(
    ("settings", "repeats", "kind"),
    [
        ([(i,) for i in range(5)], 1, SCATTERED),
        ([(i,) for i in range(5)], 2, FACTORIAL),
        (TEN[:8], 1, FACTORIAL),
        (TEN[:7], 1, SCATTERED),
        (TEN[:7], 2, GRID),
        ([SQUARE[i] for i in (0, 6, 12, 18, 24)], 2, GRID),
        ([(i, i) for i in range(6)], 2, SCATTERED),
        ([row for row in itertools.product((0, 1), repeat=3) if sum(row) % 2 == 0], 1, FRACTION),
        ([(0, 0, 0), (0, 1, 1), (1, 0, 1)], 2, SCATTERED),
    ],
)
def test_the_kind_of_a_design(settings, repeats, kind):
    x = np.repeat(np.array(settings), repeats, axis=0)
    assert build_design(data_of(x, generator().normal(size=len(x)))).kind == kind


@pytest.mark.parametrize(("cells", "bins"), [(9, 3), (24, 3), (25, 4), (100, 8), (1000, 25), (900, 24)])
def test_bins_grow_with_the_settings(cells, bins):
    assert choose_bin_count(cells) == bins


def test_bins_hold_equally_many_rows_and_the_links_are_spearmans():
    rng = generator(2)
    a, c = np.round(rng.random(60), 1), np.arange(60) % 3
    b = np.round(a + 0.2 * rng.random(60), 2)
    made = build_design(data_of(np.column_stack([a, b, c]), rng.random(60)))
    assert made.kind == SCATTERED and made.binned == ("f0", "f1") and made.n_groups[2] == 3
    sizes = np.bincount(made.codes[:, 1], made.counts)
    assert len(sizes) == choose_bin_count(made.n_cells) == 5 and sizes.min() >= 9 and sizes.max() <= 15
    (link,) = made.links
    below = [(column[:, None] > column).sum(1) + (column[:, None] == column).sum(1) / 2 for column in made.x.T[:2]]
    rho = np.corrcoef(*below)[0, 1]
    assert (link.first, link.second, link.strength) == ("f0", "f1", pytest.approx(rho)) and rho > 0.5


def cramers_v(table: np.ndarray) -> float:
    expected = np.outer(table.sum(1), table.sum(0)) / table.sum()
    return float((((table - expected) ** 2 / expected).sum() / table.sum() / (min(table.shape) - 1)) ** 0.5)


def test_the_imbalance_is_cramers_v_of_the_rows():
    settings = np.repeat(grid(2, 3), [4, 4, 4, 1, 2, 6], axis=0)
    made = build_design(data_of(settings, generator().normal(size=len(settings))))
    v = cramers_v(np.array([[4, 4, 4], [1, 2, 6]]))
    assert (made.kind, made.imbalance) == (FACTORIAL, pytest.approx(v)) and v > 0.2
    assert [(link.first, link.second, link.strength) for link in made.links] == [("f0", "f1", pytest.approx(v))]
    weak = np.repeat(grid(2, 3), [4, 4, 4, 3, 4, 5], axis=0)
    made = build_design(data_of(weak, generator().normal(size=len(weak))))
    assert made.links == () and made.imbalance == pytest.approx(cramers_v(np.array([[4, 4, 4], [3, 4, 5]])))
    assert needs_adjusted_shares(made) is (made.imbalance > 0.05)


@pytest.mark.parametrize(
    ("means", "noise", "code", "level"),
    [
        ([0.0, 1.0, 0.0], 0.34, "highest", "1"),
        ([0.0, 1.0, 0.0], 0.36, "", ""),
        ([1.0, 0.0, 1.0], 0.34, "lowest", "1"),
        ([0.0, 1.0, 1.0], 0.01, "", ""),
        ([0.0, 2.0, 1.0, 3.0], 0.01, "rises", "1"),
        ([3.0, 1.0, 2.0, 0.0], 0.01, "falls", "1"),
        ([0.0, 1.0, 2.0, 3.0], 0.01, "", ""),
        ([0.0, 1.0], 0.01, "", ""),
    ],
)
def test_a_turn_is_significant_over_all_pairs(means, noise, code, level):
    """Four rows a level: of three levels a difference of 1 must exceed 2.394·√2·√noise/2."""
    x = grid(len(means), repeats=4)
    design = build_design(data_of(x, np.array(means)[x[:, 0]] + np.tile([0.1, -0.1, 0.1, -0.1], len(means))))
    made = estimate_level_effects(design, 0, 0.95, noise)
    half = 1.959963984540054 * math.sqrt(noise / 4)
    assert [(one.low, one.mean.n) for one in made.levels] == [(i, 4) for i in range(len(means))]
    assert [(one.mean.low, one.mean.high) for one in made.levels] == [
        (pytest.approx(mean - half), pytest.approx(mean + half)) for mean in means
    ]
    assert codes([made.turns]) == [code]
    assert not code or assert_problem(made.turns, code, level=level) is None


def test_levels_of_scattered_settings_have_errors_between_settings():
    """Two settings of a level: their spread, each counted by its rows."""
    x = np.array([[0, 0.1], [0, 0.2], [0, 0.2], [1, 0.3], [1, 0.4], [2, 0.5]])
    design = build_design(data_of(x, np.array([1.0, 4.0, 6.0, 2.0, 4.0, 9.0])))
    made = estimate_level_effects(design, 0, 0.95, None).levels
    mean = (1 + 2 * 5) / 3
    half = 1.959963984540054 * math.sqrt(((1 - mean) ** 2 + (2 * (5 - mean)) ** 2) * 2) / 3
    assert (made[0].mean.value, made[0].mean.n) == (pytest.approx(mean), 3)
    assert (made[0].mean.low, made[0].mean.high) == pytest.approx((mean - half, mean + half))
    assert (made[2].mean.value, made[2].mean.low) == (9.0, None), "a single setting"


def test_a_line_has_the_coefficients_of_least_squares_with_the_errors_of_hc3():
    from scipy.special import stdtrit

    rng = generator(3)
    table = build_table(
        {"fs": ["nfs", "ceph"] * 12, "os": list("abc") * 8, "n": np.arange(24) % 4, "y": rng.random(24)}
    )
    design = build_design(build_examples(table, "y", ["fs", "os", "n"]))
    made, r2 = estimate_slopes(design, 0.9)
    rows = np.repeat(np.arange(design.n_cells), design.counts.astype(int))
    x = design.x[rows]
    matrix = np.column_stack([np.ones(24), x[:, 0], x[:, 1] == 1, x[:, 1] == 2, x[:, 2]]).astype(float)
    inverse = np.linalg.inv(matrix.T @ matrix)
    beta = inverse @ matrix.T @ design.y
    off = design.y - matrix @ beta
    leverage = np.einsum("ij,jk,ik->i", matrix, inverse, matrix)
    meat = (matrix * (off / (1 - leverage))[:, None] ** 2).T @ matrix
    half = stdtrit(19, 0.95) * np.sqrt(np.diag(inverse @ meat @ inverse))
    assert made[1] is None and r2 == pytest.approx(1 - off @ off / 24 / design.y.var())
    for slope, place, sd in ((made[0], 1, x[:, 0].std()), (made[2], 4, x[:, 2].std())):
        raw = [beta[place], beta[place] - half[place], beta[place] + half[place]]
        assert [slope.raw.value, slope.raw.low, slope.raw.high] == pytest.approx(raw)
        standard = [slope.standardised.value, slope.standardised.low, slope.standardised.high]
        assert standard == pytest.approx([end * sd / design.y.std() for end in raw])


def test_columns_of_levels_and_of_broken_lines():
    levels = build_design(data_of(grid(3, 2), np.arange(6.0)))
    assert build_factor_columns(levels, 0).tolist() == [[0, 0], [0, 0], [1, 0], [1, 0], [0, 1], [0, 1]]
    assert build_joint_columns(levels, [0, 1], 1).shape == (6, 5) and build_joint_columns(levels, [0, 1], 2).shape == (
        6,
        3,
    )
    assert build_joint_columns(levels, [], 1).shape[1] == 0
    x = np.column_stack([np.linspace(2, 12, 41)])
    line = build_design(data_of(x, np.arange(41.0)))
    scaled = (x[:, 0] - 2) / 10
    knots = np.quantile(scaled, [0.25, 0.5, 0.75])  # 41 settings: 4 pieces of 10
    assert line.binned and build_factor_columns(line, 0) == pytest.approx(
        np.column_stack([scaled, *(np.maximum(scaled - knot, 0) for knot in knots)])
    )


def test_what_other_factors_explain_is_removed_by_least_squares():
    x = np.repeat(grid(3, 2), [1, 2, 3, 1, 1, 2], axis=0)
    y = generator(4).normal(size=10)
    design = build_design(data_of(x, y))
    root = np.sqrt(design.counts)
    centred = design.means - y.mean()
    for factor, left in enumerate(remove_other_factors(design, 100)):
        matrix = np.column_stack([np.ones(6), build_factor_columns(design, 1 - factor)]) * root[:, None]
        beta = np.linalg.lstsq(matrix, centred * root, rcond=None)[0]
        expected = centred - matrix @ beta / root
        assert left == pytest.approx(expected, abs=1e-9)
        assert compute_residuals_beyond_basis(
            design, compute_orthonormal_basis(design, build_factor_columns(design, 1 - factor))
        ) == pytest.approx(expected, abs=1e-9)
    assert remove_other_factors(design, 2)[0] == pytest.approx(centred) and len(remove_other_factors(design, 3)) == 2


def test_adjusted_shares_have_a_zero_line_by_f():
    from scipy.special import fdtri

    x = np.repeat(grid(2, 3), [4, 4, 4, 1, 2, 6], axis=0)
    design = build_design(data_of(x, generator(5).normal(size=len(x))))
    made = compute_adjusted_shares(design, NOTHING, 0.95, generator())
    noise = design.ss_within.sum() / design.df_repeats
    total = design.total * design.n
    assert made.zero_line(1, 0.95) == pytest.approx(fdtri(2, 15, 0.95) * 2 * noise / total)
    assert made.interactions.df == 2
    balanced = build_design(data_of(grid(2, 3, repeats=3), generator(5).normal(size=18)))
    assert compute_adjusted_shares(balanced, NOTHING, 0.95, generator()) is None


def test_aliases_of_a_half_fraction():
    half = np.array([row for row in itertools.product((0, 1), repeat=3) if sum(row) % 2 == 0])
    made = find_aliases(build_design(data_of(np.repeat(half, 2, axis=0), np.arange(8.0))))
    assert [[(alias.first, alias.second, pytest.approx(alias.strength)) for alias in of] for of in made] == [
        [("f1", "f2", 1.0)],
        [("f0", "f2", 1.0)],
        [("f0", "f1", 1.0)],
    ]
    assert find_aliases(build_design(data_of(grid(2, 2, 2), np.arange(8.0)))) is None
    assert find_aliases(build_design(data_of(grid(2, 2), np.arange(4.0)))) is None


def crafted(interaction: float, df: int = 12) -> Resampled:
    """f0 explains 4 of 10, f1 2, their interaction so much more; noise 1 of 16 rows."""
    v = variances(10.0, 1.0, 4.0, 2.0, 6.0 + interaction)
    return Resampled(v, v, v, "", df, {NOTHING: 1, FIRST: 2, frozenset([1]): 2, BOTH: 4}, 16)


@pytest.mark.parametrize(
    ("interaction", "df", "level", "interacts"),
    [(0.45, 12, 0.95, False), (0.6, 12, 0.975, True), (0.6, 12, 0.99, False), (0.6, 0, 0.975, False)],
)
def test_a_factor_interacts_where_st_is_relevantly_and_significantly_above_s1(interaction, df, level, interacts):
    """F of 16·0.45/1 is 7.2, and of 0.6 9.6, with 1 and 12 degrees of freedom: p 0.02 and 0.009, of two factors."""
    design = build_design(data_of(grid(2, 2, repeats=4), generator().normal(size=16)))
    made = estimate_total_shares(design, crafted(interaction, df), NOTHING, 1.0, level, generator())
    assert made.interacts == {0: interacts, 1: interacts}
    for i, alone in ((0, 2.0), (1, 4.0)):
        total, corrected = made.of[i]
        assert total.value == pytest.approx((6 + interaction - alone) / 10)
        assert corrected == pytest.approx((6 + interaction - alone) / 10.1)
    assert made.within.keys() == {0, 1}
    assert estimate_total_shares(design, crafted(0.6), FIRST, 1.0, 0.95, generator()).within.keys() == {1}


@pytest.mark.parametrize(
    ("x", "code"),
    [
        (np.repeat([r for r in itertools.product((0, 1), repeat=3) if sum(r) % 2 == 0], 3, axis=0), "aliased-fraction"),
        (np.repeat([r for r in SQUARE if sum(r) < 5], 2, axis=0), "correlated-factors"),
    ],
)
def test_total_shares_that_a_design_does_not_have_are_refused(x, code):
    x = np.asarray(x)
    design = build_design(data_of(x, generator().normal(size=len(x))))
    made = estimate_total_shares(design, crafted(0.5), NOTHING, 1.0, 0.95, generator())
    for total, corrected in (*made.of.values(), *made.within.values()):
        assert (total.value, corrected, codes(total.warnings)) == (None, None, [code])
    assert set(made.interacts.values()) == {False} and len(made.of) == x.shape[1]


def test_the_influence_of_a_setting_is_the_slope_of_the_share_in_its_weight():
    x = np.repeat(SQUARE, np.arange(1, len(SQUARE) + 1), axis=0)
    y = 2.0 * x[:, 0] + x[:, 1] + generator(4).normal(size=len(x))
    design = build_design(data_of(x, y))
    m, weights = design.n_cells, np.sqrt(design.counts)[:, None]
    columns = [np.ones((m, 1)), *(design.x[:, [i]] for i in (0, 1))]
    bases = [np.linalg.qr(weights * np.column_stack(columns[:k]))[0][:, 1:] for k in (1, 2, 3)]
    none, first, both = (parts.Additive(design, basis) for basis in bases)
    part, moves = parts.estimate_part_of_sampled_settings(none, first, none, 0.9)
    squares = [model.squares() for model in (none, first)]

    def share(more: np.ndarray) -> float:
        v = [(s * (1 + more)).sum() / (design.counts * (1 + more)).sum() for s in squares]
        return (v[0] - v[1]) / v[0]

    slopes = [(share(1e-6 * unit) - share(-1e-6 * unit)) / 2e-6 for unit in np.eye(m)]
    np.testing.assert_allclose(moves, np.sqrt(m) * np.array(slopes), atol=1e-6)
    assert part.plain == pytest.approx(share(np.zeros(m))) and part.df == 1
    beyond, _ = parts.estimate_part_of_sampled_settings(first, both, first, 0.9)
    a, b = squares[1].sum() / (m - 2), both.squares().sum() / (m - 3)
    assert beyond.share.value == pytest.approx((a - b) / a)
    assert beyond.f == pytest.approx((squares[1].sum() - both.squares().sum()) / b)


@pytest.mark.parametrize(
    ("total", "first", "is_above"),
    [
        ((0.6, 0.5, 0.7), (0.4, 0.3, 0.49), True),
        ((0.6, 0.5, 0.7), (0.4, 0.3, 0.5), False),
        ((0.6, 0.5, 0.7), (0.4, None, None), True),
        ((0.6, None, None), (0.4, 0.3, 0.45), False),
        ((None, 0.5, None), (0.4, 0.3, 0.45), False),
        ((0.46, 0.45, 0.47), (0.44, 0.43, 0.44), False),
    ],
)
def test_a_total_share_is_above_the_first_where_their_intervals_do_not_overlap(total, first, is_above):
    assert total_shares._is_above(Estimate(*total, 0.9, 9), Estimate(*first, 0.9, 9)) is is_above


@pytest.mark.parametrize(
    ("estimate", "remaining", "divided"),
    [
        ((0.2, 0.1, 0.3), 0.5, (0.4, 0.2, 0.6)),
        ((0.2, 0.1, 0.6), 0.5, (0.4, 0.2, 1.0)),
        ((0.2, None, None), 0.5, (0.4, None, None)),
        ((None, 0.1, 0.3), 0.5, (None, None, None)),
        ((0.2, 0.1, 0.3), 0.0, (None, None, None)),
    ],
)
def test_a_share_of_the_rest_is_at_most_all_of_it(estimate, remaining, divided):
    made = total_shares._divide_estimate(Estimate(*estimate, 0.9, 9, ("w",)), remaining)
    assert made == Estimate(*divided, 0.9, 9, ("w",))


def test_shapley_effects_of_two_linked_factors_by_hand():
    """Half of what a factor explains alone, and half of what it adds to the other."""
    x = np.repeat([r for r in SQUARE if sum(r) < 5], 3, axis=0)
    y = 2.0 * x[:, 0] + x[:, 1] + generator(2).normal(size=len(x))
    design = build_design(data_of(x, y))
    noise = design.ss_within.sum() / design.df_repeats

    def explained(*factors: int) -> float:
        groups: dict[tuple[int, ...], list[float]] = {}
        for row, value in zip(x, y, strict=True):
            groups.setdefault(tuple(row[list(factors)]), []).append(value)
        between = sum(len(g) * (np.mean(g) - y.mean()) ** 2 for g in groups.values()) / len(y)
        return (between - (len(groups) - 1) * noise / len(y)) / (y.var() + noise / len(y))

    made = estimate_shapley_effects(design, 0.95, generator())
    assert made.name == "group means"
    for i, j in ((0, 1), (1, 0)):
        effect = made.of[i]
        assert effect.value == pytest.approx((explained(i) + explained(0, 1) - explained(j)) / 2)
        assert effect.low < effect.value < effect.high and effect.n == len(y)


def test_limits_of_a_shapley_effect_hold_the_noise_and_the_error_of_drawing():
    moved, dummies = np.array([np.linspace(-1, 1, 201)]), np.array([np.linspace(-0.5, 0.5, 201)])
    made = AdditiveEffects(np.array([3.0]), moved, dummies, np.array([0.0]), 0.1)
    assert made.limits(0, 0.9) == pytest.approx((3 - 0.9, 3 + 0.9))
    assert AdditiveEffects(made.observed, moved / 10, dummies, made.error, 0.1).limits(0, 0.9) == pytest.approx(
        (3 - 0.09, 3 + 0.45)
    )
    more = 1.6448536269514722 * 0.5
    assert AdditiveEffects(made.observed, moved, dummies, np.array([0.5]), 0.1).limits(0, 0.9) == pytest.approx(
        (3 - math.hypot(0.9, more), 3 + math.hypot(0.9, more))
    )
    assert AdditiveEffects(made.observed, moved[:, :0], dummies[:, :0], made.error, 0.1).limits(0, 0.9) is None


def test_shapley_effects_of_a_balanced_design_are_its_shares():
    x = grid(3, 2, repeats=6)
    y = 1.0 * x[:, 0] + 0.5 * x[:, 1] + generator(6).normal(size=len(x))
    design = build_design(data_of(x, y))
    sets = [NOTHING, FIRST, frozenset([1]), BOTH]
    room = factorial.resample_variances(design, sets, generator())
    made = compute_additive_effects(design, 0.95, generator())
    for i in range(2):
        share = VarianceShare(frozenset([i]))
        assert made.observed[i] == pytest.approx(float(share.corrected(room.observed)))
        estimate, (low, high) = room.estimate(share, 0.95, design.n), made.limits(i, 0.95)
        if i == 0:  # the bootstrap of a small share is shorter
            assert (low, high) == pytest.approx((estimate.low, estimate.high), abs=0.07)
    assert made.error.tolist() == [0, 0]
    within = design.ss_within.sum() / design.n / design.total
    assert made.residual_share == pytest.approx(within), "interactions are no part of the noise"


def test_scattered_group_means_are_corrected_by_the_spread_of_their_settings():
    """By loops: the noise in a group's mean is its settings' variance ÷ their number; in the mean of all likewise."""
    x = np.array([[i % 3, i / 7] for i in range(15)])
    y = 1.0 * (x[:, 0] == 1) + generator(7).normal(size=15)
    design = build_design(data_of(x, y))
    made = scattered.resample_variances(design, [NOTHING, FIRST], generator())
    groups = [y[x[:, 0] == level] for level in range(3)]
    between = sum(5 * (g.mean() - y.mean()) ** 2 for g in groups) / 15
    bias = sum(5 * g.var(ddof=1) / 5 for g in groups) / 15
    lost = y.var() / 15
    assert made.observed.plain[FIRST] == pytest.approx(between)
    assert made.observed.corrected[FIRST] == pytest.approx(between - max(bias - lost, 0))
    assert made.observed.total_corrected == pytest.approx(y.var() + lost) and made.observed.noise == 0
    assert (made.noise_df, len(made.drawn.total), made.unseen) == (0, 499, {})
    binned = scattered.resample_variances(design, [NOTHING, frozenset([1])], generator())
    assert binned.unseen.keys() == {frozenset([1])} and 0 <= binned.unseen[frozenset([1])] < 1


@pytest.mark.parametrize("counts", [[1, 1, 1, 1, 1, 1], [1, 2, 3, 1, 4, 2]])
def test_group_means_of_drawn_settings_by_loops(counts):
    """Each column of ``times`` is a draw: how often each setting is in it. A group of one setting has no bias."""
    rng, codes_of_cells = generator(3), np.array([0, 0, 0, 1, 1, 2])
    counts, means = np.array(counts, float), rng.normal(size=6)
    times = np.array([[1, 2], [1, 0], [1, 1], [1, 3], [1, 1], [1, 0]], float)
    n = counts @ times
    center = (counts * means) @ times / n
    group = build_grouping(codes_of_cells, counts)
    explained, bias = scattered._compute_explained(group, times, counts, means, center, n)
    for draw in range(2):
        variance = noise = 0.0
        for code in range(3):
            drawn = [i for i in range(6) if codes_of_cells[i] == code for _ in range(int(times[i, draw]))]
            if not drawn:
                continue
            c, m = counts[drawn], means[drawn]
            mean = c @ m / c.sum()
            variance += c.sum() * (mean - center[draw]) ** 2 / n[draw]
            if len(drawn) > 1:
                spread = (c**2) @ (m - mean) ** 2 * len(drawn) / (len(drawn) - 1)
                noise += c.sum() * spread / c.sum() ** 2 / n[draw]
        assert (explained[draw], bias[draw]) == pytest.approx((variance, noise))


@pytest.mark.parametrize(
    ("n", "level", "factors", "count"),
    [(60, 0.95, 2, 999), (60, 0.999, 2, 3999), (60, 0.95, 30, 1199), (20_002, 0.999, 2, 199), (20_000, 0.999, 2, 3999)],
)
def test_shuffles_are_enough_for_the_smallest_p(n, level, factors, count):
    x = np.tile(np.arange(2), (factors, n // 2)).T
    features = tuple(Feature(f"f{i}", "", (0, 1), True) for i in range(factors))
    data = Examples(features, x.astype(float), np.arange(n) * 1.0, x[:, 0], "y", "")
    assert permutation.choose_shuffle_count(build_design(data), level) == count


def test_a_dummys_p_is_that_of_all_orders_of_its_labels():
    y = np.array([1.0, 2.0, 4.0, 7.0, 3.0, 6.0, 9.0, 8.0])
    (null,) = permutation.estimate_dummy_effects(build_design(data_of(grid(2, repeats=4), y)), 0.95, generator())
    gaps = [abs(y[list(chosen)].mean() - y.mean()) for chosen in itertools.combinations(range(8), 4)]
    exact = np.mean(np.array(gaps) >= gaps[0] - 1e-9)
    assert null.p == pytest.approx(exact, abs=0.04)
    assert null.zero_line == pytest.approx(np.quantile(np.square(gaps) / y.var(), 0.95), abs=0.08)


@pytest.mark.parametrize(
    ("first", "other", "p"),
    [(0.01, 0.2, 0.02), (0.3, 0.04, 0.08), (0.6, 0.7, 1.0), (0.01, None, 0.01), (None, 0.2, 0.2), (None, None, None)],
)
def test_two_tests_of_a_factor_share_their_error(first, other, p):
    assert permutation._combine_p(first, other) == p


def test_too_few_orders_are_tested_by_f():
    from scipy.special import fdtrc

    y = np.array([1.0, 2.0, 4.0, 7.0, 3.0, 6.0])
    (null,) = permutation.estimate_dummy_effects(build_design(data_of(grid(2, repeats=3), y)), 0.95, generator())
    f = 1.5 * (y[:3].mean() - y[3:].mean()) ** 2 / ((y[:3].var(ddof=1) + y[3:].var(ddof=1)) / 2)
    assert null.p == pytest.approx(fdtrc(1, 4, f))


def test_a_published_line_by_hand():
    """3²·0.25 and 1²·1 of 3.25."""
    made = rank_line("write", {"b": 1.0, "a": 3.0, "c": 2.0, "d": 0.0}, None, {"a": [0, 1], "b": [1, 3]}, 0.95)
    first, second = made.factors
    assert (first.name, second.name, made.order) == ("a", "b", (("a",), ("b",)))
    assert (first.over_all.s1.value, second.over_all.s1.value) == pytest.approx((2.25 / 3.25, 1 / 3.25))
    assert first.over_all.importance == first.over_all.st.value == first.over_all.s1.value
    assert (first.slope.raw.value, first.slope.standardised.value) == (3.0, pytest.approx(1.5 / 3.25**0.5))
    assert (made.n, made.n_cells, made.intervals, made.fixed_share, made.noise) == (0, 4, "", None, None)
    assert codes(made.warnings) == ["published-line", "fixed-features", "no-standard-errors"]
    assert made.warnings[1].values["features"] == "c", "d is 0"
    assert (first.fixed, first.within, first.p) == (False, None, None)
    assert codes(first.over_all.s1.warnings) == ["no-standard-errors"]


def test_a_published_line_within_fixed_features():
    line = {"a": 3.0, "b": 1.0, "c": 2.0}
    made = rank_line("write", line, dict.fromkeys("abc", 0.1), {"a": [0, 1], "b": [1, 3], "c": [0, 1]}, 0.95, ["a"])
    by_name = {factor.name: factor for factor in made.factors}
    assert made.fixed == ("a",) and made.fixed_share.value == pytest.approx(2.25 / 4.25)
    assert (by_name["a"].fixed, by_name["a"].within, by_name["b"].fixed) == (True, None, False)
    assert [by_name[n].within.s1.value for n in "bc"] == pytest.approx([0.5, 0.5])
    assert made.order_within == (("b", "c"),) and made.order == (("a",), ("b", "c"))
    slope = by_name["a"].slope
    assert (slope.raw.low, slope.raw.high) == pytest.approx((3 - 0.196, 3 + 0.196), abs=0.01)
    scale_of_a = 0.5 / 4.25**0.5
    assert (slope.standardised.low, slope.standardised.high) == pytest.approx(
        (slope.raw.low * scale_of_a, slope.raw.high * scale_of_a)
    )
    # The slope of a²/4 ÷ (a²/4 + 2) at 3 is 0.166, those in b and c are -0.25 and -0.12: ±0.06 together.
    s1 = by_name["a"].over_all.s1
    assert 0.02 < s1.value - s1.low < 0.09 and 0.02 < s1.high - s1.value < 0.09
    assert codes(made.warnings) == ["published-line"] and isinstance(s1, Estimate)


@pytest.mark.parametrize(("k", "name"), [(6, ""), (7, "additive-model")])
def test_many_factors_have_shapley_effects_of_an_additive_model(k, name):
    x = grid(*[2] * k)
    design = build_design(data_of(np.repeat(x, 2, axis=0), generator(9).normal(size=2 * len(x))))
    made = estimate_shapley_effects(design, 0.95, generator())
    assert codes([made.name]) == [name] and len(made.of) == k


def test_a_single_row_gets_any_residual_of_the_repeats_and_no_other():
    rows = {"a": [1, 1, 2, 2, 3], "y": [1.0, 2.0, 5.0, 9.0, 4.0]}
    design = build_design(build_examples(build_table(rows), "y", ["a"]))
    residuals = factorial._compute_scaled_residuals(design, 25.0)
    assert residuals == pytest.approx([-math.sqrt(0.5), math.sqrt(0.5), -2 * math.sqrt(2), 2 * math.sqrt(2), 5.0])
    drawn = factorial._draw_residuals(design, residuals, 400, generator())
    pools = [set(np.round(column, 9)) for column in drawn.T]
    assert pools == [set(np.round(residuals[some], 9)) for some in ([0, 1], [0, 1], [2, 3], [2, 3], [0, 1, 2, 3])]
