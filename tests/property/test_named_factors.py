"""The factors that commands name on random tables: all that act, and dead ones no more often than chance allows.

Held against the planted truth, and against sums of squares of statsmodels."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from statsmodels.formula.api import ols

from iosonde.commands.anova.answer import anova
from iosonde.commands.rank.answer import rank
from iosonde.commands.summary.answer import summary
from iosonde.core.table import Table, build_table
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.regression.effect_types import ResponseEffects

N_TABLES = 100
KINDS = ("additive", "two-way", "three-way", "nested", "aliased")
MOST_FALSE = 20  # of about 130 dead factors at 5 % (and as many chances in an interaction): the 99.9th percentile


@dataclass(frozen=True)
class Planted:
    """A table, the factors that act, and those that do not. A factor that follows from another is neither."""

    kind: str
    table: Table
    live: frozenset[str]
    dead: frozenset[str]


def plant(seed: int) -> Planted:
    """Return a table of 2 to 4 factors with 4 trials of each setting; effects of 3 standard deviations or more."""
    rng = np.random.default_rng(seed)
    kind = KINDS[seed % len(KINDS)]
    least = {"three-way": 3, "two-way": 2}.get(kind, 1)
    names = list("abcd")[: int(rng.integers(max(2, least), 5))]
    levels = [int(rng.integers(2, 4)) if kind != "three-way" else 2 for _ in names]
    cells = np.array([cell for cell in product(*map(range, levels)) for _ in range(4)])
    n_live = {"two-way": 2, "three-way": 3}.get(kind, int(rng.integers(1, len(names) + 1)))
    live = [str(name) for name in rng.permutation(names)[:n_live]]
    places = [names.index(name) for name in live]
    signs = np.where(cells % 2, 1.0, -1.0)
    acts = signs[:, places].prod(1) if kind in ("two-way", "three-way") else signs[:, places].sum(1)
    columns = {name: [f"{name}{level}" for level in cells[:, place]] for place, name in enumerate(names)}
    size = rng.uniform(3, 6)
    if kind == "nested":  # each level of the first live factor is a host with two disks
        outer, disk = live[0], rng.integers(0, 2, len(cells))
        columns["disk"] = [f"{level}-{number}" for level, number in zip(columns[outer], disk, strict=True)]
    if kind == "aliased":
        columns["twin"] = [level.upper() for level in columns[live[0]]]
    response = 60 + size * acts + rng.normal(0, 1, len(cells))
    dead = frozenset(names) - set(live)
    return Planted(kind, build_table({**columns, "y": response}, "t.csv"), frozenset(live), dead)


def name_factors(effects: ResponseEffects) -> set[str]:
    """Return the factors that effects name as acting: alone, in a block, or in an interaction."""
    alone = {name for effect in effects.significant for name in effect.factors}
    return {*alone, *(effects.interacting if effects.interaction else ())}


@pytest.fixture(scope="module")
def planted_tables() -> list[Planted]:
    return [plant(seed) for seed in range(N_TABLES)]


def test_every_factor_that_acts_is_named_and_dead_ones_no_more_often_than_chance_allows(planted_tables):
    n_false = 0
    for planted in planted_tables:
        names = [name for name in planted.table.names if name != "y"]
        effects = anova(open_data(planted.table), ResponseQuery(("y",), tuple(names))).effects
        named = name_factors(effects)
        assert planted.live <= named, (planted.kind, planted.live, named)
        n_false += len(named & planted.dead)
        if planted.kind == "three-way" and all(effect.is_joint for effect in effects.significant):
            assert planted.live <= effects.joint_factors
    assert sum(len(planted.dead) for planted in planted_tables) > 80 and n_false <= MOST_FALSE


@pytest.mark.parametrize("seed", range(0, N_TABLES, 7))
def test_commands_name_the_same_factors(seed):
    planted = plant(seed)
    source, names = open_data(planted.table), [name for name in planted.table.names if name != "y"]
    ranking = rank(source, ResponseQuery(("y",)))
    allocation = anova(source, ResponseQuery(("y",), tuple(names)))
    overview = summary(source, ResponseQuery(("y",)), names)
    assert name_factors(allocation.effects) == name_factors(ranking.rankings[0].effects)
    answers = ([v for v in answer.verdicts if v.question == "effect"] for answer in (ranking, overview))
    states, others = ({v.subject: (v.state, v.claim) for v in verdicts} for verdicts in answers)
    assert states == others


def test_shares_and_p_values_are_those_of_statsmodels(planted_tables):
    for planted in (planted for planted in planted_tables if planted.kind == "three-way"):
        live = sorted(planted.live)
        table = pd.DataFrame({name: planted.table.columns[name].values for name in (*live, "y")})
        peer = sm.stats.anova_lm(ols(f"y ~ {'*'.join(live)}", table).fit(), typ=2)
        ours = {
            row["name"]: row
            for row in anova(open_data(planted.table), ResponseQuery(("y",), ("*".join(live),))).records()
        }
        largest = ":".join(live)
        assert ours[largest]["ss"] == pytest.approx(peer["sum_sq"][largest], rel=1e-9)
        assert ours[largest]["p"] == pytest.approx(peer["PR(>F)"][largest], rel=1e-6)
