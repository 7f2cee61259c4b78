"""A corpus as text: the spread of each metric over systems, what explains it, outliers, one's own place."""

from collections.abc import Iterator

from iosonde.core.estimate_text import format_estimate_parts
from iosonde.core.grouping import group_by_key
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count, format_decimals
from iosonde.layout.text import CANNOT_TELL, escape, paragraphs, table, wrapped
from iosonde.stats.overview.systems import CorpusPhase

from .answer import Corpus
from .text_parts import count_states, topic_lines
from .topics import VALIDITY

_COLUMNS = 3  # covariates side by side
_OUT = 8  # outlying systems


def lines(answer: Corpus) -> Iterator[str]:
    """The lines of the text."""
    yield from wrapped(_format_header(answer))
    yield from topic_lines(answer.parts) if answer.parts.topics else _format_spread(answer)
    notes = [f"~ {warning}" for warning in answer.warnings]
    n_excluded = answer.parts.validity.count_excluded(answer.runs)
    if n_excluded > 0 and VALIDITY not in answer.parts.topics:
        notes.append(
            f"~ {format_count(n_excluded, 'run')} left out ({count_states(answer.parts.validity)}): "
            f"{spell.about:validity} says why"
        )
    if answer.rare and not answer.parts.topics:
        more = format_count(answer.rare, "more number")
        notes.append(f"~ {more} of fewer systems, or parts of these: {spell.all}, or {spell.response} by name")
    if notes:
        yield ""
    yield from paragraphs(notes, "  ")
    if sentence := answer.parts.sentence if answer.parts.topics else answer.sentence:
        yield from ["", *wrapped(sentence)]


def _format_spread(answer: Corpus) -> Iterator[str]:
    """Format the spread of each number, what explains it, outliers, and one's own place."""
    yield ""
    per = next((phase.per for phase in answer.phases if phase.per), "")
    mine = any(phase.placed for phase in answer.phases)
    yours = ["yours"] if mine else []
    heads = [f"per {per}" if per else "", "systems", "p10", "median", "interval", "p90", "unit", *yours]
    yield from table(
        heads, [_format_row(phase, mine) for phase in answer.phases], "lrrrrrlr"[: len(heads)]
    ).splitlines()
    if mine:
        yield from ["", "the share of systems that yours exceeds"]
        rows = [[phase.name, format_share(phase.placed.share)] for phase in answer.phases if phase.placed]
        yield from table(["", "exceeds"], rows, "lr").splitlines()
    yield from _format_explained(answer)
    yield from _format_outliers(answer)
    if answer.linked is not None and answer.linked.share.value is not None:
        yield ""
        yield from wrapped(
            f"Between systems the bandwidth score explains {format_share(answer.linked.share)} of the metadata score."
        )


def format_share(estimate: Estimate) -> str:
    """Format ``23 % (10–35)``."""
    if estimate.value is None:
        return CANNOT_TELL
    if estimate.low is None or estimate.high is None:
        return f"{100 * estimate.value:.0f} % (~)"
    return f"{100 * estimate.value:.0f} % ({100 * estimate.low:.0f}–{100 * estimate.high:.0f})"


def _format_header(answer: Corpus) -> str:
    when = f", {answer.years[0]} to {answer.years[1]}" if answer.years else ""
    return (
        f"{answer.name}: {format_count(answer.runs, 'run')} of {format_count(answer.systems, 'system')} "
        f"({', '.join(answer.clusters)}){when}; each system counts once, {100 * answer.level:g} % intervals over "
        "systems"
    )


def _format_row(phase: CorpusPhase, mine: bool) -> list[str]:
    middle = phase.quantiles[0.5]
    divisor, unit = choose_human_scale(middle.value or 0.0, phase.unit)
    value, interval = format_estimate_parts(middle, divisor)
    row = [
        phase.name,
        str(phase.systems),
        _format_number(phase.quantiles[0.1].value, divisor),
        value,
        interval,
        _format_number(phase.quantiles[0.9].value, divisor),
        unit,
    ]
    return [*row, "" if phase.placed is None else _format_number(phase.placed.value, divisor)] if mine else row


def _format_number(value: float | None, divisor: float) -> str:
    return CANNOT_TELL if value is None else format_significant(value / divisor)


def _format_explained(answer: Corpus) -> Iterator[str]:
    """Format shares of the variance, with the covariates that explain most in the first columns."""
    best = {
        name: max((phase.explained[name].share.low or 0.0 for phase in answer.phases), default=0.0)
        for name in answer.on
    }
    covariates = sorted(answer.on, key=lambda name: -best[name])[:_COLUMNS]
    if not covariates or not answer.phases:
        return
    yield from ["", "share of the variance (of logarithms, between systems) that each explains alone"]
    rows = [
        [phase.name, *(format_share(phase.explained[name].share) for name in covariates)] for phase in answer.phases
    ]
    yield from table(["", *covariates], rows, "l" + "r" * len(covariates)).splitlines()
    for phase, name, e in answer.single_system_effects:
        yield from wrapped(
            f"~ {name}: one outlying system, {e.far}, determines the line alone (leverage "
            f"{format_decimals(e.leverage or 0.0, 2)} in {phase.name}): {format_share(e.share)} of it, and without "
            f"that system {format_share(e.without or e.share)}",
            "  ",
        )
    if len(answer.on) > len(covariates):
        more = len(answer.on) - len(covariates)
        yield from wrapped(f"~ and {more} more: {spell.on} names them, {spell.json} has all", "  ")


def _format_outliers(answer: Corpus) -> Iterator[str]:
    by_system = group_by_key(
        (out.system, (phase.name, out.times)) for phase in answer.phases for out in phase.standing_out
    )
    if not by_system:
        return
    yield from ["", "outliers (times the median system)"]
    for system, several in sorted(by_system.items(), key=lambda item: (-len(item[1]), item[0]))[:_OUT]:
        titles_text = ", ".join(f"{escape(title)} {format_significant(times, 2)}" for title, times in several[:3])
        more = f" and {len(several) - 3} more" if len(several) > 3 else ""
        yield from wrapped(f"{system}: {titles_text}{more}", "    ", "  ")
    if len(by_system) > _OUT:
        yield f"  and {len(by_system) - _OUT} more systems: {spell.json}"
