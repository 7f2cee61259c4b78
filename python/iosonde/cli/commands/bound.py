"""``iosonde bound``: the most that the hardware can deliver, what limits it, and what share was measured."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError
from iosonde.core.units import parse_size

from .. import _bound_inputs
from .._data import check_level, open_data, split_names
from .._data import options as data_options
from ..output import talk

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.model.bound.bound import Ceiling

    from .._bound_inputs import Inputs

_PLOTS = ("roofline", "waterfall")


@click.command(epilog="Example: iosonde bound --clients 8 --servers 4 --disks 8 --net 117MB/s --disk 25MB/s")
@click.argument("data", required=False, metavar="[DATA]")
@_bound_inputs.options
@click.option("--operation", type=click.Choice(["read", "write"]), help="What is done [default: write; as DATA says].")
@click.option("--redundancy", type=click.Choice(["client", "chained"]), help="Who makes the --replicas.")
@click.option("--erasure", metavar="K+M", help="Erasure code by the client: 4+2.")
@click.option("--placement", type=click.Choice(["round_robin", "random"]), help="How servers are chosen for --stripe.")
@click.option("--probe", metavar="FILE|STORE", help="What 'iosonde probe --json' printed, or a store that knows one.")
@click.option("--data", "amount", metavar="D", help="How much data, as 3GB: prints T = D/S.")
@click.option("--client-memory", metavar="SIZE", help="Warn if a client's part of --data fits into it.")
@click.option("--server-memory", metavar="SIZE", help="Warn if a server's part of --data fits into it.")
@click.option("--response", metavar="Y", help="The measured column; of a store by default its rates.")
@click.option("--by", metavar="X,…", help="The settings; by default all other columns that do not count rows.")
@click.option("--unit", metavar="UNIT", help="The response's unit, as MB/s or KiB/s, where its name does not say it.")
@click.option("--clock", default="last_done", show_default=True, metavar="CLOCK", help="Store: as for summary.")
@click.option("--experiment", metavar="ID", help="Store: only this experiment.")
@click.option("--waterfall", is_flag=True, help="Store: where the time between bound and result was lost.")
@click.option("--plot", metavar="FILE", help="A figure as .png, .svg or .pdf.")
@click.option("--plot-kind", type=click.Choice(_PLOTS), default="roofline", show_default=True, help="Which one.")
@click.option("--against", type=click.Choice(["clients", "servers", "request"]), default="clients", show_default=True,
              help="The axis of the roofline.")  # fmt: skip
@data_options
def command(
    data: str | None, operation: str | None, redundancy: str | None, erasure: str | None, placement: str | None,
    probe: str | None, amount: str | None, client_memory: str | None, server_memory: str | None, response: str | None,
    by: str | None, unit: str | None, clock: str, experiment: str | None, waterfall: bool, plot: str | None,
    plot_kind: str, against: str, where: tuple[str, ...], level: float, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """The ceiling S = min(N/c, N·I, M·I, P·R), its limiting term, and what share of it was measured.

    Values have units (117MB/s, 0.02s/MB, 3GB) or are columns of DATA: a store, a .csv or a .parquet.
    """
    from .. import _bound_plots, _bound_waterfall
    from .._bound_data import Asked, memory_warnings, shares, to_json

    check_level(level)
    if plot:
        from iosonde.report.figures.files import format_of

        format_of(plot)
    source = open_data(data, where, experiment) if data else None
    if source is None and (where or response or by or unit):
        raise InputError("there is no DATA to choose from", "name a store, a .csv or a .parquet")
    words = fields_of(operation, redundancy, erasure, placement)
    inputs = _bound_inputs.read(given, words, source.table if source else None, probe, level)
    size = None if amount is None else float(parse_size(amount))
    memory = {"client": _size(client_memory), "server": _size(server_memory)}
    warnings = [*inputs.notes, *memory_warnings(memory, size, inputs.system.clients, inputs.system.servers)]
    found, falls = [], []
    if source is not None:
        asked = Asked(split_names(response), split_names(by) if by else None, unit, size, clock, operation)
        found, more = shares(source, inputs, asked, level)
        warnings += more
    if waterfall or (plot and plot_kind == "waterfall"):
        if source is None:
            raise InputError("a waterfall needs the operations of a store", "give a store that 'iosonde run' made")
        falls, more = _bound_waterfall.waterfalls(source, found, level)
        warnings += more
    made, s = (None, None) if inputs.columns or source else _alone(inputs, level)
    if plot and plot_kind == "waterfall":
        _bound_plots.draw_waterfalls(plot, falls)
    elif plot:
        _bound_plots.draw_rooflines(plot, found, made, against)
    if as_json:
        from iosonde.model.bound import words as bound_words

        ceiling = made or max((one.ceiling for one in found), key=lambda one: one.s)
        if len({(one.ceiling.s, one.ceiling.limit) for one in found}) == 1:
            made = ceiling
        document = {
            "schema": 1, "level": level, **(to_json(made) if made else {"s": None, "limit": []}),
            "s_low": s.low if s else None, "s_high": s.high if s else None,
            "t": made.seconds(size) if made and size else None, "case": bound_words.case(ceiling.system),
            "assumptions": bound_words.assumptions(ceiling), "advice": bound_words.advice(ceiling),
            "rows": [one.to_json() for one in found], "waterfalls": [one.to_json() for one in falls],
            "warnings": warnings,
        }  # fmt: skip
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        return
    _show(made, s, (amount, size) if amount and size else None, found, warnings, level)
    for line in _bound_waterfall.lines(falls, level):
        click.echo(line)


def _show(
    made: Ceiling | None,
    s: Estimate | None,
    size: tuple[str, float] | None,
    found: list[Any],
    warnings: list[str],
    level: float,
) -> None:
    from .. import _bound_text as text

    if made:
        for line in text.ceiling_lines(made, s, size):
            click.echo(line)
        for warning in warnings:
            talk(f"~ {warning}")
        return
    for line in text.share_lines(found, level, warnings):
        click.echo(line)
    highest = max((one.ceiling for one in found), key=lambda one: one.s)
    click.echo("")
    from iosonde.model.bound import words as bound_words

    for line in text.wrapped(f"The bound assumes: {'; '.join(bound_words.assumptions(highest))}.", "  "):
        click.echo(line)


def _alone(inputs: Inputs, level: float) -> tuple[Ceiling, Estimate | None]:
    """The ceiling without DATA, and its interval where inputs were measured."""
    from iosonde.core.types import Estimate
    from iosonde.model.bound.bound import ceiling

    made, low, high = (ceiling(one) for one in (inputs.system, inputs.worst, inputs.best))
    measured = low.s != high.s
    return made, Estimate(made.s, low.s, high.s, level, 0) if measured else None


def fields_of(
    operation: str | None, redundancy: str | None, erasure: str | None, placement: str | None
) -> dict[str, Any]:
    """The fields of a System that are words. Raises InputError."""
    if erasure and redundancy not in (None, "none"):
        raise InputError("--erasure and --redundancy are both given", "leave one out")
    words: dict[str, Any] = {"operation": operation, "redundancy": redundancy, "placement": placement}
    if erasure:
        code = re.fullmatch(r"([0-9]{1,6})\+([0-9]{1,6})", erasure)
        if not code or int(code[1]) < 1:
            raise InputError(f"--erasure '{erasure}' is no code", "write data + parity chunks, as 4+2")
        words |= {"redundancy": "erasure", "data_chunks": int(code[1]), "parity_chunks": int(code[2])}
    return {name: value for name, value in words.items() if value is not None}


def _size(text: str | None) -> float | None:
    return None if text is None else float(parse_size(text))
