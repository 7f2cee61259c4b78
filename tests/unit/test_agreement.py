"""Verdicts on published numbers: planted agreements and contradictions, and how often chance looks like one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from iosonde.agreement.judge import (
    PublishedOutcome,
    judge_absence,
    judge_interval,
    judge_printed,
    judge_ranking,
    judge_recomputed,
    judge_share,
    judge_sign,
)
from iosonde.core.types import Estimate
from iosonde.importers.published_figures import read_publication

FILE = """\
published: A paper
document: paper
figures:
  - {where: page 1, words: "42 and 43", operation: cp, metric: real, unit: s, value: 42}
  - {where: page 1, words: "42 and 43", operation: rm, metric: real, unit: s, value: 43, slip: {why: a misprint}}
"""


SUMS = """\
published: A paper
document: paper
figures:
  - {where: page 1, words: "6.80 of .735", operation: a, metric: real, unit: s, value: 6.8}
  - {where: page 1, words: "6.80 of .735", operation: b, metric: real, unit: s, value: 0.735}
  - {where: page 1, words: "30 hours", operation: c, metric: real, unit: h, value: 30, slip: {should_be: 31.9, why: c}}
  - {where: page 1, words: "1020", operation: d, metric: real, unit: s, value: 1020, slip: {why: a digit is missing}}
"""


def build_estimate(value: float | None, low: float | None = None, high: float | None = None) -> Estimate:
    return Estimate(value, low, high, 0.95, 3)


@pytest.mark.parametrize(
    ("published", "measured", "outcome"),
    [
        ((20, 15, 25), (0.5, 0.3, 0.7), PublishedOutcome.SAME_SIGN),
        ((20,), (0.5, 0.3, 0.7), PublishedOutcome.SAME_SIGN),
        ((-34,), (8, 6, 11), PublishedOutcome.CONTRADICTED),
        ((20, 15, 25), (0.5, -0.1, 1.1), PublishedOutcome.INCONCLUSIVE),
        ((20, -1, 41), (0.5, 0.3, 0.7), PublishedOutcome.INCONCLUSIVE),
        ((20,), (None,), PublishedOutcome.INCONCLUSIVE),
        ((0,), (0.5, 0.3, 0.7), PublishedOutcome.INCONCLUSIVE),
    ],
)
def test_signs(published, measured, outcome):
    assert judge_sign(build_estimate(*published), build_estimate(*measured)).outcome is outcome


def test_the_sign_of_a_ratio_is_its_side_of_one():
    assert judge_sign(build_estimate(6.8), build_estimate(3.9, 3.8, 4.1), 1.0).outcome is PublishedOutcome.SAME_SIGN
    assert judge_sign(build_estimate(1.7), build_estimate(0.4, 0.3, 0.9), 1.0).outcome is PublishedOutcome.CONTRADICTED
    assert (
        judge_sign(build_estimate(1.7), build_estimate(1.07, 0.98, 1.17), 1.0).outcome is PublishedOutcome.INCONCLUSIVE
    )


@pytest.mark.parametrize(
    ("published", "measured", "outcome"),
    [
        ((199, 186, 212), (200, 150, 250), PublishedOutcome.INSIDE_INTERVAL),
        ((199, 186, 212), (220, 205, 235), PublishedOutcome.INCONCLUSIVE),
        ((199, 186, 212), (260, 240, 280), PublishedOutcome.CONTRADICTED),
        ((199, 186, 212), (260,), PublishedOutcome.INCONCLUSIVE),
        ((120,), (118, 110, 126), PublishedOutcome.INSIDE_INTERVAL),
        ((120,), (107, 100, 114), PublishedOutcome.CONTRADICTED),
        ((120,), (107,), PublishedOutcome.INCONCLUSIVE),
    ],
)
def test_intervals(published, measured, outcome):
    assert judge_interval(build_estimate(*published), build_estimate(*measured)).outcome is outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (-1.0, 1.5, PublishedOutcome.NO_EFFECT),
        (-3.0, 9.0, PublishedOutcome.INCONCLUSIVE),
        (2.5, 9.0, PublishedOutcome.CONTRADICTED),
        (-9.0, -2.5, PublishedOutcome.CONTRADICTED),
    ],
)
def test_an_interval_that_only_contains_nothing_confirms_no_absence(low, high, outcome):
    assert judge_absence(build_estimate((low + high) / 2, low, high), 2.0).outcome is outcome


@pytest.mark.parametrize(
    ("low", "high", "outcome"),
    [
        (0.92, 0.98, PublishedOutcome.SAME_SHARE),
        (0.6, 0.7, PublishedOutcome.CONTRADICTED),
        (0.85, 0.97, PublishedOutcome.INCONCLUSIVE),
    ],
)
def test_shares_of_a_bound(low, high, outcome):
    assert judge_share(0.95, build_estimate((low + high) / 2, low, high)).outcome is outcome


def test_rankings():
    assert judge_ranking([1, 2, 3, 4], [10, 20, 30, 40]).outcome is PublishedOutcome.SAME_RANKING
    assert judge_ranking([1, 2, 3, 4], [40, 30, 20, 10]).outcome is PublishedOutcome.CONTRADICTED
    three = judge_ranking([1, 2, 3], [10, 20, 30])
    assert (three.outcome, three.p) == (PublishedOutcome.INCONCLUSIVE, pytest.approx(1 / 6))
    assert judge_ranking([1, 1, 1, 1], [1, 2, 3, 4]).outcome is PublishedOutcome.INCONCLUSIVE
    with pytest.raises(ValueError):
        judge_ranking([1, 2], [1])


def test_the_permutation_test_is_that_of_scipy():
    published, measured = [3.0, 1.0, 4.0, 1.5, 5.0], [2.0, 1.0, 3.5, 3.0, 2.5]
    theirs = [stats.spearmanr(published, list(order)).statistic for order in itertools.permutations(measured)]
    rho = stats.spearmanr(published, measured).statistic
    ours = judge_ranking(published, measured)
    assert ours.rho == pytest.approx(rho)
    assert ours.p == pytest.approx(np.mean(np.array(theirs) >= rho - 1e-9))


@pytest.mark.parametrize("n", [6, 12])
def test_chance_is_taken_for_an_agreement_in_one_of_twenty_at_most(n):
    rng = np.random.default_rng(n)
    outcomes = [judge_ranking(rng.normal(size=n), rng.normal(size=n)).outcome for _ in range(200)]
    for outcome in (PublishedOutcome.SAME_RANKING, PublishedOutcome.CONTRADICTED):
        assert outcomes.count(outcome) <= stats.binom.ppf(0.999, 200, 0.05)


def test_a_number_that_nothing_was_compared_with():
    plain, wrong = read_publication(FILE, "x").figures
    assert judge_printed(plain).outcome is PublishedOutcome.NOT_MEASURED
    assert judge_printed(wrong).outcome is PublishedOutcome.DOCUMENT_WRONG


@pytest.mark.parametrize(
    ("operation", "computed", "outcome"),
    [
        ("a", 6.8049, PublishedOutcome.RECOMPUTED),
        ("a", 6.806, PublishedOutcome.CONTRADICTED),
        ("b", 0.7354, PublishedOutcome.RECOMPUTED),
        ("b", 0.7356, PublishedOutcome.CONTRADICTED),
        ("c", 31.93, PublishedOutcome.DOCUMENT_WRONG),
        ("c", 30.2, PublishedOutcome.CONTRADICTED),  # no slip: the printed number follows
        ("c", 31.8, PublishedOutcome.CONTRADICTED),  # not what the slip calls right
        ("d", 10_200, PublishedOutcome.DOCUMENT_WRONG),
    ],
)
def test_numbers_that_follow_from_the_document_to_the_last_digit(operation, computed, outcome):
    (number,) = (number for number in read_publication(SUMS, "x").figures if number.operation == operation)
    assert judge_recomputed(number, computed).outcome is outcome


@pytest.mark.parametrize(
    ("published", "measured", "outcome"),
    [
        ((300,), (100, -408, 608), PublishedOutcome.INCONCLUSIVE),
        ((110,), (112, 104, 120), PublishedOutcome.INSIDE_INTERVAL),
        ((110, 100, 120), (112, 20, 204), PublishedOutcome.INCONCLUSIVE),
    ],
)
def test_a_vague_interval_confirms_nothing(published, measured, outcome):
    assert judge_interval(build_estimate(*published), build_estimate(*measured)).outcome is outcome
