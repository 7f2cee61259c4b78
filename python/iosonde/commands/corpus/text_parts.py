"""What a corpus is asked besides its spread, as text: one table a topic."""

from collections.abc import Iterator, Sequence

from iosonde.core.estimate_text import format_estimate_parts
from iosonde.core.grouping import group_by_key
from iosonde.core.message import spell
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.words import format_count, format_decimals
from iosonde.layout.text import CANNOT_TELL, format_fitting_table, table, wrapped

from .dependence import Dependence, PairLink, PairState, PhasePair
from .parts import Parts
from .ratios import CLOSE, EPOCHS, OPEN, RANKS, STONEWALL, SystemRatios
from .topics import BALANCE, DEPENDENCE, OPEN_CLOSE, VALIDITY, WEAR_OUT
from .validity import RunState, Validity

_SHOWN = 10  # rows of a list
_MOST_PHASES = 12  # of the matrix
_LEVELS = 5  # of the covariate
_ABSENT = {
    OPEN_CLOSE: "no run has the times of open, close and of the whole phase",
    WEAR_OUT: "no run records a stonewall with wear-out, and the time of its phases",
    BALANCE: "no run has numbers of single ranks or epochs",
}
_TITLES = {
    OPEN: "% of the time of a phase in open",
    CLOSE: "% of the time of a phase in close",
    STONEWALL: "time of a phase ÷ time of its stonewall (1: all ranks were equally far)",
    RANKS["operations"]: "operations of the busiest rank ÷ mean of ranks (1: even)",
    RANKS["access_time"]: "time of access of the slowest rank ÷ mean of ranks (1: even)",
    RANKS["time"]: "time of the slowest rank ÷ mean of ranks (1: even)",
    EPOCHS: "time of the slowest epoch ÷ mean of epochs (1: even)",
}


def topic_lines(parts: Parts) -> Iterator[str]:
    """The lines of each topic."""
    for topic in parts.topics:
        yield ""
        if topic == VALIDITY:
            yield from _format_validity(parts.validity)
        elif topic == DEPENDENCE and parts.dependence is not None:
            yield from _format_dependence(parts.dependence)
        elif not parts.ratios.get(topic):
            yield from wrapped(f"~ {_ABSENT[topic]}", "  ")
        else:
            yield from _format_ratios(parts.ratios[topic], parts.by if topic == OPEN_CLOSE else "")
        if topic == OPEN_CLOSE and parts.clock_offsets:
            largest = max(parts.clock_offsets, key=lambda point: point.value)
            runs = format_count(len({point.run for point in parts.clock_offsets}), "run")
            yield from wrapped(
                f"~ left out: {runs} whose nodes' clocks differ, which prolongs open, close and the total alike; by "
                f"{format_significant(largest.value)} s in {largest.operation} of {largest.run}",
                "  ",
            )


def count_states(validity: Validity) -> str:
    """Format ``380 valid, 10 invalid and 2 incomplete``."""
    return ", ".join(f"{count} {state}" for state, count in validity.counts.items() if count)


def _format_validity(validity: Validity) -> Iterator[str]:
    yield f"validity of {format_count(len(validity.submissions), 'run')}: {count_states(validity)}"
    reasons = validity.reasons
    yield from (line for why, runs in reasons[:_SHOWN] for line in wrapped(why, "       ", f"{runs:5}  "))
    if len(reasons) > _SHOWN:
        yield f"       and {len(reasons) - _SHOWN} more reasons"
    by_system = group_by_key((_format_who(each.settings), each) for each in validity.submissions if each.scores)
    best = [several[0] for several in list(by_system.values())[:_SHOWN]]
    if best:
        names = list(validity.units)
        yield ""
        rows = [
            [
                *(_format_score(each.scores.get(name), validity.units[name]) for name in names),
                _format_who(each.settings),
            ]
            for each in best
        ]
        yield from table([*names, f"of the best {len(best)}"], rows, "r" * len(names) + "l").splitlines()
    refused = group_by_key(
        (_format_who(each.settings), each.state) for each in validity.submissions if each.state is not RunState.VALID
    )
    yield from [""] if refused else []
    for who, states in list(refused.items())[:_SHOWN]:
        yield from wrapped(
            f"{who}: {', '.join(f'{states.count(s)} {s}' for s in RunState if s in states)}", "    ", "  "
        )
    if len(refused) > _SHOWN:
        yield f"  and {len(refused) - _SHOWN} more systems"


def _format_who(settings: Sequence[str]) -> str:
    return ", ".join(settings)


def _format_score(value: float | None, unit: str) -> str:
    if value is None:
        return CANNOT_TELL
    divisor, name = choose_human_scale(value, unit) if unit else (1.0, "")
    return f"{format_significant(value / divisor)} {name}".strip()


def _format_dependence(dependence: Dependence) -> Iterator[str]:
    if not dependence.pairs:
        yield "~ fewer than two phases: nothing can go together"
        return
    yield from wrapped(
        "rank correlation of phases over systems (Spearman's ρ, one value a system); at most "
        f"{100 * (1 - dependence.level):g} % false discoveries among {format_count(dependence.tests, 'test')} "
        "(Benjamini–Yekutieli)"
    )
    if dependence.tests and len(dependence.phases) <= _MOST_PHASES:
        yield from _format_matrix(dependence)
    per = dependence.per
    for state, meaning in (
        (PairState.REMAINS, "go together" + (f" per {per} and at equal {per}s, too" if per else "")),
        (PairState.BY_SIZE, f"go together by their number of {per}s only"),
        (PairState.NONE, "not significant"),
        (PairState.NOT_TESTED, "not tested, as systems are too few or all equal"),
    ):
        if pairs := dependence.list_pairs(state):
            listed = pairs if len(pairs) <= _SHOWN else [*pairs[:3], *pairs[-3:]]
            which = "" if len(listed) == len(pairs) else "; the strongest and the weakest"
            yield from ["", *wrapped(f"{meaning}: {format_count(len(pairs), 'pair')}{which}")]
            yield from [] if state is PairState.NOT_TESTED else format_fitting_table(*_tabulate_pairs(listed, per), 1)
    yield from _format_carried(dependence)


def _format_matrix(dependence: Dependence) -> Iterator[str]:
    """Format ρ of the whole above the diagonal, and per node below it."""
    each = f"per {dependence.per} below it; " if dependence.per else ""
    yield from ["", f"of the whole above the diagonal, {each}· not significant"]
    places = {name: place for place, name in enumerate(dependence.phases)}
    cells = [["" for _ in places] for _ in places]
    for pair in dependence.pairs:
        a, b = (places[name] for name in pair.names)
        cells[a][b] = _format_cell(pair.total)
        cells[b][a] = "" if pair.per_unit is None else _format_cell(pair.per_unit)
    rows = [[f"{place + 1:2} {name}", *cells[place]] for name, place in places.items()]
    yield from table(["", *(str(place + 1) for place in places.values())], rows, "l" + "r" * len(places)).splitlines()


def _format_cell(link: PairLink) -> str:
    if link.rho.value is None:
        return CANNOT_TELL
    return format_decimals(link.rho.value, 2).replace("0.", ".") if link.is_discovery else "·"


def _tabulate_pairs(pairs: Sequence[PhasePair], per: str) -> tuple[list[str], list[list[str]], str]:
    heads = ["", "systems", "whole", *([f"per {per}", f"equal {per}s"] if per else [])]
    rows = [
        [", ".join(pair.names), str(pair.total.rho.n), *(_format_rho(link.rho) for link in pair.links)]
        for pair in pairs
    ]
    return heads, rows, "Lr" + "r" * (len(heads) - 2)


def _format_rho(rho: Estimate) -> str:
    if rho.value is None or rho.low is None or rho.high is None:
        return CANNOT_TELL
    value, low, high = (format_decimals(end, 2).replace("0.", ".") for end in (rho.value, rho.low, rho.high))
    return f"{value} ({low}–{high})" if rho.low >= 0 else f"{value} ({low} to {high})"


def _format_carried(dependence: Dependence) -> Iterator[str]:
    """Name the systems that carry a correlation alone."""
    carried = group_by_key(
        (
            link.carrier,
            f"{', '.join(pair.names)} {format_decimals(link.rho.value or 0.0, 2)}, without it "
            f"{CANNOT_TELL if link.rho_without is None else format_decimals(link.rho_without, 2)}",
        )
        for pair in dependence.pairs
        for link in pair.links
        if link.is_carried
    )
    if not carried:
        return
    yield from ["", "one system decides: without it these are not significant"]
    for system, several in list(carried.items())[:_SHOWN]:
        yield from wrapped(f"{system}: {'; '.join(several[:3])}", "    ", "  ")


def _format_ratios(ratios: Sequence[SystemRatios], by: str) -> Iterator[str]:
    """Format a table for each kind of ratio; ``by`` a covariate without the largest."""
    levels = list(dict.fromkeys(ratio.level for ratio in ratios))[: _LEVELS + 1]
    for place, (what, several) in enumerate(group_by_key((ratio.what, ratio) for ratio in ratios).items()):
        yield from [""] if place else []
        yield _TITLES[what]
        unit = 0.01 if what in (OPEN, CLOSE) else 1.0
        rows = [
            [
                ratio.operation if not ratio.level else "",
                *([ratio.level or "all"] if by else []),
                str(ratio.median.n),
                *format_estimate_parts(ratio.median, unit),
                format_significant((ratio.high.value or 0.0) / unit),
                format_significant(ratio.largest / unit),
                *([] if by else [ratio.largest_system]),
            ]
            for ratio in several
            if ratio.level in levels
        ]
        heads = ["", *([by] if by else []), "systems", "median", "interval", "p90", "largest", *([] if by else ["of"])]
        yield from table(heads, rows, "Llrrrrr" if by else "Lrrrrrl").splitlines()
    if hidden := len({ratio.level for ratio in ratios}) - len(levels):
        yield f"  and {format_count(hidden, 'more level')}: {spell.json}"
