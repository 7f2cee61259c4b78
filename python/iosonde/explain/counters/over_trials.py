"""Findings from the counters of several trials at one setting: in how many trials each is, and what it costs in the
mean."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.io_counters import IoCounters
from iosonde.core.types import Estimate, FactorValue, Finding, Severity
from iosonde.stats.estimate.summarise import estimate_mean

from . import find_patterns
from .cost import CounterFinding
from .files import FileShares, iterate_files
from .s508_buffered_io import describe_amounts

# Of the time of the job: findings that can have cost less are information.
MIN_COST = 0.01


@dataclass(frozen=True)
class PatternOverTrials:
    """A finding of the trial in which it can have cost most, and its costs over the ``n_matching`` trials that have it.

    ``rank_s``, ``io_share`` and ``elapsed_s`` are upper limits as in ``CostLimit``; without a value if unknown.
    """

    finding: CounterFinding
    n_matching: int
    rank_s: Estimate
    io_share: Estimate
    elapsed_s: Estimate
    severity: Severity

    def to_json(self) -> dict[str, Any]:
        """Return the stable form."""
        finding = self.finding
        head = Finding(finding.code, self.severity, finding.sentence, dict(finding.evidence), finding.action).to_json()
        return {
            **head,
            "part": finding.part,
            "confidence": finding.confidence,
            "grounds": finding.grounds,
            "trials": self.n_matching,
            "rank_s": self.rank_s.to_json(),
            "io_share": self.io_share.to_json(),
            "elapsed_s": self.elapsed_s.to_json(),
        }


@dataclass(frozen=True)
class CounterDiagnosis:
    """Patterns in the counters of all trials at one setting, the most costly first. Of the last trial are ``counters``
    and ``files``, those that took most time."""

    setting: tuple[tuple[str, FactorValue], ...]
    setting_words: str
    trials: int
    counters: IoCounters
    files: tuple[FileShares, ...]
    patterns: tuple[PatternOverTrials, ...]

    @property
    def buffered_words(self) -> str:
        """Return what went through the C library's buffers, '' if nothing did."""
        return describe_amounts(self.counters.buffered) if self.counters.buffered else ""

    def to_json(self) -> dict[str, Any]:
        """Return the stable form."""
        counters = self.counters
        return {
            "setting": dict(self.setting),
            "trials": self.trials,
            "ranks": counters.ranks,
            "seconds": counters.seconds or None,
            "io_s": counters.io_seconds,
            "slowest_rank_s": counters.slowest_s,
            "counts": {name: value for name in counters.counted if (value := counters.total(name))},
            "files": [file.to_json() for file in self.files],
            "buffered": asdict(counters.buffered) if counters.buffered else None,
            "findings": [pattern.to_json() for pattern in self.patterns],
        }

    def records(self) -> Iterator[dict[str, Any]]:
        """Yield a row per finding."""
        for pattern in self.patterns:
            finding = pattern.finding
            yield {
                **dict(self.setting),
                "code": finding.code,
                "part": finding.part,
                "confidence": finding.confidence,
                "trials": pattern.n_matching,
                **pattern.rank_s.flat("rank_s"),
                **pattern.elapsed_s.flat("elapsed_s"),
                "sentence": finding.sentence,
                "action": finding.action,
            }


def diagnose_trials(
    setting: Mapping[str, FactorValue], setting_words: str, trials: Sequence[IoCounters], level: float
) -> CounterDiagnosis:
    """Diagnose the counters of the ``trials`` at one setting."""
    findings: dict[tuple[str, str], list[tuple[CounterFinding, IoCounters]]] = {}
    for counters in trials:
        for finding in find_patterns(counters):
            findings.setdefault((finding.code, finding.part), []).append((finding, counters))
    patterns = [_combine_trials(matching, level) for matching in findings.values()]
    return CounterDiagnosis(
        tuple(setting.items()),
        setting_words,
        len(trials),
        trials[-1],
        tuple(iterate_files(trials[-1])),
        tuple(sorted(patterns, key=lambda pattern: -(pattern.elapsed_s.value or 0.0))),
    )


def _combine_trials(matching: Sequence[tuple[CounterFinding, IoCounters]], level: float) -> PatternOverTrials:
    worst, _ = max(matching, key=lambda pair: pair[0].cost.elapsed_s or 0.0)
    costs = [finding.cost for finding, _ in matching]
    shares = [
        finding.cost.elapsed_s / counters.seconds
        for finding, counters in matching
        if finding.cost.elapsed_s is not None and counters.seconds
    ]
    is_small = bool(shares) and max(shares) < MIN_COST
    return PatternOverTrials(
        worst,
        len(matching),
        _estimate([cost.rank_s for cost in costs], level),
        _estimate([cost.io_share for cost in costs], level).within(0.0, 1.0),
        _estimate([cost.elapsed_s for cost in costs], level),
        Severity.INFO if is_small else Severity.WARNING,
    )


def _estimate(values: Sequence[float | None], level: float) -> Estimate:
    """Return the mean over trials; without a value if one trial has none."""
    available = [value for value in values if value is not None]
    if len(available) < len(values):
        return Estimate(None, None, None, level, 0)
    return estimate_mean(available, level).within(0.0)
