"""The result of each series for programs and forges: a regression, an inconclusive one, or none."""

from collections.abc import Iterator
from dataclasses import dataclass

from iosonde.core.message import Message
from iosonde.core.test_cases import TestCase, TestSuite
from iosonde.core.words import format_count

from .answer import INCONCLUSIVE, PASSED, REGRESSION, Watch
from .change import WORSE, SeriesChange
from .missing import describe_missing_series
from .series import WatchedSeries


@dataclass(frozen=True, eq=False)
class SeriesResult:
    """``result``: REGRESSION, INCONCLUSIVE or PASSED. ``reasons``: sentences. ``changes``: regressions, or decided
    ones."""

    series: WatchedSeries
    result: str
    reasons: tuple[str, ...]
    changes: tuple[SeriesChange, ...] = ()


@dataclass(frozen=True)
class ForgeReport:
    """The results of all series; those that fail, and those that are skipped, in JUnit XML."""

    watch: Watch
    results: tuple[SeriesResult, ...]
    failed: tuple[SeriesResult, ...]
    skipped: tuple[SeriesResult, ...]

    @property
    def explained(self) -> tuple[SeriesResult, ...]:
        """Return the results with a reason."""
        return tuple(item for item in self.results if item.reasons)

    @property
    def suite(self) -> TestSuite:
        """Return a test case for each series."""
        cases = (
            TestCase(
                item.series.title,
                " ".join(item.reasons),
                item.result if item in self.failed else "",
                item in self.skipped,
            )
            for item in self.results
        )
        return TestSuite("watch", self.watch.name, tuple(cases))


def build_forge_report(watch: Watch) -> ForgeReport:
    """Return the results of all series. An inconclusive one fails if the watch is strict, else it is skipped."""
    results = tuple(judge_series(watch))
    failing = (REGRESSION, INCONCLUSIVE) if watch.strict else (REGRESSION,)
    failed = tuple(item for item in results if item.result in failing)
    skipped = tuple(item for item in results if item.result == INCONCLUSIVE and item not in failed)
    return ForgeReport(watch, results, failed, skipped)


def judge_series(watch: Watch) -> list[SeriesResult]:
    """Return the result of each series."""
    return [_judge(watch, series) for series in watch.series]


def _judge(watch: Watch, series: WatchedSeries) -> SeriesResult:
    changes = tuple(item for item in (*watch.regressions, *watch.open_regressions) if item.series is series)
    if changes:
        return SeriesResult(series, REGRESSION, tuple(map(_describe_change, changes)), changes)
    if reasons := tuple(_iterate_doubts(watch, series)):
        return SeriesResult(series, INCONCLUSIVE, reasons)
    decided = tuple(item for item in watch.decided if item.series is series)
    return SeriesResult(series, PASSED, tuple(map(_describe_decided, decided)), decided)


def _iterate_doubts(watch: Watch, series: WatchedSeries) -> Iterator[str]:
    size = int(series.values.size)
    if size < watch.needed:
        template = "inconclusive: a change takes {needed} points, and there are {n_points}"
        yield Message("short-series", template, needed=watch.needed, n_points=size)
    if series in watch.missing:
        yield describe_missing_series(series, watch.series)
    for item in watch.suspected:
        if item.change.series is series and item.change.verdict == WORSE:
            more = "more than 60 points" if item.remaining is None else format_count(item.remaining, "more point")
            template = "inconclusive: suspected to be {word} since {moment}; {more} would settle it"
            run = item.change.first_after
            yield Message(
                "suspected-change", template, word=item.change.word, moment=run.started_at or run.id, more=more
            )


def _describe_change(change: SeriesChange) -> str:
    ratio, run = change.levels.ratio, change.first_after
    interval = "" if ratio.low is None or ratio.high is None else f" ({ratio.low:.3f} to {ratio.high:.3f})"
    times = "" if ratio.value is None else f" × {ratio.value:.3f}{interval}"
    return f"{change.word}:{times} since {run.started_at or run.id} [{change.id}]; {change.cause}"


def _describe_decided(change: SeriesChange) -> str:
    decision = change.decision
    assert decision is not None
    return f"{_describe_change(change)}; {decision.kind} by {decision.by}: {decision.because}"
