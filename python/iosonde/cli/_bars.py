"""``iosonde plot --bars``: one bar plot per metric by node count, from a results file alone."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from iosonde.answers import thesis
from iosonde.answers.show import choose
from iosonde.core.errors import DataError
from iosonde.core.whole_file import replace_file

if TYPE_CHECKING:
    from iosonde.report.content import Bars


def draw(source: str, output: Path, form: str, names: list[str], level: float, **chosen: Any) -> list[Path]:
    """Draw every metric (or those of ``names``) of a results file or a store; the files that were written.

    Into one file if ``output`` is no directory, with a panel for each metric. Raises DataError.
    """
    from iosonde.report.figures.bars import bars_figure
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.files import format_of

    path = Path(source)
    content = thesis.read(path) if path.is_file() else _by_count(thesis.of_store(choose(source, **chosen)))
    items = [one for one in bars(content, level) if not names or one.operation in names]
    if not items:
        there = ", ".join(thesis.totals(content))
        raise DataError(f"{source} has no such metric", f"there are: {there}")
    if not output.is_dir():
        panels = together([bars_figure(one, "node") for one in items], columns=3)
        return [replace_file(output, panels.image(format_of(output)))]
    files = _file_names([one.operation for one in items], form)
    return [
        replace_file(output / name, bars_figure(one, "node").image(form))
        for name, one in zip(files, items, strict=True)
    ]


def _by_count(document: dict[str, Any]) -> dict[int, dict[str, Any]]:
    return {int(nodes): entry for nodes, entry in document.items()}


def bars(results: dict[int, dict[str, Any]], level: float) -> list[Bars]:
    """Each metric by node count; with an interval where there are repetitions."""
    from iosonde.report.content import Bars, Cell
    from iosonde.stats.estimate.summarise import mean

    units, found = thesis.units(results), []
    for name, by_count in thesis.totals(results).items():
        unit = units.get(name, "")
        scale, base = (1024.0, "bytes/s") if unit == thesis.KB_PER_S else (1.0, unit)
        cells = []
        for nodes, values in by_count.items():
            trials = tuple(value * scale for value in values)
            cells.append(Cell(nodes, mean(trials, level), trials if len(trials) > 1 else ()))
        found.append(Bars(name, "total", name, base, tuple(cells)))
    return found


def _file_names(metrics: list[str], form: str) -> list[str]:
    """A plain file name for each metric, all different."""
    used: list[str] = []
    for metric in metrics:
        stem = re.sub(r"[^A-Za-z0-9._=+-]+", "_", metric).strip("._")[:80] or "metric"
        name, number = f"{stem}.{form}", 2
        while name in used:
            name, number = f"{stem}-{number}.{form}", number + 1
        used.append(name)
    return used
