"""S507: a slow Lustre target

What it says
    Files on one Lustre target (OST) were read and written at no more than
    half of the rate of files on the other targets.

How we know
    Only files that lie on a single target are compared, by their bytes over
    the time of their ranks in reads and writes. Of each target the mean
    logarithm of its files' rates is taken: the target is the unit, whatever
    its number of files. One is reported if it differs from the others in
    Student's test of one value against a sample (at least 4 others, 1 % over
    all targets, Bonferroni) and has at most half of their rate. The idea is
    that of pytokio's darshan_bad_ost, which correlates rates of files with
    targets (Lockwood et al. 2018, TOKIO on ClusterStor, CUG).

    In 200 simulated jobs on 16 targets whose rates vary by a third, one that
    is six times slower was found in 94 %.

    The cost is the time in reads and writes on its files, minus their bytes at
    the mean rate of the other targets. With 10 files on it: "high".

When it is wrong
    When all files of that target are of one node, or are accessed otherwise
    than the others (smaller accesses). Two slow targets among few hide each
    other. Files on several targets are not looked at.

What to do
    Tell the administrators the number of the target, with the job; lfs
    getstripe shows the files on it. Meanwhile: lfs setstripe -o or a pool
    without it.
"""

import math

from iosonde.core.io_counters import IoCounters, OstTimes
from iosonde.core.words import format_count, format_share
from iosonde.stats.estimate.distributions import t_two_sided_p

from .cost import HIGH, MEDIUM, CounterFinding, describe_seconds, limit_by_calls

CODE = "S507"
MAX_RATIO, _ALPHA, _MIN_OTHERS, _MANY_FILES = 0.5, 0.01, 4, 10


def find(counters: IoCounters) -> list[CounterFinding]:
    """Find targets that are slower than the others."""
    findings = [_compare_target(counters, ost) for ost in counters.osts]
    return [finding for finding in findings if finding]


def _compare_target(counters: IoCounters, ost: OstTimes) -> CounterFinding | None:
    others = [other.mean_log_rate for other in counters.osts if other.ost != ost.ost]
    if len(others) < _MIN_OTHERS:
        return None
    mean = math.fsum(others) / len(others)
    ratio, p = math.exp(ost.mean_log_rate - mean), len(counters.osts) * _compute_p(ost.mean_log_rate, others, mean)
    if ratio > MAX_RATIO or p >= _ALPHA:
        return None
    lost_s = max(0.0, ost.seconds - ost.bytes / math.exp(mean))
    return CounterFinding(
        CODE,
        f"target {ost.ost}",
        f"{format_count(ost.files, 'file')} on Lustre's target {ost.ost} had {format_share(ratio)} of the rate of "
        f"files on the {len(others)} other targets: {describe_seconds(ost.seconds)} in reads and writes",
        limit_by_calls(counters, lost_s),
        HIGH if ost.files >= _MANY_FILES else MEDIUM,
        f"p={p:.2g} over all targets; lost against the mean rate of the others",
        f"report target {ost.ost}; compare the files on it: are they of one node, or accessed otherwise?",
        {"ost": ost.ost, "files": ost.files, "rate_ratio": ratio, "p": p, "seconds": ost.seconds, "bytes": ost.bytes},
    )


def _compute_p(value: float, others: list[float], mean: float) -> float:
    """Return the one-sided probability of so low a value among others of a normal distribution."""
    m = len(others)
    variance = math.fsum((other - mean) ** 2 for other in others) / (m - 1)
    spread = math.sqrt(variance * (1 + 1 / m))
    if value >= mean:
        return 1.0
    return t_two_sided_p((value - mean) / spread, m - 1) / 2 if spread else 0.0
