"""The order of factors, and a ranking in words: groups, numbers and warnings from values that are set here."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from iosonde.core.types import Estimate
from iosonde.model.sensitivity import warnings
from iosonde.model.sensitivity.aliases import Alias, format_aliases
from iosonde.model.sensitivity.blocks import Blocks, FactorBlock
from iosonde.model.sensitivity.design import Design, FactorLink
from iosonde.model.sensitivity.effects import Effects, Level
from iosonde.model.sensitivity.order import (
    format_ranked_groups,
    format_s1_interval,
    format_share_with_range,
    format_total_share_if_larger,
    group_tied_names,
    insert_blocks,
    join_ranked_names,
)
from iosonde.model.sensitivity.ranking import FactorRank, Ranking, Slope
from iosonde.model.sensitivity.variances import Shares, VariancePart
from iosonde.stats.regression.effect_types import FactorEffect, ResponseEffects
from iosonde.stats.regression.scattered import FACTORIAL, FRACTION, GRID, SCATTERED
from messages import codes, has_message


def known(value: float | None, low: float | None = None, high: float | None = None, n: int = 12) -> Estimate:
    return Estimate(value, low, high, 0.95, n)


def shares(s1: Estimate, st: Estimate | None = None, corrected: float | None = None) -> Shares:
    return Shares(s1, s1.value, st or s1, corrected, 0.5)


def swaying(sd: float) -> np.ndarray:
    return np.array([-sd, sd])


@pytest.mark.parametrize(
    ("values", "sways", "level", "df", "wanted"),
    [
        ([], [], 0.95, 0, ()),
        ([0.5], [1.0], 0.95, 0, (("a",),)),
        ([0.5, 0.1], [0.2, 0.0], 0.95, 0, (("a",), ("b",))),  # 0.4 > 1.96·0.2
        ([0.5, 0.1], [0.21, 0.0], 0.95, 0, (("a", "b"),)),
        ([0.5, 0.1], [0.2, 0.0], 0.99, 0, (("a", "b"),)),
        ([0.5, 0.1], [0.2, 0.0], 0.95, 10, (("a", "b"),)),  # Student's 2.23
        ([0.5, 0.1], [0.2, 0.1], 0.95, 0, (("a",), ("b",))),  # both sway together
        ([0.5, 0.1, 0.09], [0.2, 0.0, 0.0], 0.95, 0, (("a", "b", "c"),)),  # 2.24 of two comparisons
        ([0.5, 0.1, 0.09], [0.17, 0.0, 0.0], 0.95, 0, (("a",), ("b",), ("c",))),
        ([0.5, 0.1, 0.09], [0.17, 0.01, 0.0], 0.95, 0, (("a",), ("b", "c"))),
        ([0.5, 0.1], [0.2, None], 0.95, 0, (("a", "b"),)),
        ([0.5, 0.1], [None, 0.2], 0.95, 0, (("a", "b"),)),
        ([0.5, 0.5 - 1e-10], [0.0, 0.0], 0.95, 0, (("a", "b"),)),
        ([0.5, 0.5 - 1e-8], [0.0, 0.0], 0.95, 0, (("a",), ("b",))),
    ],
)
def test_a_name_opens_a_group_where_it_is_significantly_below_the_first(values, sways, level, df, wanted):
    names = "abc"[: len(values)]
    deviations = {n: None if sd is None else swaying(sd) for n, sd in zip(names, sways, strict=True)}
    assert group_tied_names(list(names), dict(zip(names, values, strict=True)), deviations, level, df) == wanted


def effect(
    *factors: str, share: float = 0.5, low: float | None = 0.4, high: float | None = 0.6, p: float | None = 0.001
):
    return FactorEffect(factors, known(share, low, high), p, adjusted=p)


SINGLES = (effect("a", share=0.6, low=0.55, high=0.65), effect("b", share=0.2, low=0.15, high=0.25))


@pytest.mark.parametrize(
    ("block", "wanted"),
    [
        (effect("c", "d", share=0.8, low=0.7, high=0.9), (("c", "d"), ("a",), ("b",))),
        (effect("c", "d", share=0.4, low=0.3, high=0.5), (("a",), ("c", "d"), ("b",))),
        (effect("c", "d", share=0.1, low=0.05, high=0.14), (("a",), ("b",), ("c", "d"))),
        (effect("c", "d", share=0.5, low=0.3, high=0.55), (("a", "c", "d"), ("b",))),
        (effect("c", "d", share=0.3, low=0.25, high=0.4), (("a",), ("b", "c", "d"))),
        (effect("c", "d", share=0.3, low=None, high=0.4), (("a", "c", "d"), ("b",))),
    ],
)
def test_a_block_has_a_group_of_its_own_unless_its_interval_overlaps(block, wanted):
    effects = ResponseEffects(("a", "b", "c", "d"), (*SINGLES, block))
    assert insert_blocks([["a"], ["b"]], [block], effects) == wanted
    assert insert_blocks([], [block], effects) == (("c", "d"),)


@pytest.mark.parametrize(
    ("st", "total"),
    [
        (known(0.74, 0.70, 0.78), "; ST 0.74, 0.70–0.78"),
        (known(0.74, 0.66, 0.78), "; ST 0.74, 0.66–0.78"),
        (known(0.74, 0.65, 0.78), ""),
        (known(0.74), ""),
        (known(None), ""),
    ],
)
def test_st_is_named_where_it_is_relevantly_above_s1(st, total):
    made = shares(known(0.55, 0.49, 0.60), st)
    assert (format_total_share_if_larger(made), format_s1_interval(made)) == (total, f"S1 0.55, 0.49–0.60{total}")
    assert format_s1_interval(shares(known(0.55), st)) == "S1 0.55, ~"


def part(value: float, low: float | None = None, high: float | None = None, p: float | None = 0.001) -> VariancePart:
    return VariancePart(known(value, low, high), value + 0.01, 2, 9.0, p)


def test_numbers_with_their_intervals():
    assert (format_share_with_range(known(0.5, 0.4, 0.6)), format_share_with_range(known(0.5, 0.4))) == (
        "0.50 (0.40–0.60)",
        "0.50 (~)",
    )


def test_names_of_groups_in_their_order():
    numbers = {"a": "1", "b": "2", "c": "3"}
    assert format_ranked_groups([["a"], ["b"]], numbers) == "a first (1); then b (2)"
    tie = format_ranked_groups([["a"], ["b", "c"]], numbers).partition("; ")[2]
    assert tie.startswith("then b (2) and c (3)") and tie != "then b (2) and c (3)"
    assert format_ranked_groups([["a", "b"]], numbers).startswith("first a (1) and b (2)")
    assert join_ranked_names([["a"], ["b"]]) == "a first, then b"
    assert join_ranked_names([["a", "b"], ["c"]]).startswith("a and b, ") and join_ranked_names(
        [["a", "b"], ["c"]]
    ).endswith("then c")


def test_aliases_in_words():
    four = [Alias(x, "z", 1.0) for x in "abcd"]
    assert (format_aliases(four[:3]), format_aliases(four)) == ("a×z, b×z, c×z", "a×z, b×z, c×z and 1 more")
    assert four[0].to_json() == {"factors": ["a", "z"], "strength": 1.0}
    assert [Alias("a", "b", strength).is_full for strength in (1.0, 0.999, 0.998)] == [True, True, False]


def factor(name: str, **changes) -> FactorRank:
    content = {"over_all": shares(known(0.5, 0.4, 0.6)), "p": 0.01, "zero_line": 0.1, "slope": None, "effects": None}
    return FactorRank(name, "", **{**content, **changes})


def ranking(*factors: FactorRank, **changes) -> Ranking:
    every = factors or (factor("a"), factor("b"))
    names = tuple(one.name for one in every)
    content = {
        "noise": None,
        "order": tuple((name,) for name in names),
        "order_within": (),
        "silent": (),
        "fixed": (),
        "fixed_share": None,
        "links": (),
        "seed": 1,
        "sentence": "",
        "warnings": (),
        "noise_from": "repeats",
        "effects": ResponseEffects(names, tuple(effect(name) for name in names)),
    }
    intervals = changes.pop("intervals", "drawn")
    return Ranking("y", "", 0.95, 12, 4, "means", "means", intervals, every, **{**content, **changes})


def design(kind: str = FACTORIAL, cells: int = 4, repeats: int = 3, spread: float = 1.0, **changes) -> Design:
    counts = np.full(cells, float(repeats))
    y = np.arange(float(cells * repeats))
    inside = np.full(cells, spread)
    codes = np.zeros((cells, 1), int)
    made = Design(kind, (), codes, (1,), counts, y[::repeats], inside, y, codes.astype(float), ())
    return replace(made, **changes)


FULL, PART = Alias("b", "c", 1.0), Alias("b", "c", 0.5)
TOGETHER = (FactorLink("a", "b", 1.0),)
LINKS = tuple(FactorLink("a", name, 0.5) for name in "bcde")


def turning(turns: str) -> Effects:
    return Effects((Level(1, 1, known(1.0)), Level(2, 2, known(2.0))), turns)


@pytest.mark.parametrize(
    ("made", "of", "r2", "wanted"),
    [
        (ranking(), design(), None, []),
        (ranking(intervals=""), design(), None, ["no-replication", "lack-of-fit-noise"]),
        (ranking(intervals="", noise_from=""), design(), None, ["no-replication"]),
        (ranking(), design(repeats=1), None, ["no-repeats"]),
        (ranking(), design(spread=0.0), None, ["identical-repeats"]),
        (ranking(), design(GRID), None, []),
        (ranking(), design(SCATTERED, 99), None, ["few-settings"]),
        (ranking(), design(SCATTERED, 100), None, []),
        (ranking(), design(SCATTERED, 100, binned=("a",)), None, ["binned-factors"]),
        (ranking(), design(FRACTION), None, ["balanced-fraction"]),
        (ranking(factor("a", aliases=(PART,))), design(FRACTION), None, ["partly-aliased", "balanced-fraction"]),
        (ranking(factor("a", aliases=(FULL,))), design(FRACTION), None, ["aliased-factors", "balanced-fraction"]),
        (ranking(factor("a", aliases=(PART, FULL))), design(GRID), None, ["aliased-factors"]),
        (ranking(*(factor(n, aliases=(FULL,)) for n in "abc")), design(GRID), None, ["aliased-factors"] * 3),
        (ranking(*(factor(n, aliases=(FULL,)) for n in "abcd")), design(GRID), None, ["aliased-factors"] * 4),
        (ranking(links=LINKS[:3], by="adjusted"), design(), None, ["correlated-factors", "adjusted-shares"]),
        (ranking(links=LINKS, by="adjusted"), design(), None, ["correlated-factors", "adjusted-shares"]),
        (ranking(links=LINKS[:1]), design(), None, ["correlated-factors", "too-few-settings"]),
        (
            ranking(links=(FactorLink("a", "b", 1.0),), by="adjusted"),
            design(),
            None,
            ["inseparable-factors", "adjusted-shares"],
        ),
        (ranking(by="adjusted"), design(), None, ["adjusted-shares"]),
        (ranking(factor("a", interacts=True)), design(), None, ["interactions"]),
        (ranking(factor("a", over_all=shares(known(0.5), known(0.5), 0.46))), design(), None, ["noise-corrected"]),
        (ranking(factor("a", over_all=shares(known(0.5), known(0.5), 0.48))), design(), None, []),
        (ranking(factor("a", over_all=shares(known(0.5), known(0.02), -0.1))), design(), None, []),
        (ranking(factor("a", effects=turning("highest at 2"))), design(), None, ["not-monotone"]),
        (ranking(factor("a", effects=turning(""))), design(), None, []),
        (ranking(factor("a")), design(), 0.39, ["poor-line"]),
        (ranking(factor("a")), design(), 0.41, []),
        (ranking(), design(), 0.89, ["poor-line"]),
        (ranking(factor("a"), factor("b"), factor("c")), design(), 0.91, []),  # 1.5 counts as 1
        (
            ranking(factor("a"), links=LINKS[:1], by="adjusted"),
            design(),
            0.1,
            ["correlated-factors", "adjusted-shares"],
        ),
    ],
)
def test_what_a_reader_is_warned_of(made, of, r2, wanted):
    assert codes(warnings.collect_warnings(made, of, (), r2)) == wanted
    assert codes(warnings.collect_warnings(made, of, ("from data",), r2)) == ["", *wanted]


def test_linked_names_are_one_group_directly_or_by_others():
    assert warnings.group_linked_names([("a", "b"), ("c", "d"), ("b", "e"), ("d", "c")]) == [
        ["a", "b", "e"],
        ["c", "d"],
    ]


def test_warnings_carry_their_values():
    said = warnings.collect_warnings(ranking(links=LINKS, by="adjusted"), design(), (), None)
    pairs = "a and b; a and c; a and d and 1 more pairs"
    assert has_message(said, "correlated-factors", pairs=pairs, strength=0.5)
    together = ranking(links=(FactorLink("a", "b", 1.0),), by="adjusted")
    said = warnings.collect_warnings(together, design(), (), None)
    assert has_message(said, "inseparable-factors", groups="a and b")
    said = warnings.collect_warnings(ranking(by="adjusted"), design(imbalance=0.07), (), None)
    assert has_message(said, "adjusted-shares", imbalance=0.07)
    said = warnings.collect_warnings(
        ranking(*(factor(n, aliases=(FULL, PART)) for n in "abcde")), design(GRID), (), None
    )
    assert has_message(said, "aliased-factors", factor="c", interactions="b×c")
    assert has_message(said, "aliased-factors", n_more=2) and not has_message(said, "aliased-factors", factor="d")
    said = warnings.collect_warnings(ranking(), design(SCATTERED, 99), (), None)
    assert has_message(said, "few-settings", n_settings=99, n_needed=100)
    off = factor("b", over_all=shares(known(0.5), known(0.5), -0.2))
    said = warnings.collect_warnings(ranking(factor("a", interacts=True), off), design(), (), 0.25)
    assert has_message(said, "interactions", factors="a") and has_message(said, "noise-corrected", shares="b 0.00")
    assert has_message(said, "poor-line", line=25.0, levels=100.0)
    said = warnings.collect_warnings(ranking(factor("a"), factor("b"), factor("c")), design(), (), 0.25)
    assert has_message(said, "poor-line", line=25.0, levels=100.0), "no share is above 100 %"


def test_the_sentence_names_groups_and_what_is_not_significant():
    made = ranking(factor("a"), factor("b"), factor("c"), order=(("a",), ("b",)), silent=("c",))
    said = warnings.describe_ranking(made).split(". ")
    assert said[0].startswith("a first (50 % of the variation, 40–60 %); then b (50 %, 40–60 %)")
    assert said[1].endswith("c.") and len(said) == 2
    without = warnings.describe_ranking(made, ["a"])
    assert without.startswith("b first (50 %") and "a first" not in without
    assert warnings.describe_ranking(made, ["a", "b"]).rstrip(".").endswith(" c")


def test_the_sentence_names_full_aliases_of_factors_that_matter():
    two = factor("a", aliases=(FULL, PART, Alias("d", "e", 1.0)))
    clauses = warnings.describe_ranking(ranking(two, factor("b", aliases=(FULL,)), silent=("b",), order=(("a",),)))
    assert "b×c, d×e" in clauses and clauses.count("×") == 2, "b is silent, and half an alias is none"
    assert "×" not in warnings.describe_ranking(ranking(two, factor("b")), ["a"])
    many = ranking(*(factor(n, aliases=(FULL,)) for n in "abcd"))
    assert warnings.describe_ranking(many).count("×") == 3


def test_the_sentence_has_an_order_within_fixed_factors():
    inner = factor("b", within=shares(known(0.8, 0.7, 0.9)))
    made = ranking(factor("a"), inner, fixed=("a",), order_within=(("b",),))
    assert "a: b first (80 % of the rest, 70–90 %)" in warnings.describe_ranking(made)
    assert "b first" not in warnings.describe_ranking(made, ["b"])
    nothing = warnings.describe_ranking(replace(made, order_within=()))
    assert len(nothing.split(". ")) == 2 and "b first" not in nothing.split(". ")[1]
    adjusted = replace(inner, adjusted_within=part(0.6, 0.5, 0.7))
    assert "(60 % of the rest, 50–70 %)" in warnings.describe_ranking(
        replace(made, factors=(made.factors[0], adjusted))
    )


@pytest.mark.parametrize(
    ("effects", "names_level"),
    [
        (ResponseEffects(("a", "b"), (effect("a", p=0.6), effect("b", p=0.7))), True),
        (ResponseEffects(("a", "b"), (effect("a", p=0.6), effect("b", p=None))), False),
        (ResponseEffects(("a", "b"), (), "one trial a setting"), False),
    ],
)
def test_without_an_effect_the_sentence_says_why(effects, names_level):
    said = warnings.describe_ranking(ranking(order=(), silent=("a", "b"), effects=effects))
    assert ("0.95" in said) is names_level and ("one trial a setting" in said) is bool(effects.untested)


def block(name: str, added: VariancePart, *order: tuple[str, ...], n: int = 2) -> FactorBlock:
    return FactorBlock(name, added, known(0.6, 0.5, 0.7), {f"f{i}": added for i in range(n)}, order)


def test_blocks_in_words():
    first, then = block("hw", part(0.9, 0.8, 0.95)), block("sw", part(0.05, 0.04, 0.06), ("f1",), ("f0",))
    said = warnings.format_block_shares(Blocks((first, then), None, 0.05, 9))
    assert "hw 0.90 (0.80–0.95)" in said and "; then sw 0.05 (0.04–0.06)" in said
    assert "0.60 (0.50–0.70)" in said and said.endswith(": f1 first, then f0")
    alone = warnings.format_block_shares(
        Blocks((first, block("sw", part(0.05, 0.04, 0.06), ("f0",), n=1)), None, 0.05, 9)
    )
    assert "f0" not in alone
    silent = warnings.format_block_shares(Blocks((first, block("sw", part(0.05, 0.0, 0.06, p=0.051))), None, 0.05, 9))
    assert "0.05" not in silent and "; then sw" in silent
    assert "0.05" in warnings.format_block_shares(
        Blocks((first, block("sw", part(0.05, 0.0, 0.06, p=0.049))), None, 0.05, 9)
    )
    assert "0.05" in warnings.format_block_shares(Blocks((first, block("sw", part(0.05, p=None))), None, 0.05, 9))


def test_blocks_in_json():
    made = Blocks((block("hw", part(0.5, 0.4, 0.6), ("f1", "f0"), n=1),), part(0.1, 0.0, 0.2), 0.05, 9).to_json()
    numbers = {"share": 0.5, "share_low": 0.4, "share_high": 0.6, "share_plain": 0.51, "df": 2, "f": 9.0, "p": 0.001}
    assert made["blocks"] == [
        {
            "name": "hw",
            **numbers,
            "of_rest": 0.6,
            "of_rest_low": 0.5,
            "of_rest_high": 0.7,
            "factors": [{"name": "f0", **numbers}],
            "order": [["f1", "f0"]],
        }
    ]
    assert made["interactions"]["share_high"] == 0.2 and (made["unexplained"], made["unexplained_df"]) == (0.05, 9)
    assert Blocks((), None, 0.05, 9).to_json()["interactions"] is None


def test_a_factor_in_json():
    level_a, level_b = Level("nfs", "nfs", known(1.0, 0.5, 1.5, 6)), Level("ceph", "ceph", known(3.0, n=6))
    slope = Slope(known(2.0, 1.0, 3.0), known(0.5, 0.25, 0.75))
    of = Shares(known(0.5, 0.4, 0.6), 0.48, known(0.7, 0.6, 0.8), 0.66, 0.9)
    made = factor(
        "fs",
        over_all=of,
        slope=slope,
        effects=Effects((level_a, level_b), ""),
        shapley=known(0.3, 0.2, 0.4),
        within=of,
        interacts=True,
        adjusted=part(0.2, 0.1, 0.3, p=0.02),
        adjusted_within=part(0.25, 0.15, 0.35),
        aliases=(FULL,),
        effect=effect("fs", "disk", p=0.004),
    )
    flat = {
        "s1": 0.5,
        "s1_low": 0.4,
        "s1_high": 0.6,
        "s1_corrected": 0.48,
        "st": 0.7,
        "st_low": 0.6,
        "st_high": 0.8,
        "st_corrected": 0.66,
        "importance": 0.9,
    }
    assert made.to_json() == {
        "name": "fs",
        "unit": None,
        "share": {"value": 0.5, "low": 0.4, "high": 0.6},
        **flat,
        "p": 0.01,
        "zero_line": 0.1,
        "interacts": True,
        "coefficient": 2.0,
        "coefficient_low": 1.0,
        "coefficient_high": 3.0,
        "standardised": 0.5,
        "standardised_low": 0.25,
        "standardised_high": 0.75,
        "fixed": False,
        "change": ["nfs", "ceph"],
        "shapley": 0.3,
        "shapley_low": 0.2,
        "shapley_high": 0.4,
        "adjusted": 0.2,
        "adjusted_low": 0.1,
        "adjusted_high": 0.3,
        "adjusted_p": 0.02,
        "effect_p": 0.004,
        "effect_p_adjusted": 0.004,
        "together_with": ["disk"],
        "aliases": [{"factors": ["b", "c"], "strength": 1.0}],
        "within": {**flat, "adjusted": 0.25, "adjusted_low": 0.15, "adjusted_high": 0.35},
        "levels": [
            {"low": "nfs", "high": "nfs", "n": 6, "mean": 1.0, "mean_low": 0.5, "mean_high": 1.5},
            {"low": "ceph", "high": "ceph", "n": 6, "mean": 3.0, "mean_low": None, "mean_high": None},
        ],
        "steps": [{"from": "nfs", "to": "ceph", "change": 2.0}],
        "monotone": True,
        "turns": None,
    }
    assert (made.p_of_effect, factor("a").p_of_effect) == (0.004, 0.01)


def test_a_factor_without_a_line_has_its_keys_all_the_same():
    document = factor("a").to_json()
    lines = [f"{name}{end}" for name in ("coefficient", "standardised") for end in ("", "_low", "_high")]
    assert [document[name] for name in lines] == [None] * 6
    assert (document["levels"], document["steps"], document["monotone"], document["turns"]) == ([], [], None, None)
    assert document["change"] is None and not {"shapley", "adjusted", "aliases", "within", "effect_p"} & set(document)


def test_a_change_is_between_two_categories():
    slope = Slope(known(1.0), known(1.0))
    text = Effects((Level("x", "x", known(1.0)), Level("y", "y", known(2.0))), "")
    assert factor("a", slope=slope, effects=text).change == ("x", "y")
    assert factor("a", effects=text).change is None and factor("a", slope=slope, effects=turning("")).change is None


def test_a_ranking_in_json():
    made = ranking(
        links=LINKS[:1],
        noise=known(0.1, 0.05, 0.2),
        order=(("a", "b"),),
        order_within=(("b",),),
        silent=("c",),
        fixed=("a",),
        fixed_share=known(0.4),
        by="adjusted",
        shapley_estimator="forests",
        transform="log",
        blocks=Blocks((), None, 0.05, 9),
    )
    document = made.to_json()
    assert [entry.pop("name") for entry in document.pop("factors")] == ["a", "b"]
    assert document == {
        "response": "y",
        "unit": None,
        "transform": "log",
        "level": 0.95,
        "n": 12,
        "n_cells": 4,
        "estimator": "means",
        "st_estimator": "means",
        "intervals": "drawn",
        "seed": 1,
        "noise": known(0.1, 0.05, 0.2).to_json(),
        "order": [["a", "b"]],
        "order_within": [["b"]],
        "no_effect_seen": ["c"],
        "fixed": ["a"],
        "fixed_share": known(0.4).to_json(),
        "correlated": [{"factors": ["a", "b"], "strength": 0.5}],
        "ordered_by": "adjusted",
        "importance_of": "adjusted",
        "noise_from": "repeats",
        "shapley_estimator": "forests",
        "sentence": "",
        "warnings": [],
        "blocks": [],
        "interactions": None,
        "unexplained": 0.05,
        "unexplained_df": 9,
    }
    together = replace(made, effects=ResponseEffects(("a", "b"), (effect("a", "b"),)))
    assert together.importance_of == "s1", "what always changes together explains nothing beyond each other"


@pytest.mark.parametrize(
    ("levels", "tried"),
    [
        ([(1, 1), (2, 2)], "1, 2"),
        ([(n, n) for n in (1, 2, 4, 8)], "1, 2, 4, 8"),
        ([(n, n) for n in (1, 2, 4, 8, 16)], "1 to 16 (5)"),
        ([(1, 3), (4, 9)], "1 to 9 (2 bins)"),
        ([(str(n), str(n)) for n in range(5)], "5 levels"),
        ([(0.1234, 0.5), (0.6, 0.98765)], "0.123 to 0.988 (2 bins)"),
    ],
)
def test_tried_levels_are_listed_or_counted(levels, tried):
    made = Effects(tuple(Level(low, high, known(float(i))) for i, (low, high) in enumerate(levels)), "")
    assert made.tried == tried


def test_steps_and_extremes_of_levels():
    made = Effects(tuple(Level(n, n, known(mean)) for n, mean in ((1, 5.0), (2, 1.0), (4, 2.0), (8, 9.0))), "falls")
    assert [level.low for level in made.largest_step] == [4, 8] and [level.low for level in made.extremes] == [2, 8]
    document = made.to_json()
    assert [step["change"] for step in document["steps"]] == [-4, 1, 7]
    assert (document["monotone"], document["turns"]) == (False, "falls")
    assert (
        Level(4096, 65536, known(1.0), "bytes").name == "4 KiB to 64 KiB"
        and Level(0.12345, 0.12345, known(1.0)).name == "0.1235"
    )


def test_the_larger_share_comes_first_and_what_only_interacts_is_not_ranked():
    def effect(name, share, p):
        return FactorEffect((name,), known(share, share / 2, 2 * share), p, adjusted=p)

    effects = ResponseEffects(
        ("a", "b", "c"), (effect("a", 0.18, 0.001), effect("b", 0.4, 0.001), effect("c", 0.02, 0.6))
    )
    made = ranking(factor("a"), factor("b"), factor("c"), order=(("a", "b", "c"),), effects=effects)
    first, second = warnings.describe_ranking(made).split(". ", 1)
    assert first.index("b (40") < first.index("a (18") and "c (" not in first
    assert " c (2.0" in second and "a (" not in second
