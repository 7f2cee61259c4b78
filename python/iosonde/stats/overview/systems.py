"""Statistics over many systems, of which some have several runs: spread, explaining covariates, outlying systems, and
the rank of a value among them. Each system counts once, and every interval is over systems."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.message import Message
from iosonde.core.table import Cell as Level
from iosonde.core.table import Table
from iosonde.core.types import Estimate

from ..estimate.clusters import Clustered, Explained, estimate_explained_by_levels, estimate_explained_by_number
from ..estimate.outliers import find_outliers

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
LEAST = 3  # systems per level, and per reported number
_RATES = ("bytes/s", "operations/s")
_ALPHA = 0.05  # probability of any outlier among normal logs
_FEW_LEVELS = 6  # of a number that is treated as categories
_FOURFOLD = 4  # ratio of a covariate's range, from which its logs are used


@dataclass(frozen=True)
class Placed:
    """The user's own ``value``, and the ``share`` of the corpus below it."""

    value: float
    share: Estimate


@dataclass(frozen=True)
class StandingOut:
    """A system whose geometric mean is an outlier: ``times`` that of the corpus."""

    system: str
    times: float


@dataclass(frozen=True)
class BySetting:
    """The level of a covariate in each run, None if unknown. ``medians``: level → the median of its systems, for few
    levels with enough systems each. ``doublings``: the covariate is numeric, and its log2 is used."""

    levels: tuple[Level, ...]
    medians: dict[Level, Estimate]
    doublings: bool = False


@dataclass(frozen=True)
class TwoScores:
    """The scores of one run, of all its nodes: bytes/s and operations/s."""

    system: str
    bandwidth: float
    rate: float


@dataclass(frozen=True)
class CorpusPhase:
    """A metric over the corpus: ``runs`` values of ``systems``, in base units (``per`` node, if set). ``quantiles``:
    share → value; ``explained``: covariate → explained share, ``settings``: its levels. ``values`` are the runs',
    ``names`` their systems."""

    operation: str
    metric: str
    unit: str
    per: str
    values: tuple[float, ...]
    names: tuple[str, ...]
    systems: int
    quantiles: dict[float, Estimate]
    mean: Estimate
    explained: dict[str, Explained]
    standing_out: tuple[StandingOut, ...]
    settings: dict[str, BySetting]
    placed: Placed | None = None
    without: int = 0

    @property
    def name(self) -> str:
        """Return the name, such as ``ior_easy_write``, ``score total``."""
        return self.operation + ("" if self.metric.endswith("_last_done") else f" {self.metric}")

    @property
    def title(self) -> str:
        """Return the title, such as ``ior_easy_write per node``."""
        return f"{self.name} per {self.per}" if self.per else self.name

    def steps(self) -> list[tuple[float, float, str]]:
        """Return the distribution as (value, share at or below it, system), each system counting once."""
        clustered = Clustered(
            np.array(self.values), np.unique(np.array(self.names, dtype=object).astype(str), return_inverse=True)[1]
        )
        order = np.argsort(clustered.values, kind="stable")
        reached = np.cumsum(clustered.weights[order])
        return [(self.values[at], float(share), self.names[at]) for at, share in zip(order, reached, strict=True)]

    def to_json(self) -> dict[str, Any]:
        """Return the JSON form of ``iosonde corpus --json``."""
        return {
            "operation": self.operation,
            "metric": self.metric,
            "unit": self.unit,
            "per": self.per or None,
            "runs": len(self.values),
            "systems": self.systems,
            "left_out": self.without,
            "quantiles": [{"share": p, **estimate.to_json()} for p, estimate in self.quantiles.items()],
            "geometric_mean": self.mean.to_json(),
            "ecdf": [[value, share] for value, share, _ in self.steps()],
            "explained": [
                {
                    "by": name,
                    "levels": explained.levels,
                    "share": explained.share.to_json(),
                    "times_per_unit": None if explained.slope is None else explained.slope.to_json(),
                    "leverage": explained.leverage,
                    "leverage_of": explained.far or None,
                    "without_far": None if explained.without is None else explained.without.to_json(),
                }
                for name, explained in self.explained.items()
            ],
            "standing_out": [{"system": system.system, "times": system.times} for system in self.standing_out],
            "placed": None
            if self.placed is None
            else {"value": self.placed.value, "below": self.placed.share.to_json()},
        }


class Systems:
    """A table of trials, the columns that identify a system, covariates, and the unit that rates are divided by
    (``per``; '': none). ``of`` numbers the system of each row, ``names`` are their names, ``system_names`` those by
    number."""

    def __init__(self, rows: Table, clusters: Sequence[str], on: Sequence[str], per: str, level: float) -> None:
        self.rows, self.on, self.per, self.level = rows, on, per, level
        self.of = np.zeros(len(rows), dtype=np.intp)
        self.names, self.system_names = np.full(len(rows), "", dtype=object), list[str]()
        for place, (key, at) in enumerate(rows.groups(clusters)):
            self.of[at] = place
            # Two institutions may have systems of the same name: the key includes the institution.
            self.system_names.append(", ".join("?" if part is None else str(part) for part in reversed(key)))
            self.names[at] = self.system_names[-1]
        self.size = np.ones(len(rows)) if not self.per else rows.numbers(self.per)

    def systems(self, at: npt.NDArray[np.intp]) -> int:
        """Return the number of systems of these rows."""
        return len(np.unique(self.of[at]))

    def phase(self, kind: tuple[str, str], at: npt.NDArray[np.intp], own: Table | None) -> CorpusPhase | None:
        """Compute one metric; None without usable rows."""
        unit = str(self.rows.columns["unit"].values[at[0]])
        per = self.per if unit in _RATES else ""
        values = self.rows.numbers("value")[at] / (self.size[at] if per else 1.0)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(values) & (values > 0)
        if not good.any():
            return None
        clustered, at, without = Clustered(values[good], self.of[at][good]), at[good], int(np.sum(~good))
        return CorpusPhase(
            *kind,
            unit,
            per.removesuffix("s"),
            tuple(map(float, clustered.values)),
            tuple(map(str, self.names[at])),
            clustered.n,
            {p: clustered.quantile(p, self.level) for p in QUANTILES},
            clustered.geometric_mean(self.level),
            {name: self._explain_by(name, clustered, at) for name in self.on},
            self._find_far(clustered, at),
            {name: self._describe_setting(name, clustered, at) for name in self.on},
            None if own is None else _place_own_value(kind, clustered, own, per, self.level),
            without,
        )

    def _explain_by(self, name: str, clustered: Clustered, at: npt.NDArray[np.intp]) -> Explained:
        column = self.rows.columns[name]
        present = ~column.missing[at]
        if not present.any():
            warning = Message("missing-fact", "no run has {fact}", fact=name)
            return Explained(Estimate(None, None, None, self.level, 0, (warning,)), None, 0)
        part, at = Clustered(clustered.values[present], clustered.clusters[present]), at[present]
        if not column.numeric:
            return estimate_explained_by_levels(part, column.codes()[0][at], self.level, LEAST)
        numbers = column.values[at].astype(float)  # of a wide range, such as nodes, log2; a year or a flag as it is
        x = np.log2(numbers) if _is_far(numbers) else numbers
        return estimate_explained_by_number(part, x, self.level, self.system_names)

    def _describe_setting(self, name: str, clustered: Clustered, at: npt.NDArray[np.intp]) -> BySetting:
        column = self.rows.columns[name]
        codes, levels = column.codes()
        present = ~column.missing
        parts = {
            levels[code]: Clustered(clustered.values[here], clustered.clusters[here])
            for code in np.unique(codes[at][present[at]])
            for here in [(codes[at] == code) & present[at]]
        }
        values = column.values[at][present[at]].astype(float) if column.numeric else np.zeros(0)
        is_scale = column.numeric and len(np.unique(values)) > _FEW_LEVELS
        return BySetting(
            tuple(levels[codes[row]] if present[row] else None for row in at),
            {
                level: part.quantile(0.5, self.level)
                for level, part in parts.items()
                if not is_scale and part.n >= LEAST
            },
            bool(len(values)) and _is_far(values),
        )

    def _find_far(self, clustered: Clustered, at: npt.NDArray[np.intp]) -> tuple[StandingOut, ...]:
        logs, names = clustered.log_means, self.names[at][np.unique(clustered.clusters, return_index=True)[1]]
        middle = float(np.median(logs))
        return tuple(StandingOut(str(names[i]), float(np.exp(logs[i] - middle))) for i in find_outliers(logs, _ALPHA))

    def linked(self) -> tuple[Explained | None, tuple[TwoScores, ...]]:
        """Return how much the bandwidth score explains of the metadata score, and both scores of each run that has
        them."""
        columns, values = self.rows.columns, self.rows.numbers("value")
        is_score = (columns["operation"].values == "score") & (values > 0)
        chosen = [np.flatnonzero(is_score & (columns["metric"].values == name)) for name in ("bandwidth", "rate")]
        bandwidth, rate = (dict(zip(columns["run"].values[at], at, strict=True)) for at in chosen)
        both = sorted(bandwidth.keys() & rate.keys())
        if not both:
            return None, ()
        x, at = values[[bandwidth[run] for run in both]], [rate[run] for run in both]
        scores = zip(map(str, self.names[at]), x.tolist(), values[at].tolist(), strict=True)
        explained = estimate_explained_by_number(Clustered(values[at], self.of[at]), np.log(x), self.level)
        return explained, tuple(TwoScores(*score) for score in scores)


def _is_far(x: npt.NDArray[np.float64]) -> bool:
    return bool(x.min() > 0 and x.max() >= _FOURFOLD * x.min())


def _place_own_value(kind: tuple[str, str], clustered: Clustered, own: Table, per: str, level: float) -> Placed | None:
    if per and per not in own.columns:
        return None
    rows = own.take((own.columns["operation"].values == kind[0]) & (own.columns["metric"].values == kind[1]))
    values = rows.numbers("value") / (rows.numbers(per) if per else 1.0)
    values = values[np.isfinite(values) & (values > 0)]
    if not values.size:
        return None
    value = float(np.exp(np.mean(np.log(values))))
    return Placed(value, clustered.estimate_share_below(value, level))
