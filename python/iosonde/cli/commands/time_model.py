"""``iosonde time-model``: where the time of one operation goes, and which condition an observed time tells of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size

from .._data import check_level, open_data, options, split_names
from .._time_parts import OPTIONS, of_file, of_options
from ..output import talk

if TYPE_CHECKING:
    from iosonde.model.time_model import Condition, Diagnosis, Line

_RATE = "[WHERE=]RATE"
_TIME = "[WHERE=]TIME"


@click.command(epilog="Example: iosonde time-model --size 256KiB --copy 10GB/s --network 125MB/s --observed 2.5ms")
@click.argument("data", required=False, metavar="[DATA]")
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
@click.option("--response", metavar="Y", help="DATA: the column of times (its name says the unit, as time_us).")
@click.option("--on", metavar="X", help="DATA: the column of sizes, bytes.")
@click.option("--by", metavar="X", help="DATA: the column of conditions: one line is fitted for each.")
@options
def command(
    data: str | None, sizes: str | None, observed: str | None, parts: str | None, state: str, only: str | None,
    mixture: bool, response: str | None, on: str | None, by: str | None, where: tuple[str, ...], level: float,
    as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """The parts of t(size) = m + p + n + c + d, and the nearest condition of an observed time.

    The parts come from options or a file, or are fitted to DATA: a line c + f(size) for each condition, with intervals.
    With parts and DATA every row, or every read and write of a store, is put to its nearest condition.
    """
    from iosonde.model import time_model

    from .. import _time_data

    check_level(level)
    flags = {flag: given[flag[2:].replace("-", "_")] for flag in OPTIONS}
    known = [*(of_file(parts) if parts else []), *of_options(flags)]
    found = time_model.conditions(known, state, tuple(split_names(only))) if known else []
    source = open_data(data, where) if data is not None else None
    lines: list[Line] = []
    groups: list[_time_data.Group] = []
    notes: list[str] = []
    columns = _time_data.Columns(response, on, by)
    if source is not None and known and source.store is not None and not response:
        groups, notes = _time_data.of_store(source, found, level)
    elif source is not None and known:
        groups = _time_data.of_table(source, found, columns, level)
    elif source is not None:
        lines = _time_data.lines(source, columns, level)
        found = [line.condition() for line in lines]
    elif not known:
        raise InputError("no part of the time is known", "give --copy, --network …, or --parts FILE, or DATA")
    asked = [parse_size(text.strip()) for text in sizes.split(",")] if sizes else []
    if not asked and source is None:
        raise InputError("--size is missing", "write it like 256KiB")
    times = [parse_seconds(text.strip()) for text in observed.split(",")] if observed else []
    if times and len(asked) != 1:
        raise InputError("--observed needs one --size", "write it like --size 256KiB --observed 30us,2.5ms")
    told = [time_model.diagnose(found, asked[0], time) for time in times]
    mixed = [time_model.mixture(found, asked[0], time) for time in times]
    if as_json:
        document = _document(found, asked, told, lines, level)
        document |= {"mixtures": [vars(one) if one else None for one in mixed],
                     "groups": [one.to_json() for one in groups], "warnings": notes}  # fmt: skip
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from .. import _time_text as text

    for note in notes:
        talk(f"~ {note}")
    for line in text.lines(found, asked, told, lines, groups, level):
        click.echo(line)
    for line in text.mixtures(times, mixed) if mixture else ():
        click.echo(line)


def _document(
    found: list[Condition], asked: list[int], told: list[Diagnosis], lines: list[Line], level: float
) -> dict[str, Any]:  # fmt: skip
    from iosonde.model import time_model

    return {
        "schema": 1,
        "level": level,
        "parts": time_model.PARTS,
        "times": [
            {
                "size": size,
                "best_s": time_model.best_case(found, size),
                "conditions": [
                    {"condition": one.name, "s": one.seconds(size),
                     "parts": {part.label: part.seconds(size) for part in one.parts}}
                    for one in found
                ],
            }
            for size in asked
        ],
        "lines": [line.to_json() for line in lines],
        "diagnosis": [one.to_json() for one in told],
        "limits": list(time_model.LIMITS),
    }  # fmt: skip
