"""Every metric by node count, from a results file alone or from a store: ``iosonde plot --bars``."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from iosonde.commands.show import thesis
from iosonde.commands.show.answer import choose
from iosonde.core.errors import DataError
from iosonde.core.many_task import KB_PER_S
from iosonde.importers import thesis_results
from iosonde.stats.estimate.summarise import mean

from .bars_content import Bars, Cell


def totals(data: str, names: Sequence[str], level: float, experiment: str | None, where: Sequence[str]) -> list[Bars]:
    """Return the metrics of a results file or a store, or those of ``names``. Raises InputError, DataError."""
    path = Path(data)
    if path.is_file():
        results = thesis_results.read(path)
    else:
        document = thesis.build_thesis_document(choose(data, experiment=experiment, where=where))
        results = {int(nodes): entry for nodes, entry in document.items()}
    items = [bar for bar in bars(results, level) if not names or bar.operation in names]
    if not items:
        there = ", ".join(thesis_results.totals(results))
        raise DataError("unknown-metric", "{data} has no such metric", "there are: {metrics}", data=data, metrics=there)
    return items


def bars(results: dict[int, dict[str, Any]], level: float) -> list[Bars]:
    """Return each metric by node count, with an interval if there are repetitions."""
    units, charts = thesis_results.units(results), []
    for name, by_count in thesis_results.totals(results).items():
        unit = units.get(name, "")
        scale, base = (1024.0, "bytes/s") if unit == KB_PER_S else (1.0, unit)
        cells = []
        for nodes, values in by_count.items():
            trials = tuple(value * scale for value in values)
            cells.append(Cell(nodes, mean(trials, level), trials if len(trials) > 1 else ()))
        charts.append(Bars(name, "total", name, base, tuple(cells)))
    return charts
