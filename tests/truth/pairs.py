"""Pairs as ``run A --against B`` measures them: the gate on what decides, and on what does not."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from iosonde.campaign.campaign import build_campaign
from iosonde.campaign.request import Request
from iosonde.campaign.resume import resume_or_begin
from iosonde.core.types import Observation, Run
from iosonde.store import Store

from .ask import question
from .cells import FALSE, FOUND, Cell, Columns
from .noises import normal
from .scores import DIFFERENT, EQUAL, INCONCLUSIVE, truth

PAIRS, DRAWS = 8, 12
OPERATIONS = ("write", "read", "write_random", "read_random")


def rates(rng: np.random.Generator, slower: dict[str, float]) -> Columns:
    """Rates of four operations in each pair, and side by side those of B; noise of 1 %."""
    return {
        f"{side}_{operation}": 1e8 * normal(0.01)(rng, PAIRS) * (slower.get(operation, 1.0) if side == "b" else 1.0)
        for operation in OPERATIONS
        for side in "ab"
    }


def store_of_pairs(columns: Columns, path: Path) -> Path:
    """Eight pairs of trials, the first operation being the number that decides."""
    request = Request(what="old", against="new", store=str(path), seed=7)
    experiment, _ = resume_or_begin(None, build_campaign(request), 0.95, lambda _: None)
    store, numbers = Store.create(path), {"a": count(), "b": count()}
    store.save_experiment(experiment)
    for trial in experiment.trials[: 2 * PAIRS]:
        side = "b" if trial.factors["variant"] == "new" else "a"
        place = next(numbers[side])
        rows = [
            Observation(name, "bandwidth_last_done", float(columns[f"{side}_{name}"][place]), "bytes/s")
            for name in OPERATIONS
        ]
        begin = f"2030-01-01T00:00:{trial.index:02}Z"
        factors = {**trial.factors, "repetition": trial.repetition, "block": trial.block}
        store.append(
            Run(
                f"{experiment.id}-{trial.index:04}",
                experiment.id,
                "iosonde commands",
                begin,
                1.0,
                factors,
                rows,
                facts={"order": trial.index},
                headlines={name: ["bandwidth"] for name in OPERATIONS},
            )
        )
    return path


def cells(scale: float = 1.0) -> Iterator[Cell]:
    """Every cell of pairs; ``scale`` times as many draws."""
    draws = max(round(DRAWS * scale), 1)
    for name, slower in (
        ("no operation changed", ""),
        ("writes 20 % slower", "write"),
        ("reads 20 % slower, writes as they were", "read"),
    ):
        fails = truth("gate", DIFFERENT, response=f"{slower} bandwidth", denials=[EQUAL, INCONCLUSIVE])
        asked = question("gate", fails if slower else truth("gate", EQUAL, INCONCLUSIVE), fail_if="slower>3%")
        draw = partial(rates, slower={slower: 0.8})
        promises = frozenset({FALSE, FOUND} if slower else {FALSE})
        yield Cell(f"{PAIRS} pairs, {name}; slower>3%", asked, draw, draws, None, promises, write=store_of_pairs)
