"""``iosonde plot``: the figures of a store as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.options.data import clock_option, open_data, split_names
from iosonde.cli.options.level import checked_level
from iosonde.cli.output import show, talk
from iosonde.core.errors import DataError, InputError
from iosonde.data.asked import LAST_DONE, Asked
from iosonde.report.figures.files import FORMATS, format_of

KINDS = ("bars", "latency", "timeline")


@dataclass(frozen=True)
class Place:
    """Where figures go: ``path`` is one file, or with ``many`` a directory of files of ``form``."""

    path: Path
    form: str
    many: bool

    def write(self, figure: report.figures.figure.Figure, name: str) -> None:
        """The figure, in a directory under ``name``; says which file it is."""

        file = self.path / f"{name}.{self.form}" if self.many else self.path
        show([report.text.escape(figure.save(file))])


@click.command(epilog="Example: iosonde plot results -o figures.pdf --kind bars --metric write_large")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE",
    default=".",
    show_default=True,
    help="FILE.png, .svg or .pdf for one kind; a directory gets a PNG for each.",
)
@click.option("--kind", type=click.Choice(KINDS), help="Only this kind of figure.")
@click.option("--bars", is_flag=True, help="One bar plot per metric by node count; DATA may be a results file.")
@click.option("--metric", metavar="NAME,…", help="Only these operations or metrics, as write_large.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Of the files in a directory [default: png].")
@click.option("--experiment", metavar="ID", help="This experiment instead of the newest.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@clock_option
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--on", metavar="X,…", help="One panel for each response and factor, as 'fs,log2(record)'.")
@click.option("--response", metavar="Y,…", help="With --on: the responses [default: all that were measured].")
@click.option("--together", is_flag=True, help="With --on: all responses in one panel for each factor.")
def command(data: str, output: str, form: str | None, level: float, **given: Any) -> None:
    """Draw the newest experiment in DATA, a store: bars by node count, latency distributions, timelines of the ranks.

    With --bars one plot of each total by node count, of a store or of what 'show --thesis-json' wrote. With --on, of a
    store or a table, every response against every factor, and whether a line describes it. Prints the files that it
    wrote.
    """
    checked_level(level)
    place = _place(Path(output), form)
    names = split_names(given["metric"])
    if given["on"] is not None:
        _factors(data, place, level, given)
        return
    if given["response"] or given["together"]:
        raise InputError("--response and --together go with --on", "name factors, as --on nodes")
    if given["bars"]:
        if given["kind"]:
            raise InputError("--bars and --kind do not go together", "leave --kind out")
        if given["clock"] != LAST_DONE:
            raise InputError("--bars draws the sums that the ranks were timed for", "leave --clock out")
        _totals(data, place, level, names, given)
        return
    _kinds(data, place, level, names, given)


def _factors(data: str, place: Place, level: float, given: dict[str, Any]) -> None:
    """Every response against every factor."""
    on = split_names(given["on"])
    if not on:
        raise InputError("--on names no factor", "write --on nodes,fs")
    for name in ("kind", "bars", "metric"):
        if given[name]:
            raise InputError(f"--on and --{name} do not go together", f"leave --{name} out")
    asked = Asked(tuple(split_names(given["response"])), tuple(on), given["clock"], level)
    made = answers.plot.factors.panels(open_data(data, given["where"], given["experiment"]), asked, given["together"])
    figure = report.figures.factors.factors_figure(made.items, made.columns)
    for why in made.left:
        talk(f"not drawn: {why}")
    place.write(figure, "factors")


def _totals(data: str, place: Place, level: float, names: Sequence[str], given: dict[str, Any]) -> None:
    """Each metric by node count: a file for each, or panels of one file."""
    items = answers.plot.totals.totals(data, names, level, given["experiment"], given["where"])
    figures = report.figures
    drawn = [figures.bars.bars_figure(one, "node") for one in items]
    if not place.many:
        place.write(figures.figure.together(drawn, columns=3), "")
        return
    for name, figure in zip(figures.files.names_of_files([one.operation for one in items]), drawn, strict=True):
        place.write(figure, name)


def _kinds(data: str, place: Place, level: float, names: Sequence[str], given: dict[str, Any]) -> None:
    """Figures of the page, by kind: one file holds one of them."""
    kinds = (given["kind"],) if given["kind"] else KINDS if place.many else KINDS[:1]
    source, _ = answers.page.experiment.open_chosen(data, given["experiment"], given["where"], open_data)
    shown = answers.page.of_store.figures_of_store(source, Asked(clock=given["clock"], level=level), kinds)
    drawn = 0
    sections: tuple[answers.page.content.tables.Section[Any], ...] = (shown.bars, shown.latencies, shown.timelines)
    for kind, section in zip(KINDS, sections, strict=True):
        if kind not in kinds:
            continue
        items = report.figures.kinds.chosen(section.items, names)
        if items:
            place.write(report.figures.kinds.panels(kind, items, shown.axis.noun), kind)
            drawn += 1
        else:
            talk(report.figures.kinds.why_missing(kind, section, names))
    if not drawn:
        raise DataError(f"nothing of {data} can be drawn", "iosonde show says what the store holds")


def _place(path: Path, form: str | None) -> Place:
    """Makes the directory where it is one. Raises InputError."""
    suffix = path.suffix[1:].lower()
    if suffix and not path.is_dir():
        if form and form != format_of(path):
            raise InputError(f"--format {form} and {path} do not agree", "leave --format out")
        return Place(path, format_of(path), False)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory {path}: {error.strerror}", "name another one") from error
    return Place(path, form or FORMATS[0], True)
