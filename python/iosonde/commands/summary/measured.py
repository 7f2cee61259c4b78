"""What a Source has at the setting of a printed number: the mean over its trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from iosonde.agreement.cells import MeasuredNumber
from iosonde.core.errors import InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.types import Estimate, FactorValue
from iosonde.core.where import Condition
from iosonde.core.words import format_count
from iosonde.data.query import ResponseQuery
from iosonde.data.source import Source, StoredSource
from iosonde.importers.columns_map import parse_unit
from iosonde.importers.published import NAME as PUBLISHED_TOOL
from iosonde.importers.published_figures import PrintedNumber

from .answer import summary


def build_finder(source: Source | None, query: ResponseQuery) -> Callable[[PrintedNumber], MeasuredNumber]:
    """Return the function that finds what was measured at the setting of a number; without a Source nothing was."""
    if source is None:
        return lambda number: MeasuredNumber()
    if isinstance(source, StoredSource) and any(run.factors.get("tool") == PUBLISHED_TOOL for run in source.runs):
        source = source.narrow([Condition("tool", "!=", PUBLISHED_TOOL)], None)
    return lambda number: _find_measurement(source, query, number)


def _find_measurement(source: Source, query: ResponseQuery, number: PrintedNumber) -> MeasuredNumber:
    """Return the mean over the trials at the setting of a number; settings that differ otherwise are not averaged."""
    settings = {name: level for name, level in number.settings.items() if name != "repetition"}
    unknown = [name for name in settings if not source.table.has_column(name)]
    if unknown:
        what = Message("unknown-setting", "DATA has no column {names}", names=", ".join(unknown))
        return MeasuredNumber(missing=what)
    if source.knows_factors and number.clock == "unknown":
        what = Message("unknown-clock", "the document does not say when its clock stopped, so no rate is the same")
        return MeasuredNumber(missing=what)
    if absent := _find_absent_level(source, settings):
        return MeasuredNumber(missing=absent)
    conditions = [Condition(name, "=", str(level)) for name, level in settings.items()]
    names = [f"{number.operation} {number.metric}"] if source.knows_factors else [number.operation, number.metric]
    missing = ""
    for name in names:
        try:
            answer = summary(source.narrow(conditions, None), replace(query, response=(name,)))
        except IosondeError as error:
            missing = missing or error.message
            continue
        return _read_groups(answer.overview.to_json()["groups"], number, query.level)
    return MeasuredNumber(missing=missing)


def _find_absent_level(source: Source, settings: Mapping[str, FactorValue]) -> str:
    """Return which setting no trial has, with the levels that there are; empty if each has one."""
    for name, level in settings.items():
        if len(source.narrow([Condition(name, "=", str(level))], None).table) == 0:
            levels = dict.fromkeys(str(value) for value in source.table.column(name).values if value is not None)
            template = "DATA has no {name}={level}; there are {levels}"
            return Message("absent-level", template, name=name, level=level, levels=", ".join([*levels][:8]))
    return ""


def _read_groups(groups: Sequence[dict[str, Any]], number: PrintedNumber, level: float) -> MeasuredNumber:
    of_unit = [group for group in groups if _find_scale(group["unit"], number) is not None]
    if not of_unit:
        units = ", ".join(sorted({str(group["unit"]) for group in groups})) or "no unit"
        template = "it is measured in {units}, not in {unit}"
        return MeasuredNumber(missing=Message("other-unit", template, units=units, unit=number.unit_name))
    if len(of_unit) > 1:
        differing = [name for name in of_unit[0]["by"] if len({group["by"].get(name) for group in of_unit}) > 1]
        template = "DATA has {settings} there, by {names}: state which"
        settings = format_count(len(of_unit), "setting")
        return MeasuredNumber(
            missing=Message("ambiguous-setting", template, settings=settings, names=", ".join(differing))
        )
    (group,) = of_unit
    scale = _find_scale(group["unit"], number) or 1.0
    mean, low, high = (
        None if group[name] is None else scale * group[name] for name in ("mean", "mean_low", "mean_high")
    )
    note = Message("single-trial-measured", "one trial has no interval") if low is None else ""
    return MeasuredNumber(Estimate(mean, low, high, level, group["n"]), note)


def _find_scale(unit: str, number: PrintedNumber) -> float | None:
    """Return the factor from a column's unit to the base unit of a number; None between unlike units."""
    if unit == number.unit.base:
        return 1.0
    try:
        parsed = parse_unit(unit)
    except InputError:
        return None
    return parsed.to_base(1.0) if parsed.base == number.unit.base else None
