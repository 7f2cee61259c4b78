"""Campaigns of unequal noise in one analysis of variance: as statsmodels weighs, and what weights are good for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import f
from statsmodels.formula.api import ols, wls
from statsmodels.stats.anova import anova_lm

from iosonde.core.errors import DataError
from iosonde.core.table import Table, build_table
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.weighted import Block, measure_weighted_noise
from messages import raises

TERMS = ["net", "opened", "cache"]
LOUD, QUIET = 20.0, 2.0


def campaigns(seed: int, effects=(0.0, 0.0, 0.0), loud=32, quiet=40) -> dict[str, np.ndarray]:
    """One campaign varies the link and scatters; the other varies two settings and hardly scatters."""
    rng = np.random.default_rng(seed)
    n = loud + quiet
    first = np.arange(n) < loud
    net = np.where(first, rng.integers(0, 2, n), 0)
    opened = np.where(first, 0, rng.integers(0, 3, n))
    cache = np.where(first, 0, rng.integers(0, 2, n))
    y = 50 * first + effects[0] * net + effects[1] * opened + effects[2] * cache
    y = y + rng.normal(0, 1, n) * np.where(first, LOUD, QUIET)
    names = np.array(["tunables", "hardware"])[first.astype(int)]
    return {
        "campaign": names,
        "net": net.astype(float),
        "opened": opened.astype(float),
        "cache": cache.astype(float),
        "y": y,
    }


def table(data) -> Table:
    return build_table({name: values.tolist() for name, values in data.items()})


def test_the_table_is_that_of_statsmodels_with_these_weights():
    data = campaigns(1, (30.0, 1.0, 0.5))
    made = compute_anova(table(data), "y", TERMS, 0.95, block=Block("campaign", True))
    frame = pd.DataFrame(data)
    terms = "C(campaign) + C(net) + C(opened) + C(cache)"
    weight = {one.group: one.weight for one in made.weights}
    theirs = anova_lm(wls(f"y ~ {terms}", frame, weights=frame["campaign"].map(weight)).fit(), typ=2)
    for source in made.sources:
        row = theirs.loc[f"C({source.name})"]
        assert source.ss == pytest.approx(row["sum_sq"])
        assert source.block or source.f == pytest.approx(row["F"])
    assert made.ss_residual == pytest.approx(theirs.loc["Residual", "sum_sq"])


def test_weights_that_are_estimated_have_the_degrees_of_freedom_of_their_campaigns():
    """What one campaign alone tells is tested as in a fit of it alone; what both tell is less sure than with weights
    that are known."""
    data = campaigns(1, (30.0, 1.0, 0.5))
    made = compute_anova(table(data), "y", TERMS, 0.95, block=Block("campaign", True))
    df = {one.group: one.df for one in made.weights}
    net, opened, cache = (source for source in made.sources if not source.block)
    assert net.p == pytest.approx(f.sf(net.f, 1, df["hardware"]))
    assert cache.p == pytest.approx(f.sf(cache.f, 1, df["tunables"]))
    assert opened.p == pytest.approx(f.sf(opened.f, 2, df["tunables"]))
    one, other = made.weights
    shares = {one.group: 0.25, other.group: 0.75}
    factor, error_df = measure_weighted_noise(np.array([1.0, 3.0]), [one.group, other.group], made.weights)
    assert factor == pytest.approx(1 + 4 * sum(p * (1 - p) / df[group] for group, p in shares.items()))
    assert error_df == pytest.approx(1 / sum(p**2 / df[group] for group, p in shares.items()))


def test_each_weight_is_that_of_a_fit_of_the_campaign_alone():
    """They share no factor, so the noise of each is what its own model leaves."""
    data = campaigns(2, (30.0, 1.0, 0.5))
    made = {
        one.group: one for one in compute_anova(table(data), "y", TERMS, 0.95, block=Block("campaign", True)).weights
    }
    frame = pd.DataFrame(data)
    for level, terms in (("hardware", "C(net)"), ("tunables", "C(opened) + C(cache)")):
        alone = ols(f"y ~ {terms}", frame[frame["campaign"] == level]).fit()
        assert made[level].s == pytest.approx(np.sqrt(alone.mse_resid)) and made[level].df == pytest.approx(
            alone.df_resid
        )
    assert sum(one.n * one.weight for one in made.values()) == pytest.approx(72)


@pytest.mark.long
def test_weights_show_what_drowns_and_raise_no_alarm():
    """500 pairs of campaigns: at 5 % a factor that does nothing is found as often, and a real one of the quiet campaign
    is found at all."""
    found = np.zeros((2, 3))
    for seed in range(500):
        data = table(campaigns(seed, (0.0, 1.5, 0.0)))
        for place, weighted in enumerate((False, True)):
            made = compute_anova(data, "y", TERMS, 0.95, block=Block("campaign", weighted))
            found[place] += [one.p < 0.05 for one in made.sources if not one.block]
    (net, opened, cache), (net_w, opened_w, cache_w) = found / 500
    assert net > 0.15 and opened < 0.05 and cache < 0.01  # too sure of the loud one, blind for the quiet one
    assert 0.02 < net_w < 0.09 and opened_w > 0.85 and 0.02 < cache_w < 0.09


def test_what_cannot_be_weighted_is_said():
    few = {name: values[20:] for name, values in campaigns(3, loud=24).items()}
    with raises("noise-not-estimable", DataError, block="campaign", level="hardware", n_rows=4):
        compute_anova(table(few), "y", TERMS, 0.95, block=Block("campaign", True))


def test_a_campaign_without_noise_is_refused_and_does_not_hide_the_other():
    """Rounding errors are no noise: with weights from them the other campaign has no degrees of freedom left."""
    data = campaigns(2)
    quiet = data["campaign"] == "tunables"
    data["y"][quiet] = 5.0 + 0.1 * data["opened"][quiet] + 1e-9 * (np.arange(quiet.sum()) == 3)
    with raises("noise-not-estimable", DataError, block="campaign", level="tunables"):
        compute_anova(table(data), "y", TERMS, 0.95, block=Block("campaign", True))
