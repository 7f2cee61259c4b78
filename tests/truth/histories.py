"""Stores of many runs: what ``watch`` says of nights, and ``corpus`` of systems."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np

from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.store import Store

from .ask import question
from .cells import FALSE, FOUND, Cell, Columns
from .noises import Draw, lognormal, normal
from .scores import DIFFERENT, DOWN, EQUAL, INCONCLUSIVE, UP, truth

NIGHTS, SERIES, SYSTEMS = 60, 12, 24
DRAWS = 12


def nights(rng: np.random.Generator, noise: Draw, first: int, ratio: float) -> Columns:
    """Twelve rates a night, which change by ``ratio`` from the night ``first`` on."""
    after = np.arange(NIGHTS) >= first
    return {f"op{number:02}": 100e6 * np.where(after, ratio, 1.0) * noise(rng, NIGHTS) for number in range(SERIES)}


def store_of_nights(columns: Columns, path: Path) -> Path:
    """One experiment a night, with one run of all operations."""
    store = Store.create(path)
    for night in range(NIGHTS):
        name, day = f"nightly-{night:03}", f"2026-{1 + night // 28:02}-{1 + night % 28:02}T02:00:00Z"
        store.save_experiment(Experiment(name, name, [Factor("nodes", levels=[1])], {}, [], 7, day))
        rows = [
            Observation(operation, "bandwidth_last_done", float(values[night]), "bytes/s")
            for operation, values in columns.items()
        ]
        store.append(Run(f"{name}-0", name, "test", day, 1.0, {"nodes": 1, "repetition": 0}, rows, facts={}))
    return path


def systems(rng: np.random.Generator, ratio: float) -> Columns:
    """One result of each system, half of them with another interface, which is ``ratio`` times as fast."""
    mpiio = np.arange(SYSTEMS) % 2
    nodes = 2 ** rng.integers(2, 7, SYSTEMS)
    rate = nodes * 2.0**30 * np.exp(0.3 * rng.standard_normal(SYSTEMS)) * np.where(mpiio, ratio, 1.0)
    return {"api": np.where(mpiio, "MPIIO", "POSIX"), "nodes": nodes, "rate": rate}


def store_of_systems(columns: Columns, path: Path) -> Path:
    """A corpus of these."""
    store = Store.create(path)
    for number, (api, nodes, rate) in enumerate(zip(*columns.values(), strict=True)):
        settings = {
            "tool": "io500",
            "institution": f"site{number}",
            "system": f"sys{number}",
            "nodes": int(nodes),
            "submission": f"s{number}",
            "api": str(api),
        }
        row = Observation("ior_hard_write", "bandwidth_last_done", float(rate), "bytes/s")
        store.append(
            Run(
                f"s{number:02}-0",
                "imported",
                "io500",
                "2026-06-01T12:00:00Z",
                1.0,
                settings,
                [row],
                facts={"date": "2026-06-01", "import": {}},
                headlines={"ior_hard_write": ["bandwidth"]},
            )
        )
    return path


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Every cell of stores; ``scale`` times as many draws."""
    draws = max(round(DRAWS * scale), 1)
    still = question("watch", truth("change", EQUAL, INCONCLUSIVE, optional=True))
    for name, noise in (("normal, cv 3 %", normal(0.03)), ("log-normal, σ 0.3", lognormal(0.3))):
        yield Cell(
            f"no change; {SERIES} series of {NIGHTS} nights; {name}",
            still,
            partial(nights, noise=noise, first=NIGHTS, ratio=1.0),
            draws,
            None,
            frozenset({FALSE}),
            write=store_of_nights,
        )
    for ratio, direction, claim in ((0.85, DOWN, ("open",)), (1.15, UP, ())):
        found = question("watch", truth("change", DIFFERENT, direction=direction, claim=claim))
        for first in (30, 45):
            yield Cell(
                f"{ratio:g} × from night {first} of {NIGHTS} on; normal, cv 3 %",
                found,
                partial(nights, noise=normal(0.03), first=first, ratio=ratio),
                draws,
                None,
                frozenset({FALSE, FOUND}),
                write=store_of_nights,
            )
    for ratio, right in ((1.0, (EQUAL, INCONCLUSIVE)), (4.0, (DIFFERENT,))):
        effect = truth("effect", *right, subject=("api",), optional=ratio == 1)
        idle = truth("effect", EQUAL, INCONCLUSIVE, subject=("nodes",), optional=True)
        yield Cell(
            f"{SYSTEMS} systems, the interface matters" if ratio > 1 else f"{SYSTEMS} systems, nothing matters",
            question("corpus", effect, idle),
            partial(systems, ratio=ratio),
            draws,
            None,
            frozenset({FALSE, FOUND} if ratio > 1 else {FALSE}),
            write=store_of_systems,
        )
