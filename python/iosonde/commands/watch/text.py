"""Changes over the history of a store, as text: a block per change, and the sentence."""

from collections.abc import Iterator

from iosonde.changes.jumps import LEAST as LEAST_AFTER
from iosonde.changes.suspected import MOST
from iosonde.core.message import spell
from iosonde.core.stored import StoredRun
from iosonde.core.types import Estimate
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, format_ratio_interval
from iosonde.layout.text import escape, format_estimate_parts, paragraphs, wrapped
from iosonde.store.decisions import BASELINE, ChangeDecision

from .answer import Watch
from .change import SeriesChange, SuspectedChange

_MOST = 20  # older changes that are shown; --json has all
_DAY, _DATE, _SECONDS = 10, 16, 19  # 2026-11-21, with T10:00, and with seconds
_MOST_PLACES = 8


def lines(watch: Watch) -> Iterator[str]:
    """Yield new changes, then open regressions, then older changes.
    Each has its sides, what changed with it, and when it became detectable.
    """
    decided, still = watch.decided, watch.open_regressions
    new = [change for change in watch.changes if change.new and change not in decided]
    old = [change for change in watch.changes if change not in (*new, *still, *decided)]
    groups = (
        (f"new, {watch.period}", new),
        ("open, not back at the previous level", still),
        ("accepted", decided),
        ("older", old[:_MOST]),
    )
    for title, several in groups:
        if several:
            yield f"{title}:"
            for change in several:
                yield from _format_block(change)
            yield ""
    if watch.suspected:
        yield "suspected, by this look alone:"
        for suspected in watch.suspected:
            yield from _format_suspected(suspected)
        yield ""
    if len(old) > _MOST:
        yield f"{len(old) - _MOST} older changes more ({spell.json})"
    yield from wrapped(escape(watch.sentence))
    yield from wrapped(escape(_describe_search(watch)))
    if watch.untold and len(watch.untold) < len(watch.series):
        shortest = min(series.values.size for series in watch.untold)
        yield from wrapped(
            f"too few points: {len(watch.untold)} series have fewer than {watch.needed}, the shortest has {shortest}"
        )
    if watch.n_unmatched:
        yield from wrapped(f"{format_count(watch.n_unmatched, 'accepted change')} not among the changes found here")
    if watch.incomplete:
        yield f"{format_count(watch.incomplete, 'incomplete run')} excluded ({spell.incomplete} includes them)"
    yield from paragraphs(f"note: {warning}" for warning in watch.warnings)


def change_lines(change: SeriesChange) -> Iterator[str]:
    """Yield one change: all points before it against all after, up to the neighbouring changes, and its places, the
    most likely first. A drift has neither."""
    yield from _format_block(change)
    if change.drift:
        return
    begin, at, end = change.places
    runs = change.series.runs
    for name, first, last in (("before", begin, at - 1), ("after", at, end - 1)):
        dates = f"{_describe_point(runs[first])} to {_describe_point(runs[last])}"
        yield from wrapped(escape(f"{name}: {format_count(last - first + 1, 'point')}, {dates}"), "      ", "    ")
    places = change.likely_places
    yield ""
    yield "first point after it, by likelihood:"
    for place in places[:_MOST_PLACES]:
        cause = place.cause or "nothing recorded changed there"
        text = f"{100 * place.share:.0f} %  {_describe_point(place.run)}: {cause}"
        yield from wrapped(escape(text), "      ", "  ")
    if len(places) > _MOST_PLACES:
        yield f"  {len(places) - _MOST_PLACES} places less likely ({spell.json})"


def _format_block(change: SeriesChange) -> Iterator[str]:
    yield from wrapped(escape(f"{change.series.title}: {change.heading} [{change.id}]"), "  ", "  ")
    if change.decision:
        yield from wrapped(escape(_describe_decision(change.decision)), "      ", "    ")
    levels = change.levels
    divisor, side_texts = choose_human_scale(
        max(abs(levels.before.value or 0.0), abs(levels.after.value or 0.0)), change.series.metric.unit
    )
    sides = " → ".join(
        "{} ({})".format(*format_estimate_parts(side, divisor)) for side in (levels.before, levels.after)
    )
    sides = f"{sides} {side_texts}".rstrip()
    yield from wrapped(f"{sides}: × {format_ratio_interval(levels.ratio)}, {change.word}", "      ", "    ")
    if change.drift:
        yield from wrapped(escape(_describe_drift(change, change.drift)), "      ", "    ")
    else:
        back = f", back since {_describe_point(change.back)}" if change.back else ""
        counts = f"n {levels.before.n}+{levels.after.n}{back}"
        yield from wrapped(escape(f"at {_describe_time(change)}, {counts}"), "      ", "    ")
        yield from wrapped(escape(change.cause), "      ", "    ")
    points = format_count(change.split.n_until_detected, "point")
    together = f", in {change.split.together} series together" if change.split.together > 1 else ""
    detected = "" if change.drift else f"detectable {points} after it{together}; "
    together = together.removeprefix(", ") + "; " if change.drift and together else ""
    yield from wrapped(f"{detected}{together}p = {change.split.p:.2g}, corrected for all looks", "      ", "    ")


def _format_suspected(suspected: SuspectedChange) -> Iterator[str]:
    change = suspected.change
    yield from wrapped(
        escape(
            f"{change.series.title}: × {format_ratio_interval(change.levels.ratio)}, {change.word}, "
            f"since {_describe_point(change.first_after)}, n {change.levels.before.n}+{change.levels.after.n}"
        ),
        "  ",
        "  ",
    )
    yield from wrapped(escape(change.cause), "      ", "    ")
    unit = "more night" if change.series.nightly else "more point"
    number = f"over {MOST} {unit}s" if suspected.remaining is None else format_count(suspected.remaining, unit)
    yield from wrapped(f"{number} at that level would settle it", "      ", "    ")


def _describe_decision(decision: ChangeDecision) -> str:
    what = f"baseline from {decision.start[:_DATE]}, set" if decision.kind == BASELINE else "accepted"
    return f"{what} by {decision.by} on {decision.at[:_DAY]}: {decision.because}"


def _describe_time(change: SeriesChange) -> str:
    """Return the most likely first point after the change, and the interval of its time."""
    first, sides = change.first_after, (change.surely_before, change.surely_after)
    day = _describe_point(first)
    name = "" if first.id in (day, first.started_at) else f" ({first.id})"
    before, after = map(_describe_point, sides)
    if before == after:  # within one minute
        before, after = (_describe_point(side, _SECONDS) for side in sides)
    return f"{day}{name}; after {before}, and not after {after}"


def _describe_drift(change: SeriesChange, drift: Estimate) -> str:
    """Return ``drifts by -0.19 % a night (-0.21 to -0.17 %) since 2026-08-01, over 60 points``."""
    unit = "night" if change.series.nightly else "point"
    begin, end = change.places[1:]
    since = f"since {_describe_point(change.first_after)}, over {format_count(end - begin, 'point')}"
    if drift.value is None or drift.low is None or drift.high is None:
        return f"drifts {since}"
    slope = f"{100 * drift.value:+.2g} % a {unit} ({100 * drift.low:+.2g} to {100 * drift.high:+.2g} %)"
    return f"drifts by {slope} {since}"


def _describe_point(run: StoredRun, length: int = _DATE) -> str:
    return run.started_at[:length] or run.id


def _describe_search(watch: Watch) -> str:
    search = watch.search
    kinds = {"night" if series.nightly else "trial" for series in watch.series}
    points = {"night": "a point is the mean of one experiment's trials", "trial": "a point is a trial"}
    few = min(LEAST_AFTER, search.least)
    share, rate = f"{100 * search.share:.3g} %", f"{100 * search.rate:.3g} %"
    looks = "this look" if search.looks == 1 else format_count(search.looks, "look")
    scope = f"{looks} over all {len(watch.series)} series together" if len(watch.series) > 1 else looks
    point = " or ".join(points[kind] for kind in sorted(kinds))
    return (
        f"Looked for changes of {share} or more with {search.least} points on either side, large ones with {few} after "
        f"them, and for drifts; false alarms at most {rate} "
        f"over {scope}; {point}."
    )
