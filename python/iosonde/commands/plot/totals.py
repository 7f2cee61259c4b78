"""Every metric by node count, from a results file alone or from a store: ``iosonde plot --bars``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.commands.show import thesis
from iosonde.commands.show.answer import choose
from iosonde.core.errors import DataError
from iosonde.core.many_task import IOZONE_NAMES, KB_PER_S
from iosonde.core.plugins import load_plugin
from iosonde.stats.estimate.summarise import mean

from .bars_content import Bars, Cell

# Name of a format → function that takes a path and returns results by node count, as core/many_task.py describes them.
_READERS = "iosonde.readers"


def totals(data: str, names: Sequence[str], level: float, experiment: str | None, where: Sequence[str]) -> list[Bars]:
    """Return the metrics of a results file or a store, or those of ``names``. Raises InputError, DataError."""
    path = Path(data)
    if path.is_file():
        results = load_plugin(_READERS, "thesis-results", "reading a results file")(path)
    else:
        document = thesis.build_thesis_document(choose(data, experiment=experiment, where=where))
        results = {int(nodes): entry for nodes, entry in document.items()}
    items = [bar for bar in bars(results, level) if not names or bar.operation in names]
    if not items:
        there = ", ".join(_group_totals(results))
        raise DataError("unknown-metric", "{data} has no such metric", "there are: {metrics}", data=data, metrics=there)
    return items


def bars(results: dict[int, dict[str, Any]], level: float) -> list[Bars]:
    """Return each metric by node count, with an interval if there are repetitions."""
    units, charts = _collect_units(results), []
    for name, by_count in _group_totals(results).items():
        unit = units.get(name, "")
        scale, base = (1024.0, "bytes/s") if unit == KB_PER_S else (1.0, unit)
        cells = []
        for nodes, values in by_count.items():
            trials = tuple(value * scale for value in values)
            cells.append(Cell(nodes, mean(trials, level), trials if len(trials) > 1 else ()))
        charts.append(Bars(name, "total", name, base, tuple(cells)))
    return charts


def _group_totals(results: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[int, list[float]]]:
    """Return metric → node count → its totals, one for each repetition."""
    totals_by_metric: dict[str, dict[int, list[float]]] = {}
    for nodes, entry in sorted(results.items()):
        for repetition in entry.get("repetitions") or [entry]:
            for name, value in repetition["total"].items():
                totals_by_metric.setdefault(name, {}).setdefault(nodes, []).append(float(value))
    return totals_by_metric


def _collect_units(results: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    """Return metric → its unit: as in the file, kB/s for IOzone's names, else none."""
    unit_by_metric = dict.fromkeys(IOZONE_NAMES.values(), KB_PER_S)
    for entry in results.values():
        declared = entry.get("units")
        unit_by_metric |= (
            {str(name): str(unit) for name, unit in declared.items()} if isinstance(declared, dict) else {}
        )
    return unit_by_metric
