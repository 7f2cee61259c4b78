"""Experiment → ordered trials: repetitions × node counts, randomised within blocks, from one seed.

A block holds every cell once, in random order; a repetition is a block. So a drift of the system over the
campaign falls on all cells alike (randomised complete block design), and a campaign that ends early after any
whole block is balanced.
"""

from __future__ import annotations

import random
from itertools import product

from iosonde.core.types import Factor, FactorValue, Trial


def block(factors: list[Factor], repetition: int, first_index: int, seed: int) -> list[Trial]:
    """The trials of one repetition: every combination of the factors' levels once, order drawn from ``seed``.

    The same seed and repetition always give the same order, whatever was drawn before: more blocks can be
    added later without changing those that were measured.
    """
    draw = random.Random(f"{seed}/{repetition}")
    cells = list(product(*(factor.levels for factor in factors)))
    draw.shuffle(cells)
    return [
        Trial(first_index + place, _named(factors, cell), repetition, repetition, draw.getrandbits(32))
        for place, cell in enumerate(cells)
    ]


def blocks(factors: list[Factor], repetitions: range, first_index: int, seed: int) -> list[Trial]:
    """The trials of several repetitions, block after block."""
    trials: list[Trial] = []
    for repetition in repetitions:
        trials += block(factors, repetition, first_index + len(trials), seed)
    return trials


def _named(factors: list[Factor], cell: tuple[FactorValue, ...]) -> dict[str, FactorValue]:
    return {factor.name: level for factor, level in zip(factors, cell, strict=True)}
