"""``iosonde time-model``: where the time of one operation goes, and the condition of an observed time."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import click

from iosonde import answers, report
from iosonde.cli.options.data import DataOptions, data_options, split_names
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, talk, write_figure
from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size

if TYPE_CHECKING:
    from iosonde.data.source import Source

_RATE = "[WHERE=]RATE"
_TIME = "[WHERE=]TIME"


@click.command(epilog="Example: iosonde time-model --size 256KiB --copy 10GB/s --network 125MB/s --observed 2.5ms")
@data_options(
    "DATA: the times: a column whose name says the unit, as time_us; of a store a metric.",
    "DATA: the column of sizes, bytes.",
    "DATA: the columns of conditions: one line is fitted for each. A store's factors without it.",
    required=False,
)
@click.option("--size", "sizes", metavar="SIZE,…", help="Of the operation.")
@click.option("--observed", metavar="TIME,…", help="What operations of --size took: name their condition.")
@click.option("--mode-switch", multiple=True, metavar=_TIME, help="m: into the kernel and back, as 0.3us.")
@click.option("--copy", multiple=True, metavar=_RATE, help="p: user space ↔ page cache; numa=5GB/s for a place.")
@click.option("--network", multiple=True, metavar=_RATE, help="n: client ↔ server.")
@click.option("--network-latency", multiple=True, metavar=_TIME, help="n: what each message takes besides.")
@click.option("--device-copy", multiple=True, metavar=_RATE, help="c: page cache ↔ device cache.")
@click.option("--device", multiple=True, metavar=_RATE, help="d: the device, sequentially.")
@click.option("--prepare", multiple=True, metavar=_TIME, help="d: seek, or flush of an erase block.")
@click.option("--parts", metavar="FILE", help="All of these as YAML or JSON.")
@click.option("--state", type=click.Choice(["prepared", "sequential"]), default="prepared", show_default=True,
              help="Whether the device has to prepare.")  # fmt: skip
@click.option("--only", metavar="CONDITION,…", help="Only these: discard, client_cached, server_cached, uncached.")
@click.option("--mixture", is_flag=True, help="Also say of which two conditions an observed time may be a mixture.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="Of a path study: time against size, with the lines.")
def command(
    asked: DataOptions, sizes: str | None, observed: str | None, parts: str | None, state: str, only: str | None,
    mixture: bool, plot: str | None, **given: tuple[str, ...],
) -> None:  # fmt: skip
    """The parts of t(size) = m + p + n + c + d, and the nearest condition of an observed time.

    The parts come from options or a file, or are fitted to DATA: a line c + f(size) for each condition, with intervals.
    With parts and DATA every row, or every read and write of a store, gets its nearest condition. A store with a path
    study (iosonde run path-study) needs nothing else: its conditions are fitted, and its patterns put to them.
    """
    operation = answers.time_model.SingleOperation(
        [*(answers.time_parts.parts_from_file(parts) if parts else []), *answers.time_parts.parts_from_options(given)],
        state,
        split_names(only),
        [parse_size(size.strip()) for size in sizes.split(",")] if sizes else [],
        [parse_seconds(duration.strip()) for duration in observed.split(",")] if observed else [],
    )
    source = asked.open_last_experiment() if asked.data is not None else None
    if source is not None and answers.path_study.is_path_study_request(source, asked.query.response, operation.parts):
        _show_study(source, asked, plot)
        return
    if plot is not None:
        raise InputError("not-a-path-study", "{spell.plot} draws a study of paths, and this is none",
                         "measure one: iosonde run path-study --target DIR")  # fmt: skip
    model = answers.time_model.time_model(source, asked.query, operation, asked.by)
    for note in () if asked.as_json else model.warnings:
        talk(f"~ {note}")
    text = report.text.time_model
    emit(model, [*text.lines(model), *(text.mixtures(model) if mixture else ())], asked.as_json)


def show_study(options: DataOptions) -> None:
    """Print what a study of paths says; ``iosonde run path-study`` ends with it."""
    _show_study(options.open_last_experiment(), options, None)


def _show_study(source: Source, options: DataOptions, plot: str | None) -> None:
    path_study = answers.path_study.path_study(source, options.level)
    drawn = [paths for study in path_study.studies for paths in study.drawn]
    draw = partial(write_figure, plot, lambda: report.figures.path_study.figure(drawn))
    emit(path_study, report.text.path_study.lines(path_study), options.as_json, draw)
