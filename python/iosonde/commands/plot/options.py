"""``iosonde plot``: the figures of DATA as PNG, SVG or PDF."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.opened import build_opener
from iosonde.commands.plot.layout import BY_SETTINGS, OF_PAGE, OVER_TIME, PAGE
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import FIGURE_FORMATS
from iosonde.core.options import Choice, Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

from .files import choose_files, write_figures

if TYPE_CHECKING:
    from iosonde.data.source import Source
    from iosonde.layout.figure import Figure

    from .ask import PlotQuery
    from .content import Drawn

_KINDS = (*BY_SETTINGS, OVER_TIME, *OF_PAGE)


@dataclass
class PlotOptions(DataOptions):
    """What is drawn."""

    data: Data = DataOptions.data
    kind: Choice[str | None] = Choice(_KINDS, "What is drawn.", default_text="settings")
    _: KW_ONLY
    x: Text[str | None] = Text("X", "The factor along x.", default_text="that of most levels")
    color: Text[str | None] = Text("X", "The factor that colours tell apart.", default_text="by their levels")
    panel: Names[NameList] = Names(
        "X,…", "The factors with a panel for each level.", (), default_text="by their levels"
    )
    store_options = ("experiment", "clock")  # metrics of a table are columns
    metric: Names[NameList] = Names(
        "NAME,…",
        "Only these operations or metrics, as write_large; all for every one.",
        (),
        default_text="the bandwidth or rate of each operation",
    )
    response: Names[NameList] = Names(
        "Y,…",
        "Only these operations or metrics; of a table columns; log(Y), Y/nodes.",
        (),
        default_text="what looks measured",
    )
    bars: Flag[bool] = Flag("One bar plot per metric by node count; DATA may be a results file.")
    on: Names[NameList | None] = Names("X,…", "One panel for each response and factor, as 'fs,log2(record)'.")
    together: Flag[bool] = Flag("With `on`: all responses in one panel for each factor.")

    def plot_query(self) -> PlotQuery:
        """Return what the answer takes. Raises InputError for options that do not combine."""
        from .ask import PlotQuery
        from .layout import PlotRoles

        query = PlotQuery(
            self.kind or "",
            PlotRoles(self.x or "", self.color or "", self.panel),
            self.on,
            self.together,
            self.bars,
            self.response,
            self.metric,
            self.clock,
            self.level,
        )
        query.check()
        return query


@dataclass
class PlotFilesOptions(PlotOptions):
    """Options of ``iosonde plot``."""

    kind: Choice[str | None] = Choice((*_KINDS, PAGE), "What is drawn.", default_text="settings")
    output: Text[str] = Text(
        "DIR|FILE",
        "FILE.png, .svg or .pdf; a directory gets a PNG called as its kind.",
        ".",
        short="-o",
        default_text="the working directory",
    )
    format: Choice[str | None] = Choice(FIGURE_FORMATS, "Of the files in a directory.", default_text="png")
    as_json: Flag[bool] = Flag("What is drawn as JSON on stdout; no file is written.", flag="json")


@command("plot", PlotFilesOptions, "plot results -o figure.pdf --x nodes --metric write_large,create", in_python=False)
def write_plot(options: PlotFilesOptions) -> Result[Drawn]:
    """Draw DATA, a store or a table: each metric by the settings that varied, with intervals and trials.

    Without options one figure: the factor with most levels along x, others by colour and in panels. Other kinds:
    heatmap (two factors), percentiles (of latencies, by setting), and of a store time (rate and latency over the time
    of a trial's phases), bars (by node count), latency (distributions), timeline (of the ranks), and page: the last
    three. With `bars` one plot of each total by node count, of a store or of what 'show --thesis-json' wrote. With
    `on` every response against every factor, and whether a line describes it. Prints the files that it wrote.
    """
    query = options.plot_query()
    if options.as_json:
        return Result(_draw(options, query), lambda drawn: ())
    files = choose_files(Path(options.output), options.format, None if query.on or query.bars else query.kind)
    return Result(_draw(options, query), lambda drawn: write_figures(drawn, files, query.bars))


@command("", PlotOptions, "plot results --x nodes --metric write_large,create")
def plot(options: PlotOptions) -> Figure:
    """Draw a figure of DATA: each metric by the settings that varied, or another kind.

    `kind` is one of: settings, heatmap (two factors) and percentiles (of latencies), by setting; of a store time (rate
    and latency over the time of the phases of its last trial, with ``where="run=ID"`` of another), and of its newest
    experiment bars (by node count), latency (distributions) and timeline (of the ranks). With `bars` each total by
    node count, of a store or of a results file (a path).

    Returns
    -------
    Figure
        It shows itself in a notebook; ``.save("figure.pdf")`` writes it as PDF, SVG or PNG. What could not be drawn
        beside it is an ``IosondeWarning``.
    """
    from .figure import list_figure_makers

    drawn = _draw(options, options.plot_query())
    for omission in drawn.omissions:
        get_front_end().remark(omission)
    return list_figure_makers(drawn)[0][1]()


def _draw(options: PlotOptions, query: PlotQuery) -> Drawn:
    from .ask import collect_figures, collect_total_figures
    from .figure import get_level_room

    if not query.bars:
        return collect_figures(_open_data(options), query, get_level_room)
    if not isinstance(options.data, (str, Path)):
        raise InputError(
            "wrong-argument-type",
            "{spell.bars} takes the path of a store or a results file",
            "or leave {spell.bars} out",
            argument="bars",
            type_name=type(options.data).__name__,
        )
    return collect_total_figures(str(options.data), query, options.experiment, options.conditions)


def _open_data(options: PlotOptions) -> Source:
    """Open DATA; for the figures of a page one experiment of a store, the newest unless one is named."""
    from iosonde.commands.report.experiment import open_chosen
    from iosonde.data.experiments import ALL, resolve_single_experiment
    from iosonde.data.source import Source
    from iosonde.foreign.reach import check_reachable

    data, experiment = options.data, options.experiment
    if options.kind not in (*OF_PAGE, PAGE):
        return options.open_data()
    if isinstance(data, Source):
        word = experiment or data.experiment
        experiment = (data.store and resolve_single_experiment(data.store, word)) or (ALL if word else None)
        return build_opener(data, options.roles)(data, options.conditions, experiment)
    if not isinstance(data, (str, Path)):
        return options.open_data()
    check_reachable(Path(data))
    if not Path(data).is_dir():
        return options.open_data()
    return open_chosen(str(data), experiment, options.conditions, build_opener(data, options.roles))[0]
