"""``iosonde plot``: the figures of a store as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import DataError, InputError
from iosonde.core.whole_file import replace_file
from iosonde.report.figures.files import FORMATS, format_of

from .._data import Source, check_level, open_data, split_names
from .._page import choose, page_of
from ..output import talk

if TYPE_CHECKING:
    from iosonde.report.content import Bars, Latency, Page, Section, Timeline
    from iosonde.report.figures.figure import Figure

KINDS = ("bars", "latency", "timeline")


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
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--on", metavar="X,…", help="One panel for each response and factor, as 'fs,log2(record)'.")
@click.option("--response", metavar="Y,…", help="With --on: the responses [default: all that were measured].")
@click.option("--together", is_flag=True, help="With --on: all responses in one panel for each factor.")
def command(
    data: str,
    output: str,
    kind: str | None,
    bars: bool,
    metric: str | None,
    form: str | None,
    experiment: str | None,
    where: tuple[str, ...],
    level: float,
    on: str | None,
    response: str | None,
    together: bool,
) -> None:
    """Draw the newest experiment in DATA, a store: bars by node count, latency distributions, timelines of the ranks.

    With --bars one plot of each total by node count, of a store or of what 'show --thesis-json' wrote. With --on, of a
    store or a table, every response against every factor, and whether a line describes it. Prints the files that it
    wrote.
    """
    from iosonde.report.text import escape

    check_level(level)
    path = Path(output)
    names = [name.strip() for name in (metric or "").split(",") if name.strip()]
    kinds, single = _wanted(path, kind, form)
    if on is not None:
        if not split_names(on):
            raise InputError("--on names no factor", "write --on nodes,fs")
        _refuse(kind=kind, bars=bars, metric=metric)
        click.echo(escape(_draw_factors(open_data(data, where, experiment), response, on, together, path, single, form,
                                        level)))  # fmt: skip
        return
    if response or together:
        raise InputError("--response and --together go with --on", "name factors, as --on nodes")
    if bars:
        from .._bars import draw as draw_bars

        if kind:
            raise InputError("--bars and --kind do not go together", "leave --kind out")
        for written in draw_bars(data, path, form or "png", names, level, experiment=experiment, where=where):
            click.echo(escape(written))
        return
    page = page_of(choose(data, where, experiment), level, data, ())
    drawn = 0
    for one in kinds:
        section = _section(page, one)
        items = _chosen(section.items, names)
        if not items:
            _say_missing(one, section, names)
            continue
        suffix = format_of(path) if single else (form or "png")
        file = path if single else path / f"{one}.{suffix}"
        click.echo(escape(replace_file(file, _panels(one, items, page.axis).image(suffix))))
        drawn += 1
    if not drawn:
        raise DataError(f"nothing of {data} can be drawn", "iosonde show says what the store holds")


def _panels(kind: str, items: Sequence[Any], axis: str) -> Figure:
    """One panel for each metric, operation or phase."""
    from iosonde.report.figures.bars import bars_figure
    from iosonde.report.figures.figure import together
    from iosonde.report.figures.latency import latency_figure
    from iosonde.report.figures.timeline import timeline_figure

    if kind == "bars":
        return together([bars_figure(item, axis) for item in items], columns=3)
    if kind == "latency":
        return together([latency_figure(item, axis) for item in items], columns=2)
    return together([timeline_figure(item) for item in items], columns=2)


def _refuse(**others: object) -> None:
    for name, given in others.items():
        if given:
            raise InputError(f"--on and --{name} do not go together", f"leave --{name} out")


def _draw_factors(
    source: Source, response: str | None, on: str, together: bool, path: Path, single: bool, form: str | None,
    level: float,
) -> str:  # fmt: skip
    from .._plot_factors import figure

    drawn, left = figure(source, split_names(response), split_names(on), together, "last_done", level)
    for why in left:
        talk(f"not drawn: {why}")
    suffix = format_of(path) if single else (form or "png")
    return str(replace_file(path if single else path / f"factors.{suffix}", drawn.image(suffix)))


def _wanted(path: Path, kind: str | None, form: str | None) -> tuple[Sequence[str], bool]:
    """(kinds, whether ``path`` names the one file). Makes the directory where it is one."""
    suffix = path.suffix[1:].lower()
    if suffix and not path.is_dir():
        format_of(path)
        if form and form != suffix:
            raise InputError(f"--format {form} and {path} do not agree", "leave --format out")
        return (kind or "bars",), True
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory {path}: {error.strerror}", "name another one") from error
    return (kind,) if kind else KINDS, False


def _section(page: Page, kind: str) -> Section[Any]:
    sections: dict[str, Section[Any]] = {"bars": page.bars, "latency": page.latencies, "timeline": page.timelines}
    return sections[kind]


def _chosen(items: Sequence[Any], names: Sequence[str]) -> list[Any]:
    """Those with something to draw, of the operations or metrics named."""
    ready = [item for item in items if not getattr(item, "empty", False)]
    if not names:
        return ready
    return [item for item in ready if {_operation(item), getattr(item, "metric", "")} & set(names)]


def _operation(item: Bars | Latency | Timeline) -> str:
    from iosonde.report.content import Timeline

    return item.phase if isinstance(item, Timeline) else item.operation


def _say_missing(kind: str, section: Section[Any], names: Sequence[str]) -> None:
    there = ", ".join(dict.fromkeys(_operation(item) for item in section.items))
    why = f"there are: {there}" if names and there else " ".join(section.missing) or "nothing to draw"
    talk(f"no figure of kind {kind}: {why}")
