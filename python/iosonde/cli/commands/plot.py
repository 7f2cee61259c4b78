"""``iosonde plot``: the figures of DATA as PNG, SVG or PDF."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import click

from iosonde import answers, report
from iosonde.cli.options.data import clock_option, incomplete_option, one_experiment, open_data, split_names
from iosonde.cli.options.level import checked_level
from iosonde.cli.output import emit, show, talk
from iosonde.core.errors import DataError, InputError
from iosonde.data.asked import LAST_DONE, Asked
from iosonde.report.figures.files import FORMATS, format_of

OF_PAGE = ("bars", "latency", "timeline")
PAGE = "page"
BY_SETTINGS = ("settings", "heatmap", "percentiles")
OVER_TIME = "time"
KINDS = (*BY_SETTINGS, OVER_TIME, *OF_PAGE, PAGE)


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


@dataclass(frozen=True)
class _Made:
    """What is drawn: as (kind, data), as figures by the names of their files, and what to say of it."""

    data: Sequence[tuple[str, Any]]
    figures: Sequence[tuple[str, Callable[[], report.figures.figure.Figure]]]
    notes: Sequence[str] = ()


@click.command(epilog="Example: iosonde plot results -o figure.pdf --x nodes --metric write_large,create")
@click.argument("data")
@click.option("-o", "--output", metavar="DIR|FILE", default=".", show_default=True,
              help="FILE.png, .svg or .pdf; a directory gets a PNG called as its kind.")  # fmt: skip
@click.option("--kind", type=click.Choice(KINDS), help="What is drawn [default: settings].")
@click.option("--x", metavar="X", help="The factor along x [default: that of most levels].")
@click.option("--color", metavar="X", help="The factor that colours tell apart.")
@click.option("--panel", metavar="X,…", help="The factors with a panel for each level.")
@click.option("--metric", metavar="NAME,…", help="Only these operations or metrics, as write_large; all for every one.")
@click.option("--response", metavar="Y,…", help="The same, of a table its columns; log(Y), Y/nodes.")
@click.option("--bars", is_flag=True, help="One bar plot per metric by node count; DATA may be a results file.")
@click.option("--on", metavar="X,…", help="One panel for each response and factor, as 'fs,log2(record)'.")
@click.option("--together", is_flag=True, help="With --on: all responses in one panel for each factor.")
@click.option("--format", "form", type=click.Choice(FORMATS), help="Of the files in a directory [default: png].")
@click.option("--experiment", metavar="ID", help="Only this experiment.")
@click.option("--where", multiple=True, metavar="COND", help="Only what fulfils it, as 'nodes>=2'. Repeatable.")
@incomplete_option
@clock_option
@click.option("--level", type=float, default=0.95, show_default=True, help="Confidence level of every interval.")
@click.option("--json", "as_json", is_flag=True, help="What is drawn as JSON on stdout; no file is written.")
def command(data: str, output: str, form: str | None, level: float, as_json: bool, **given: Any) -> None:
    """Draw DATA, a store or a table: each metric by the settings that varied, with intervals and trials.

    Without options one figure: the factor with most levels along x, others by colour and in panels. Other kinds:
    heatmap (two factors), percentiles (of latencies, by setting), and of a store time (rate and latency over the time
    of a trial's phases), bars (by node count), latency (distributions), timeline (of the ranks), and page: the last
    three. With --bars one plot of each total by node count, of a store or of what 'show --thesis-json' wrote. With
    --on every response against every factor, and whether a line describes it. Prints the files that it wrote.
    """
    checked_level(level)
    kind = given["kind"] or BY_SETTINGS[0]
    _check(given)
    place = None if as_json else _place(Path(output), form, kind if not (given["on"] or given["bars"]) else "")
    if given["on"] is not None:
        made = _factors(data, level, given)
    elif given["bars"]:
        made = _totals(data, level, given, place is not None and not place.many)
    elif kind == OVER_TIME:
        made = _over_time(data, given)
    elif kind in BY_SETTINGS:
        made = _settings(data, level, kind, given)
    else:
        made = _kinds(data, level, given)
    if place is None:
        emit(answers.plot.drawn.Drawn(tuple(made.data), tuple(made.notes)), (), True)
        return
    for name, figure in made.figures:
        place.write(figure(), name)
    for sentence in made.notes:
        for line in report.text.wrapped(report.text.escape(sentence)):
            talk(line)


def _check(given: dict[str, Any]) -> None:
    """Raises InputError for options that say nothing together."""
    if given["on"] is not None:
        _not_with(given, "on", "kind", "bars", "x", "color", "panel")
    elif given["together"]:
        raise InputError("--together goes with --on", "name factors, as --on nodes")
    if given["bars"]:
        _not_with(given, "bars", "kind", "response", "x", "color", "panel")
        if given["clock"] != LAST_DONE:
            raise InputError("--bars draws the sums that the ranks were timed for", "leave --clock out")
    if given["kind"] in (*OF_PAGE, PAGE, OVER_TIME):
        for name in ("response", "x", "color", "panel"):
            if given[name]:
                raise InputError(f"--{name} does not go with --kind {given['kind']}",
                                 f"leave it out, or draw --kind {BY_SETTINGS[0]}")  # fmt: skip


def _not_with(given: dict[str, Any], option: str, *names: str) -> None:
    for name in names:
        if given[name]:
            raise InputError(f"--{option} and --{name} do not go together", f"leave --{name} out")


def _settings(data: str, level: float, kind: str, given: dict[str, Any]) -> _Made:
    """Every metric by the settings that varied, in one figure."""
    kinds = report.figures.kinds
    roles = answers.plot.layout.PlotRoles(given["x"] or "", given["color"] or "", tuple(split_names(given["panel"])))
    source = open_data(data, given["where"], given["experiment"])
    asked = Asked(tuple(split_names(given["response"])), (), given["clock"], level, tuple(split_names(given["metric"])))
    plots = answers.plot
    drawn = plots.percentiles.percentiles_plot if kind == "percentiles" else plots.settings.settings_plot
    made = drawn(source, asked, roles, kinds.fits(kind))
    return _Made([(kind, made)], [(kind, partial(kinds.by_settings, kind, made))],
                 (*made.sentences, *made.left, *made.notes))  # fmt: skip


def _over_time(data: str, given: dict[str, Any]) -> _Made:
    """Rate and latency of the phases of one trial."""
    source = open_data(data, given["where"], given["experiment"])
    made = answers.plot.over_time.over_time_plot(source, split_names(given["metric"]))
    figure = partial(report.figures.over_time.over_time_figure, made)
    return _Made([(OVER_TIME, made)], [(OVER_TIME, figure)], (*made.notes, *made.left))


def _factors(data: str, level: float, given: dict[str, Any]) -> _Made:
    """Every response against every factor."""
    on = split_names(given["on"])
    if not on:
        raise InputError("--on names no factor", "write --on nodes,fs")
    names = [*split_names(given["response"]), *split_names(given["metric"])]
    asked = Asked(tuple(names), tuple(on), given["clock"], level)
    source = one_experiment(open_data(data, given["where"], given["experiment"]), on)
    made = answers.plot.factors.panels(source, asked, given["together"])
    figure = partial(report.figures.factors.factors_figure, made.items, made.columns)
    return _Made(
        [("factors", one) for one in made.items], [("factors", figure)], [f"not drawn: {why}" for why in made.left]
    )


def _totals(data: str, level: float, given: dict[str, Any], in_one: bool) -> _Made:
    """Each metric by node count: a file for each, or panels of one file."""
    names = split_names(given["metric"])
    items = answers.plot.totals.totals(data, names, level, given["experiment"], given["where"])
    figures, drawn = report.figures, [("bars", one) for one in items]
    if in_one:
        return _Made(drawn, [("", partial(figures.kinds.panels, "bars", items, "node"))])
    called = figures.files.names_of_files([one.operation for one in items])
    return _Made(drawn, [(name, partial(figures.bars.bars_figure, one, "node"))
                                 for name, one in zip(called, items, strict=True)])  # fmt: skip


def _kinds(data: str, level: float, given: dict[str, Any]) -> _Made:
    """Figures of the page, by kind: one file holds one of them."""
    kinds, names = OF_PAGE if given["kind"] == PAGE else (given["kind"],), split_names(given["metric"])
    source, _ = answers.page.experiment.open_chosen(data, given["experiment"], given["where"], open_data)
    shown = answers.page.of_store.figures_of_store(source, Asked(clock=given["clock"], level=level), kinds)
    sections: tuple[answers.page.content.tables.Section[Any], ...] = (shown.bars, shown.latencies, shown.timelines)
    data_of, figures, gone = [], [], []
    for kind, section in zip(OF_PAGE, sections, strict=True):
        if kind not in kinds:
            continue
        items = report.figures.kinds.chosen(section.items, names)
        if items:
            data_of += [(kind, one) for one in items]
            figures.append((kind, partial(report.figures.kinds.panels, kind, items, shown.axis.noun)))
        else:
            gone.append(report.figures.kinds.why_missing(kind, section, names))
    if not figures:
        raise DataError(f"nothing of {data} can be drawn", " ".join(gone))
    return _Made(data_of, figures, gone)


def _place(path: Path, form: str | None, kind: str) -> Place:
    """Makes the directory where it is one. Raises InputError."""
    suffix = path.suffix[1:].lower()
    if suffix and not path.is_dir():
        if form and form != format_of(path):
            raise InputError(f"--format {form} and {path} do not agree", "leave --format out")
        if kind == PAGE:
            raise InputError(f"--kind {PAGE} is several figures, and {path} is one file", "name a directory with -o")
        return Place(path, format_of(path), False)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the directory {path}: {error.strerror}", "name another one") from error
    return Place(path, form or FORMATS[0], True)
