"""``iosonde scale DATA --as-stations SIZE``: the fitted law of one queue as the stations of a network."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.units import format_seconds, human_scale, parse_size, significant
from iosonde.report.text import escape, estimate_parts

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.model.scaling.analyse import Scaling
    from iosonde.model.scaling.series import Series

_WIDTH = 79
_OPERATIONS = {"operations/s": 1.0, "op/s": 1.0, "ops/s": 1.0, "iops": 1.0, "kop/s": 1e3, "kops/s": 1e3, "kiops": 1e3}


def work(series: Series, size: str) -> float:
    """What one operation of ``size`` is in the units that the series' rate counts. Raises InputError."""
    from iosonde.core.column_units import bytes_per_s

    amount = float(parse_size(size))
    if amount <= 0:
        raise InputError(
            f"--as-stations {size} is no size", "write it like 64KiB, or 1 where the rate counts operations"
        )
    known = bytes_per_s(series.unit)
    if known:
        return amount / known[0]
    if series.unit.lower() not in _OPERATIONS:
        raise InputError(f"--as-stations: '{series.response}' does not say what it counts",
                         "name the column with its unit, as write_MiB/s or create_ops/s")  # fmt: skip
    if amount != 1:
        raise InputError(f"--as-stations {size}: {series.response} counts operations", "give --as-stations 1")
    return 1 / _OPERATIONS[series.unit.lower()]


def as_json(scaling: Scaling, of_one: float | None) -> dict[str, Any]:
    """``demands`` (null where there are none) with ``why``; nothing where it was not asked for."""
    from iosonde.model.scaling.demands import demands

    if of_one is None:
        return {}
    found = demands(scaling.regimes[-1], of_one)
    if isinstance(found, str):
        return {"demands": None, "why_no_demands": found}
    return {"demands": found.to_json(), "why_no_demands": ""}


def lines(series: Series, scaling: Scaling, of_one: float | None, size: str | None) -> Iterator[str]:
    """A paragraph: the stations to copy, and how far they can be trusted."""
    from iosonde.model.scaling.demands import demands

    if of_one is None:
        return
    found = demands(scaling.regimes[-1], of_one)
    yield ""
    if isinstance(found, str):
        yield from textwrap.wrap(f"No stations: {found}.", _WIDTH)
        return
    assert found.server.value is not None
    what = "an operation" if size == "1" else f"an operation of {size}"
    yield f"--station client={_option(found.client_s)}:delay --station server={_option(found.server.value)}"
    yield from textwrap.wrap(
        f"As stations: {what} needs {_interval(found.server)} of the server, and takes {_interval(found.alone)} when "
        f"{escape(series.on)} is 1. It is taken that all that is shared is one server, and that a client is one of "
        f"{escape(series.on)} with all its ranks.", _WIDTH)  # fmt: skip


def _option(seconds: float) -> str:
    divisor, unit = human_scale(seconds, "s")
    return f"{significant(seconds / divisor, 4)}{unit.replace('µ', 'u')}"


def _interval(seconds: Estimate) -> str:
    assert seconds.value is not None
    if seconds.low is None or seconds.high is None:
        return format_seconds(seconds.value)
    divisor, unit = human_scale(seconds.value, "s")
    value, between = estimate_parts(seconds, divisor)
    return f"{value} ({between}) {unit}"
