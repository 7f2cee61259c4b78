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
from iosonde.stats.estimate.distributions import f_upper_p, t_critical

from .additive import basis, columns, residuals
from .design import LEAST_DF, SCATTERED, Design
from .noncentral import SumOfSquares, share_limits
from .order import tied
from .types import VariancePart
from .variances import NO_NOISE, Array, held_between

_DRAWS = 999
_MOST_COLUMNS = 400


@dataclass(frozen=True)
class Block:
    """``added`` is the share of V(Y) that it adds to the blocks before it, ``of_rest`` that of what these leave.
    ``factors`` have their shares of what these leave, each entered alone; ``order`` those that can be told from
    chance, in groups that cannot be told apart."""

    name: str
    added: VariancePart
    of_rest: Estimate
    factors: Mapping[str, VariancePart]
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
    interactions: VariancePart | None
    left: float
    left_df: int

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        inter = None if self.interactions is None else self.interactions.to_json()
        return {"blocks": [block.to_json() for block in self.blocks], "interactions": inter, "unexplained": self.left,
                "unexplained_df": self.left_df}  # fmt: skip


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

    @property
    def left_share(self) -> float:
        """Of V(Y), what is left after all effects."""
        return self.rows * self.variance / (self.total + self.variance) if self.noise.df else self.left / self.total

    def part(self, effect: SumOfSquares, before: SumOfSquares) -> VariancePart:
        """The share of ``effect`` in all but what is ``before`` it."""
        whole = self.total - before.ss
        value = effect.ss / whole if whole > 0 else 0.0
        if self.noise.df < LEAST_DF:
            return VariancePart(
                Estimate(value, None, None, self.level, self.n, (NO_NOISE,)), value, effect.df, None, None
            )
        others = SumOfSquares(max(0.0, whole - effect.ss - self.left), self.effects_df - effect.df - before.df)
        limits = share_limits(effect, others, self.noise, self.rows, self.level)
        corrected = (effect.ss - effect.df * self.variance) / (whole + self.variance)
        share = held_between(corrected, limits, self.level, self.n)
        if effect.df < 1:
            return VariancePart(share, value, 0, None, None)
        if self.variance <= 1e-20 * self.total / self.n:
            return VariancePart(share, value, effect.df, None, 0.0 if value > 1e-12 else 1.0)
        f = effect.ss / effect.df / self.variance
        return VariancePart(share, value, effect.df, f, f_upper_p(f, effect.df, self.noise.df))


@dataclass(frozen=True)
class _Model:
    """The rows explained by the columns of a basis: ``known`` (cells × columns)."""

    design: Design
    known: Array

    @property
    def df(self) -> int:
        """Columns beside the mean."""
        return int(self.known.shape[1])

    def squares(self) -> Array:
        """What each setting adds to the sum of squares that is left."""
        return np.asarray(self.design.counts * residuals(self.design, self.known) ** 2 + self.design.ss_within, float)


def _sampled(before: _Model, after: _Model, whole: _Model, level: float) -> tuple[VariancePart, Array]:
    """The part of ``whole``'s rest that ``after`` explains beyond ``before``, where settings are a sample themselves.

    The limits are by influence functions: to first order an R² varies with the squared residuals of the settings
    alone, as least squares leaves no slope in the coefficients (van der Vaart, Asymptotic Statistics, 1998, ch. 20).
    Also what each setting moves the share, over √settings.
    """
    design, m = before.design, before.design.n_cells
    moved, v, adjusted = [], [], []
    for model in (before, after, whole):
        squares = model.squares()
        v.append(squares.sum() / design.n)
        moved.append((squares - v[-1] * design.counts) * m / design.n)
        adjusted.append(v[-1] * m / (m - 1 - model.df))
    value, corrected = (v[0] - v[1]) / v[2], (adjusted[0] - adjusted[1]) / adjusted[2]
    df, left_df = after.df - before.df, m - 1 - after.df
    moves = (moved[0] - moved[1] - value * moved[2]) / v[2] / np.sqrt(m)
    half = t_critical(level, left_df) * float(np.std(moves))
    share = held_between(corrected, (corrected - half, corrected + half), level, design.n)
    if df < 1 or v[1] <= 1e-20 * v[2]:
        return VariancePart(share, value, df, None, None if df < 1 else 0.0), moves
    f = (v[0] - v[1]) / df / (v[1] / left_df)
    return VariancePart(share, value, df, f, f_upper_p(f, df, left_df)), moves


def enter(
    design: Design, blocks: Mapping[str, Sequence[int]], told: Collection[str], level: float, rng: np.random.Generator
) -> Blocks:
    """The blocks (factors by number) in order; ``told`` are the factors whose effect can be told from chance.

    Raises DataError where the factors have more levels than the settings can tell apart.
    """
    made = {name: np.column_stack([columns(design, i) for i in factors]) for name, factors in blocks.items()}
    wide = sum(matrix.shape[1] for matrix in made.values())
    most = min(_MOST_COLUMNS, design.n_cells - 1 - (LEAST_DF if design.kind == SCATTERED else 0))
    if wide > most:
        raise DataError(f"--block: the levels of all factors take {wide} columns, and {design.n_cells} settings allow "
                        f"{most}", "name fewer factors, or measure more settings")  # fmt: skip
    known = np.zeros((design.n_cells, 0))
    ends = [0]
    for matrix in made.values():
        known = np.column_stack([known, basis(design, matrix, known)])
        ends.append(known.shape[1])
    along = known.T @ (np.sqrt(design.counts) * (design.means - design.y.mean()))
    scale, interactions = _scale(design, along, level)
    found = []
    for name, start, end in zip(blocks, ends[:-1], ends[1:], strict=True):
        before, own = known[:, :start], known[:, start:end]
        named = {design.features[i].name: basis(design, columns(design, i), before) for i in blocks[name]}
        alone = {factor: _part(design, scale, before, one) for factor, one in named.items()}
        parts = dict(
            sorted(((n, part) for n, (part, _) in alone.items()), key=lambda item: -(item[1].share.value or 0))
        )
        if design.kind == SCATTERED:
            moves = {factor: moved for factor, (_, moved) in alone.items()}
        else:
            moves = _drawn(
                {n: known[:, start:].T @ one for n, one in named.items()}, along[:start], along[start:], scale, rng
            )
        seen = [factor for factor in parts if factor in told]
        order = tied(seen, {n: parts[n].share.value or 0.0 for n in seen}, moves, level, scale.noise.df)
        added, of_rest = (_part(design, scale, before, own, of_all)[0] for of_all in (True, False))
        found.append(Block(name, added, of_rest.share, parts, order))
    between = None if interactions is None else scale.part(interactions, SumOfSquares(0.0, 0))
    return Blocks(tuple(found), between, scale.left_share, scale.noise.df)


def _part(
    design: Design, scale: _Scale, before: Array, own: Array, of_all: bool = False
) -> tuple[VariancePart, Array | None]:
    """What the columns ``own`` add to those ``before``: the share of what these leave, or ``of_all``; and, of a
    sample of settings, what each of them moves it."""
    nothing = before[:, :0]
    whole = nothing if of_all else before
    if design.kind == SCATTERED:
        after = np.column_stack([before, own])
        return _sampled(*(_Model(design, known) for known in (before, after, whole)), scale.level)
    centred = np.sqrt(design.counts) * (design.means - design.y.mean())
    return scale.part(_squares(own.T @ centred), _squares(whole.T @ centred)), None


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


def _drawn(
    turns: Mapping[str, Array], before: Array, along: Array, scale: _Scale, rng: np.random.Generator
) -> dict[str, Array | None]:
    """The factors' shares in worlds with another draw of normal noise. ``turns`` are from the coordinates ``along``
    which are not ``before`` to those of a factor alone."""
    if scale.noise.df < LEAST_DF:
        return dict.fromkeys(turns)
    drawn = along + np.sqrt(scale.variance) * rng.normal(size=(_DRAWS, len(along)))
    beside = scale.total - scale.left - float(before @ before) - float(along @ along)
    left = scale.left * rng.chisquare(scale.noise.df, _DRAWS) / scale.noise.df
    totals = (drawn**2).sum(1) + beside + left
    return {name: ((drawn @ turn) ** 2).sum(1) / totals for name, turn in turns.items()}
