"""Comparisons as text: one in full, several as a table with Holm's p."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_level, format_levels, format_setting
from iosonde.core.table import is_missing
from iosonde.core.units import choose_human_scale, format_percent, format_ratio, format_significant
from iosonde.core.verdict import VerdictState
from iosonde.core.words import join_names
from iosonde.layout.text import WIDTH, format_estimate_parts, format_fitting_table, paragraphs, wrapped
from iosonde.stats.estimate.compare import BY_CHANCE, CANNOT_TELL, DIFFERENT, EQUAL, NEGLIGIBLE

from . import text_against as against
from .against import PairVerdicts
from .compared import WITHIN_RUN, ComparedCell, Comparisons
from .parts import RESPONSE_LABELS

_LABEL = 16  # columns before the evidence
_MOST_ALONE = 3  # comparisons with the same warning that each get a sentence of their own


def lines(answer: Comparisons | PairVerdicts) -> Iterator[str]:
    """The lines of the text."""
    if not isinstance(answer, Comparisons):
        yield from against.lines(answer)
        return
    if not answer.items:
        yield "Nothing to compare: no cell has both sides."
        yield from _format_notes(answer)
        return
    yield from _format_single(answer) if len(answer.items) == 1 else _format_several(answer)
    yield from paragraphs(overall.sentence for overall in answer.overall)
    if answer.judged is not None:
        yield from paragraphs(answer.judged.sentences)


def _format_single(comparisons: Comparisons) -> Iterator[str]:
    item, comparison = comparisons.items[0], comparisons.items[0].comparison
    over = "iterations within one run" if item.within_run else "trials"
    yield f"{100 * comparisons.level:g} % intervals over {over}{'; paired' if comparison.paired else ''}"
    yield ""
    divisor, unit = _choose_means_scale(item)
    rows = []
    for side, interval, role in ((comparison.a, comparison.mean_a, "base"), (comparison.b, comparison.mean_b, "")):
        note = ", ".join([*([role] if role else []), *(["published"] if side.is_published else [])])
        # Cells share no sd, and one trial has none.
        spread = "~" if comparison.cells > 1 or side.side.n < 2 else format_significant(side.side.sd / divisor)
        rows.append(
            [
                _format_side_name(item, side.name),
                str(side.side.n),
                *format_estimate_parts(interval, divisor),
                spread,
                note,
            ]
        )
    headers = [comparisons.group or "", "n", f"mean, {unit}" if unit else "mean", "interval", "sd", ""]
    yield from format_fitting_table(headers, rows, "lrrrrL", 1)
    yield ""
    cut = dict.fromkeys([*comparison.mean_a.warnings, *comparison.mean_b.warnings])
    paragraphs = [("base", f"{item.sides[0]}: {comparisons.base}"), *_list_evidence(item)]
    paragraphs += [("warning", text) for text in (*item.warnings, *comparisons.warnings, *cut)]
    for name, text in [*paragraphs, *(("left out", text) for text in comparisons.exclusions)]:
        first, *others = wrapped(text, limit=WIDTH - _LABEL)
        yield f"{name:<{_LABEL}}{first}"
        yield from (" " * _LABEL + more for more in others)
    yield from ["", *wrapped(item.sentence)]


def _list_evidence(item: ComparedCell) -> Iterator[tuple[str, str]]:
    comparison, (a, b) = item.comparison, item.sides
    if comparison.ratio is not None:
        value, interval = format_decisive_estimate(item)
        yield (
            "ratio",
            f"{b} ÷ {a} = {value}"
            if item.is_untested
            else f"{b} ÷ {a} = {value} ({interval}), by {comparison.method}; decides, against 1 and ± "
            f"{format_percent(comparison.margin)}",
        )
    else:
        shift = "{} ({}) {}".format(*_format_signed_difference(item), _choose_means_scale(item)[1]).rstrip()
        yield "difference", f"{b} - {a} = {shift}, by {comparison.method}; decides, against 0"
    if comparison.cells > 1:
        yield "within", f"{comparison.cells} cells of {', '.join(item.adjusted)}, which vary too"
    if comparison.typical is not None and comparison.typical.value is not None:
        value, interval = _format_ratio_parts(comparison.typical.value, comparison.typical.low, comparison.typical.high)
        yield "typical", f"ratio of geometric means {value} ({interval})"
    if comparison.overlap is not None:
        inside = (
            ""
            if not comparison.overlap
            else ", and contain the other's mean"
            if comparison.mean_inside
            else (", but do not contain the other's mean")
        )
        yield "intervals", ("overlap" if comparison.overlap else "do not overlap") + inside
    if comparison.t is not None and comparison.p is not None:
        test = comparison.test
        above = f" ({b if comparison.t < 0 else a} higher)" if comparison.t else ""
        yield test, f"t = {abs(comparison.t):.3f}{above}, df = {comparison.df:.4g}, p = {comparison.p:.2g}"
    if comparison.rank_test is not None:
        shift, interval = format_estimate_parts(comparison.rank_test.shift, _choose_means_scale(item)[0])
        g = "~" if comparison.effect_size is None else f"{comparison.effect_size:.2f}"
        yield comparison.rank_test.name, f"p = {comparison.rank_test.p:.2g}; shift {shift} ({interval})"
        yield (
            "effect",
            f"Hedges' g = {g}, P(B > A) = {comparison.rank_test.superiority:.2f}",
        )
    if item.by_level:
        yield "by level", "; ".join(f"{name} at {join_names(at)}" for name, at in _map_verdicts_to_levels(item).items())


def _format_several(comparisons: Comparisons) -> Iterator[str]:
    items = comparisons.items
    columns = select_distinguishing_columns([item.cell for item in items])
    within = [item for item in items if item.within_run]
    over = "within one run" if len(within) == len(items) else "over trials"
    yield from wrapped(
        f"{100 * comparisons.level:g} % intervals of B ÷ A {over}; p by {_describe_test(items)}, Holm-corrected "
        f"for {comparisons.family}"
    )
    yield from wrapped(describe_base(comparisons), indent="  ")
    yield from paragraphs(filter(None, [describe_common_setting(comparisons)]), indent="  ")
    yield ""
    sides = choose_side_columns(comparisons)
    rows = [[*format_setting_cells(item, columns, sides), *_format_numbers(item)] for item in items]
    headers = [*columns, *sides, "mean A → mean B", "n", "B ÷ A", "interval", "p", ""]
    labels = len(columns) + len(sides)
    yield from format_fitting_table(headers, rows, "L" * (labels + 1) + "rrrrL", labels)
    yield from ["", *wrapped(explain_signs(comparisons))]
    yield from _format_warnings(comparisons, columns, len(sides))
    yield from _format_notes(comparisons)
    yield from wrapped(format_verdict_counts(comparisons))


def format_verdict_counts(comparisons: Comparisons) -> str:
    """Count the verdicts."""
    counts = [f"{n} {word}" for word, n in Counter(item.verdict_word for item in comparisons.items).items()]
    return f"Of {len(comparisons.items)} comparisons: {', '.join(counts)}."


def choose_side_columns(comparisons: Comparisons) -> list[str]:
    """Return the columns that name the sides: none for one pair; B if all have the same base; else both."""
    n_bases, n_pairs = (
        len({item.sides[0] for item in comparisons.items}),
        len({item.sides for item in comparisons.items}),
    )
    return [] if n_pairs == 1 else ["B"] if n_bases == 1 else ["A", "B"]


def describe_base(comparisons: Comparisons) -> str:
    """Name the base, and why it is the base."""
    a, b = comparisons.items[0].sides
    columns = choose_side_columns(comparisons)
    if "A" in columns:
        return f"A is the base; the first is {a}: {comparisons.base}"
    if columns:
        return f"A, the base of all: {a} ({comparisons.base})"
    if a == "A":
        return f"A is the base ({comparisons.base}); B: {b}"
    return f"A, the base: {a} ({comparisons.base}); B: {b}"


def _describe_test(items: Sequence[ComparedCell]) -> str:
    kinds = {item.comparison.test.removesuffix("'s t") for item in items}
    return kinds.pop() if len(kinds) == 1 else "t"


def format_setting_cells(item: ComparedCell, columns: Sequence[str], sides: Sequence[str]) -> list[str]:
    """Return the setting and the names of the ``sides``."""
    names = {"A": item.comparison.a.name, "B": item.comparison.b.name}
    cell = {**item.cell, "metric": item.metric_title} if "metric" in item.cell else item.cell
    return [*format_levels(columns, cell, item.units), *(_format_side_name(item, names[side]) for side in sides)]


def _format_side_name(item: ComparedCell, name: str) -> str:
    return format_level(name, item.units.get(item.group or "", ""))


def _format_numbers(item: ComparedCell) -> list[str]:
    comparison = item.comparison
    p = "~" if comparison.p_holm is None else f"{comparison.p_holm:.2g}"
    return [
        format_means(item),
        f"{comparison.a.side.n}+{comparison.b.side.n}",
        *format_decisive_estimate(item),
        p,
        format_verdict(item),
    ]


def _map_verdicts_to_levels(item: ComparedCell) -> dict[str, list[str]]:
    """Return verdict in words → the levels at which it holds."""
    way = item.words.way(item.comparison)
    words = {CANNOT_TELL: "inconclusive", EQUAL: "practically equal", NEGLIGIBLE: f"≈ {way}"}
    return group_by_key((words.get(verdict, way), f"{100 * level:g} %") for level, verdict in item.by_level)


def format_verdict(item: ComparedCell) -> str:
    """Return the verdict in a table: ``slower``, ``slower ?``, ``≈ slower``, ``=``, ``~ +12``, ``slower !``,
    ``depends``."""
    comparison, overriding = item.comparison, item.overriding
    if item.is_untested:
        return str(VerdictState.NOT_TESTED)
    if overriding is not None:
        return "~ !" if overriding.instead is VerdictState.INCONCLUSIVE else f"{item.words.way(comparison)} !"
    if comparison.depends:
        return "depends"
    if comparison.verdict == EQUAL:
        return "="
    if comparison.verdict == CANNOT_TELL:
        return f"~ {item.words.format_more_trials(comparison)}".rstrip()
    doubt = " ?" if comparison.by_chance else ""
    return f"{'≈ ' if comparison.verdict == NEGLIGIBLE else ''}{item.words.way(comparison)}{doubt}"


def explain_signs(comparisons: Comparisons) -> str:
    """Explain the signs that occur in the last column."""
    verdicts = {item.comparison.verdict for item in comparisons.items if not item.is_untested}
    margin = format_percent(comparisons.items[0].comparison.margin)
    meanings = [f"≈ by less than the margin of ± {margin}"] if NEGLIGIBLE in verdicts else []
    meanings += [f"= practically equal, within ± {margin}"] if EQUAL in verdicts else []
    if CANNOT_TELL in verdicts:
        questions = {item.comparison.question for item in comparisons.items if item.comparison.n_more}
        aims = ["+n: to find a difference of this size"] if DIFFERENT in questions else []
        aims += ["=+n: to know that they are equal"] if EQUAL in questions else []
        meanings.append("~ inconclusive" + (f" (more trials per side, {', '.join(aims)})" if aims else ""))
    if any(item.state is VerdictState.INCONCLUSIVE and item.overriding for item in comparisons.items):
        meanings.append("~ ! inconclusive (below)")
    if any(item.state is VerdictState.NOT_SEPARABLE for item in comparisons.items):
        meanings.append("! not separable from what varies with the sides (below)")
    if any(item.comparison.depends for item in comparisons.items):
        meanings.append("depends: on the cell (below)")
    if any(item.comparison.by_chance for item in comparisons.items):
        meanings.append("? not significant after Holm's correction")
    if any(item.is_untested for item in comparisons.items):
        meanings.append("not tested: one trial has no spread; repeat both sides, 6 times or more")
    if any(item.comparison.ratio is None for item in comparisons.items):
        meanings.append("+ or -: B - A, as the ratio is undefined")
    return "; ".join([*meanings, "n: trials of A+B"])


def _format_warnings(comparisons: Comparisons, columns: Sequence[str], n_sides: int) -> Iterator[str]:
    """Format warnings of single comparisons; those of many comparisons are merged."""
    sides_by_warning: dict[str, list[tuple[str, str]]] = {}
    for item in comparisons.items:
        *which, a, b = format_setting_cells(item, columns, ("A", "B"))
        which += [f"{a} and {b}" if n_sides > 1 else b] if n_sides else []
        for warning in item.warnings:
            if BY_CHANCE in warning or warning == WITHIN_RUN:
                continue  # a sign at the verdict says so
            sides_by_warning.setdefault(warning.partition(" (")[0], []).append((", ".join(which), warning))
    for same, warned in sides_by_warning.items():
        if len(warned) > _MOST_ALONE:
            yield from wrapped(f"! {same}: {'; '.join(which for which, _ in warned)}")
        else:
            yield from (line for which, warning in warned for line in wrapped(f"! {which}: {warning}"))
    within = [item for item in comparisons.items if item.within_run]
    if within:
        few = f"{len(within)} of {len(comparisons.items)}: " if len(within) < len(comparisons.items) else ""
        yield from wrapped(f"! {few}{WITHIN_RUN}")
    for names in dict.fromkeys(item.adjusted for item in comparisons.items if item.adjusted):
        yield from wrapped(f"! compared within the cells of {', '.join(names)}, which vary too")


def _format_notes(comparisons: Comparisons) -> Iterator[str]:
    yield from paragraphs(f"! {text}" for text in comparisons.warnings)
    yield from paragraphs(f"! left out: {text}" for text in comparisons.exclusions)


def select_distinguishing_columns(cells: Sequence[dict[str, Any]]) -> list[str]:
    """Return the columns to show: without unit, without settings that are the same for all, and with the metric only if
    an operation has several."""
    columns = [name for name in dict.fromkeys(name for cell in cells for name in cell) if name != "unit"]
    by_operation = {(cell.get("operation"), cell.get("metric")) for cell in cells}
    if "operation" in columns and len(by_operation) == len({operation for operation, _ in by_operation}):
        columns = [name for name in columns if name != "metric"]
    differing = [name for name in columns if len({cell.get(name) for cell in cells}) > 1]
    return columns if len(cells) == 1 else [name for name in columns if name in (*RESPONSE_LABELS, *differing)]


def describe_common_setting(comparisons: Comparisons) -> str:
    """Name the settings that all cells share; '' without any."""
    first, *others = [item.cell for item in comparisons.items]
    names = [name for name in first if name not in RESPONSE_LABELS and not is_missing(first[name])]
    common = {name: first[name] for name in names if all(cell.get(name) == first[name] for cell in others)}
    return f"all: {format_setting(common, comparisons.items[0].units)}" if common else ""


def format_means(item: ComparedCell) -> str:
    """Format ``199 → 211 s``."""
    a, b = item.comparison.a.side.mean, item.comparison.b.side.mean
    divisor, name = _choose_means_scale(item)
    return f"{format_significant(a / divisor)} → {format_significant(b / divisor)} {name}".rstrip()


def format_decisive_estimate(item: ComparedCell) -> tuple[str, str]:
    """Return the ratio, or the signed difference with its unit, and the interval."""
    comparison = item.comparison
    if comparison.ratio is not None:
        return _format_ratio_parts(comparison.ratio.value, comparison.ratio.low, comparison.ratio.high)
    value, interval = _format_signed_difference(item)
    return f"{value} {_choose_means_scale(item)[1]}".rstrip(), interval


def _format_signed_difference(item: ComparedCell) -> tuple[str, str]:
    value, interval = format_estimate_parts(item.comparison.difference, _choose_means_scale(item)[0])
    return value if value.startswith("-") else f"+{value}", interval


def _choose_means_scale(item: ComparedCell) -> tuple[float, str]:
    """Return (divisor, unit) of both means."""
    comparison = item.comparison
    return choose_human_scale(max(abs(comparison.a.side.mean), abs(comparison.b.side.mean)), item.unit)


def _format_ratio_parts(value: float | None, low: float | None, high: float | None) -> tuple[str, str]:
    interval = "~" if low is None or high is None else f"{format_ratio(low)}–{format_ratio(high)}"
    return "~" if value is None else format_ratio(value), interval
