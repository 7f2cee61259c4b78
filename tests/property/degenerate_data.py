"""Data as a lab has them, at their most awkward: counts that are the same in every repetition, zeros, one spike, cells
that are missing, bring-ups that are shared, nested or crossed, a campaign that was cut short."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from iosonde.core.schema import BRING_UPS
from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.store import Store

LEVELS = {"fs": ("nfs", "gluster", "zeus"), "nodes": (1, 2, 4), "size": (4096, 1048576), "cache": ("on", "off")}
Values = np.ndarray


@dataclass(frozen=True)
class Trials:
    """``cells``: the setting of each trial; ``bring_ups``: those of each, the outermost first; none for trials that
    share nothing. ``values``: one number a trial, None where it was not measured."""

    names: tuple[str, ...]
    cells: list[dict[str, object]]
    repetitions: list[int]
    bring_ups: list[tuple[int, ...]]
    values: list[float | None]

    @property
    def bring_up_names(self) -> list[str]:
        """The columns that number them."""
        return list(BRING_UPS[: len(self.bring_ups[0])])


# How a response may be, of (what the factors do, noise of single trials, noise of bring-ups).
KINDS: Mapping[str, Callable[[Values, Values, Values], Values]] = {
    "the same in every repetition": lambda effect, own, unit: effect,
    "all 0": lambda effect, own, unit: 0 * effect,
    "0 but for one": lambda effect, own, unit: np.eye(1, effect.size, effect.size // 2)[0],
    "one value": lambda effect, own, unit: 0 * effect + 824.1,
    "noise": lambda effect, own, unit: effect + 20 * own + 10 * unit,
    "noise between bring-ups alone": lambda effect, own, unit: effect + 10 * unit,
    "bring-ups far apart": lambda effect, own, unit: effect + 1e7 * unit + 1e-6 * own,
    "3 digits": lambda effect, own, unit: np.array([float(f"{x:.3g}") for x in effect + 2 * own]),
    "one spike": lambda effect, own, unit: effect + 1e9 * np.eye(1, effect.size)[0],
    "tiny": lambda effect, own, unit: 1e-12 * (effect + 10 * own),
    "huge": lambda effect, own, unit: 1e12 * (effect + 10 * own),
    "large and alike": lambda effect, own, unit: 1e15 + np.round(own),
    "the same but for rounding": lambda effect, own, unit: effect * (1 + 1e-15 * np.round(own)),
    "small counts": lambda effect, own, unit: np.maximum(0, np.round(own)),
    "noise at one level": lambda effect, own, unit: effect + 10 * own * (effect > np.median(effect)),
    "negative": lambda effect, own, unit: -(effect + 10 * own),
}


@st.composite
def trials(draw: st.DrawFn) -> Trials:
    """A campaign with one response."""
    names = draw(st.lists(st.sampled_from(sorted(LEVELS)), min_size=1, max_size=3, unique=True))
    levels = {name: LEVELS[name][: draw(st.sampled_from([2, 3, 1]))] for name in names}
    cells = [dict(zip(names, cell, strict=True)) for cell in itertools.product(*levels.values())]
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    if draw(st.integers(0, 3)) == 0:  # a fraction of the design
        cells = [cells[i] for i in sorted(rng.choice(len(cells), -(-len(cells) // 2), replace=False))]
    made = [(cell, repetition) for repetition in range(draw(st.sampled_from([2, 3, 1, 4]))) for cell in cells]
    made = made[: draw(st.integers(1, len(made)))] if draw(st.integers(0, 3)) == 0 else made  # cut short
    bring_ups = _bring_ups(made, names, draw(st.sampled_from(["none", "of one factor", "shared", "nested", "crossed"])))
    effects = {
        (name, level): rng.choice([0.0, round(rng.uniform(-100, 100), 1)]) for name in names for level in levels[name]
    }
    effect = np.array([1000 + sum(effects[name, cell[name]] for name in names) for cell, _ in made])
    units = dict.fromkeys(bring_ups)
    unit = np.array([dict(zip(units, rng.normal(size=len(units)), strict=True))[one] for one in bring_ups])
    values = KINDS[draw(st.sampled_from(sorted(KINDS)))](effect, rng.normal(size=len(made)), unit)
    gone = draw(st.sampled_from(["none", "none", "some", "a level"]))
    missing = [
        gone == "some" and rng.random() < 0.2 or gone == "a level" and cell[names[0]] == levels[names[0]][0]
        for cell, _ in made
    ]
    known = [None if lost else float(x) for x, lost in zip(values, missing, strict=True)]
    return Trials(tuple(names), [cell for cell, _ in made], [repetition for _, repetition in made], bring_ups, known)


def _bring_ups(made: list[tuple[dict[str, object], int]], names: list[str], how: str) -> list[tuple[int, ...]]:
    outer: dict[object, int] = {}
    inner: dict[object, int] = {}

    def of(cell: dict[str, object], repetition: int, place: int) -> tuple[int, ...]:
        level = cell[names[0]]
        if how == "none":
            return ()
        if how == "crossed":
            return (place % 3,)
        first = outer.setdefault((level, repetition // 2 if how == "shared" else repetition), len(outer))
        if how != "nested":
            return (first,)
        return (first, inner.setdefault((first, cell[names[-1]]), len(inner)))

    return [of(cell, repetition, place) for place, (cell, repetition) in enumerate(made)]


def table_at(path: Path, of: Trials, response: str) -> str:
    """As a .csv."""
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow([*of.names, "repetition", *of.bring_up_names, response])
        for cell, repetition, units, value in zip(of.cells, of.repetitions, of.bring_ups, of.values, strict=True):
            writer.writerow([*cell.values(), repetition, *units, "" if value is None else repr(value)])
    return str(path)


def store_at(path: Path, of: Trials, operation: str, metric: str, unit: str) -> str:
    """As a store with one experiment, that asks what a page is to answer."""
    store = Store.create(path)
    asked = [
        {"question": "which?", "rank": {"on": list(of.names)}},
        {"question": "how?", "plot": {"x": of.names[0]}},
        {"question": "more?", "compare": {"group": of.names[0]}},
        {"question": "all?", "anova": {}},
    ]
    factors = [Factor(name, levels=tuple(dict.fromkeys(cell[name] for cell in of.cells))) for name in of.names]
    store.save_experiment(Experiment("e", "e", factors, {"questions": asked}, [], 7, "2026-11-21T10:00:00Z"))
    runs = []
    for place, (cell, units, value) in enumerate(zip(of.cells, of.bring_ups, of.values, strict=True)):
        setting = {"nodes": 1, **cell, "repetition": of.repetitions[place]}
        setting |= dict(zip(of.bring_up_names, units, strict=True))
        rows = [] if value is None else [Observation(operation, metric, value, unit)]
        started = f"2026-11-21T10:{place // 60:02}:{place % 60:02}Z"
        runs.append(Run(f"e-{place:04}", "e", "iosonde phases", started, 1.0, setting, rows, {"target": "/mnt/x"}))
    store.append_many(runs)
    return str(path)


def _known(names: tuple[str, ...], rows: list[tuple[tuple[object, ...], tuple[int, ...], float]]) -> Trials:
    """Each row: its cell, its bring-ups, its value."""
    cells = [dict(zip(names, cell, strict=True)) for cell, _, _ in rows]
    repetitions = [cells[:place].count(cell) for place, cell in enumerate(cells)]
    return Trials(names, cells, repetitions, [units for _, units, _ in rows], [value for _, _, value in rows])


_COUNTS = {("nfs", 1): 824.1, ("nfs", 2): 1647.0, ("zeus", 1): 842.0, ("zeus", 2): 1666.7}
_BETWEEN = [
    ("nfs", 2, 0, 0, 19.9),
    ("nfs", 4, 0, 0, 353.0),
    ("nfs", 4, 1, 1, -881.0),
    ("zeus", 1, 2, 2, -154.0),
    ("zeus", 1, 3, 4, -283.0),
    ("zeus", 2, 3, 3, 17.1),
    ("zeus", 4, 3, 3, -331.0),
]
KNOWN = {
    "counts, the same in every repetition": _known(
        ("fs", "nodes"), [(cell, (), value) for cell, value in _COUNTS.items() for _ in range(2)]
    ),
    "the same, in bring-ups": _known(
        ("fs", "nodes"),
        [(cell, (2 * (cell[0] == "zeus") + again,), value) for again in range(2) for cell, value in _COUNTS.items()],
    ),
    "a term that only bring-ups tell, which leave no error": _known(
        ("fs", "nodes"), [((fs, nodes), (outer, inner), value) for fs, nodes, outer, inner, value in _BETWEEN]
    ),
    "one trial of 1e15": _known(("fs", "nodes"), [(("nfs", 1), (), 1e15 - 1)]),
    "one level, and a spike": _known(
        ("cache", "fs"),
        [
            ((cache, "nfs"), (again,), 1e9 if again and cache == "on" else 1028.5)
            for again in range(2)
            for cache in ("on", "off")
        ],
    ),
}
