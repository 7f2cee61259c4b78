"""Tables and stores that are drawn for the test of agreement: one kind of DATA for each way in which they differ."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod
from pathlib import Path
from zlib import crc32

import numpy as np

from .cells import Columns
from .stored_data import Writer, write_cut_campaign, write_import, write_operations, write_runs

Rng = np.random.Generator


@dataclass(frozen=True)
class DrawnData:
    """``columns`` of a table, or of what ``write`` puts into a store. ``factors`` are the settings that commands are
    asked about, ``responses`` the names that they are asked by. ``sides``: the factor whose two levels ``compare`` can
    compare; ``is_alone``: there is no other, so that ``compare`` is asked the same question as the others."""

    columns: Columns
    factors: tuple[str, ...]
    responses: tuple[str, ...] = ("v",)
    sides: str = ""
    is_alone: bool = False
    write: Writer | None = None
    kind: str = ""
    seed: int = 0


def draw_effect(rng: Rng, n: int, spread: float) -> float:
    """A ratio that is none at all, or lies where some tests see it and others do not, or far beyond."""
    errors = rng.choice([0.0, rng.uniform(1.5, 3.5), rng.uniform(6.0, 30.0)], p=[0.25, 0.55, 0.2])
    return float(np.exp(rng.choice([-1, 1]) * errors * spread * np.sqrt(2 / n)))


def draw_spread(rng: Rng) -> float:
    """From quiet to noisy."""
    return float(rng.choice([0.01, 0.03, 0.1, 0.3]))


def draw_noise(rng: Rng, n: int, spread: float | np.ndarray) -> np.ndarray:
    """Normal or log-normal, with a mean of 1."""
    z = rng.standard_normal(n)
    return np.exp(spread * z) if rng.random() < 0.5 else np.maximum(1 + spread * z, 0.05)


def draw_levels(rng: Rng, count: int) -> list[object]:
    """Names, or sizes that double."""
    return [*"xyzuw"[:count]] if rng.random() < 0.5 else [2**n for n in range(count)]


def shuffle(rng: Rng, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The rows in the order in which they were measured."""
    order = rng.permutation(len(next(iter(columns.values()))))
    return {name: values[order] for name, values in columns.items()}


@dataclass(frozen=True)
class Grid:
    """A full factorial: the columns of its ``rows``, the place of each row's levels, and the factors' sizes."""

    columns: dict[str, np.ndarray]
    places: np.ndarray
    sizes: tuple[int, ...]


def draw_grid(rng: Rng, sizes: Sequence[int], counts: Sequence[int]) -> Grid:
    """Columns ``a``, ``b``, … of these sizes; ``counts``: trials of each setting, repeated as often as needed."""
    settings = list(product(*map(range, sizes)))
    repeats = [counts[place % len(counts)] for place in range(len(settings))]
    places = np.repeat(np.array(settings), repeats, axis=0)
    levels = [np.array(draw_levels(rng, size), dtype=object) for size in sizes]
    columns = {
        name: _narrow(values[places[:, at]]) for at, (name, values) in enumerate(zip("abc", levels, strict=False))
    }
    return Grid(columns, places, tuple(sizes))


def _narrow(values: np.ndarray) -> np.ndarray:
    return np.array(values.tolist())


def draw_response(rng: Rng, grid: Grid, spread: float, interaction: bool = False) -> np.ndarray:
    """Each factor has its effect, or none; ``interaction``: the last level of the first two has one of its own."""
    n = len(grid.places)
    values = 100 * draw_noise(rng, n, spread)
    for at, size in enumerate(grid.sizes):
        effect = draw_effect(rng, max(n // size, 1), spread)
        values = values * effect ** (grid.places[:, at] / max(size - 1, 1))
    if interaction:
        corner = (grid.places[:, 0] == grid.sizes[0] - 1) & (grid.places[:, 1] == grid.sizes[1] - 1)
        effect = draw_effect(rng, max(n // prod(grid.sizes[:2]), 1), spread)
        values = values * np.where(corner, effect, 1.0)
    return values


# Tables


def build_two_levels(rng: Rng) -> DrawnData:
    """One factor of two levels."""
    grid = draw_grid(rng, (2,), [int(rng.integers(3, 13))])
    v = draw_response(rng, grid, draw_spread(rng))
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), ("a",), sides="a", is_alone=True)


def build_several_levels(rng: Rng) -> DrawnData:
    """One factor of three to five levels."""
    grid = draw_grid(rng, (int(rng.integers(3, 6)),), [int(rng.integers(3, 9))])
    return DrawnData(shuffle(rng, grid.columns | {"v": draw_response(rng, grid, draw_spread(rng))}), ("a",))


def build_two_factors(rng: Rng, interaction: bool = False) -> DrawnData:
    """Two factors, balanced."""
    grid = draw_grid(rng, (2, int(rng.integers(2, 4))), [int(rng.integers(2, 7))])
    v = draw_response(rng, grid, draw_spread(rng), interaction)
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), ("a", "b"), sides="a")


def build_interaction(rng: Rng) -> DrawnData:
    """Two factors, the effect of one of which depends on the other."""
    return build_two_factors(rng, interaction=True)


def build_three_factors(rng: Rng) -> DrawnData:
    """Three factors, with an interaction or without."""
    grid = draw_grid(rng, (2, 2, int(rng.integers(2, 4))), [int(rng.integers(2, 4))])
    v = draw_response(rng, grid, draw_spread(rng), rng.random() < 0.5)
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), ("a", "b", "c"), sides="a")


def build_unequal_counts(rng: Rng) -> DrawnData:
    """One factor or two, with other numbers of trials at each setting."""
    sizes = (2,) if rng.random() < 0.5 else (2, 3)
    grid = draw_grid(rng, sizes, [int(n) for n in rng.integers(2, 13, prod(sizes))])
    v = draw_response(rng, grid, draw_spread(rng))
    names = tuple("ab"[: len(sizes)])
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), names, sides="a", is_alone=len(sizes) == 1)


def build_unequal_spread(rng: Rng) -> DrawnData:
    """One factor of two or three levels, the first of which is quiet; unequal n as well."""
    size = int(rng.integers(2, 4))
    grid = draw_grid(rng, (size,), [int(n) for n in rng.integers(4, 17, size)])
    spread = np.where(grid.places[:, 0] == 0, 0.02, rng.choice([0.1, 0.2]))
    effect = draw_effect(rng, 8, 0.15)
    v = 100 * draw_noise(rng, len(spread), spread) * effect ** (grid.places[:, 0] / (size - 1))
    return DrawnData(
        shuffle(rng, grid.columns | {"v": v}),
        ("a",),
        sides="a" if size == 2 else "",
        is_alone=size == 2,
    )


def build_aliased(rng: Rng) -> DrawnData:
    """A second column goes with the first one; a third factor, or none."""
    sizes = (2,) if rng.random() < 0.5 else (2, 3)
    grid = draw_grid(rng, sizes, [int(rng.integers(3, 9))])
    twin = np.array(["p", "q"])[grid.places[:, 0]]
    v = draw_response(rng, grid, draw_spread(rng))
    columns = {"a": grid.columns["a"], "twin": twin, **grid.columns, "v": v}
    return DrawnData(shuffle(rng, columns), ("a", "twin", *("ab"[1 : len(sizes)])), sides="a")


def build_nested(rng: Rng) -> DrawnData:
    """Versions that each level has of its own."""
    grid = draw_grid(rng, (2, 2), [int(rng.integers(3, 9))])
    a = np.array(["x", "y"])[grid.places[:, 0]]
    version = np.array([f"{name}{place + 1}" for name, place in zip(a, grid.places[:, 1], strict=True)])
    v = draw_response(rng, grid, draw_spread(rng))
    return DrawnData(shuffle(rng, {"a": a, "version": version, "v": v}), ("a", "version"), sides="a")


def build_varying_besides(rng: Rng) -> DrawnData:
    """A number that varies from row to row, on which the response may depend."""
    grid = draw_grid(rng, (2,), [int(rng.integers(4, 13))])
    load = 20 + 5 * rng.standard_normal(len(grid.places)) + rng.choice([0.0, 4.0]) * grid.places[:, 0]
    v = draw_response(rng, grid, 0.05) * (1 + rng.choice([0.0, 0.01]) * (load - 20))
    return DrawnData(shuffle(rng, {**grid.columns, "load": load, "v": v}), ("a",), sides="a")


def build_measured_in_turn(rng: Rng) -> DrawnData:
    """One level was measured after the other while values drifted; the times are known, or only the order."""
    grid = draw_grid(rng, (2,), [int(rng.integers(5, 13))])
    n = len(grid.places)
    drift = 1 - rng.choice([0.0, 0.005, 0.02]) * np.arange(n)
    columns: dict[str, np.ndarray] = dict(grid.columns)
    if rng.random() < 0.5:
        columns["start"] = np.array([f"2026-03-01T10:{minute:02}:00" for minute in range(n)])
    v = draw_response(rng, grid, draw_spread(rng)) * np.maximum(drift, 0.1)
    return DrawnData(columns | {"v": v}, ("a",), sides="a", is_alone=True)


def build_missing_values(rng: Rng) -> DrawnData:
    """A third of the values of one level are missing."""
    grid = draw_grid(rng, (2,), [int(rng.integers(6, 13))])
    v = draw_response(rng, grid, draw_spread(rng))
    v[(grid.places[:, 0] == 1) & (rng.random(len(v)) < 0.35)] = np.nan
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), ("a",), sides="a", is_alone=True)


def build_ranks_of_trials(rng: Rng) -> DrawnData:
    """Rows are ranks, whose trials are numbered."""
    trials, ranks = int(rng.integers(3, 8)), int(rng.integers(2, 9))
    grid = draw_grid(rng, (2,), [trials * ranks])
    trial = np.tile(np.repeat(np.arange(trials), ranks), 2)
    mood = np.repeat(0.08 * rng.standard_normal(2 * trials), ranks)
    effect = draw_effect(rng, trials, 0.08) ** grid.places[:, 0]
    v = 100 * effect * (1 + mood + 0.03 * rng.standard_normal(len(mood)))
    columns = {**grid.columns, "trial": trial, "rank": np.tile(np.arange(ranks), 2 * trials), "v": v}
    return DrawnData(columns, ("a",), sides="a", is_alone=True)


def build_bring_ups(rng: Rng) -> DrawnData:
    """Trials share bring-ups, at which one factor is set; the other is set for each trial."""
    bring_ups, trials = int(rng.integers(2, 6)), int(rng.integers(2, 4))
    grid = draw_grid(rng, (2, 2), [bring_ups * trials])
    number = np.tile(np.repeat(np.arange(bring_ups), trials), 4) + bring_ups * grid.places[:, 0]
    mood = 1 + 0.06 * rng.standard_normal(2 * bring_ups)
    v = draw_response(rng, grid, 0.05) * mood[number]
    return DrawnData({**grid.columns, "bring_up": number, "v": v}, ("a", "b"), sides="a")


def build_single_trials(rng: Rng) -> DrawnData:
    """One trial at each setting of two factors."""
    grid = draw_grid(rng, (2, int(rng.integers(2, 5))), [1])
    return DrawnData(
        shuffle(rng, grid.columns | {"v": draw_response(rng, grid, draw_spread(rng))}), ("a", "b"), sides="a"
    )


def build_two_responses(rng: Rng) -> DrawnData:
    """A bandwidth and a latency, which may follow it or not."""
    grid = draw_grid(rng, (2,), [int(rng.integers(4, 11))])
    spread = draw_spread(rng)
    rate = draw_response(rng, grid, spread)
    latency = 5 / rate if rng.random() < 0.5 else draw_response(rng, grid, spread) / 1000
    columns = shuffle(rng, {**grid.columns, "bandwidth (MB/s)": rate, "latency (s)": latency})
    return DrawnData(columns, ("a",), ("bandwidth", "latency"), sides="a", is_alone=True)


# Stores


def build_store(rng: Rng) -> DrawnData:
    """An experiment of one factor with two levels."""
    grid = draw_grid(rng, (2,), [int(rng.integers(3, 11))])
    columns = shuffle(rng, grid.columns | {"v": 1e6 * draw_response(rng, grid, draw_spread(rng))})
    return DrawnData(columns, ("a",), ("write",), sides="a", is_alone=True, write=write_runs)


def build_store_of_two_factors(rng: Rng) -> DrawnData:
    """An experiment of two factors."""
    grid = draw_grid(rng, (2, int(rng.integers(2, 4))), [int(rng.integers(2, 6))])
    v = 1e6 * draw_response(rng, grid, draw_spread(rng), rng.random() < 0.5)
    return DrawnData(shuffle(rng, grid.columns | {"v": v}), ("a", "b"), ("write",), sides="a", write=write_runs)


def build_store_of_operations(rng: Rng) -> DrawnData:
    """Two operations, each with a bandwidth and a rate."""
    grid = draw_grid(rng, (2,), [int(rng.integers(4, 11))])
    columns = {
        f"{operation} {metric}": 1e6 * draw_response(rng, grid, draw_spread(rng))
        for operation in ("write", "read")
        for metric in ("bandwidth", "rate")
    }
    responses = ("write bandwidth", "read rate")
    return DrawnData(shuffle(rng, grid.columns | columns), ("a",), responses, "a", True, write_operations)


def build_cut_campaign(rng: Rng) -> DrawnData:
    """A campaign of three levels that ended early, after any trial."""
    grid = draw_grid(rng, (3,), [int(rng.integers(4, 9))])
    columns = shuffle(rng, grid.columns | {"v": 1e6 * draw_response(rng, grid, draw_spread(rng))})
    return DrawnData(columns, ("a",), ("write",), write=write_cut_campaign)


def build_import(rng: Rng) -> DrawnData:
    """Runs of another tool, with two settings that vary and some that follow from them."""
    grid = draw_grid(rng, (2, 2), [int(rng.integers(3, 7))])
    columns = shuffle(rng, grid.columns | {"v": 1e6 * draw_response(rng, grid, draw_spread(rng))})
    return DrawnData(columns, ("a", "b"), ("write",), sides="a", write=write_import)


KINDS: dict[str, Callable[[Rng], DrawnData]] = {
    "two levels": build_two_levels,
    "several levels": build_several_levels,
    "two factors": build_two_factors,
    "interaction": build_interaction,
    "three factors": build_three_factors,
    "unequal n": build_unequal_counts,
    "unequal spread": build_unequal_spread,
    "aliased": build_aliased,
    "nested": build_nested,
    "a column varies besides": build_varying_besides,
    "measured in turn": build_measured_in_turn,
    "missing on one side": build_missing_values,
    "ranks of trials": build_ranks_of_trials,
    "bring-ups": build_bring_ups,
    "one trial a setting": build_single_trials,
    "two responses": build_two_responses,
    "store": build_store,
    "store, two factors": build_store_of_two_factors,
    "store, operations": build_store_of_operations,
    "store, cut short": build_cut_campaign,
    "store, import": build_import,
}


def draw_data(kind: str, seed: int) -> DrawnData:
    """The same DATA for the same kind and seed, on every machine."""
    data = KINDS[kind](np.random.default_rng([crc32(kind.encode()), seed]))
    return replace(data, kind=kind, seed=seed)


def write_data(data: DrawnData, directory: Path) -> Path:
    """Write the store, or the table as CSV, below ``directory``; return its path."""
    if data.write is not None:
        return data.write(data, directory / "store")
    path = directory / "table.csv"
    rows = zip(*data.columns.values(), strict=True)
    lines = [",".join(map(str, data.columns)), *(",".join(map(_format_cell, row)) for row in rows)]
    path.write_text("\n".join([*lines, ""]), encoding="utf-8")
    return path


def _format_cell(value: object) -> str:
    return "" if isinstance(value, float) and np.isnan(value) else str(value)
