"""``iosonde time-model``: where the time of one operation goes, and which condition an observed time tells of."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size

from ._data import check_level, open_data, options
from ._time_parts import OPTIONS, of_file, of_options

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
@click.option("--response", metavar="Y", help="DATA: the column of times (its name says the unit, as time_us).")
@click.option("--on", metavar="X", help="DATA: the column of sizes, bytes.")
@click.option("--by", metavar="X", help="DATA: the column of conditions: one line is fitted for each.")
@options
def command(
    data: str | None, sizes: str | None, observed: str | None, parts: str | None, state: str, response: str | None,
    on: str | None, by: str | None, where: tuple[str, ...], level: float, as_json: bool, **given: Any,
) -> None:  # fmt: skip
    """The parts of t(size) = m + p + n + c + d, and the nearest condition of an observed time.

    The parts come from options, from a file, or are fitted to DATA: a line c + f(size) for each condition, with
    intervals.
    """
    from iosonde.model import time_model

    check_level(level)
    flags = {flag: given[flag[2:].replace("-", "_")] for flag in OPTIONS}
    lines: list[Line] = []
    if data is not None:
        if parts or any(flags.values()):
            raise InputError("DATA and parts are both given", "fit the lines, or give the parts")
        lines = _fitted(data, where, response, on, by, level)
        found = [line.condition() for line in lines]
    else:
        both = [*(of_file(parts) if parts else []), *of_options(flags)]
        if not both:
            raise InputError("no part of the time is known", "give --copy, --network …, or --parts FILE, or DATA")
        found = time_model.conditions(both, state)
    asked = [parse_size(text.strip()) for text in sizes.split(",")] if sizes else []
    if not asked and not lines:
        raise InputError("--size is missing", "write it like 256KiB")
    times = [parse_seconds(text.strip()) for text in observed.split(",")] if observed else []
    if times and len(asked) != 1:
        raise InputError("--observed needs one --size", "write it like --size 256KiB --observed 30us,2.5ms")
    told = [time_model.diagnose(found, asked[0], time) for time in times]
    if as_json:
        document = _document(found, asked, told, lines, level)
        click.echo(json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False))
        return
    from . import _time_text as text

    for line in text.lines(found, asked, told, lines, level):
        click.echo(line)


def _fitted(
    data: str, where: tuple[str, ...], response: str | None, on: str | None, by: str | None, level: float
) -> list[Line]:  # fmt: skip
    import numpy as np

    from iosonde.model import time_model
    from iosonde.stats.cells import show

    source = open_data(data, where)
    for name, value in (("--response", response), ("--on", on)):
        if not value:
            raise InputError(f"{name} is missing", f"columns: {', '.join(source.table.names)}")
    table = source.trials(response, [on or ""])
    seconds = table.numbers(response or "") * _unit(table.column(response or "").unit, response or "")
    sizes = table.numbers(on or "")
    lines = []
    for key, rows in table.groups([by] if by else []):
        kept = rows[np.isfinite(seconds[rows]) & np.isfinite(sizes[rows])]
        name = show(key[0]) if key else "all rows"
        try:
            lines.append(time_model.fit_line(name, sizes[kept], seconds[kept], level))
        except InputError as error:
            raise InputError(f"{name}: {error.message}", error.hint) from error
    return lines


_SECONDS = {"": 1.0, "s": 1.0, "sec": 1.0, "seconds": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}


def _unit(unit: str, name: str) -> float:
    if unit not in _SECONDS:
        raise InputError(f"column '{name}' is in {unit}, which is no time", "name a column such as time_us")
    return _SECONDS[unit]


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
