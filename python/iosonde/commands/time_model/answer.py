"""Parts of an operation's time, and the condition that an observed time indicates. The parts are given, or fitted to
DATA by lines; with both, rows or operations are assigned to the nearest condition."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.answers.answer import Answer
from iosonde.core.errors import DataError, InputError
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_levels
from iosonde.core.message import Message, spell
from iosonde.core.stored import describe_included_incomplete, strip_factor_prefix
from iosonde.core.types import Estimate
from iosonde.core.units import parse_size
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.responses import Response, choose_response
from iosonde.data.source import Source
from iosonde.engine import _native
from iosonde.explain.waterfall import DATA_KINDS
from iosonde.model.time_model import (
    LIMITS,
    PARTS,
    Classified,
    ConditionLine,
    Diagnosis,
    Mixture,
    TimeCondition,
    classify_by_condition,
    compute_least_time,
    find_nearest_condition,
    fit_line,
    fit_mixture,
)
from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.stats.estimate.summarise import estimate_mean

Array = npt.NDArray[np.float64]

_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


@dataclass(frozen=True)
class ConditionShares:
    """Operations at one setting: the share of each condition, the lost share of time, and the share of operations that
    no condition explains."""

    name: str
    n_operations: int
    shares: dict[str, Estimate]
    lost: Estimate
    beyond: Estimate

    def to_json(self) -> dict[str, Any]:
        """The stable form."""
        return {
            "group": self.name,
            "n_operations": self.n_operations,
            "lost": self.lost.to_json(),
            "beyond": self.beyond.to_json(),
            "conditions": [{"condition": name, **e.flat("share")} for name, e in self.shares.items()],
        }


@dataclass(frozen=True)
class TimeModel(Answer):
    """The conditions with their times for each of ``sizes``, and for each observed time the nearest condition and the
    possible mixture. ``lines`` were fitted to DATA; ``groups`` were assigned to conditions."""

    conditions: tuple[TimeCondition, ...]
    sizes: tuple[int, ...]
    diagnoses: tuple[Diagnosis, ...]
    mixtures: tuple[Mixture | None, ...]
    lines: tuple[ConditionLine, ...]
    groups: tuple[ConditionShares, ...]
    warnings: tuple[str, ...]
    level: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde time-model --json``."""
        return {
            "level": self.level,
            "parts": PARTS,
            "times": [
                {
                    "size": size,
                    "best_s": compute_least_time(self.conditions, size),
                    "conditions": [
                        {
                            "condition": condition.name,
                            "s": condition.seconds(size),
                            "parts": {part.label: part.seconds(size) for part in condition.parts},
                        }
                        for condition in self.conditions
                    ],
                }
                for size in self.sizes
            ],
            "lines": [line.to_json() for line in self.lines],
            "diagnosis": [diagnosis.to_json() for diagnosis in self.diagnoses],
            "limits": list(LIMITS),
            "mixtures": [vars(mixture) if mixture else None for mixture in self.mixtures],
            "groups": [group.to_json() for group in self.groups],
            "warnings": list(self.warnings),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per condition at a size, or of a group."""
        return [
            *(
                {"size": size, "condition": condition.name, "s": condition.seconds(size)}
                for size in self.sizes
                for condition in self.conditions
            ),
            *(
                {"group": group.name, "condition": name, **share.flat("share")}
                for group in self.groups
                for name, share in group.shares.items()
            ),
        ]


def time_model(
    source: Source | None,
    query: ResponseQuery,
    conditions: Sequence[TimeCondition] = (),
    sizes: Sequence[int] = (),
    observed_s: Sequence[float] = (),
    by: Sequence[str] = (),
) -> TimeModel:
    """Model the time of an operation under its ``conditions``, which are fitted to DATA if none is given.
    ``observed_s``: times at the only one of ``sizes``. ``query.on`` is the column of sizes; ``by`` separates the groups
    of DATA. Raises InputError, DataError."""
    lines: list[ConditionLine] = []
    groups: list[ConditionShares] = []
    notes: list[str] = []
    if source is None:
        if not conditions:
            raise InputError(
                "missing-option",
                "no part of the time is known",
                "give {spell.copy}, {spell.network} …, or {spell.parts:FILE}, or DATA",
            )
        if not sizes:
            raise InputError("missing-option", "{spell.size} is missing", "write it like 256KiB")
    elif conditions and source.knows_factors and not query.response:
        by = source.apart(by)
        groups, notes = _classify_operations(source, conditions, query.level, by)
    elif conditions:
        groups = [
            _estimate_row_shares(name, classify_by_condition(conditions, sizes_, seconds), query.level)
            for name, sizes_, seconds in _group_sizes_and_times(source, query, by)
            if sizes_.size
        ]
    else:
        lines = [
            _fit_line(name, sizes_, seconds, query.level)
            for name, sizes_, seconds in _group_sizes_and_times(source, query, by)
        ]
        conditions = [line.condition() for line in lines]
    if observed_s and len(sizes) != 1:
        raise InputError(
            "missing-option",
            "{spell.observed} needs one {spell.size}",
            "write it like {spell.size:256KiB} {spell.observed:30us,2.5ms}",
        )
    diagnoses = tuple(find_nearest_condition(conditions, sizes[0], time) for time in observed_s)
    mixed = tuple(fit_mixture(conditions, sizes[0], time) for time in observed_s)
    return TimeModel(
        tuple(conditions), tuple(sizes), diagnoses, mixed, tuple(lines), tuple(groups), tuple(notes), query.level
    )


def _classify_operations(
    source: Source, conditions: Sequence[TimeCondition], level: float, by: Sequence[str]
) -> tuple[list[ConditionShares], list[str]]:
    """Classify reads and writes of every phase of the complete runs; the operations of one run are in memory at a time.
    The unit is the trial: shares are means over trials. Raises DataError if nothing was recorded."""
    names = [source.table.column(name).name for name in by] or source.varying_factors.names
    kinds = [place for place, name in enumerate(_native.KINDS) if name in DATA_KINDS]
    is_restricted = any(name == "operation" for name, _, _ in source.where)
    chosen = set(map(str, source.table.column("operation").values)) if is_restricted else None
    trials: list[tuple[str, Classified]] = []
    notes: list[str] = []
    template = "{setting}: only the stored sample of the operations is counted"
    for run in source.runs:
        rows = source.operations(run.id) if run.counts else None
        if rows is None:
            continue
        levels = {strip_factor_prefix(name): run.level(name) for name in names}
        setting = [f"{name}={level}" for name, level in levels.items() if level is not None]
        for phase in run.phases:
            own = rows[(rows["phase"] == phase.index) & (rows["status"] == 0) & np.isin(rows["kind"], kinds)]
            if own.size and (chosen is None or phase.operation in chosen):
                name = ", ".join([phase.operation, *setting])
                sizes, seconds = own["size"].astype(float), own["duration_ns"].astype(float) / 1e9
                trials.append((name, classify_by_condition(conditions, sizes, seconds)))
                notes += [] if phase.recorded_all else [Message("sampled-operations", template, setting=name)]
    if not trials:
        n_incomplete = sum(not run.counts for run in source.runs)
        raise DataError(
            "no-recorded-operations",
            "no reads or writes are recorded in the store",
            "measure with 'iosonde run'"
            + ("; {spell.incomplete} includes its {incomplete_runs}" if n_incomplete else ""),
            incomplete_runs=format_count(n_incomplete, "incomplete run"),
        )
    notes.append(describe_included_incomplete([run for run in source.runs if run.n_operations]))
    groups = [_estimate_group_shares(name, several, level) for name, several in group_by_key(trials).items()]
    return groups, list(dict.fromkeys(filter(None, notes)))


def _fit_line(name: str, sizes: Array, seconds: Array, level: float) -> ConditionLine:
    """Fit the line of a group. Raises InputError, naming the group, if that is impossible."""
    try:
        return fit_line(name, sizes, seconds, level)
    except InputError as error:
        raise error.prefixed(name) from error


def _group_sizes_and_times(
    source: Source, query: ResponseQuery, by: Sequence[str]
) -> Iterator[tuple[str, Array, Array]]:
    """Yield (name, sizes, times) of each group of rows. Raises InputError, DataError."""
    for option, names in (("response", query.response), ("on", query.on)):
        if len(names) != 1:
            raise InputError(
                "too-many-columns" if names else "missing-option",
                "{option} names several columns" if names else "{option} is missing",
                "columns: {names}",
                option=str(getattr(spell, option)),
                names=", ".join(source.table.names),
            )
    by = [name for name in source.apart((*query.on, *by)) if name not in query.on]
    response = choose_response(source, replace(query, on=(*query.on, *by)))
    table, on = response.rows, response.rows.column(query.on[0])
    seconds = response.values * _lookup_time_unit(response)
    sizes = table.numbers(on.name) * _lookup_size_unit(on.unit)
    for name, values in ((response.title, seconds), (query.on[0], sizes)):
        if (values < 0).any():
            raise DataError(
                "out-of-range",
                "{row}, column '{name}': below 0",
                "leave it out: {spell.where:'{name}>=0'}",
                row=table.place(int(np.flatnonzero(values < 0)[0])),
                name=name,
            )
    for key, rows in table.groups(by):
        finite = rows[np.isfinite(seconds[rows]) & np.isfinite(sizes[rows])]
        name = ", ".join(format_levels(by, dict(zip(by, key, strict=True)), table.level_units(by)))
        yield name or "all rows", sizes[finite], seconds[finite]


def _lookup_time_unit(response: Response) -> float:
    """Return the seconds of one unit of the response; 1 if its name has no unit. Raises InputError if it is not a
    time."""
    unit = response.unit
    if response.measured and (response.transform or unit != response.measured_unit):
        raise InputError(
            "not-a-time",
            "'{title}' is not a time",
            "name a column of times, or one times or ÷ another",
            title=response.title,
        )
    if unit not in _SECONDS:
        raise InputError(
            "not-a-time",
            "column '{title}' is in {unit}, which is not a time",
            "name a column such as time_us",
            title=response.title,
            unit=unit,
        )
    return _SECONDS[unit]


def _lookup_size_unit(unit: str) -> float:
    """Return the bytes of one unit of a column of sizes; 1 if its name has no unit."""
    return float(parse_size(f"1{unit}")) if unit and unit.lower() not in ("bytes", "byte") else 1.0


def _estimate_row_shares(name: str, classified: Classified, level: float) -> ConditionShares:
    """Estimate shares of rows, taken as independent: binomial limits (Clopper and Pearson)."""

    def of(share: float) -> Estimate:
        return Estimate(
            share, *binomial_interval(round(share * classified.n), classified.n, level), level, classified.n
        )

    shares = {condition: of(share) for condition, share in classified.shares.items()}
    return ConditionShares(
        name, classified.n, shares, Estimate(classified.lost, None, None, level, classified.n), of(classified.beyond)
    )


def _estimate_group_shares(name: str, trials: Sequence[Classified], level: float) -> ConditionShares:
    shares = {
        key: estimate_mean([trial.shares[key] for trial in trials], level).within(0.0, 1.0) for key in trials[0].shares
    }
    lost, beyond = (estimate_mean([getattr(trial, what) for trial in trials], level) for what in ("lost", "beyond"))
    n_operations = sum(trial.n for trial in trials)
    return ConditionShares(name, n_operations, shares, lost.within(high=1.0), beyond.within(0.0, 1.0))
