"""``iosonde bound``: the most that the hardware can deliver, what limits it, and what share was measured."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import click

from iosonde import answers, report
from iosonde.cli.options.bound import BoundOptions, bound_options
from iosonde.cli.options.data import DataOptions, data_options
from iosonde.cli.options.types import FigureFile
from iosonde.cli.output import emit, talk, write_figure
from iosonde.core.errors import InputError
from iosonde.core.pairs import pairs_of

_PLOTS = ("roofline", "waterfall")


@click.command(epilog="Example: iosonde bound --clients 8 --servers 4 --disks 8 --net 117MB/s --disk 25MB/s")
@bound_options
@data_options(
    "The measured columns; of a store by default its rates.",
    on=None,
    by="The settings; by default those that are known.",
    required=False,
)
@click.option("--waterfall", is_flag=True, help="Store: where the time between bound and result was lost.")
@click.option("--plot", type=FigureFile(), metavar="FILE", help="A figure as .png, .svg or .pdf.")
@click.option("--plot-kind", type=click.Choice(_PLOTS), default="roofline", show_default=True, help="Which one.")
@click.option("--against", type=click.Choice(["clients", "servers", "request"]), default="clients", show_default=True,
              help="The axis of the roofline.")  # fmt: skip
def command(
    asked: DataOptions, system: BoundOptions, waterfall: bool, plot: str | None, plot_kind: str, against: str
) -> None:
    """The ceiling S = min(N/c, N·I, M·I, P·R), its limiting term, and what share of it was measured.

    Values have units (117MB/s, 0.02s/MB, 3GB) or are columns of DATA: a store, a .csv or a .parquet.
    """
    source = asked.open() if asked.data else None
    if source is None and (asked.where or asked.response or asked.by or system.unit):
        raise InputError("missing-data", "there is no DATA to choose from", "name a store, a .csv or a .parquet")
    inputs = answers.bound.own_probe.read_with_own_probe(system.description, source, asked.level)
    if system.application:
        words = pairs_of(system.application, "--application")
        times = answers.bound.application.predicted_times(source, inputs, replace(asked.query, on=asked.by), words)
        emit(times, report.text.application.lines(times), asked.as_json)
        return
    with_losses = waterfall or (plot is not None and plot_kind == "waterfall")
    bounds = answers.bound.answer.bound(source, inputs, replace(asked.query, on=asked.by), system.how, with_losses)
    if bounds.alone and not asked.as_json:
        for warning in bounds.warnings:
            talk(f"~ {warning}")
    draw = partial(_draw, bounds, plot, plot_kind, against) if plot else None
    emit(bounds, report.text.bound.lines(bounds, system.amount or ""), asked.as_json, draw)


def _draw(bounds: answers.bound.answer.Bounds, plot: str, kind: str, against: str) -> None:
    figures = report.figures.bound
    n_panels = len(bounds.rooflines(against)) if kind == "roofline" else 0
    if n_panels > figures.MOST_PANELS:
        talk(f"~ the first {figures.MOST_PANELS} of {n_panels} panels are drawn: choose with --where")
    write_figure(plot, lambda: figures.figure(bounds, kind, against))
