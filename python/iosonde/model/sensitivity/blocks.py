"""Blocks of factors entered in order (hardware, then settings, then workload): what each adds to those before it.

Hierarchical regression (Cohen, Cohen, West & Aiken, Applied Multiple Regression, 3rd ed. 2003, 5.3): an additive model
grows by a block at a time; a block's share is the R² that it adds, its F that of the added sum of squares. Within what
the earlier blocks leave, each factor of a block has a share of its own, so that a dominating block does not hide it.
With repeats the noise is theirs, and what all factors do beyond their sum (interactions) is a part of its own: the
parts add up to 1. Without, noise and interactions are one part, and it is the noise.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.types import Estimate
from iosonde.stats.distributions import f_upper_p

from .additive import basis, columns
from .design import LEAST_DF, SCATTERED, Design
from .noncentral import SumOfSquares, share_limits
from .order import tied
from .variances import NO_NOISE, Array, held_between

_DRAWS = 999
_MOST_COLUMNS = 400


@dataclass(frozen=True)
class Part:
    """A part of the variance. ``f`` and ``p`` are against the noise, with ``df`` degrees of freedom; None: unknown."""

    share: Estimate
    corrected: float | None
    df: int
    f: float | None
    p: float | None

    @property
    def size(self) -> float:
        """What it is ordered by."""
        return self.corrected if self.corrected is not None else self.share.value or 0.0

    def to_json(self) -> dict[str, Any]:
        """The flat form."""
        return {**self.share.flat("share"), "share_corrected": self.corrected, "df": self.df, "f": self.f, "p": self.p}


@dataclass(frozen=True)
class Block:
    """``added`` is the share of V(Y) that it adds to the blocks before it, ``of_rest`` that of what these leave.
    ``factors`` have their shares of what these leave, each entered alone; ``order`` those that can be told from
    chance, in groups that cannot be told apart."""

    name: str
    added: Part
    of_rest: Estimate
    factors: Mapping[str, Part]
    order: tuple[tuple[str, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {"name": self.name, **self.added.to_json(), **self.of_rest.flat("of_rest"),
                "factors": [{"name": name, **part.to_json()} for name, part in self.factors.items()],
                "order": [list(group) for group in self.order]}  # fmt: skip


@dataclass(frozen=True)
class Blocks:
    """The blocks in order; ``interactions`` None where no repeats tell them from the noise; ``left`` is the share of
    V(Y) that is left then, with the degrees of freedom of the noise behind every F."""

    blocks: tuple[Block, ...]
    interactions: Part | None
    left: float
    left_df: int

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        inter = None if self.interactions is None else self.interactions.to_json()
        return {"blocks": [block.to_json() for block in self.blocks], "interactions": inter, "left": self.left,
                "left_df": self.left_df}  # fmt: skip


@dataclass(frozen=True)
class _Scale:
    """What an effect is held against: ``total`` sum of squares, ``left`` of it after all effects, which have
    ``effects_df``; the ``noise`` behind F, and the number of ``rows`` that it adds itself to."""

    total: float
    left: float
    effects_df: int
    noise: SumOfSquares
    rows: float
    level: float
    n: int

    @property
    def variance(self) -> float:
        """Of the noise of one row."""
        return self.noise.ss / self.noise.df if self.noise.df else 0.0

    def part(self, effect: SumOfSquares, before: SumOfSquares) -> Part:
        """The share of ``effect`` in all but what is ``before`` it."""
        whole = self.total - before.ss
        value = effect.ss / whole if whole > 0 else 0.0
        if self.noise.df < LEAST_DF:
            return Part(Estimate(value, None, None, self.level, self.n, (NO_NOISE,)), None, effect.df, None, None)
        others = SumOfSquares(max(0.0, whole - effect.ss - self.left), self.effects_df - effect.df - before.df)
        limits = share_limits(effect, others, self.noise, self.rows, self.level)
        share = held_between(value, limits, self.level, self.n)
        corrected = (effect.ss - effect.df * self.variance) / (whole + self.variance)
        if effect.df < 1:
            return Part(share, corrected, 0, None, None)
        if self.variance <= 1e-20 * self.total / self.n:
            return Part(share, corrected, effect.df, None, 0.0 if value > 1e-12 else 1.0)
        f = effect.ss / effect.df / self.variance
        return Part(share, corrected, effect.df, f, f_upper_p(f, effect.df, self.noise.df))


def enter(
    design: Design, blocks: Mapping[str, Sequence[int]], told: Collection[str], level: float, rng: np.random.Generator
) -> Blocks:
    """The blocks (factors by number) in order; ``told`` are the factors whose effect can be told from chance.

    Raises DataError where the factors have more levels than the settings can tell apart.
    """
    made = {name: np.column_stack([columns(design, i) for i in factors]) for name, factors in blocks.items()}
    wide = sum(matrix.shape[1] for matrix in made.values())
    if wide > min(_MOST_COLUMNS, design.n_cells - 1):
        raise DataError(f"--block: the factors have {wide} levels beside the first of each, for {design.n_cells} "
                        f"settings (and at most {_MOST_COLUMNS})", "name fewer factors")  # fmt: skip
    known = np.zeros((design.n_cells, 0))
    ends = [0]
    for matrix in made.values():
        known = np.column_stack([known, basis(design, matrix, known)])
        ends.append(known.shape[1])
    along = known.T @ (np.sqrt(design.counts) * (design.means - design.y.mean()))
    scale, interactions = _scale(design, along, level)
    nothing = SumOfSquares(0.0, 0)
    found = []
    for name, start, end in zip(blocks, ends[:-1], ends[1:], strict=True):
        before, effect = _squares(along[:start]), _squares(along[start:end])
        alone = {i: known[:, start:].T @ basis(design, columns(design, i), known[:, :start]) for i in blocks[name]}
        parts = {i: scale.part(_squares(turn.T @ along[start:]), before) for i, turn in alone.items()}
        by_name = {design.features[i].name: i for i in sorted(parts, key=lambda i: -parts[i].size)}
        order = _order({n: alone[i] for n, i in by_name.items() if n in told}, along[start:], scale, before, rng)
        found.append(Block(name, scale.part(effect, nothing), scale.part(effect, before).share,
                           {n: parts[i] for n, i in by_name.items()}, order))  # fmt: skip
    between = None if interactions is None else scale.part(interactions, nothing)
    return Blocks(tuple(found), between, scale.left / scale.total, scale.noise.df)


def _squares(along: Array) -> SumOfSquares:
    """Of the coordinates in an orthonormal basis."""
    return SumOfSquares(float(along @ along), len(along))


def _scale(design: Design, along: Array, level: float) -> tuple[_Scale, SumOfSquares | None]:
    """(the scale, the interactions where repeats tell them from the noise)."""
    total, inside, model = design.total * design.n, float(design.ss_within.sum()), _squares(along)
    beyond = SumOfSquares(max(0.0, total - inside - model.ss), design.n_cells - 1 - model.df)
    if design.kind != SCATTERED and design.df_repeats >= LEAST_DF:
        effects_df = design.n_cells - 1
        noise = SumOfSquares(inside, design.df_repeats)
        return _Scale(total, inside, effects_df, noise, design.n, level, design.n), beyond
    # A setting is one row, and its repeats add to the total only.
    variance = beyond.ss / beyond.df if beyond.df else 0.0
    rows = design.n_cells + (inside / variance if variance > 0 else 0.0)
    return _Scale(total, beyond.ss + inside, model.df, beyond, rows, level, design.n), None


def _order(
    alone: Mapping[str, Array], along: Array, scale: _Scale, before: SumOfSquares, rng: np.random.Generator
) -> tuple[tuple[str, ...], ...]:
    """Told apart by their differences in worlds with another draw of normal noise."""
    if scale.noise.df < LEAST_DF:
        return (tuple(alone),) if alone else ()
    whole = scale.total - before.ss
    noise = np.sqrt(scale.variance)
    drawn = along + noise * rng.normal(size=(_DRAWS, len(along)))
    others = whole - float(along @ along) - scale.left
    left = scale.left * rng.chisquare(scale.noise.df, _DRAWS) / scale.noise.df
    totals = (drawn**2).sum(1) + others + left
    shares = {name: ((drawn @ turn) ** 2).sum(1) / totals for name, turn in alone.items()}
    chance = scale.variance / whole
    values = {n: float(((along @ turn) ** 2).sum()) / whole - turn.shape[1] * chance for n, turn in alone.items()}
    return tied(list(alone), values, shares, scale.level, scale.noise.df)
