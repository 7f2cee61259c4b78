"""Upper limit of a rate by probes of several nodes."""

from collections.abc import Sequence
from dataclasses import dataclass

from iosonde.core.types import Estimate

_MARGIN = 1.5  # a probe may not reach the full rate


@dataclass(frozen=True)
class ProbedLimit:
    """``bytes_per_s``: the sum over all nodes of a run of the probes' means, as ``bound`` has it, ``highest`` that of
    their upper ends; ``what`` describes the limiting part."""

    bytes_per_s: float
    highest: float
    what: str

    def is_exceeded_by(self, bytes_per_s: float) -> bool:
        """Return whether a rate is far above the mean, and outside its interval."""
        return bytes_per_s > max(_MARGIN * self.bytes_per_s, self.highest)


def sum_best(nodes: Sequence[Sequence[Estimate]], what: str) -> ProbedLimit | None:
    """Sum the best of the estimates of each node; None if a node has none."""
    means = [max((each.value or 0.0 for each in estimates), default=0.0) for estimates in nodes]
    ends = [max((each.high or each.value or 0.0 for each in estimates), default=0.0) for estimates in nodes]
    return ProbedLimit(sum(means), sum(ends), what) if all(means) else None
