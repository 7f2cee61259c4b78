"""``iosonde plot``: the figures of DATA as PNG, SVG or PDF."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from iosonde import answers, report
from iosonde.answers.plot import ask
from iosonde.cli.options.data import clock_option, incomplete_option, open_data, split_names
from iosonde.cli.options.level import checked_level
from iosonde.cli.output import emit, show, talk
from iosonde.core.errors import InputError
from iosonde.core.option_kinds import FIGURE_FORMATS, figure_format


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


@click.command(epilog="Example: iosonde plot results -o figure.pdf --x nodes --metric write_large,create")
@click.argument("data")
@click.option(
    "-o",
    "--output",
    metavar="DIR|FILE",
    default=".",
    show_default=True,
    help="FILE.png, .svg or .pdf; a directory gets a PNG called as its kind.",
)
@click.option(
    "--kind",
    type=click.Choice((*ask.BY_SETTINGS, ask.OVER_TIME, *ask.OF_PAGE, ask.PAGE)),
    help="What is drawn [default: settings].",
)
@click.option("--x", metavar="X", help="The factor along x [default: that of most levels].")
@click.option("--color", metavar="X", help="The factor that colours tell apart.")
@click.option("--panel", metavar="X,…", help="The factors with a panel for each level.")
@click.option("--metric", metavar="NAME,…", help="Only these operations or metrics, as write_large; all for every one.")
@click.option("--response", metavar="Y,…", help="The same, of a table its columns; log(Y), Y/nodes.")
@click.option("--bars", is_flag=True, help="One bar plot per metric by node count; DATA may be a results file.")
@click.option("--on", metavar="X,…", help="One panel for each response and factor, as 'fs,log2(record)'.")
@click.option("--together", is_flag=True, help="With --on: all responses in one panel for each factor.")
@click.option("--format", "form", type=click.Choice(FIGURE_FORMATS), help="Of the files in a directory [default: png].")
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
    request = _build_request(given, checked_level(level))
    request.check("--{}".format)
    place = None if as_json else _place(Path(output), form, "" if request.on or request.bars else request.kind)
    plot_data = _drawn(data, request, given["experiment"], given["where"])
    if place is None:
        emit(plot_data, (), True)
        return
    kinds = report.figures.kinds
    for name, figure in kinds.bars_alone(plot_data) if request.bars and place.many else kinds.figures(plot_data):
        place.write(figure(), name)
    for sentence in (*plot_data.notes, *plot_data.omissions):
        for line in report.text.wrapped(report.text.escape(sentence)):
            talk(line)


def _build_request(options: dict[str, Any], level: float) -> ask.PlotQuery:
    names = {option: tuple(split_names(options[option])) for option in ("response", "metric", "panel")}
    on = None if options["on"] is None else tuple(split_names(options["on"]))
    roles = answers.plot.layout.PlotRoles(options["x"] or "", options["color"] or "", names.pop("panel"))
    return ask.PlotQuery(
        options["kind"] or "",
        roles,
        on,
        options["together"],
        options["bars"],
        **names,
        clock=options["clock"],
        level=level,
    )


def _drawn(
    data: str, request: ask.PlotQuery, experiment: str | None, where: tuple[str, ...]
) -> answers.plot.drawn.Drawn:
    if request.bars:
        return ask.totals_drawn(data, request, experiment, where)
    if request.kind in (*ask.OF_PAGE, ask.PAGE):
        source, _ = answers.page.experiment.open_chosen(data, experiment, where, open_data)
    else:
        source = open_data(data, where, experiment)
    return ask.drawn(source, request, report.figures.kinds.fits)


def _place(path: Path, form: str | None, kind: str) -> Place:
    """Makes the directory where it is one. Raises InputError."""
    suffix = path.suffix[1:].lower()
    if suffix and not path.is_dir():
        if form and form != figure_format(path):
            raise InputError(
                "format-mismatch",
                "{spell.format:{format}} and {path} do not agree",
                "leave {spell.format} out",
                format=form,
                path=path,
            )
        if kind == ask.PAGE:
            raise InputError(
                "directory-required",
                "{spell.kind:{kind}} is several figures, and {path} is one file",
                "name a directory with -o",
                kind=ask.PAGE,
                path=path,
            )
        return Place(path, figure_format(path), False)
    try:
        path.mkdir(exist_ok=True)
    except OSError as error:
        raise InputError(
            "cannot-create-directory",
            "cannot make the directory {path}: {reason}",
            "name another one",
            path=path,
            reason=error.strerror,
        ) from error
    return Place(path, form or FIGURE_FORMATS[0], True)
