"""``iosonde diagnose``: why operations were slow, from nothing but what was recorded of each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis, build_figure_writer
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import FigureFile, Setting
from iosonde.core.options import Data, NameList, Names, Text
from iosonde.core.words import join_names
from iosonde.data.options import DataOptions, RowOptions, select_last_experiment

if TYPE_CHECKING:
    from iosonde.data.source import Source

    from .answer import OperationCauses


@dataclass
class DiagnoseOptions(RowOptions):
    """Options of ``iosonde diagnose``: no clock, as operations have durations."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names(
        "Y,…", "Of a table: the column that says how long each operation took.", (), default_text=""
    )
    _: KW_ONLY
    bandwidth: Text[str] = Text(
        "RULE|H",
        "Of the density: stable, isj (Sheather–Jones), silverman, scott, or a number, as 0.05 for 5 %.",
        "stable",
    )
    metric: Names[NameList] = Names("NAME,…", "Only these operations, as read_large, or kinds of a table.", ())
    plot: FigureFile[str | None] = FigureFile("FILE", "Operations by class as .png, .svg or .pdf.")
    confirm: Text[str | None] = Text("FILE", "Store: write the experiment that would confirm the costliest finding.")
    name: Setting[Mapping[str, str] | None] = Setting(
        "CLASS=NAME,…",
        "Call classes so, by label or by place from the fastest on: 'class 1=cached,slow=from the server'.",
        hint="write it as 'class 1=cached'",
    )


@command("diagnose", DiagnoseOptions, "diagnose results --metric read_large --plot classes.png")
def diagnose(options: DiagnoseOptions) -> Result[OperationCauses]:
    """Diagnose slow operations: classes by how long they took, what each has in common, what it costs.

    DATA is a store with recorded operations, or a .csv or .parquet with a row for each operation. Of a log of Darshan
    without single operations, its counters are diagnosed.

    Returns
    -------
    Result[OperationCauses]
        One row a class; ``.plot()`` draws the operations by class and the density.

    Examples
    --------
    >>> iosonde.diagnose("results", metric="read_large").plot().save("classes.png")
    """
    from .bandwidth import parse_bandwidth
    from .counters import diagnose_all
    from .figure import figure
    from .text import lines

    bandwidth = parse_bandwidth(options.bandwidth)
    source = select_last_experiment(options.open(options.data), alike=False)
    announce_analysis("diagnose", len(source.table), len(source.table.columns))
    causes = diagnose_all(source, options.level, options.metric or (), options.response or (), bandwidth)
    if options.name is not None:
        causes = rename_classes(causes, options.name)
    write_figure = build_figure_writer(options.plot, lambda: figure(causes))

    def write() -> None:
        if write_figure:
            write_figure()
        if options.confirm is not None:
            _write_experiment(source, causes, options.confirm)

    return Result(causes, lines, figure, write)


def _write_experiment(source: Source, causes: OperationCauses, path: str) -> None:
    from .confirm import write_experiment

    get_front_end().note(f"wrote {write_experiment(source, causes, Path(path))}")


def rename_classes(causes: OperationCauses, names: Mapping[str, str]) -> OperationCauses:
    """Apply these ``names``, by class label, as ``slow``, or by place from the fastest on, as ``class 2``. Raises
    InputError for an unknown class."""
    groups = tuple(
        replace(
            group,
            classes=tuple(
                replace(operation_class, name=names.get(f"class {at}", names.get(operation_class.label)))
                for at, operation_class in enumerate(group.classes, 1)
            ),
        )
        for group in causes.groups
    )
    there = dict.fromkeys(
        key
        for group in causes.groups
        for at, operation_class in enumerate(group.classes, 1)
        for key in (f"class {at}", operation_class.label)
    )
    if unknown := [key for key in names if key not in there]:
        raise InputError(
            "unknown-class",
            "{spell.name}: unknown class '{class_name}'",
            "there are {classes}",
            class_name=unknown[0],
            classes=join_names(list(there)) if there else "none",
        )
    return replace(causes, groups=groups)
