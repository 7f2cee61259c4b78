"""The noise passport: what comparisons can see on this very system, and how often they see what is not there.

A/A: the trials of one cell, all of one setting, are parted into two halves and compared. Whatever is then
"different" is a false alarm. Random halves show whether the interval keeps its level for trials of this shape;
neighbouring halves (first against second) show what a slow change of the system does to a comparison made on
two days.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .cells import TrialCell
from .compare import CANNOT_TELL, verdict
from .distributions import t_quantile
from .ratio import ratio_of_means, side
from .table import Table

LEAST = 6
SIZES = (6, 10, 20, 50)
POWER = 0.8
_DRAWS = 2000


@dataclass(frozen=True)
class Noise:
    """One operation and metric. ``between_trials`` and ``between_ranks`` are coefficients of variation
    (fractions).

    ``detectable`` maps a number of trials a side to the smallest relative difference that is found in 80 % of
    cases. The rates are None where no cell has 6 trials.
    """

    operation: str
    metric: str
    level: float
    n_cells: int
    n_trials: int
    between_trials: float | None
    between_ranks: float | None
    false_alarms_random: float | None
    false_alarms_neighbours: float | None
    detectable: dict[int, float]

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form."""
        return {**vars(self), "detectable": {str(n): share for n, share in self.detectable.items()}, "power": POWER}


def passport(
    cells: Sequence[TrialCell], level: float, ranks: Mapping[str, float] | None = None, seed: int = 1
) -> list[Noise]:
    """One entry for each operation and metric; only cells with positive values and at least 2 trials count."""
    families: dict[tuple[str, str], list[npt.NDArray[np.float64]]] = {}
    for cell in cells:
        if cell.values.size >= 2 and np.all(cell.values > 0):
            families.setdefault((cell.operation, cell.metric), []).append(cell.values)
    rng, found = np.random.default_rng(seed), []
    for (operation, metric), samples in families.items():
        spread = _pooled_sd([np.log(x) for x in samples])
        large = [x for x in samples if x.size >= LEAST]
        found.append(
            Noise(
                operation, metric, level, len(samples), sum(x.size for x in samples), spread,
                (ranks or {}).get(operation), _random_halves(large, level, rng), _neighbouring_halves(large, level),
                {n: detectable(spread, n, level) for n in SIZES} if spread is not None else {},
            )
        )  # fmt: skip
    return found


def detectable(spread: float, n: int, level: float, power: float = POWER) -> float:
    """The smallest relative difference that n trials a side find with this power: exp((t₁₋α/₂ +
    t_power)·s·√(2/n)) - 1.

    ``spread`` is the sd of the logs of the trials; t has 2n - 2 degrees of freedom (Jain 1991, §13.9, on logs).
    """
    df = 2 * n - 2
    return math.expm1((t_quantile(0.5 + level / 2, df) + t_quantile(power, df)) * spread * math.sqrt(2 / n))


def between_ranks(results: Table) -> dict[str, float]:
    """Operation → the spread of the ranks' own rates inside one trial (a fraction), pooled over trials with
    several ranks."""
    if "rank" not in results.columns or "metric" not in results.columns:
        return {}
    own = np.array([str(metric).endswith("_own") for metric in results.columns["metric"].values], dtype=bool)
    rows = results.take(own & ~results.columns["rank"].missing)
    values = rows.numbers("value") if len(rows) else np.empty(0)
    logs: dict[str, list[npt.NDArray[np.float64]]] = {}
    for key, members in rows.groups(["operation", "run"]) if len(rows) else ():
        here = values[members]
        if here.size >= 2 and np.all(here > 0):
            logs.setdefault(str(key[0]), []).append(np.log(here))
    pooled = {operation: _pooled_sd(series) for operation, series in logs.items()}
    return {operation: spread for operation, spread in pooled.items() if spread is not None}


def _pooled_sd(samples: Sequence[npt.NDArray[np.float64]]) -> float | None:
    df = sum(x.size - 1 for x in samples)
    return math.sqrt(sum(float(np.sum((x - x.mean()) ** 2)) for x in samples) / df) if df else None


def _random_halves(samples: Sequence[npt.NDArray[np.float64]], level: float, rng: np.random.Generator) -> float | None:
    if not samples:
        return None
    draws = max(1, _DRAWS // len(samples))
    alarms = [_differs(*_halves(rng.permutation(x)), level) for x in samples for _ in range(draws)]
    return float(np.mean(alarms))


def _neighbouring_halves(samples: Sequence[npt.NDArray[np.float64]], level: float) -> float | None:
    return float(np.mean([_differs(*_halves(x), level) for x in samples])) if samples else None


def _halves(x: npt.NDArray[np.float64]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    return x[: x.size // 2], x[x.size // 2 :]


def _differs(a: npt.NDArray[np.float64], b: npt.NDArray[np.float64], level: float) -> bool:
    return verdict(ratio_of_means(side(b), side(a), level), 0.0) != CANNOT_TELL
