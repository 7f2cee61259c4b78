"""A design as ``plan`` prints it: its cells and aliases, the time of each level, what fits a budget; or a plan as
commands of IOzone."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.message import spell
from iosonde.core.table import format_cell
from iosonde.core.types import Factor, FactorValue, level_text
from iosonde.core.units import format_seconds, format_significant, format_size
from iosonde.layout.text import wrapped
from iosonde.measure.design import Cells, Offer

_LABEL = 12
_MOST_ALIASES = 12
_HARD = "\u00a0"  # non-breaking space
_MOST_LEVELS = 12
_NAMES = {
    "fractional": "fraction of two-level factors",
    "latin": "Latin hypercube",
    "balanced": "balanced fraction",
    "one_at_a_time": "one factor at a time",
    "list": "the cells of the list",
    "full": "every combination of the levels",
}


def describe_design(design: Cells) -> Iterator[str]:
    """Yield the design in words; nothing for a full factorial without remarks."""
    if design.kind == "full" and not (design.dropped or design.centre or design.notes or design.blocks > 1):
        return
    summary = f"{_NAMES[design.kind]}: {_format_count(len(design.cells), 'cell')}"
    if design.resolution is not None:
        summary += f", resolution {design.resolution}"
    if design.discrepancy is not None:
        summary += f", L2-star discrepancy {format_significant(design.discrepancy)}"
    yield from _format_labelled("design", summary)
    for text, n in design.dropped if design.kind != "balanced" else ():  # it avoids forbidden cells itself
        yield from _format_labelled("", f"{_format_count(n, 'cell')} dropped by {text}")
    if design.centre:
        yield from _format_labelled("", f"{_format_count(design.centre, 'centre trial')} in each block, to see drift")
    if design.blocks > 1:
        yield from _format_labelled("", f"{design.blocks} blocks in a repetition")
    for place, generator in enumerate(design.generators):
        yield from _format_labelled("generators" if place == 0 else "", generator)
    for place, group in enumerate(design.aliases[:_MOST_ALIASES]):
        yield from _format_labelled("aliases" if place == 0 else "", " = ".join(group))
    if len(design.aliases) > _MOST_ALIASES:
        yield from _format_labelled("", f"and {len(design.aliases) - _MOST_ALIASES} more groups ({spell.json} has all)")
    if design.kind == "fractional" and not design.aliases:
        yield from _format_labelled("aliases", "none among main effects and interactions of two")
    for note in design.notes:
        yield from _format_labelled("note", note)


def format_level_times(factors: Sequence[Factor], totals: Mapping[str, Mapping[FactorValue, float]]) -> Iterator[str]:
    """Yield the time of each level of each factor (``forecast.by_level``), except for factors of very many levels."""
    label = "of which"
    for factor in factors:
        each = totals.get(factor.name, {})
        if 1 < len(each) <= _MOST_LEVELS:
            order = [level for level in factor.levels if level in each] + [o for o in each if o not in factor.levels]
            parts = [f"{level_with_unit(factor, level)}: {format_seconds(each[level])}" for level in order]
            parts = [part.replace(" ", _HARD) for part in parts]
            yield from _format_labelled(label, f"{factor.name} {', '.join(parts)}")
            label = ""


def format_budget(offers: Sequence[Offer], total_s: float, budget_s: float) -> Iterator[str]:
    """Yield the budget; designs that fit it, with their costs, if the campaign does not."""
    budget = format_seconds(budget_s)
    if total_s <= budget_s:
        yield from _format_labelled("budget", budget)
        return
    if not offers:
        yield from _format_labelled("budget", f"{budget} is too short, and no smaller design fits")
        return
    yield from _format_labelled("budget", f"{budget} is too short; designs that fit:")
    for offer in offers:
        trials = f"{_format_count(offer.trials, 'trial')}, {format_seconds(offer.seconds)}"
        yield from _format_labelled("", f"{offer.name}: {trials}; {offer.costs}", hang=2)


def _format_labelled(label: str, text: str, hang: int = 0) -> Iterator[str]:
    first, rest = f"{label:<{_LABEL}}", " " * (_LABEL + hang)
    yield from (line.replace(_HARD, " ") for line in wrapped(text, rest, first))


def level_with_unit(factor: Factor, level: FactorValue) -> str:
    """Format a level: sizes and times with their units."""
    if isinstance(level, (int, float)) and not isinstance(level, bool):
        if factor.unit == "bytes":
            return format_size(level)
        if factor.unit == "s":
            return format_seconds(level)
    return level_text(level) or format_cell(level)


def _format_count(n: int, what: str) -> str:
    return f"{n} {what}" + ("" if n == 1 else "s")
