"""Interactions that an analysis of variance without them leaves in its residual: named as `rank` names them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import iosonde
from iosonde.core.table import Column, Table
from iosonde.stats.regression.effect_types import correct_effects
from iosonde.stats.regression.effects import estimate_effects

SIGN = {"0": -1.0, "1": 1.0}


def measure(effect, names: str = "abcd", repeats: int = 3, seed: int = 1, **nested) -> Table:
    """Return a factorial of two levels, with noise of 1 about 100; ``nested``: columns that follow from the others."""
    rng = np.random.default_rng(seed)
    rows = [cell for cell in product("01", repeat=len(names)) for _ in range(repeats)]
    values = [100 + effect(*(SIGN[level] for level in cell)) + rng.normal(0, 1) for cell in rows]
    columns = {name: [cell[place] for cell in rows] for place, name in enumerate(names)}
    columns |= {name: [follow(*cell) for cell in rows] for name, follow in nested.items()}
    texts = {
        name: Column(name, np.array([f"{name}{level}" for level in levels], object)) for name, levels in columns.items()
    }
    return Table({**texts, "mib_s": Column("mib_s", np.array(values))})


def list_pairs(interactions) -> list[tuple[str, str]]:
    return [(pair.first, pair.second) for pair in interactions]


def find_warning(answer, code: str = "interactions"):
    return next((text for text in answer.anova.warnings if getattr(text, "code", "") == code), None)


@pytest.mark.parametrize("repeats", [1, 3])
def test_anova_of_main_effects_names_the_pairs_of_rank_and_the_terms_that_show_them(repeats):
    table = measure(lambda a, b, c, d, e: 6 * a * b + 4 * c * d + 2 * e, "abcde", repeats)
    answer = iosonde.anova(table, response="mib_s").answer
    ranking = iosonde.rank(table, response="mib_s").answer.rankings[0]
    assert list_pairs(answer.effects.interactions) == list_pairs(ranking.interactions) == [("a", "b"), ("c", "d")]
    warning = find_warning(answer)
    assert {"a × b", "c × d"} <= {text[:5] for text in str(warning.values["interactions"]).split(" and ")}
    assert [item["factors"] for item in answer.content()["interactions"]] == [[["a"], ["b"]], [["c"], ["d"]]]
    shown = iosonde.anova(table, response="mib_s", on=warning.values["terms"].split(",")).answer
    shares = {source.name: source.share for source in shown.anova.sources}
    expected = [pair.share for pair in answer.effects.interactions]
    assert [shares["a:b"], shares["c:d"]] == pytest.approx(expected)
    assert find_warning(shown) is None


def test_a_pair_that_a_term_holds_is_not_in_the_residual():
    table = measure(lambda a, b, c, d: 6 * a * b + 4 * c * d)
    warning = find_warning(iosonde.anova(table, response="mib_s", on=["a*b", "c", "d"]).answer)
    assert "a × b" not in warning.values["interactions"] and "c × d" in warning.values["interactions"]


def test_additive_effects_leave_nothing_but_noise():
    for seed in range(10):
        answer = iosonde.anova(measure(lambda a, b, c, d: 3 * a + 2 * b, seed=seed), response="mib_s").answer
        assert find_warning(answer) is None and answer.content()["interactions"] == []


def test_an_interaction_of_three_factors_is_shown_by_its_term():
    answer = iosonde.anova(measure(lambda a, b, c, d: 4 * d + 5 * a * b * c), response="mib_s").answer
    assert find_warning(answer).values["terms"] == "a*b*c,d"


def test_an_interaction_does_not_leak_into_other_factors_where_trials_are_missing():
    """As in a model with the interaction, a dead factor is significant in one of 20; a live one is seen."""
    cells = list(product("012", "012", "01", "01"))
    n_false, n_live = 0, 0
    for seed in range(24):
        rng = np.random.default_rng(seed)
        means = {
            cell: 5 * (1 + 0.12 * int(cell[0])) * (2.5 if cell[1] == "2" and cell[2] == "1" else 1) for cell in cells
        }
        rows = [cell for cell in cells for _ in range(4) if rng.random() < 0.55]
        values = [means[cell] * np.exp(rng.normal(0, 0.06)) for cell in rows]
        settings = {
            name: [cell[place] for cell in dict.fromkeys(rows)]
            for place, name in enumerate(["api", "n", "coll", "dead"])
        }
        trials = [
            np.array([v for row, v in zip(rows, values, strict=True) if row == cell]) for cell in dict.fromkeys(rows)
        ]
        effects = correct_effects([estimate_effects(settings, trials, None, 0.95)])[0]
        states = {effect.name: effect.p for effect in effects.effects}
        n_false += states["dead"] < 0.05
        n_live += states["api"] < 0.05
        assert ("n", "coll") in list_pairs(effects.interactions)
    assert n_false <= 5 and n_live == 24  # of 24 at 5 %: the 99.7th percentile; 13 without the interactions


def test_missing_settings_without_repetitions_do_not_make_dead_factors_significant():
    n_false = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        cells = [cell for cell in product("01", "01", "012", "01", "0123") if rng.random() < 0.75]
        values = [np.array([300 + 60 * SIGN[a] * SIGN[b] + 12 * int(n) + rng.normal(0, 8)]) for a, b, _, _, n in cells]
        settings = {name: [cell[place] for cell in cells] for place, name in enumerate("abcdn")}
        effects = correct_effects([estimate_effects(settings, values, None, 0.95)])[0]
        assert list_pairs(effects.interactions)[0] == ("a", "b")
        n_false += len({"c", "d"}.intersection(name for each in effects.significant for name in each.factors))
    assert n_false <= 4  # of 24 at 5 % over the family at most; 18 without the interactions


def test_a_block_does_not_hide_interactions():
    table = measure(lambda a, b, c, d: 6 * a * b + 4 * d)
    assert find_warning(iosonde.anova(table, response="mib_s", on=["a", "b", "c"], block="d").answer) is not None


def test_nested_factors_are_one_side_of_a_pair():
    table = measure(lambda a, b, c, d: 6 * a * c, host=lambda a, b, c, d: a, disk=lambda a, b, c, d: a + b)
    ranking = iosonde.rank(table, response="mib_s", on=["host", "disk", "c", "d"]).answer.rankings[0]
    assert list_pairs(ranking.interactions) == [("host+disk", "c")]
    answer = iosonde.anova(table, response="mib_s", on=["disk", "c", "d"]).answer
    assert find_warning(answer).values["terms"] == "disk*c,d"


def test_pairs_are_tested_against_the_error_of_their_stratum():
    """Two factors that are set once for each bring-up: their interaction varies no more than bring-ups do."""
    rows = [(net, fs, number) for net in "01" for fs in "01" for number in range(3)]
    cells = list(product("01", "01", "012"))
    settings = {name: [cell[place] for cell in cells] for place, name in enumerate("nfs")}
    shared = np.array([12 * int(n) + 6 * int(f) + number for n, f, _ in cells for number in range(3)])
    claimed, found = 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        bring_up = {row: rng.normal(0, 5) for row in rows}
        values = [
            np.array([100 + 3 * int(f) * int(s) + bring_up[n, f, number] + rng.normal(0, 0.5) for number in range(3)])
            for n, f, s in cells
        ]
        pairs = list_pairs(estimate_effects(settings, values, shared[:, None], 0.95).interactions)
        claimed, found = claimed + (("n", "f") in pairs), found + (("f", "s") in pairs)
    assert found == 40  # within bring-ups, whose error cancels
    assert claimed <= 5  # at 5 %: the 98th percentile of 40
