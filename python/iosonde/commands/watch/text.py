"""Changes over the history of a store, as text: a block per change, and the sentence."""

from collections.abc import Iterator

from iosonde.core.message import spell
from iosonde.core.units import choose_human_scale
from iosonde.core.words import format_count, format_ratio_interval, pluralize
from iosonde.layout.text import escape, format_estimate_parts, paragraphs, wrapped

from .answer import SeriesChange, Watch

_MOST = 20  # older changes that are shown; --json has all
_DATE, _SECONDS = 16, 19  # 2026-11-21T10:00, and with seconds


def lines(watch: Watch) -> Iterator[str]:
    """Yield new changes, then open regressions, then older changes.
    Each has its sides, what changed with it, and when it became detectable.
    """
    new, still = [change for change in watch.changes if change.new], watch.open_regressions
    old = [change for change in watch.changes if not change.new and change not in still]
    groups = (
        (f"new, {watch.period}", new),
        ("open, not back at the previous level", still),
        ("older", old[:_MOST]),
    )
    for title, several in groups:
        if several:
            yield f"{title}:"
            for change in several:
                yield from _format_block(change)
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
    if watch.incomplete:
        yield f"{format_count(watch.incomplete, 'incomplete run')} excluded ({spell.incomplete} includes them)"
    yield from paragraphs(f"note: {warning}" for warning in watch.warnings)


def _format_block(change: SeriesChange) -> Iterator[str]:
    yield from wrapped(escape(f"{change.series.title}: {change.verdict}"), "  ", "  ")
    levels = change.levels
    divisor, side_texts = choose_human_scale(
        max(abs(levels.before.value or 0.0), abs(levels.after.value or 0.0)), change.series.metric.unit
    )
    sides = " → ".join(
        "{} ({})".format(*format_estimate_parts(side, divisor)) for side in (levels.before, levels.after)
    )
    yield from wrapped(
        f"{sides} {side_texts}: × {format_ratio_interval(levels.ratio)}, {change.word}", "      ", "    "
    )
    yield from wrapped(escape(f"at {_describe_time(change)}, n {levels.before.n}+{levels.after.n}"), "      ", "    ")
    yield from wrapped(escape(change.cause), "      ", "    ")
    points = format_count(change.split.n_until_detected, "point")
    together = f", in {change.split.together} series together" if change.split.together > 1 else ""
    text = f"detectable {points} after it{together}; p = {change.split.p:.2g}, corrected for all looks"
    yield from wrapped(text, "      ", "    ")


def _describe_time(change: SeriesChange) -> str:
    """Return the most likely first point after the change, and the interval of its time."""
    first_point = f"{change.first_after.started_at[:_DATE]} ({change.first_after.id})"
    before, after = (side.started_at[:_DATE] for side in (change.surely_before, change.surely_after))
    if before == after:  # within one minute
        before, after = (side.started_at[:_SECONDS] for side in (change.surely_before, change.surely_after))
    return f"{first_point}; after {before}, and not after {after}"


def _describe_search(watch: Watch) -> str:
    search = watch.search
    kinds = {"night" if series.nightly else "trial" for series in watch.series}
    points = {"night": "a point is the mean of one experiment's trials", "trial": "a point is a trial"}
    share = f"{100 * search.share:.3g} %"
    return (
        f"Looked for changes of {share} or more with {search.least} points on either side; false alarms at most "
        f"{100 * search.rate:.3g} % over {search.looks} {pluralize('look')} over all {len(watch.series)} "
        "series together; "
        f"{' or '.join(points[kind] for kind in sorted(kinds))}."
    )
