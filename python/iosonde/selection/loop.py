"""A race from its first block to its end, with a function that measures a trial."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from iosonde.core.types import Better

from .standing import FIRST_STAGE, RaceRule, Standing, judge_race

_LOOK_GROWTH = 1.04  # ratio of the numbers of blocks at two looks of a long race: its time is then linear in its trials
_BLOCKS = 64  # of which memory is taken at first


@dataclass(frozen=True)
class RaceOutcome:
    """The end of a race. ``best`` is its leader; ``remaining`` are the settings still in it, and alone the leader if it
    is ``settled``. ``n_trials`` were measured."""

    best: int
    remaining: tuple[int, ...]
    n_trials: int
    settled: bool


def race(
    draw: Callable[[int, int], float],
    n_settings: int,
    better: str = "higher",
    margin: float = 0.05,
    confidence: float = 0.95,
    first_stage: int = FIRST_STAGE,
    max_trials: int | None = None,
) -> RaceOutcome:
    """Race ``n_settings`` until one is left, or the next block would exceed ``max_trials``.

    ``draw(setting, block)`` measures one trial. With probability ``confidence`` the best of a settled race has a mean
    within ``margin`` of the best. Raises InputError for impossible values.
    """
    rule = RaceRule(Better(better), margin, confidence, first_stage)
    values = np.full((_BLOCKS, n_settings), np.nan)
    standing = Standing(None, tuple(range(n_settings)))
    n_blocks, n_trials, next_look = 0, 0, first_stage
    while not standing.is_settled and (max_trials is None or n_trials + len(standing.remaining) <= max_trials):
        if n_blocks == len(values):
            values = np.vstack([values, np.full_like(values, np.nan)])
        for setting in standing.remaining:
            values[n_blocks, setting] = draw(setting, n_blocks)
        n_blocks, n_trials = n_blocks + 1, n_trials + len(standing.remaining)
        if n_blocks >= next_look:
            standing, next_look = judge_race(values[:n_blocks], rule), max(n_blocks + 1, int(n_blocks * _LOOK_GROWTH))
    if n_blocks:
        standing = judge_race(values[:n_blocks], rule)
    return RaceOutcome(standing.leader or 0, standing.remaining, n_trials, standing.is_settled)
