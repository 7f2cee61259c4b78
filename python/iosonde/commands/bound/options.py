"""``iosonde bound``: the most that the hardware can deliver, what limits it, and what share was measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import KW_ONLY, dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import build_figure_writer
from iosonde.commands.result import Result
from iosonde.commands.system_options import SystemOptions
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.message import spell
from iosonde.core.option_kinds import FigureFile, Setting, Size
from iosonde.core.options import Choice, Data, Flag, NameList, Names, Text
from iosonde.core.units import parse_size
from iosonde.data.options import OPTIONAL_DATA, DataOptions

if TYPE_CHECKING:
    from iosonde.data.query import ResponseQuery
    from iosonde.data.source import Source
    from iosonde.layout.figure import Figure

    from .answer import Bounds, How
    from .application import PredictedTimes


@dataclass
class BoundOptions(DataOptions, SystemOptions):
    """Options of ``iosonde bound``."""

    data: Data = OPTIONAL_DATA
    response: Names[NameList] = Names("Y,…", "The measured columns; of a store by default its rates.", ())
    by: Names[NameList] = Names("X,…", "The settings; by default those that are known.", ())
    _: KW_ONLY
    amount: Text[str | None] = Text("D", "How much data, as 3GB: prints T = D/S.", flag="data")
    client_memory: Size[int | None] = Size("SIZE", "Warn if a client's part of `amount` fits into it.")
    application: Setting[Mapping[str, str] | None] = Setting(
        "K=EXPR,…",
        "How long one takes that computes, reads and writes, predicted beside the measured seconds: "
        "compute, read, write, read_files, write_files of a trial.",
    )
    unit: Text[str | None] = Text("UNIT", "The response's unit, as MB/s or KiB/s, where its name does not say it.")
    waterfall: Flag[bool] = Flag("Store: where the time between bound and result was lost.")
    plot: FigureFile[str | None] = FigureFile("FILE", "A figure as .png, .svg or .pdf.")
    plot_kind: Choice[str] = Choice(("roofline", "waterfall"), "Which one.", "roofline")
    against: Choice[str | None] = Choice(
        ("clients", "servers", "request"),
        "The axis of the roofline.",
        default_text="sizes of requests if they differ, else clients",
    )

    @property
    def query(self) -> ResponseQuery:
        """What the answers take: the settings are its factors."""
        return replace(super().query, on=self.by)

    @property
    def how(self) -> How:
        """What to take of DATA. Raises InputError."""
        from .answer import How

        n_bytes = None if self.amount is None else parse_size(self.amount)
        return How(self.unit, self.operation, n_bytes, self.client_memory, self.server_memory)

    @property
    def needs_losses(self) -> bool:
        """Whether something shows where the time was lost."""
        return self.waterfall or (self.plot is not None and self.plot_kind == "waterfall")

    def __post_init__(self) -> None:
        """Raise InputError for options of a figure that is not drawn."""
        super().__post_init__()
        if self.plot is None and self.plot_kind != "roofline":
            raise _build_unplotted_error("plot_kind", f"{spell.plot}")
        if self.against is not None and (self.plot is None or self.plot_kind != "roofline"):
            raise _build_unplotted_error("against", f"{spell.plot} of a roofline")

    def open_measured(self) -> Source | None:
        """Open DATA; None where there is none. Raises InputError, DataError."""
        if self.data is not None:
            return self.open_data()
        if self.conditions or self.response or self.by or self.unit:
            raise InputError(
                "missing-data", "there is no DATA to choose from", "name a store, a table or a tool's output"
            )
        return None


@command("bound", BoundOptions, "bound --clients 8 --servers 4 --disks 8 --net 117MB/s --disk 25MB/s")
def bound(options: BoundOptions) -> Result[Bounds] | Result[PredictedTimes]:
    """Compute the ceiling S = min(N/c, N·I, M·I, P·R), its limiting term, and what share of it was measured.

    Values have units (117MB/s, 0.02s/MB, 3GB) or are columns of DATA: a store, a table or a tool's output.

    Returns
    -------
    Result[Bounds] or Result[PredictedTimes]
        One row a cell, or a term of the bound. ``.plot(against="servers")`` draws the roofline against clients (or
        servers, or request), ``.plot(kind="waterfall")`` the losses.

    Examples
    --------
    >>> iosonde.bound(clients=8, servers=4, disks=8, net="117MB/s", disk="25MB/s")
    """
    from .answer import bound as answer
    from .application import predict_times
    from .figure import figure
    from .own_probe import read_with_own_probe
    from .text import application_lines, lines

    source = options.open_measured()
    inputs = read_with_own_probe(options.description, source, options.level)
    if options.application:
        return Result(predict_times(source, inputs, options.query, options.application), application_lines)
    bounds = answer(source, inputs, options.query, options.how, options.needs_losses)
    for warning in bounds.warnings if bounds.alone else ():  # with DATA they are part of the text
        get_front_end().warn(warning)
    write = build_figure_writer(options.plot, partial(_draw_first_panels, bounds, options, figure))
    return Result(bounds, partial(lines, amount=options.amount or ""), figure, write)


def _build_unplotted_error(option: str, needs: str) -> InputError:
    return InputError(
        "option-requires-plot",
        "{option} has no effect without {needs}",
        "add that, or omit {option}",
        option=str(getattr(spell, option)),
        needs=needs,
    )


def _draw_first_panels(bounds: Bounds, options: BoundOptions, draw: Callable[..., Figure]) -> Figure:
    from .figure import MOST_PANELS

    n_panels = len(bounds.rooflines(options.against)) if options.plot_kind == "roofline" else 0
    if n_panels > MOST_PANELS:
        get_front_end().remark(f"the first {MOST_PANELS} of {n_panels} panels are drawn: choose with {spell.where}")
    return draw(bounds, options.plot_kind, options.against)
