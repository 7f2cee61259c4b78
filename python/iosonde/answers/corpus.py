"""A corpus: what many people measured, each on a system of their own. How it is spread, what explains it, what stands
out, and where a result of one's own lies in it.

Runs of one system belong together: each system counts once, and every interval is over systems.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import incomplete_among
from iosonde.core.table import Column, Table
from iosonde.core.types import Estimate
from iosonde.core.words import counted
from iosonde.data.asked import Asked
from iosonde.data.responses import no_trial
from iosonde.data.source import Source, narrowed, open_data
from iosonde.stats.estimate.clusters import Clustered, Explained, explained_by_levels, explained_by_number
from iosonde.stats.estimate.outliers import outliers

from .answer import Answer

_Kind = tuple[tuple[str, str], npt.NDArray[np.intp]]  # (operation, metric), its rows

QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)
YEAR = "year"
_SYSTEM = (("institution", "system"), ("site", "system"), ("system",), ("institution",), ("site",))
_PER = ("nodes", "ranks")
_RATES = ("bytes/s", "operations/s")
_COMMON = 0.5  # of the systems that the most frequent number is of
_LEAST = 3  # systems of a level, and of a number that is shown
_ALPHA = 0.05  # the chance to name any system of normal logs
_FOURFOLD = 4  # of a covariate's range, from which its logs are taken


@dataclass(frozen=True)
class HowCorpus:
    """``clusters``: the columns that say what belongs together; by default institution and system. ``per``: rates are
    per one of these (``nodes``, ``ranks``); ``''``: as they are. ``mine``: one's own result, a store or a condition on
    this one, as ``submission=mine``, which is then no part of the corpus. ``every``: rare numbers, too."""

    clusters: tuple[str, ...] = ()
    per: str | None = None
    mine: str = ""
    every: bool = False


@dataclass(frozen=True)
class Placed:
    """One's own ``value``, and the ``share`` of the corpus that lies below it."""

    value: float
    share: Estimate


@dataclass(frozen=True)
class StandingOut:
    """A system whose geometric mean is so many ``times`` that of the corpus, further than chance."""

    system: str
    times: float


@dataclass(frozen=True)
class CorpusPhase:
    """One number over the corpus: ``runs`` values of ``systems``, in base units (``per`` node, if so). ``quantiles``:
    share → value; ``explained``: covariate → how much. ``values`` are the runs', ``names`` their systems."""

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
    placed: Placed | None = None
    without: int = 0

    @property
    def name(self) -> str:
        """``ior_easy_write``, ``score total``."""
        return self.operation + ("" if self.metric.endswith("_last_done") else f" {self.metric}")

    @property
    def title(self) -> str:
        """``ior_easy_write per node``."""
        return f"{self.name} per {self.per}" if self.per else self.name

    def to_json(self) -> dict[str, Any]:
        """As in ``iosonde corpus --json``."""
        placed = None if self.placed is None else {"value": self.placed.value, "below": self.placed.share.to_json()}
        return {
            "operation": self.operation, "metric": self.metric, "unit": self.unit, "per": self.per or None,
            "runs": len(self.values), "systems": self.systems, "left_out": self.without,
            "quantiles": [{"share": p, **one.to_json()} for p, one in self.quantiles.items()],
            "geometric_mean": self.mean.to_json(),
            "ecdf": _steps(self.values, self.names),
            "explained": [
                {"by": name, "levels": one.levels, "share": one.share.to_json(),
                 "times_per_unit": None if one.slope is None else one.slope.to_json()}
                for name, one in self.explained.items()
            ],
            "standing_out": [{"system": one.system, "times": one.times} for one in self.standing_out],
            "placed": placed,
        }  # fmt: skip


@dataclass(frozen=True)
class Corpus(Answer):
    """``phases`` in the order of the tool. ``rare``: how many numbers are not shown, being of few systems or a part
    of another. ``linked``:
    how much of the metadata rate the bandwidth explains, between systems, both by the score."""

    name: str
    level: float
    clusters: tuple[str, ...]
    on: tuple[str, ...]
    runs: int
    systems: int
    years: tuple[int, int] | None
    phases: tuple[CorpusPhase, ...]
    rare: int = 0
    linked: Explained | None = None
    warnings: tuple[str, ...] = ()

    def content(self) -> dict[str, Any]:
        """As ``iosonde corpus --json``."""
        linked = None if self.linked is None else self.linked.share.to_json()
        return {
            "level": self.level, "clusters": list(self.clusters), "on": list(self.on), "runs": self.runs,
            "systems": self.systems, "years": self.years, "rare": self.rare,
            "phases": [one.to_json() for one in self.phases], "metadata_by_bandwidth": linked,
            "sentence": self.sentence, "warnings": list(self.warnings),
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """One row a phase."""
        return [
            {"operation": one.operation, "metric": one.metric, "unit": one.unit, "per": one.per,
             "runs": len(one.values), "systems": one.systems, **one.mean.flat("geometric_mean"),
             **{key: value for p, q in one.quantiles.items() for key, value in q.flat(f"p{100 * p:g}").items()}}
            for one in self.phases
        ]  # fmt: skip

    @property
    def sentence(self) -> str:
        """How far systems differ, what explains it, and where one's own result lies."""
        said = _places(self)
        wide = [one for one in self.phases if all(one.quantiles[p].value for p in (0.1, 0.9))]
        if wide and not said:
            most = max(wide, key=lambda one: _reach(one))
            said.append(f"Systems differ most in {most.title}: the upper tenth begins at {_reach(most):.3g} times "
                        "the end of the lowest.")  # fmt: skip
        told = [(one, name, e) for one in self.phases for name, e in one.explained.items() if (e.share.low or 0) > 0]
        if told:
            one, name, e = max(told, key=lambda found: found[2].share.low or 0.0)
            said.append(f"Most is explained of {one.title} by {name}: {_percent(e.share)} of the variance of its "
                        "logarithm between systems.")  # fmt: skip
        elif self.on and self.phases:
            said.append("No covariate explains anything that can be told from chance.")
        return " ".join(said)


def corpus(source: Source, asked: Asked, how: HowCorpus | None = None) -> Corpus:
    """The corpus in a store or a table of results. Raises InputError, DataError."""
    how = how or HowCorpus()
    if source.store is None:
        raise InputError("a corpus is a store", "iosonde import -r DIR --store STORE --factors-from PATTERN makes one")
    rest, mine = _own(source, how.mine)
    trials = rest.trials(asked.choice)
    rows = trials.rows
    if not len(rows):
        raise no_trial(rest)
    rows = _with_year(rows, rest)
    clusters = _clusters(rows, how.clusters)
    on = tuple(rows.column(name).name for name in asked.on) or _covariates(rest, rows, clusters)
    work = _Work(rows, clusters, on, asked, how)
    own = None if mine is None else mine.trials(asked.choice).rows
    kinds = _kinds(rows, asked.response)
    counts = [work.systems(at) for _, at in kinds]
    every = how.every or bool(asked.response)
    least = 1 if every else min(max(_LEAST, _COMMON * max(counts)), max(counts))
    shown = [one for one, n in zip(kinds, counts, strict=True) if n >= least]
    shown = shown if every else _first(shown)
    phases = [one for kind, at in shown if (one := work.phase(kind, at, own)) is not None]
    everyone = np.arange(len(rows))
    return Corpus(
        source.name, asked.level, clusters, on, len(set(rows.columns["run"].values)), work.systems(everyone),
        _years(rows), tuple(phases), len(kinds) - len(shown), work.linked(),
        (*trials.warnings, *_said(rest, rows, work)),
    )  # fmt: skip


class _Work:
    """What is computed of one table of trials. ``of`` numbers the system of each row, ``names`` says it."""

    def __init__(self, rows: Table, clusters: Sequence[str], on: Sequence[str], asked: Asked, how: HowCorpus) -> None:
        self.rows, self.on, self.level = rows, on, asked.level
        self.of = np.zeros(len(rows), dtype=np.intp)
        self.names = np.full(len(rows), "", dtype=object)
        for place, (key, at) in enumerate(rows.groups(clusters)):
            self.of[at] = place
            # Two institutions may call a system the same: its name is all that tells it apart.
            self.names[at] = ", ".join("?" if part is None else str(part) for part in reversed(key))
        self.per = _per(rows, how.per)
        self.size = np.ones(len(rows)) if not self.per else rows.numbers(self.per)

    def systems(self, at: npt.NDArray[np.intp]) -> int:
        """How many systems these rows are of."""
        return len(np.unique(self.of[at]))

    def phase(self, kind: tuple[str, str], at: npt.NDArray[np.intp], own: Table | None) -> CorpusPhase | None:
        """One number; None where no row of it can be used."""
        unit = str(self.rows.columns["unit"].values[at[0]])
        per = self.per if unit in _RATES else ""
        values = self.rows.numbers("value")[at] / (self.size[at] if per else 1.0)
        with np.errstate(invalid="ignore"):
            good = np.isfinite(values) & (values > 0)
        if not good.any():
            return None
        made, at, without = Clustered(values[good], self.of[at][good]), at[good], int(np.sum(~good))
        explained = {name: self._explained(name, made, at) for name in self.on}
        quantiles = {p: made.quantile(p, self.level) for p in QUANTILES}
        found = CorpusPhase(
            *kind, unit, per.removesuffix("s"), tuple(map(float, made.values)), tuple(map(str, self.names[at])),
            made.n, quantiles, made.geometric_mean(self.level), explained, self._far(made, at), None,
            without,
        )  # fmt: skip
        return found if own is None else replace(found, placed=_placed(found, made, own, per, self.level))

    def _explained(self, name: str, made: Clustered, at: npt.NDArray[np.intp]) -> Explained:
        column = self.rows.columns[name]
        known = ~column.missing[at]
        part = Clustered(made.values[known], made.clusters[known])
        if not known.any():
            return Explained(Estimate(None, None, None, self.level, 0, (f"no run says {name}",)), None, 0)
        if column.numeric:
            return explained_by_number(part, _scaled(column.values[at][known].astype(float)), self.level)
        return explained_by_levels(part, column.codes()[0][at][known], self.level, _LEAST)

    def _far(self, made: Clustered, at: npt.NDArray[np.intp]) -> tuple[StandingOut, ...]:
        logs = made.log_means
        names = {int(one): str(name) for one, name in zip(made.clusters, self.names[at], strict=True)}
        numbers = np.unique(made.clusters)
        far = outliers(logs, _ALPHA)
        middle = float(np.median(logs))
        return tuple(StandingOut(names[int(numbers[i])], float(np.exp(logs[i] - middle))) for i in far)

    def linked(self) -> Explained | None:
        """Bandwidth against metadata, where both scores are there."""
        sides = {}
        for metric in ("bandwidth", "rate"):
            operations, metrics = self.rows.columns["operation"].values, self.rows.columns["metric"].values
            chosen = np.flatnonzero((operations == "score") & (metrics == metric))
            values = self.rows.numbers("value")[chosen]
            runs = self.rows.columns["run"].values[chosen]
            sides[metric] = {run: (value, of) for run, value, of in zip(runs, values, self.of[chosen], strict=True)
                             if value > 0}  # fmt: skip
        both = sorted(sides["bandwidth"].keys() & sides["rate"].keys())
        if not both:
            return None
        rate = Clustered(np.array([sides["rate"][run][0] for run in both]),
                         np.array([sides["rate"][run][1] for run in both]))  # fmt: skip
        return explained_by_number(rate, np.log(np.array([sides["bandwidth"][run][0] for run in both])), self.level)


def _scaled(x: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """Doublings of what ranges far, as nodes; a year or a flag as it is."""
    return np.log2(x) if x.min() > 0 and x.max() >= _FOURFOLD * x.min() else x


def _own(source: Source, mine: str) -> tuple[Source, Source | None]:
    """(the corpus, one's own runs). Raises InputError, DataError."""
    if not mine:
        return source, None
    if Path(mine).is_dir():
        return source, open_data(mine, (), None, ranks=False)
    own = narrowed(source, [mine])
    if own is source or not own.runs:
        raise InputError(f"--mine {mine} is neither a store nor a condition that holds for a run of {source.name}",
                         "write a store, or a condition as submission=mine")  # fmt: skip
    ids = {run.id for run in own.runs}
    kept = np.array([str(run) not in ids for run in source.table.columns["run"].values], dtype=bool)
    if not kept.any():
        raise DataError("no run is left but your own", "a corpus is of others' results")
    return replace(source, table=source.table.take(kept)), own


def _placed(found: CorpusPhase, made: Clustered, own: Table, per: str, level: float) -> Placed | None:
    rows = own.take(
        (own.columns["operation"].values == found.operation) & (own.columns["metric"].values == found.metric)
    )
    if not len(rows) or (per and per not in rows.columns):
        return None
    values = rows.numbers("value") / (rows.numbers(per) if per else 1.0)
    values = values[np.isfinite(values) & (values > 0)]
    if not len(values):
        return None
    value = float(np.exp(np.mean(np.log(values))))
    return Placed(value, made.share_below(value, level))


def _kinds(rows: Table, wanted: Sequence[str]) -> list[_Kind]:
    """(operation, metric) → its rows, in the order in which the tools print them. Raises InputError."""
    found = [((str(key[0]), str(key[1])), np.sort(at)) for key, at in rows.groups(["operation", "metric"])]
    for text in wanted:
        if not any(text in (kind[0], " ".join(kind)) for kind, _ in found):
            there = ", ".join(dict.fromkeys(kind[0] for kind, _ in found))
            raise InputError(f"the corpus has no '{text}'", f"there are: {there[:400]}")
    if wanted:
        found = [one for one in found if one[0][0] in wanted or " ".join(one[0]) in wanted]
    return sorted(found, key=lambda one: int(one[1][0]))


def _first(kinds: Sequence[_Kind]) -> list[_Kind]:
    """Without the rate of what has a bandwidth, and without the parts of a phase (``mdtest_easy_write_tree_creation``):
    what a tool's list has."""
    operations = {kind[0] for kind, _ in kinds}
    fast = {kind[0] for kind, _ in kinds if kind[1] == "bandwidth_last_done"}
    return [
        (kind, at) for kind, at in kinds
        if not (kind[0] in fast and kind[1] == "rate_last_done")
        and not any(kind[0].startswith(f"{other}_") for other in operations)
    ]  # fmt: skip


def _clusters(rows: Table, named: Sequence[str]) -> tuple[str, ...]:
    if named:
        return tuple(rows.column(name).name for name in named)
    for names in _SYSTEM:
        if all(name in rows.columns for name in names):
            return names
    raise InputError(
        "nothing says which runs are of one system",
        "name the columns, as --cluster institution,system; iosonde import --factors-from takes them from paths",
    )


def _per(rows: Table, asked: str | None) -> str:
    if asked is None:
        return next((name for name in _PER if name in rows.columns and rows.columns[name].numeric), "")
    if not asked or asked == "none":
        return ""
    rows.numbers(asked)  # raises where it is no number
    return rows.column(asked).name


def _covariates(source: Source, rows: Table, clusters: Sequence[str]) -> tuple[str, ...]:
    """The known factors of which several systems share a level, or that are numbers. A year is taken only if it is
    asked for."""
    found = []
    for name in source.known.names:
        if name in clusters or name == YEAR or name not in rows.columns:
            continue
        column = rows.columns[name]
        codes, levels = column.codes()
        here = ~column.missing
        systems = [len(rows.take((codes == place) & here).groups(clusters)) for place in range(len(levels))]
        if column.numeric and len(levels) > 1 and sum(systems) >= 2 * _LEAST or sum(n >= _LEAST for n in systems) > 1:
            found.append(name)
    return tuple(found)


def _with_year(rows: Table, source: Source) -> Table:
    """With the year of each run's date as the column ``year``: of a path's folder only where it is a number."""
    if YEAR in rows.columns and rows.columns[YEAR].numeric:
        return rows
    by_run = {run.id: _year(str(run.facts.get("date") or run.started_at or "")) for run in source.runs}
    values = np.array([by_run.get(str(run), np.nan) for run in rows.columns["run"].values], dtype=float)
    if np.isnan(values).all():
        return rows
    return replace(rows, columns={**rows.columns, YEAR: Column(YEAR, values, YEAR, "")})


def _year(date: str) -> float:
    found = re.match(r"(19|20)\d\d(?=-)", date)
    return float(found[0]) if found else np.nan


def _years(rows: Table) -> tuple[int, int] | None:
    if YEAR not in rows.columns or not rows.columns[YEAR].numeric:
        return None
    values = rows.columns[YEAR].values.astype(float)
    known = values[np.isfinite(values)]
    return (int(known.min()), int(known.max())) if len(known) else None


def _said(source: Source, rows: Table, work: _Work) -> list[str]:
    said = []
    shown = {str(run) for run in rows.columns["run"].values}
    if text := incomplete_among([run for run in source.runs if run.id in shown]):
        said.append(text)
    if work.per:
        first = np.unique(rows.columns["run"].values.astype(str), return_index=True)[1]
        lacking = int(np.sum(~np.isfinite(work.size[first])))
        if lacking:
            said.append(f"{counted(lacking, 'run')} of {len(first)} say no {work.per} and are not in what is per "
                        f"{work.per.removesuffix('s')}: --per none takes them")  # fmt: skip
    return said


def _steps(values: Sequence[float], names: Sequence[str]) -> list[list[float]]:
    """The distribution as [value, share at or below it], each system counting once."""
    of = np.unique(np.array(names, dtype=object).astype(str), return_inverse=True)[1]
    made = Clustered(np.array(values), of)
    order = np.argsort(made.values, kind="stable")
    reached = np.cumsum(made.weights[order])
    return [[float(v), float(p)] for v, p in zip(made.values[order], reached, strict=True)]


def _reach(one: CorpusPhase) -> float:
    low, high = one.quantiles[0.1].value, one.quantiles[0.9].value
    return high / low if low and high else 0.0


def _percent(share: Estimate) -> str:
    if share.value is None:
        return "~"
    if share.low is None or share.high is None:
        return f"{100 * share.value:.0f} %"
    return f"{100 * share.value:.0f} % ({100 * share.low:.0f}–{100 * share.high:.0f})"


def _places(made: Corpus) -> list[str]:
    """Where one's own result is lowest, and where highest."""
    placed = sorted((one for one in made.phases if one.placed), key=_place)
    when = f" of {made.years[0]}–{made.years[1]}" if made.years else ""
    chosen = placed if len(placed) < 2 else [placed[-1], placed[0]]
    return [f"Your {one.title} is above {_percent(one.placed.share)} of {counted(one.systems, 'system')}{when}."
            for one in chosen if one.placed]  # fmt: skip


def _place(one: CorpusPhase) -> float:
    return (one.placed.share.value or 0.0) if one.placed else 0.0
