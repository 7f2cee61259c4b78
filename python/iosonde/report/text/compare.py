"""Comparisons as text: one in full, many as a table with Holm's p."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.answers.compare import WITHIN_RUN
from iosonde.core.table import show
from iosonde.core.units import human_scale, percent, ratio_text, significant
from iosonde.stats.estimate.compare import CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE, Comparison

from .layout import WIDTH, escape, estimate_parts, table, wrapped

if TYPE_CHECKING:
    from iosonde.answers.compare import ComparedCell, Comparisons

_MARKS = {DIFFERENT: "≠", NEGLIGIBLE: "≈", EQUAL: "=", CANNOT_TELL: "~"}
_LABEL = 16  # columns before the evidence


def lines(made: Comparisons) -> Iterator[str]:
    """The lines of the text."""
    if not made.items:
        yield "Nothing to compare: no cell has both sides."
    else:
        yield from _one(made) if len(made.items) == 1 else _many(made)


def _one(made: Comparisons) -> Iterator[str]:
    item, one = made.items[0], made.items[0].comparison
    over = "iterations within one run" if item.within_run else "trials"
    yield f"{100 * made.level:g} % intervals over {over}{'; paired' if one.paired else ''}"
    yield ""
    rows = []
    for side, interval in ((one.a, one.mean_a), (one.b, one.mean_b)):
        note = "published" if side.values is None else ""
        rows.append([side.name, str(side.side.n), *estimate_parts(interval), significant(side.side.sd), note])
    yield from table([made.group or "", "n", "mean", "interval", "sd", ""], rows, "lrrrrl").splitlines()
    yield ""
    cut = dict.fromkeys([*one.mean_a.warnings, *one.mean_b.warnings])
    for name, text in [*_evidence(item), *(("warning", warning) for warning in [*made.warnings, *cut])]:
        first, *others = wrapped(text, limit=WIDTH - _LABEL)
        yield f"{name:<{_LABEL}}{first}"
        yield from (" " * _LABEL + more for more in others)
    yield ""
    yield from wrapped(item.sentence)


def _evidence(item: ComparedCell) -> Iterator[tuple[str, str]]:
    one, (a, b) = item.comparison, item.sides
    yield "ratio", f"{b} ÷ {a} = {_ratio(one)}; decides, against 1 and ± {percent(one.margin)}"
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
    for warning in item.warnings:
        yield "warning", warning


def _many(made: Comparisons) -> Iterator[str]:
    named = made.items
    columns = _telling([item.cell for item in named])
    pairs = {item.sides for item in named}
    within = [item for item in named if item.within_run]
    over = "within one run" if len(within) == len(named) else "over trials"
    yield f"{100 * made.level:g} % intervals of B ÷ A {over}; p by Welch, Holm-corrected for {len(named)}"
    if len(pairs) == 1:
        a, b = next(iter(pairs))
        yield escape(f"A: {a}, B: {b}")
    yield ""
    both = ["A", "B"] if len(pairs) > 1 else []
    rows = []
    for item in named:
        one = item.comparison
        names = [one.a.name, one.b.name] if both else []
        setting = [show(item.cell.get(name)) for name in columns]
        p = "~" if one.p_holm is None else f"{one.p_holm:.2g}"
        means = _means(one, str(item.cell.get("unit") or ""))
        rows.append([*setting, *names, means, *_ratio_parts(one), p, _MARKS[one.verdict]])
    headers = [*columns, *both, "mean A → mean B", "B ÷ A", "interval", "p", ""]
    yield from table(headers, rows, "l" * (len(columns) + len(both) + 1) + "rrrl").splitlines()
    yield ""
    yield "  ".join(f"{mark} {verdict}" for verdict, mark in _MARKS.items())
    yield from _warnings(made, columns, bool(both))
    counts = Counter(item.comparison.verdict for item in named)
    yield f"Of {len(named)} comparisons: " + ", ".join(f"{n} {verdict}" for verdict, n in counts.items()) + "."


def _warnings(made: Comparisons, columns: Sequence[str], both: bool) -> Iterator[str]:
    """Those of single comparisons; what is true of many of them is said once."""
    for item in made.items:
        a, b = item.comparison.a.name, item.comparison.b.name
        which = [show(item.cell.get(name)) for name in columns] + ([f"{a} and {b}"] if both else [])
        for warning in item.comparison.warnings:
            yield from wrapped(f"! {', '.join(which)}: {warning}")
    within = [item for item in made.items if item.within_run]
    if within:
        few = f"{len(within)} of {len(made.items)}: " if len(within) < len(made.items) else ""
        yield from wrapped(f"! {few}{WITHIN_RUN}")
    for warning in made.warnings:
        yield from wrapped(f"! {warning}")


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
