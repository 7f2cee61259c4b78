"""The same numbers from a second implementation, on random unbalanced data: statsmodels, scipy, or the definition."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as scipy_stats
from statsmodels.formula.api import ols as formula_ols
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.multitest import multipletests

from iosonde.core.table import build_table
from iosonde.stats.estimate import multiple, rank_tests, ratio, summarise
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.regress import regress
from messages import assert_problem, with_code

seeds = st.integers(0, 2**31)
LEVELS = {"disk": ["hdd", "ssd", "nvme"], "net": ["eth", "ib"], "day": ["mo", "tu", "we", "th"]}


def frame(seed: int, n: int = 60) -> pd.DataFrame:
    """Unbalanced, with every combination of disk and net, an interaction, a covariate and unequal spreads."""
    rng = np.random.default_rng(seed)
    data = {name: [levels[i] for i in rng.integers(len(levels), size=n)] for name, levels in LEVELS.items()}
    for i, pair in enumerate((d, e) for d in LEVELS["disk"] for e in LEVELS["net"]):
        data["disk"][i], data["net"][i] = pair
    data["day"][:4] = LEVELS["day"]
    made = pd.DataFrame(data)
    made["size"] = rng.choice([1.0, 4.0, 16.0, 64.0, 256.0], n)
    slow = (made.disk == "hdd") * 5.0
    made["y"] = 20 - slow + (made.net == "ib") * (3 + slow) + 0.02 * made["size"]
    made["y"] += rng.standard_normal(n) * (1 + (made.net == "ib"))
    return made


def table(data: pd.DataFrame):
    return build_table({name: data[name].tolist() for name in data.columns})


@settings(max_examples=15, deadline=None)
@given(seeds, st.sampled_from([1, 2, 3]))
def test_anova_of_unbalanced_data(seed, kind):
    data = frame(seed)
    made = compute_anova(table(data), "y", ["disk*net"], 0.95, kind=kind)
    coded = "C(disk, Sum) * C(net, Sum)" if kind == 3 else "C(disk) * C(net)"
    other = anova_lm(formula_ols(f"y ~ {coded}", data).fit(), typ=kind)
    other = other.drop(index="Intercept", errors="ignore")
    assert [s.name for s in made.sources] == ["disk", "net", "disk:net"]
    assert [s.ss for s in made.sources] == pytest.approx(other["sum_sq"].tolist()[:3], rel=1e-6, abs=1e-6)
    assert [s.df for s in made.sources] == other["df"].tolist()[:3]
    assert [s.p for s in made.sources] == pytest.approx(other["PR(>F)"].tolist()[:3], rel=1e-5, abs=1e-12)
    assert made.ss_residual == pytest.approx(other["sum_sq"].iloc[-1])
    assert_problem(with_code(made.warnings, "unbalanced-cells"), "unbalanced-cells", type="I" * kind)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_anova_with_a_block(seed):
    data = frame(seed)
    made = compute_anova(table(data), "y", ["disk", "net"], 0.95, block="day")
    other = anova_lm(formula_ols("y ~ C(day) + C(disk) + C(net)", data).fit(), typ=2)
    assert [(s.name, s.block) for s in made.sources] == [("day", True), ("disk", False), ("net", False)]
    assert [s.f for s in made.sources] == pytest.approx(other["F"].tolist()[:3], rel=1e-6)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_contrasts_with_an_interaction_are_differences_of_marginal_means(seed):
    data = frame(seed)
    made = compute_anova(table(data), "y", ["disk*net"], 0.9, contrasts=["disk: ssd - 0.5*hdd - 0.5*nvme"]).contrasts[0]
    cells = data.groupby(["disk", "net"]).y.agg(["mean", "count"])
    weights = np.array([{"ssd": 0.5, "hdd": -0.25, "nvme": -0.25}[disk] for disk, _ in cells.index])
    fit = formula_ols("y ~ C(disk) * C(net)", data).fit()
    value, error = weights @ cells["mean"], np.sqrt(fit.mse_resid * (weights**2 / cells["count"]).sum())
    half = scipy_stats.t.ppf(0.95, fit.df_resid) * error
    e = made.estimate
    assert (e.value, made.std_error, e.low, e.high) == pytest.approx((value, error, value - half, value + half))
    assert made.p == pytest.approx(2 * scipy_stats.t.sf(abs(value / error), fit.df_resid), rel=1e-6, abs=1e-12)


@settings(max_examples=15, deadline=None)
@given(seeds, st.booleans())
def test_regression_with_levels_interaction_and_transform(seed, robust):
    data = frame(seed)
    made = regress(
        table(data), "y", ["log2(size)", "net", "log2(size):net"], 0.9, robust=robust, at=[{"size": "32", "net": "ib"}]
    )
    second = next(level for level in data.net if level != data.net[0])
    data["ls"], data["other"] = np.log2(data["size"]), (data.net == second).astype(float)
    fit = formula_ols("y ~ ls + other + ls:other", data).fit(cov_type="HC3" if robust else "nonrobust", use_t=True)
    coefficients = made.fit.coefficients()
    assert [c.estimate for c in coefficients] == pytest.approx(fit.params.tolist(), rel=1e-7)
    assert [c.std_error for c in coefficients] == pytest.approx(fit.bse.tolist(), rel=1e-6)
    assert [c.p for c in coefficients] == pytest.approx(fit.pvalues.tolist(), rel=1e-5, abs=1e-12)
    ends = [end for c in coefficients for end in (c.low, c.high)]
    assert ends == pytest.approx(fit.conf_int(0.1).to_numpy().ravel().tolist(), rel=1e-6)
    point = fit.get_prediction(pd.DataFrame({"ls": [5.0], "other": [float(second == "ib")]})).summary_frame(0.1)
    p = made.points[0].prediction
    assert (p.fit, p.mean_low, p.mean_high) == pytest.approx(
        tuple(point[["mean", "mean_ci_lower", "mean_ci_upper"]].iloc[0]), rel=1e-6
    )
    if not robust:
        assert (p.low, p.high) == pytest.approx(tuple(point[["obs_ci_lower", "obs_ci_upper"]].iloc[0]), rel=1e-6)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_lack_of_fit_is_the_f_test_against_a_mean_for_every_setting(seed):
    data = frame(seed)
    seen = regress(table(data), "y", ["size"], 0.95).assumptions.lack_of_fit
    other = anova_lm(formula_ols("y ~ size", data).fit(), formula_ols("y ~ C(size)", data).fit())
    assert (seen.f, seen.p) == pytest.approx((other["F"].iloc[1], other["Pr(>F)"].iloc[1]), rel=1e-6, abs=1e-12)


values = st.lists(st.floats(1, 100).map(lambda v: round(v, 1)), min_size=10, max_size=25)


@settings(max_examples=40, deadline=None)
@given(values, values)
def test_rank_test_and_shift(a, b):
    x, y = np.array(a), np.array(b)
    made = rank_tests.run_unpaired_test(x, y, 0.95)
    differences = np.subtract.outer(y, x).ravel()
    assert made.shift.value == pytest.approx(np.median(differences), abs=1e-9)
    assert made.superiority == pytest.approx(np.mean(differences > 0) + np.mean(differences == 0) / 2)
    assert 0 <= made.p <= 1
    if made.name == "Brunner-Munzel":
        assert made.p == pytest.approx(scipy_stats.brunnermunzel(x, y).pvalue, abs=1e-12)


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_the_shift_of_large_samples_is_that_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    x, y = rng.lognormal(size=70).round(2), rng.lognormal(0.3, size=90).round(2)
    whole, pairs = rank_tests.run_unpaired_test(x, y, 0.95).shift, rank_tests.run_paired_test(x, y[:70], 0.95).shift
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rank_tests, "_MOST_PAIRS", 1)
        counted, halves = (
            rank_tests.run_unpaired_test(x, y, 0.95).shift,
            rank_tests.run_paired_test(x, y[:70], 0.95).shift,
        )
    for one, other in ((whole, counted), (pairs, halves)):
        assert (other.value, other.low, other.high) == pytest.approx((one.value, one.low, one.high), abs=1e-9)


@pytest.mark.long
@settings(max_examples=25, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_holm(p):
    assert multiple.adjust_by_holm(p) == pytest.approx(multipletests(p, method="holm")[1].tolist(), abs=1e-12)


@given(st.lists(st.floats(0.1, 1e6), min_size=2, max_size=20))
def test_harmonic_mean(rates):
    assert summarise.estimate_harmonic_mean(rates, 0.95).value == pytest.approx(scipy_stats.hmean(rates))


@settings(max_examples=10, deadline=None)
@given(seeds)
def test_fieller_by_the_bootstrap_of_its_pivot(seed):
    """From 20 trials: the interval's ends are the ratios at which the t test of a - ratio·b just speaks."""
    rng = np.random.default_rng(seed)
    a, b = rng.normal(100, 10, 40), rng.normal(80, 12, 30)
    made = ratio.estimate_ratio_of_means(ratio.compute_moments(a), ratio.compute_moments(b), 0.95)
    for end in (made.low, made.high):
        test = scipy_stats.ttest_ind(a, end * b, equal_var=False)
        assert test.pvalue == pytest.approx(0.05, abs=2e-3)
