"""Pairs of units that were chosen by their values: what regression to the mean explains of the change."""

from __future__ import annotations

import numpy as np
import pytest

from iosonde.stats.estimate.selection import detect_selection

N, WORST = 60, 8


def measured_again(rng, unit_sd: float, noise: float, change: float = 0.0):
    """Paired values of the lowest units, their second values, and the others' values."""
    true = 100 + unit_sd * rng.standard_normal(N)
    first = true + noise * rng.standard_normal(N)
    order = np.argsort(first)
    chosen = order[:WORST]
    again = true[chosen] + change + noise * rng.standard_normal(WORST)
    return first[chosen], again, first[order[WORST:]]


def interval(paired, partners):
    d = partners - paired
    half = 2.365 * d.std(ddof=1) / np.sqrt(d.size)  # t of 7 degrees of freedom
    return d.mean() - half, d.mean() + half


@pytest.mark.parametrize("unit_sd", [0.0, 5.0, 10.0, 30.0])
def test_regression_to_the_mean_is_no_change(unit_sd):
    rng, claims = np.random.default_rng(1), 0
    for _ in range(200):
        paired, partners, others = measured_again(rng, unit_sd, 10.0)
        selection = detect_selection(paired, partners, others)
        assert selection is not None and selection.is_low and selection.regression > 0
        claims += not selection.explains(*interval(paired, partners))
    assert claims / 200 <= 0.05


def test_a_change_beyond_it_is_found():
    rng, claims = np.random.default_rng(2), 0
    for _ in range(100):
        paired, partners, others = measured_again(rng, 5.0, 10.0, change=60)
        selection = detect_selection(paired, partners, others)
        assert selection is not None
        claims += not selection.explains(*interval(paired, partners))
    assert claims >= 90


def test_units_that_truly_differ_hardly_move_back():
    paired, partners, others = measured_again(np.random.default_rng(3), 30.0, 0.5, change=-3)
    selection = detect_selection(paired, partners, others)
    assert selection is not None and 0 < selection.regression < 0.5
    assert not selection.explains(*interval(paired, partners))


def test_units_that_were_chosen_blindly_are_no_selection():
    rng, seen = np.random.default_rng(4), 0
    for _ in range(300):
        first = rng.standard_normal(N)
        seen += detect_selection(first[:WORST], rng.standard_normal(WORST), first[WORST:]) is not None
    assert seen / 300 <= 0.03
    assert detect_selection(np.arange(8.0), np.arange(8.0), np.array([100.0, 101.0, 102.0])) is None


@pytest.mark.parametrize(
    ("n_paired", "n_others", "selected"), [(10, 4, True), (20, 3, False), (2, 30, True), (1, 300, False)]
)
def test_a_selection_takes_two_pairs_and_four_other_units(n_paired, n_others, selected):
    paired, others = np.arange(n_paired, dtype=float), 100 + np.arange(n_others, dtype=float)
    partners = paired + np.resize([0.1, -0.1], n_paired)
    assert (detect_selection(paired, partners, others) is not None) is selected
