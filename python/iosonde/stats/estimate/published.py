"""A side of a comparison that is known only from a published summary."""

import math
from dataclasses import dataclass

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level

from .compare import Group
from .distributions import normal_quantile, t_critical
from .ratio import moments_from_summary


@dataclass(frozen=True)
class PublishedSummary:
    """A published summary of a side: mean, n, and either sd or an interval with its level.

    ``kind`` of the interval: ``t`` (Student) or ``z`` (normal quantile, as in many older papers).
    """

    name: str
    mean: float
    n: int
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    level: float | None = None
    kind: str = "t"

    def spread(self) -> float:
        """Return the standard deviation of a trial. Raises InputError if the summary does not determine it."""
        if self.n < 2:
            raise InputError("too-few-trials", "a summary of {n} trial has no spread", "give n of at least 2", n=self.n)
        if self.sd is not None:
            return self.sd
        if self.low is None or self.high is None or self.level is None:
            raise InputError(
                "incomplete-summary",
                "a summary needs sd, or low, high and level",
                "write mean=177.1,low=167.6,high=186.6,n=8,level=0.9",
            )
        if not self.low <= self.mean <= self.high:
            raise InputError(
                "inconsistent-summary",
                "the mean {mean:g} is not between {low:g} and {high:g}",
                "check the summary",
                mean=self.mean,
                low=self.low,
                high=self.high,
            )
        check_level(self.level)
        if self.kind not in ("t", "z"):
            raise InputError("unknown-interval-kind", "unknown kind of interval '{kind}'", "use t or z", kind=self.kind)
        by_student = self.kind == "t"
        critical = t_critical(self.level, self.n - 1) if by_student else normal_quantile(0.5 + self.level / 2)
        return (self.high - self.low) / 2 * math.sqrt(self.n) / critical


def build_published_group(summary: PublishedSummary) -> Group:
    """Build a side from a summary. Raises InputError."""
    return Group(summary.name, moments_from_summary(summary.mean, summary.spread(), summary.n))
