"""A bound as text: its terms, what limits, what it assumes, and the measurements as shares of it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from iosonde.core.table import show
from iosonde.core.units import format_rate, format_seconds, human_scale, significant
from iosonde.report.text import escape, estimate_parts, table

if TYPE_CHECKING:
    from iosonde.core.types import Estimate
    from iosonde.model.bound.bound import Ceiling
    from iosonde.model.bound.shares import Share

_WIDTH = 79
_MOST_ROWS = 60
_LINKS = ("network_clients", "network_servers", "fabric")
MISSING = "nothing is known of {}: the true bound may be lower"


def ceiling_lines(made: Ceiling, s: Estimate | None, data: tuple[str, float] | None) -> Iterator[str]:
    """The terms, the limit, what it assumes and what helps."""
    from iosonde.model.bound import words

    system = made.system
    disks = "" if system.disks is None else f", {_many(system.disks, 'disk')}"
    yield f"{system.operation}: {_many(system.clients, 'client')}, {_many(system.servers, 'server')}{disks}"
    yield ""
    divisor, unit = human_scale(made.s, "bytes/s")
    rows = [
        [t.name, t.formula, significant(t.bytes_per_s / divisor, 4), f"{100 * made.s / t.bytes_per_s:.0f} %",
         "limits" if t.name in made.limit else ""]
        for t in made.terms
    ]  # fmt: skip
    yield from table(["term", "formula", unit, "used", ""], rows, "llrrl", _WIDTH).splitlines()
    yield ""
    if made.balance < 1:
        yield from wrapped(f"The busiest server has {1 / made.balance:.3g} times the load of the mean one.")
    yield from wrapped(_sentence(made, s, data))
    for name in made.missing:
        yield from wrapped(f"~ {MISSING.format(words.name(name))}", "  ")
    yield ""
    yield from wrapped(f"Case: {words.case(system)}.", "  ")
    yield from wrapped(f"Helps: {'; '.join(words.advice(made))}.", "  ")
    yield from wrapped(f"Assumes: {'; '.join(words.assumptions(made))}.", "  ")


def _sentence(made: Ceiling, s: Estimate | None, data: tuple[str, float] | None) -> str:
    from iosonde.model.bound import words

    text = f"At most {format_rate(made.s, 'bytes/s')}"
    if s is not None and s.low is not None and s.high is not None:
        value, interval = estimate_parts(s, human_scale(made.s, "bytes/s")[0])
        text = f"At most {value} ({interval}) {human_scale(made.s, 'bytes/s')[1]}"
    verb = "limits" if made.limit in (("fabric",), ("latency",), ("memory_copy",), ("network_clients",),
                                      ("network_servers",)) else "limit"  # fmt: skip
    text += f": {words.names(made.limit)} {verb}."
    if data is not None:
        text += f" {data[0]} take at least {format_seconds(made.seconds(data[1]))}."
    if made.relieved is not None:
        gain = f"+ {100 * (made.relieved / made.s - 1):.0f} %" if made.relieved < 11 * made.s else (
            f"{made.relieved / made.s:.0f} times as much")  # fmt: skip
        text += f" Without that limit: {format_rate(made.relieved, 'bytes/s')} ({gain})."
    return text


def share_lines(shares: Sequence[Share], level: float, warnings: Sequence[str]) -> Iterator[str]:
    """A table of the measured cells, and a sentence."""
    from iosonde.model.bound import words

    divisor, unit = human_scale(max(one.ceiling.s for one in shares), "bytes/s")
    names = list(dict.fromkeys(name for one in shares for name in one.by))
    several = len({one.operation or one.metric for one in shares}) > 1 or bool(shares[0].operation)
    header = (["measured"] if several else []) + [*names, "n", unit, "interval", "bound", "share", "interval", ""]
    rows = []
    for one in shares[:_MOST_ROWS]:
        value, interval = estimate_parts(one.measured, divisor)
        share, between = estimate_parts(one.share, 0.01)
        limit = "!" if one.verdict else ""
        rows.append([*([one.operation or one.metric] if several else []), *(show(one.by.get(name)) for name in names),
                     one.measured.n, value, interval, significant(one.ceiling.s / divisor, 4), f"{share} %", between,
                     limit])  # fmt: skip
    left = len(header) - 7
    yield from table(header, rows, "l" * left + "rrrrrrl", _WIDTH).splitlines()
    if len(shares) > _MOST_ROWS:
        yield f"and {len(shares) - _MOST_ROWS} more (--json has all)"
    yield ""
    missing = dict.fromkeys(name for one in shares for name in one.ceiling.missing)
    for warning in [*warnings, *(MISSING.format(words.name(name)) for name in missing)]:
        yield from wrapped(f"~ {warning}", "  ")
    yield from wrapped(closing(shares, level))


def closing(shares: Sequence[Share], level: float) -> str:
    """What part of the bound was delivered, what limits, and what cannot be."""
    from iosonde.model.bound import words
    from iosonde.model.bound.shares import ABOVE, CURE

    above = [one for one in shares if one.verdict]
    sure = sum(one.verdict == ABOVE for one in above)
    known = [one for one in shares if one.share.value is not None and not one.verdict]
    text = ""
    if known:
        low, high = min(known, key=_value), max(known, key=_value)
        said = (
            f"{100 * _value(low):.0f} to {100 * _value(high):.0f} %"
            if low is not high
            else f"{100 * _value(low):.0f} %"
        )
        limits = tuple(dict.fromkeys(name for one in known for name in one.ceiling.limit))
        text = f"{said} of the bound was delivered; it is set by {words.names(limits)}. {100 * level:g} % intervals."
    links = [share for one in known for name, share in one.used().items() if name in _LINKS]
    if links:
        text += f" The network was used to {'at most ' if len(known) > 1 else ''}{100 * max(links):.0f} %."
    if above:
        perhaps = len(above) - sure
        count, doubt = (sure, f", {perhaps} more perhaps" if perhaps else "") if sure else (perhaps, "")
        text += f" {count} of {len(shares)} {'is' if count == 1 else 'are'} {'' if sure else 'perhaps '}above the bound"
        text += f" (!){doubt}: {CURE}."
    return text.strip()


def _value(one: Share) -> float:
    return one.share.value or 0.0


def wrapped(text: str, indent: str = "") -> list[str]:
    """Lines of a paragraph."""
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _many(n: float, what: str) -> str:
    return f"{n:g} {what}{'' if n == 1 else 's'}"
