"""The test that decides whether two means differ, on the scale that shows it: for all commands.

Welch's t test of the means makes no assumption on equal spread, and keeps its level with few skewed trials of one
shape. Where noise multiplies, it hides what logarithms show: of two levels far apart the spread of the greater one
alone counts, with the degrees of freedom of that side. So beyond a ratio of 2 the smaller p decides, of Welch's test
of the values and that of their logarithms. Below that ratio logarithms find little more, and sides of another shape
differ in their logarithms though their means are equal. False alarms and power: docs/method/intervals.md.
"""

import math
from dataclasses import dataclass, replace

from iosonde.core.types import Estimate

from .distributions import t_critical, t_two_sided_p
from .ratio import Moments, compute_welch_df

LEAST_LOG_RATIO = math.log(2) + 1e-9  # of the means, beyond which logarithms may decide; a ratio of 2 is not


@dataclass(frozen=True)
class MeansTest:
    """A t test of equal means: ``t`` of A - B, None if neither side varies. ``on_logarithms``: of the values' logs."""

    t: float | None
    df: float
    on_logarithms: bool = False

    @property
    def p(self) -> float | None:
        """Return the two-sided p."""
        return None if self.t is None else t_two_sided_p(self.t, self.df)

    def rejects(self, level: float) -> bool:
        """Return whether the means differ at this level."""
        return self.p is not None and self.p < 1 - level


def run_means_test(a: Moments, b: Moments) -> MeansTest:
    """Test whether the means differ, by the deciding scale."""
    plain = run_welch_test(a, b)
    if a.log_mean is None or b.log_mean is None or a.log_sd is None or b.log_sd is None or min(a.mean, b.mean) <= 0:
        return plain
    t, df = _compute_welch_t((a.log_mean, a.log_sd, a.n), (b.log_mean, b.log_sd, b.n))
    logs = MeansTest(t, df, on_logarithms=True)
    is_same_way = (a.mean - b.mean) * (a.log_mean - b.log_mean) > 0
    return logs if do_logarithms_decide(plain.p, logs.p, math.log(b.mean / a.mean), is_same_way) else plain


def run_welch_test(a: Moments, b: Moments) -> MeansTest:
    """Run Welch's t test of the values themselves."""
    return MeansTest(*_compute_welch_t((a.mean, a.sd, a.n), (b.mean, b.sd, b.n)))


def do_logarithms_decide(p: float | None, p_logs: float | None, log_ratio: float, is_same_way: bool) -> bool:
    """Return whether the test of logarithms decides. ``log_ratio`` is that of the means, of the extreme ones of
    several; ``is_same_way``: the means and those of the logarithms differ in the same direction."""
    return p is not None and p_logs is not None and p_logs < p and is_same_way and abs(log_ratio) > LEAST_LOG_RATIO


def agree_with_test(ratio: Estimate, test: MeansTest) -> Estimate:
    """Return the interval of a ratio B ÷ A with 1 inside if and only if the test does not reject it.

    Where they disagree, the end towards 1 is that of the test's own interval, ln r ± t·se with the standard error
    se = ln r ÷ t of the observed ratio r; it excludes 1 where the test does.
    """
    if ratio.value is None or ratio.low is None or ratio.high is None or test.t is None:
        return ratio
    if (ratio.low <= 1 <= ratio.high) is not test.rejects(ratio.level):
        return ratio
    share = t_critical(ratio.level, test.df) / abs(test.t)
    near, far = ratio.value ** (1 - share), ratio.value ** (1 + share)
    return (
        replace(ratio, low=near, high=max(far, ratio.high))
        if ratio.value > 1
        else replace(ratio, low=min(far, ratio.low), high=near)
    )


def _compute_welch_t(a: tuple[float, float, int], b: tuple[float, float, int]) -> tuple[float | None, float]:
    """Return Welch's (t, degrees of freedom) of two sides (mean, sd, n)."""
    (mean_a, sd_a, n_a), (mean_b, sd_b, n_b) = a, b
    error = math.sqrt(sd_a**2 / n_a + sd_b**2 / n_b)
    return None if error == 0 else (mean_a - mean_b) / error, compute_welch_df(sd_a**2, n_a, sd_b**2, n_b)
