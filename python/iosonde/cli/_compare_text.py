"""Comparisons as text: one in full, many as a table with Holm's p."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from iosonde.core.table import show
from iosonde.core.units import human_scale, percent, ratio_text, significant
from iosonde.report.text import escape, estimate_parts, table
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE, Comparison
from iosonde.stats.estimate.compare_words import called, sentence

Named = Sequence[tuple[dict[str, Any], Comparison]]
_WIDTH = 79
_MARKS = {DIFFERENT: "≠", NEGLIGIBLE: "≈", EQUAL: "=", CANNOT_TELL: "~"}


def lines(named: Named, group: str | None, level: float) -> Iterator[str]:
    """The lines of the text."""
    if not named:
        yield "Nothing to compare: no cell has both sides."
        return
    yield from _one(named[0][1], group, level) if len(named) == 1 else _many(named, group, level)


def _one(one: Comparison, group: str | None, level: float) -> Iterator[str]:
    yield f"{100 * level:g} % intervals over trials{'; paired' if one.paired else ''}"
    yield ""
    rows = []
    for side, interval in ((one.a, one.mean_a), (one.b, one.mean_b)):
        note = "published" if side.values is None else ""
        rows.append([side.name, str(side.side.n), *estimate_parts(interval), significant(side.side.sd), note])
    yield from table([group or "", "n", "mean", "interval", "sd", ""], rows, "lrrrrl", _WIDTH).splitlines()
    yield ""
    for name, text in _evidence(one, group):
        wrapped = textwrap.wrap(escape(text), _WIDTH - 16)
        yield f"{name:<16}{wrapped[0]}"
        yield from (" " * 16 + more for more in wrapped[1:])
    yield ""
    yield from _wrapped(sentence(one, group))


def _evidence(one: Comparison, group: str | None) -> Iterator[tuple[str, str]]:
    quotient = f"{called(one.b.name, group)} ÷ {called(one.a.name, group)} = {_ratio(one)}"
    yield "ratio", f"{quotient}; decides, against 1 and ± {percent(one.margin)}"
    overlap = "overlap" if one.overlap else "do not overlap"
    inside = (
        ", and hold the other's mean" if one.mean_inside else ", and hold not the other's mean" if one.overlap else ""
    )
    yield "intervals", overlap + inside
    if one.t is not None and one.p is not None:
        yield "paired t" if one.paired else "Welch's t", f"t = {one.t:.3f}, df = {one.df:.4g}, p = {one.p:.2g}"
    if one.rank_test is not None:
        shift, interval = estimate_parts(one.rank_test.shift)
        yield one.rank_test.name, f"p = {one.rank_test.p:.2g}; shift {shift} ({interval})"
        yield "effect", f"Hedges' g = {_g(one)}, P(B > A) = {one.rank_test.superiority:.2f}"
    for warning in one.warnings:
        yield "warning", warning


def _many(named: Named, group: str | None, level: float) -> Iterator[str]:
    columns = _telling([cell for cell, _ in named])
    pairs = {(one.a.name, one.b.name) for _, one in named}
    yield f"{100 * level:g} % intervals of B ÷ A over trials; p by Welch, Holm-corrected for {len(named)}"
    if len(pairs) == 1:
        a, b = next(iter(pairs))
        yield escape(f"A: {called(a, group)}, B: {called(b, group)}")
    yield ""
    both = ["A", "B"] if len(pairs) > 1 else []
    rows = []
    for cell, one in named:
        names = [one.a.name, one.b.name] if both else []
        setting = [show(cell.get(name)) for name in columns]
        p = "~" if one.p_holm is None else f"{one.p_holm:.2g}"
        means = _means(one, str(cell.get("unit") or ""))
        rows.append([*setting, *names, means, *_ratio_parts(one), p, _MARKS[one.verdict]])
    headers = [*columns, *both, "mean A → mean B", "B ÷ A", "interval", "p", ""]
    yield from table(headers, rows, "l" * (len(columns) + len(both) + 1) + "rrrl", _WIDTH).splitlines()
    yield ""
    yield "  ".join(f"{mark} {verdict}" for verdict, mark in _MARKS.items())
    for cell, one in named:
        which = [show(cell.get(name)) for name in columns] + ([f"{one.a.name} and {one.b.name}"] if both else [])
        for warning in one.warnings:
            yield from _wrapped(f"! {', '.join(which)}: {warning}")
    counts = Counter(one.verdict for _, one in named)
    yield f"Of {len(named)} comparisons: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) + "."


def _telling(cells: Sequence[dict[str, Any]]) -> list[str]:
    """The columns to show: the unit stands with the means, the metric only where an operation has several."""
    columns = [name for name in dict.fromkeys(name for cell in cells for name in cell) if name != "unit"]
    by_operation = {(cell.get("operation"), cell.get("metric")) for cell in cells}
    if "operation" in columns and len(by_operation) == len({operation for operation, _ in by_operation}):
        columns.remove("metric")
    return columns


def _means(one: Comparison, unit: str) -> str:
    divisor, name = human_scale(max(abs(one.a.side.mean), abs(one.b.side.mean)), unit)
    return f"{significant(one.a.side.mean / divisor)} → {significant(one.b.side.mean / divisor)} {name}".rstrip()


def _ratio_parts(one: Comparison) -> tuple[str, str]:
    e = one.ratio
    interval = "~" if e.low is None or e.high is None else f"{ratio_text(e.low)}–{ratio_text(e.high)}"
    return "~" if e.value is None else ratio_text(e.value), interval


def _ratio(one: Comparison) -> str:
    return "{} ({})".format(*_ratio_parts(one))


def _g(one: Comparison) -> str:
    return "~" if one.effect_size is None else f"{one.effect_size:.2f}"


def _wrapped(text: str) -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH)
