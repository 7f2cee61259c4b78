"""A design with a constraint (stripes × replicas ≤ servers) and a known truth: a published line, and noise.

``python -m constrained_design [TABLES]`` prints how often intervals hold and factors are put in the wrong order.
"""

from __future__ import annotations

import itertools
import sys

import numpy as np

from iosonde.core.table import build_table
from iosonde.model.fit.features import Examples, build_examples
from iosonde.model.sensitivity import factorial, scattered
from iosonde.model.sensitivity.adjusted import compute_adjusted_shares
from iosonde.model.sensitivity.design import Design, build_design
from iosonde.model.sensitivity.order import group_tied_names
from iosonde.model.sensitivity.shapley_additive import compute_additive_effects
from iosonde.model.sensitivity.variances import VarianceShare
from iosonde.stats.regression.scattered import SCATTERED

NAMES = ["network", "base", "servers", "striping", "replication", "clients"]
LINE = np.array([271.936, 4.149, 30.729, 10.38, -59.182, -34.359])
SIGMA = 60.0


def cells(clients: tuple[int, ...] = (1, 3)) -> np.ndarray:
    """27 layouts of 125 are left, for each network, base file system and number of clients."""
    every = itertools.product((0, 1), (0, 1), range(1, 6), range(1, 6), range(1, 6), clients)
    return np.array([row for row in every if row[3] * row[4] <= row[2]], float)


def data_of(x: np.ndarray, rng: np.random.Generator, sigma: float = SIGMA) -> Examples:
    """Trials at these settings."""
    y = x @ LINE + sigma * rng.normal(size=len(x))
    return build_examples(build_table({**dict(zip(NAMES, x.T, strict=True)), "y": y}), "y", NAMES)


def true_shares(x: np.ndarray, sigma: float = SIGMA) -> np.ndarray:
    """What the line loses without a factor, over the variance of the response."""
    centred, y = x - x.mean(0), x @ LINE
    found = []
    for i in range(x.shape[1]):
        others = np.delete(levels(x), np.flatnonzero(owners(x) == i), axis=1)
        left = centred[:, i] - others @ np.linalg.lstsq(others, centred[:, i], rcond=None)[0]
        found.append(LINE[i] ** 2 * left.var() / (y.var() + sigma**2))
    return np.array(found)


def levels(x: np.ndarray) -> np.ndarray:
    """A column of ones, and one for each level of each factor but the first."""
    parts = [column[:, None] == np.unique(column)[1:] for column in x.T]
    return np.column_stack([np.ones(len(x)), *parts]).astype(float)


def owners(x: np.ndarray) -> np.ndarray:
    """Which factor each of ``levels`` is of; -1 of the ones."""
    return np.concatenate([[-1], *(np.full(len(np.unique(column)) - 1, i) for i, column in enumerate(x.T))])


def wrong_order(groups: tuple[tuple[str, ...], ...], truth: np.ndarray) -> bool:
    """Whether a factor stands before a group with a truly larger one."""
    worth = dict(zip(NAMES, truth, strict=True))
    return any(worth[a] < worth[b] for one, other in itertools.combinations(groups, 2) for a in one for b in other)


def order_of(design: Design, rng: np.random.Generator) -> tuple[list, tuple[tuple[str, ...], ...]]:
    """(adjusted shares, the groups that they are ranked in)."""
    made = compute_adjusted_shares(design, frozenset(), 0.95, rng)
    assert made is not None
    values = {name: part.share.value or 0.0 for name, part in zip(NAMES, made.parts, strict=True)}
    moves = {name: made.moves[i] for i, name in enumerate(NAMES)}
    names = sorted(values, key=lambda name: -values[name])
    return made.parts, group_tied_names(names, values, moves, 0.95, made.scale.noise.df)


def shapley_truth(x: np.ndarray, sigma: float = SIGMA) -> np.ndarray:
    """Of the line, by every order of the factors (brute force)."""
    y, columns, of = x @ LINE, levels(x), owners(x)
    known: dict[frozenset[int], float] = {}

    def closed(u: frozenset[int]) -> float:
        if u not in known:
            part = columns[:, np.isin(of, [-1, *u])]
            known[u] = float(np.var(part @ np.linalg.lstsq(part, y, rcond=None)[0]))
        return known[u]

    found = np.zeros(x.shape[1])
    orders = list(itertools.permutations(range(x.shape[1])))
    for order in orders:
        for place, i in enumerate(order):
            found[i] += closed(frozenset(order[: place + 1])) - closed(frozenset(order[:place]))
    return found / len(orders) / (y.var() + sigma**2)


def by_s1(design: Design, rng: np.random.Generator) -> bool:
    """Whether S1 would put striping before servers."""
    room = scattered if design.kind == SCATTERED else factorial
    shares = [VarianceShare(frozenset([i])) for i in range(6)]
    made = room.resample_variances(design, [frozenset(), *(share.upper for share in shares)], rng)
    values = {name: float(share.corrected(made.observed)) for name, share in zip(NAMES, shares, strict=True)}
    moves = {name: made.compute_deviations(share) for name, share in zip(NAMES, shares, strict=True)}
    groups = group_tied_names(sorted(values, key=lambda name: -values[name]), values, moves, 0.95, made.noise_df)
    place = {name: at for at, group in enumerate(groups) for name in group}
    return place["striping"] < place["servers"]


def main(tables: int) -> None:
    """Coverage and wrong orderings, repeated and run once."""
    for repeats in (3, 2, 1):
        x = np.repeat(cells(), repeats, axis=0)
        truth, shapley = true_shares(x), shapley_truth(x)
        rng, hits, hits_shapley = np.random.default_rng(1), np.zeros(6), np.zeros(6)
        wrong, swapped, swapped_s1 = 0, 0, 0
        for _ in range(tables):
            design = build_design(data_of(x, rng))
            parts, groups = order_of(design, rng)
            hits += [p.share.low <= t <= p.share.high for p, t in zip(parts, truth, strict=True)]
            made = compute_additive_effects(design, 0.95, rng)
            limits = np.array([made.limits(i, 0.95) for i in range(6)])
            hits_shapley += (limits[:, 0] <= shapley) & (shapley <= np.maximum(limits[:, 1], 0))
            swapped_s1 += by_s1(design, rng)
            wrong += wrong_order(groups, truth)
            place = {name: at for at, group in enumerate(groups) for name in group}
            swapped += place["striping"] < place["servers"]
        print(f"{repeats} trials a setting, {len(x)} rows; noise {SIGMA**2 / ((x @ LINE).var() + SIGMA**2):.2f}")
        print("truth  ", dict(zip(NAMES, truth.round(4).tolist(), strict=True)))
        print("adjusted covers", (hits / tables).round(3), "Shapley", (hits_shapley / tables).round(3))
        print(f"wrong orderings {wrong / tables:.3f}, striping before servers {swapped / tables:.3f}", end="")
        print(f", by S1 {swapped_s1 / tables:.3f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
