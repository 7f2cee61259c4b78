"""Blocks of factors entered in order (hardware, then settings, then workload): the share that each adds.

Hierarchical regression (Cohen, Cohen, West & Aiken, Applied Multiple Regression, 3rd ed. 2003, 5.3): an additive model
grows by a block at a time. A block's share is the R² that it adds, its F that of the added sum of squares. Each factor
of a block has its share of the rest after the earlier blocks, so that a dominating block does not hide it. With repeats
they give the noise, and interactions are a part of their own: the parts add up to 1. Without repeats, noise and
interactions are one part, used as the noise.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.errors import DataError
from iosonde.core.types import Estimate
from iosonde.stats.estimate.variance_share import LEAST_DF, SumOfSquares
from iosonde.stats.regression.scattered import SCATTERED

from .additive import build_factor_columns, compute_orthonormal_basis
from .design import Design
from .order import group_tied_names
from .parts import build_scale, draw_shares_under_noise, estimate_added_part
from .variances import VariancePart

_MOST_COLUMNS = 400


@dataclass(frozen=True)
class FactorBlock:
    """``added`` is the share of V(Y) that it adds to the blocks before it, ``rest_share`` its share of the rest after
    these. ``factors`` have their shares of that rest, each entered alone. ``order`` holds the significant ones, in
    groups whose order is inconclusive."""

    name: str
    added: VariancePart
    rest_share: Estimate
    factors: Mapping[str, VariancePart]
    order: tuple[tuple[str, ...], ...]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "name": self.name,
            **self.added.to_json(),
            **self.rest_share.flat("of_rest"),
            "factors": [{"name": name, **part.to_json()} for name, part in self.factors.items()],
            "order": [list(group) for group in self.order],
        }


@dataclass(frozen=True)
class Blocks:
    """The blocks in order. ``interactions`` is None without repeats to separate them from the noise. ``unexplained`` is
    the remaining share of V(Y), with the degrees of freedom of the noise behind every F."""

    blocks: tuple[FactorBlock, ...]
    interactions: VariancePart | None
    unexplained: float
    unexplained_df: int

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {
            "blocks": [block.to_json() for block in self.blocks],
            "interactions": None if self.interactions is None else self.interactions.to_json(),
            "unexplained": self.unexplained,
            "unexplained_df": self.unexplained_df,
        }


def estimate_blocks_in_order(
    design: Design,
    blocks: Mapping[str, Sequence[int]],
    significant: Collection[str],
    level: float,
    rng: np.random.Generator,
) -> Blocks:
    """Enter the blocks (factors by number) in order; ``significant`` are the factors with a significant effect.

    Raises DataError if the factors have more levels than the settings allow.
    """
    matrices = {
        name: np.column_stack([build_factor_columns(design, i) for i in factors]) for name, factors in blocks.items()
    }
    _check_columns(design, sum(matrix.shape[1] for matrix in matrices.values()))
    joint_basis = np.zeros((design.n_cells, 0))
    ends = [0]
    for matrix in matrices.values():
        joint_basis = np.column_stack([joint_basis, compute_orthonormal_basis(design, matrix, joint_basis)])
        ends.append(joint_basis.shape[1])
    along = joint_basis.T @ design.centred_means
    scale, interactions = build_scale(design, along, level)
    results, sample, nothing = [], design.kind == SCATTERED, joint_basis[:, :0]
    for name, start, end in zip(blocks, ends[:-1], ends[1:], strict=True):
        before, own = joint_basis[:, :start], joint_basis[:, start:end]
        bases = {
            design.features[i].name: compute_orthonormal_basis(design, build_factor_columns(design, i), before)
            for i in blocks[name]
        }
        alone = {
            factor: estimate_added_part(design, scale, before, base, before, sample) for factor, base in bases.items()
        }
        parts = dict(
            sorted(((n, part) for n, (part, _) in alone.items()), key=lambda item: -(item[1].share.value or 0))
        )
        moves = (
            {factor: moved for factor, (_, moved) in alone.items()}
            if sample
            else draw_shares_under_noise(
                {n: joint_basis[:, start:].T @ base for n, base in bases.items()},
                along[:start],
                along[start:],
                scale,
                rng,
            )
        )
        candidates = [factor for factor in parts if factor in significant]
        added, rest_part = (
            estimate_added_part(design, scale, before, own, reference, sample)[0] for reference in (nothing, before)
        )
        results.append(
            FactorBlock(
                name,
                added,
                rest_part.share,
                parts,
                group_tied_names(
                    candidates, {n: parts[n].share.value or 0.0 for n in candidates}, moves, level, scale.noise.df
                ),
            )
        )
    return Blocks(
        tuple(results),
        None if interactions is None else scale.part(interactions, SumOfSquares(0.0, 0)),
        scale.unexplained_share,
        scale.noise.df,
    )


def _check_columns(design: Design, columns: int) -> None:
    most = min(_MOST_COLUMNS, design.n_cells - 1 - (LEAST_DF if design.kind == SCATTERED else 0))
    if columns > most:
        raise DataError(
            "too-few-settings",
            "{spell.block}: the levels of all factors take {columns} columns, and {settings} settings allow {limit}",
            "name fewer factors, or measure more settings",
            columns=columns,
            settings=design.n_cells,
            limit=most,
        )
