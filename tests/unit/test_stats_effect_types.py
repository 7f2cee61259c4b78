"""What is said of an effect by its numbers, at and next to each limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy import stats as scipy_stats

from iosonde.core.types import Estimate
from iosonde.core.verdict import HARDLY_MATTERS, UncheckedClaim, VerdictState
from iosonde.stats.assumptions import list_doubts
from iosonde.stats.assumptions.drift import DriftInTurn
from iosonde.stats.estimate.compare import EQUAL, MARGIN, NEGLIGIBLE, build_group, compare_groups
from iosonde.stats.regression.effect_types import (
    FactorEffect,
    ResponseEffects,
    correct_effects,
    describe_blocks,
    describe_drifts,
    describe_effects_decided_by_family,
    describe_too_different,
    describe_unclaimed_effects,
    is_too_different,
    list_effect_claims,
    refuse_too_different,
)
from iosonde.stats.regression.effects import _encode_dummies, estimate_effects

DRIFT, GONE = DriftInTurn(0.1, 0.001, False), DriftInTurn(0.1, 0.001, True)


def effect(*factors: str, share: float = 0.5, low: Any = 0.3, high: Any = 0.7, **more: Any) -> FactorEffect:
    p = more.pop("p", 0.001)
    return FactorEffect(factors or ("a",), Estimate(share, low, high, 0.95, 9), p, **more)


@pytest.mark.parametrize(
    ("more", "passes", "significant"),
    [
        ({"adjusted": 0.0499}, True, True),
        ({"adjusted": 0.051}, False, False),
        ({"adjusted": None}, False, False),
        ({"adjusted": 0.01, "low": 0.0}, False, False),
        ({"adjusted": 0.01, "low": None}, True, True),
        ({"adjusted": 0.01, "drift": DRIFT}, True, True),
        ({"adjusted": 0.01, "drift": GONE}, True, False),
        ({"adjusted": 0.2, "drift": GONE}, False, False),
    ],
)
def test_an_effect_is_significant_by_its_corrected_test_its_interval_and_its_drift(more, passes, significant):
    assert (effect(**more).passes_test, effect(**more).is_significant) == (passes, significant)


@pytest.mark.parametrize(("difference", "negligible"), [(0.0199, True), (0.02, False), (None, False)])
def test_an_effect_is_negligible_if_no_difference_of_its_levels_reaches_the_margin(difference, negligible):
    made = effect(adjusted=0.001, difference=difference)
    assert (made.is_negligible, made.is_significant, made.passes_test) == (negligible, not negligible, True)
    assert bool(describe_unclaimed_effects(ResponseEffects(("a",), (made,)))) is negligible


@pytest.mark.parametrize(
    ("share", "low", "high", "text"),
    [
        (0.85, 0.71, 0.92, "85 % (71–92 %)"),
        (0.025, 0.019, 0.033, "2.5 % (1.9–3.3 %)"),
        (0.1, 0.009, 0.3, "10 % (0.9–30 %)"),
        (0.1, 0.01, 0.3, "10 % (1–30 %)"),
        (0.1, 0.0, 0.3, "10 % (0–30 %)"),
        (0.5, None, 0.7, "50 %"),
        (0.5, 0.3, None, "50 %"),
    ],
)
def test_a_share_has_a_decimal_where_it_is_small(share, low, high, text):
    assert effect(share=share, low=low, high=high).text == text


def test_effects_of_a_response_are_found_by_their_factors():
    block = effect("a", "b", adjusted=0.01, own=(effect("a", adjusted=0.01),), share=0.2, drift=DRIFT)
    strong, weak = effect("c", adjusted=0.01, share=0.6), effect("d", adjusted=0.5, drift=DRIFT)
    gone = effect("e", adjusted=0.01, share=0.9, drift=GONE)
    made = ResponseEffects(("a", "b", "c", "d", "e"), (block, weak, strong, gone))
    assert made.tests == [block, block.own[0], weak, strong, gone]
    assert made.significant == [strong, block]
    assert made.drifting == [block, gone]
    assert (made.effect_of("b"), made.effect_of("c"), made.effect_of("x")) == (block, strong, None)
    assert made.has_factors_in_same_block(["b", "a"]) and not made.has_factors_in_same_block(["a", "c"])
    assert (block.name, block.is_block, strong.is_block, block.share) == ("a+b", True, False, 0.2)
    assert FactorEffect(("a",), Estimate(None, None, None, 0.95, 0), None).share == 0.0
    assert [text.split()[0] for text in describe_drifts(made)] == ["a+b", "e"]


def test_all_tests_of_a_family_share_holms_correction_in_their_order():
    """Four tests: 0.01 · 4, then 0.02 · 3, then 0.04 · 2, then 0.3."""
    block = effect("a", "b", p=0.02, own=(effect("a", p=0.3), effect("b", p=0.01)))
    family = [ResponseEffects(("a", "b"), (block,)), ResponseEffects(("c", "d"), (effect("c", p=None), effect(p=0.04)))]
    one, other = correct_effects(family)
    assert [test.adjusted for test in (*one.tests, *other.tests)] == pytest.approx([0.06, 0.3, 0.04, None, 0.08])
    assert {test.family for test in (*one.tests, *other.tests)} == {4}


@pytest.mark.parametrize(
    ("p", "responses", "alone", "added"),
    [
        (0.004, 1, 0.5, 0.04),
        (0.006, 1, 0.5, None),
        (0.0024, 2, 0.5, 0.048),
        (0.0026, 2, 0.5, None),
        (0.001, 1, 0.001, None),
        (None, 1, 0.5, None),
    ],
)
def test_all_factors_together_are_tested_at_a_tenth_of_alpha_if_none_is_significant(p, responses, alone, added):
    joint = effect("a", "b", p=p, is_joint=True)
    family = [ResponseEffects(("a", "b"), (effect(p=alone),), joint=joint), *[ResponseEffects(())] * (responses - 1)]
    made = correct_effects(family)[0].effects[1:]
    assert [each.adjusted for each in made] == ([] if added is None else [pytest.approx(added)])
    assert [(each.family, each.factors) for each in made] == [(responses, ("a", "b"))] * len(made)


def test_no_joint_effect_is_added_where_a_drift_explains_one():
    joint = effect("a", "b", p=1e-6, is_joint=True)
    made = ResponseEffects(("a", "b"), (effect(p=0.001, drift=GONE),), joint=joint)
    assert len(correct_effects([made])[0].effects) == 1
    assert (
        len(correct_effects([ResponseEffects(("a", "b"), (effect(p=0.5, drift=GONE),), joint=joint)])[0].effects) == 2
    )


def claim(*factors: str, state: VerdictState, doubts: tuple[str, ...] = (), **more: Any) -> Any:
    return UncheckedClaim("effect", "y", factors, state, **more), doubts


def list_claims(effects: ResponseEffects) -> tuple[Any, ...]:
    return tuple((claimed, list_doubts(checks)) for claimed, checks in list_effect_claims("y", effects))


def test_a_claim_says_the_state_the_numbers_and_the_doubts_of_each_factor():
    sure, open_ = effect("a", adjusted=0.01, family=3), effect("b", adjusted=0.2, family=3)
    none = effect("c", adjusted=0.9, low=0.0, high=0.001, difference=0.001)
    blind, drifting = effect("d", p=None), effect("e", adjusted=0.01, drift=GONE)
    made = list_claims(ResponseEffects(("a",), (sure, open_, none, blind, drifting)))
    assert made == (
        claim("a", state=VerdictState.DIFFERENT, estimate=sure.explained, p=0.01, family=3),
        claim("b", state=VerdictState.INCONCLUSIVE, estimate=open_.explained, p=0.2, family=3),
        claim("c", state=VerdictState.EQUAL, claim=HARDLY_MATTERS, estimate=none.explained, p=0.9),
        claim("d", state=VerdictState.NOT_TESTED, estimate=blind.explained, doubts=("bring-ups",)),
        claim("e", state=VerdictState.INCONCLUSIVE, estimate=drifting.explained, p=0.01, doubts=("order", "drift")),
    )
    untested = ResponseEffects(("a", "b"), (sure,), untested="why")
    assert list_claims(untested) == tuple(
        claim(name, state=VerdictState.NOT_TESTED, doubts=("few-trials",)) for name in "ab"
    )


def test_members_of_a_block_have_claims_of_their_own():
    own = effect("a", adjusted=0.01, share=0.2), effect("b", adjusted=0.4)
    block, joint = effect("a", "b", "c", adjusted=0.02, own=own), effect("a", "b", adjusted=0.02, is_joint=True)
    together = ("goes-together",)
    made = list_claims(ResponseEffects(("a", "b", "c"), (block, joint)))
    assert made == (
        claim("a", "b", "c", state=VerdictState.DIFFERENT, estimate=block.explained, p=0.02),
        claim("a", state=VerdictState.DIFFERENT, estimate=own[0].explained, p=0.01, doubts=together),
        claim("b", state=VerdictState.NOT_SEPARABLE, doubts=together),
        claim("c", state=VerdictState.NOT_SEPARABLE, doubts=together),
        claim("a", "b", state=VerdictState.DIFFERENT, estimate=joint.explained, p=0.02),
    )


def test_blocks_are_described_by_what_separates_their_members():
    own = effect("a", adjusted=0.01), effect("b", adjusted=0.4)
    many = tuple("abcde")
    effects = [
        effect("x"),
        effect("a", "b", own=own),
        effect("a", "b", own=own[1:]),
        effect(*many),
        effect("a", "b", is_joint=True),
        effect("a", "b", "c", is_joint=True),
    ]
    expected = [
        "a and b are confounded; a explains 50 % (30–70 %) beyond all others",
        "the effects of a and b cannot be separated",
        "the effects of these 5 factors cannot be separated",
        "the effect of each of a and b depends on the other",
        "the effect of each of a, b and c depends on the others",
    ]
    assert list(describe_blocks(effects)) == expected


def test_levels_are_coded_in_the_order_of_their_first_occurrence():
    assert _encode_dummies(["x", "z", "y", "x", "z"]).tolist() == [[0, 0], [1, 0], [0, 1], [0, 0], [1, 0]]


def trials(*cells: list[float]) -> list[np.ndarray]:
    return [np.array(cell, float) for cell in cells]


def test_effects_without_a_test_say_why():
    by = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2], "same": [1, 1, 1, 1]}
    single = estimate_effects(by, trials([1], [2], [4], [9]), None, 0.95)
    assert (single.factors, [each.factors for each in single.effects]) == (("a", "b"), [("a",), ("b",)])
    assert (single.repeated, single.joint) == (False, None)
    full = estimate_effects({"a": [1, 2]}, trials([1], [2]), None, 0.95)
    assert (full.effects, full.repeated, full.untested.code) == ((), False, "single-trial")
    exact = estimate_effects({"a": [1, 2]}, trials([1, 1], [2, 2]), None, 0.95)
    assert (exact.effects, exact.repeated, exact.untested.code) == ((), True, "identical-repeats")
    many = estimate_effects({"a": [1, 2]}, trials([1] * 4, [2] * 4), None, 0.95)
    assert (many.untested, many.effects[0].explained.value) == ("", pytest.approx(1.0))
    equal = estimate_effects(by, trials([5], [5], [5], [5, 5]), None, 0.95)
    assert [(each.factors, each.p, each.explained.value, each.explained.n) for each in equal.effects] == [
        (("a",), 1.0, 0.0, 5),
        (("b",), 1.0, 0.0, 5),
    ]
    assert estimate_effects({"a": [1, 1]}, trials([1, 2], [3, 4]), None, 0.95) == ResponseEffects(())
    assert estimate_effects({"a": [1]}, trials([1, 2]), None, 0.95).effects == ()


REPEATS = trials([1.0, 2, 1.5], [4.0, 5, 4.2], [2.0, 2.2, 3.0], [9.0, 8.0, 8.8])
CROSSED = {"a": [1, 1, 2, 2], "b": [1, 2, 1, 2]}


def test_effects_are_tested_against_trials_at_one_setting():
    """Each factor of two levels by its t of cell means with their own variances; both by all three contrasts."""
    made = estimate_effects(CROSSED, REPEATS, None, 0.9)
    y = np.concatenate(REPEATS)
    total = float(((y - y.mean()) ** 2).sum())
    means, errors = (np.array([of(cell) for cell in REPEATS]) for of in (np.mean, scipy_stats.sem))
    squares = errors**2
    df = squares.sum() ** 2 / (squares**2 / 4).sum() - 2  # four variances of two degrees of freedom
    for name, signs in (("a", [-1, -1, 1, 1]), ("b", [-1, 1, -1, 1])):
        t = float(means @ signs) / np.sqrt(squares.sum())
        found = made.effect_of(name)
        assert found.p == pytest.approx(2 * scipy_stats.t.sf(abs(t), df))
        assert (found.share, found.explained.n, found.explained.level) == (
            pytest.approx(12 * float(means @ signs / 4) ** 2 / total),
            12,
            0.9,
        )
        assert found.difference is None  # the factors interact
    joint = made.joint
    assert (joint.factors, joint.is_joint) == (("a", "b"), True)
    within = sum(float(((cell - cell.mean()) ** 2).sum()) for cell in REPEATS)
    assert joint.explained.value == pytest.approx(1 - within / total) and joint.explained.low < joint.explained.value
    assert estimate_effects({"a": [1, 2, 3, 4]}, REPEATS, None, 0.9).joint is None
    assert estimate_effects(CROSSED, [cell[:1] for cell in REPEATS], None, 0.9).joint is None


@pytest.mark.parametrize("shift", [0.0, 0.01, 0.04])
def test_two_levels_are_equal_where_a_comparison_finds_them_practically_equal(shift):
    """The limit of the difference is the farther end of Welch's interval."""
    rng = np.random.default_rng(3)
    a, b = 100 + 0.4 * rng.normal(size=12), 100 * (1 + shift) + 0.6 * rng.normal(size=9)
    (made,) = estimate_effects({"a": [1, 2]}, [a, b], None, 0.95).effects
    interval = scipy_stats.ttest_ind(b, a, equal_var=False).confidence_interval(0.95)
    assert made.difference == pytest.approx(max(-interval.low, interval.high) / min(a.mean(), b.mean()))
    comparison = compare_groups(build_group("a", a), build_group("b", b), 0.95, MARGIN)
    assert made.is_negligible == (comparison.verdict in (EQUAL, NEGLIGIBLE)) == (shift < 0.02)
    (log,) = estimate_effects({"a": [1, 2]}, [np.log10(a), np.log10(b)], None, 0.95, 10.0).effects
    assert log.difference == pytest.approx(made.difference, rel=0.05)


def test_few_repeats_are_joined_with_the_residuals_of_the_main_effects():
    values = trials([1.0, 1.2], [4.0], [2.5], [6.5])
    made = estimate_effects(CROSSED, values, None, 0.9)
    y = np.concatenate(values)
    a, b = np.array([0, 0, 0, 1, 1.0]), np.array([0, 0, 1, 0, 1.0])
    fit = sm.OLS(y, sm.add_constant(np.column_stack([a, b]))).fit()
    for name, place in (("a", 1), ("b", 2)):
        assert made.effect_of(name).p == pytest.approx(fit.pvalues[place])
    assert made.joint is None and made.repeated


@pytest.mark.parametrize(
    ("factors", "trials", "too_different"),
    [
        ("abcde", (1, 1, 1, 1, 3, 3), True),
        ("abcd", (1, 1, 1, 1, 3, 3), False),
        ("abcde", (1, 1, 3, 3, 3, 3), False),
        ("abc", (1, 1, 3), True),  # no more settings than factors
        ("abc", (1, 3, 3), False),
    ],
)
def test_unlike_settings_of_single_trials_are_not_ranked(factors, trials, too_different):
    block = ResponseEffects(tuple(factors), (effect(*factors, adjusted=0.001),))
    family = refuse_too_different([block, ResponseEffects(("a",))], [trials, trials])
    assert [is_too_different(effects) for effects in family] == [too_different] * 2
    assert bool(describe_too_different(family)) is too_different
    assert not any(effects.significant for effects in family if too_different)
    assert not is_too_different(refuse_too_different([ResponseEffects(("a",))], [trials])[0])


def test_what_the_family_decides_is_doubted_and_said_with_the_way_to_ask():
    decided, clear = effect("a", p=0.02), effect("b", p=0.0001)
    family = [ResponseEffects(("a", "b"), (decided, clear)), ResponseEffects(("a",), (effect("a", p=0.5),) * 2)]
    effects = correct_effects(family)[0]
    assert [each.is_decided_by_family for each in effects.effects] == [True, False]
    assert [doubts for _, doubts in list_claims(effects)] == [("other-tests",), ()]
    (text,) = describe_effects_decided_by_family({("read IOPS", "read", "rate"): effects})
    assert text.values["name"].split() == ["read", "rate"] and text.values["family"] == 4 and "--metric" in text
    (text,) = describe_effects_decided_by_family({("log(mbs)", "", "log(mbs)"): effects})
    assert "--metric" not in text


# 20-fold, log-normal noise of 35 %: Welch's p of the values is 0.04, of their logarithms 0.0006.
FAST, SLOW = np.array([1240.0, 640.0, 715.0]), np.array([27.0, 47.0, 30.0])


@pytest.mark.parametrize("factor", [1.0, 15.0])
def test_two_levels_have_the_test_of_a_comparison_on_the_scale_that_decides(factor):
    (effect,) = estimate_effects({"a": ["x", "y"]}, [FAST, factor * SLOW], None, 0.95).effects
    compared = compare_groups(build_group("x", FAST), build_group("y", factor * SLOW), 0.95, MARGIN)
    assert effect.p == pytest.approx(compared.p) and (effect.log_share is None) is not compared.on_logarithms


def test_levels_far_apart_are_significant_on_logarithms_in_a_family_of_twelve():
    effects = estimate_effects({"a": ["x", "y"]}, [FAST, SLOW], None, 0.99)
    (effect,) = correct_effects([effects] * 12)[0].effects
    assert effect.explained.low == 0 and effect.hidden_share.low > 0.4
    assert effect.is_significant and effect.text.count("%") == 3
    three = estimate_effects({"a": ["x", "y", "z"]}, [FAST, 1.2 * FAST[::-1], SLOW], None, 0.95)
    logs = estimate_effects({"a": ["x", "y", "z"]}, [np.log(x) for x in (FAST, 1.2 * FAST, SLOW)], None, 0.95, np.e)
    assert three.effects[0].p == pytest.approx(logs.effects[0].p) and three.effects[0].log_share is not None


def test_logarithms_of_a_factor_do_not_decide_where_its_own_levels_are_near():
    """Levels of ``a`` are far apart; those of ``b`` differ by a tenth. Logarithms decide where the spread grows."""
    settings = {"a": ["x", "x", "y", "y"], "b": ["p", "q"] * 2}
    even, noise = np.array([-10.0, 0.0, 13.0]), np.array([0.9, 1.0, 1.13])
    values = [100 + even, 110 + even[::-1], 2000 + even[[1, 0, 2]], 2200 + even]
    _, b = estimate_effects(settings, values, None, 0.95).effects
    assert b.log_share is None
    values = [100 * noise, 110 * noise[::-1], 2000 * noise[[1, 0, 2]], 2200 * noise]
    a, b = estimate_effects(settings, values, None, 0.95).effects
    assert a.log_share is not None and b.log_share is not None


def test_columns_of_a_half_fraction_are_separable():
    """Coded by signs, c = a·b in all settings: a generated factor, not a product such as ranks."""
    settings = {"a": [-1, -1, 1, 1], "b": [-1, 1, -1, 1], "c": [1, -1, -1, 1]}
    values = trials([10.0, 10.2, 9.9], [20.0, 20.1, 19.8], [12.0, 12.2, 11.9], [21.0, 21.3, 21.1])
    effects = estimate_effects(settings, values, None, 0.95).effects
    assert [effect.factors for effect in effects] == [("a",), ("b",), ("c",)]


def test_two_names_of_the_same_levels_are_one_member_of_a_block():
    """setup nearly follows device, whose other name is kernel: what device adds to setup is said of both names."""
    rng = np.random.default_rng(4)
    device = [0] * 10 + [1] * 10
    settings = {"device": device, "kernel": [f"k{d}" for d in device], "setup": [1, *device[1:]]}
    values = [100.0 + 50 * d + rng.normal(0, 1, 3) for d in device]
    (block,) = correct_effects([estimate_effects(settings, values, None, 0.95)])[0].effects
    assert block.factors == ("device", "kernel", "setup")
    assert {member.factors: member.is_significant for member in block.own} == {
        ("device", "kernel"): True,
        ("setup",): False,
    }
    assert block.share_of("kernel") == block.share_of("device") != block.explained


def test_the_two_factors_that_interact_are_named():
    rng = np.random.default_rng(6)
    cells = [(a, b, c) for a in range(3) for b in range(2) for c in range(2)]
    settings = {name: [cell[place] for cell in cells] for place, name in enumerate("abc")}
    for pair, factor in ((("a", "b"), lambda a, b, c: a * b), (("a", "b", "c"), lambda a, b, c: a * b + 1.5 * a * c)):
        values = [100 + 50 * a + 20 * factor(a, b, c) + rng.normal(0, 1, 4) for a, b, c in cells]
        effects = estimate_effects(settings, values, None, 0.95)
        assert effects.interaction > 0 and effects.interacting == pair
