"""Rules by which a measurement agrees with a published number, for systems of any age.

Numbers of other hardware differ; their signs, rankings and shares of a bound can be compared, and on one scale their
intervals. An agreement needs evidence: a measured interval that leaves a verdict open is inconclusive.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from iosonde.core.types import Estimate
from iosonde.importers.published_figures import PrintedNumber
from iosonde.stats.estimate.rank_correlation import compute_mean_ranks

Array = npt.NDArray[np.float64]

SIGNIFICANCE = 0.05
# Shares of a bound within 5 points are the same.
SHARE_MARGIN = 0.05
# An interval that reaches further from its value than this share of the published one is no evidence of agreement.
MAX_HALF_WIDTH = 0.5
# Up to 8 values all orders are tried (40,320), of more a sample with a seed.
_MOST_EXACT, _N_SAMPLES, _SEED = 8, 20_000, 1


_DIGITS = re.compile(r"(?<![\d.,])(?:\d+\.?\d*|\.\d+)(?![\d,])")


class PublishedOutcome(StrEnum):
    """Verdict on a published number."""

    SAME_SIGN = "same sign"
    SAME_RANKING = "same ranking"
    INSIDE_INTERVAL = "inside the interval"
    SAME_SHARE = "same share"
    NO_EFFECT = "no effect"
    KEPT = "promise kept"
    RECOMPUTED = "recomputed"
    CONTRADICTED = "contradicted"
    INCONCLUSIVE = "inconclusive"
    NOT_COMPARABLE = "not comparable"
    NOT_MEASURED = "not measured"
    DOCUMENT_WRONG = "the document is wrong"


@dataclass(frozen=True)
class PublishedVerdict:
    """A verdict. ``p``: share of all orders that are as similar (or as opposite), of a ranking."""

    outcome: PublishedOutcome
    p: float | None = None
    rho: float | None = None


def judge_printed(number: PrintedNumber) -> PublishedVerdict:
    """Judge a number with which nothing was compared: it is wrong by its own document, or was not measured."""
    return PublishedVerdict(PublishedOutcome.NOT_MEASURED if number.slip is None else PublishedOutcome.DOCUMENT_WRONG)


def judge_recomputed(number: PrintedNumber, computed: float) -> PublishedVerdict:
    """Compare a number with what follows from the document's own numbers, in the printed unit and to the last printed
    digit. A slip must be one: the printed number differs, and the right one does not."""
    follows = _is_rounded(computed, number.value, _find_step(number))
    if number.slip is None:
        return PublishedVerdict(PublishedOutcome.RECOMPUTED if follows else PublishedOutcome.CONTRADICTED)
    right = number.right_value
    is_right = right is None or _is_rounded(computed, right, _count_step(f"{right:g}"))
    return PublishedVerdict(
        PublishedOutcome.DOCUMENT_WRONG if is_right and not follows else PublishedOutcome.CONTRADICTED
    )


def _is_rounded(computed: float, printed: float, step: float) -> bool:
    return abs(computed - printed) <= 0.5 * step * (1 + 1e-6)


def _find_step(number: PrintedNumber) -> float:
    """Return one unit of the last digit that is meant: 0.01 for ``6.80``, 1 where the text has no plain number."""
    if number.digits is not None and number.value:
        return 10.0 ** (math.floor(math.log10(abs(number.value))) + 1 - number.digits)
    tokens = _DIGITS.findall(" ".join(number.words))
    return min((_count_step(token) for token in tokens if float(token) == abs(number.value)), default=1.0)


def _count_step(token: str) -> float:
    return 10.0 ** -len(token.partition(".")[2])


def judge_sign(published: Estimate, measured: Estimate, neutral: float = 0.0) -> PublishedVerdict:
    """Compare the sides of ``neutral`` (0 of a difference, 1 of a ratio) on which two effects are. An interval that
    contains it leaves the sign open."""
    signs = [_find_sign(effect, neutral) for effect in (published, measured)]
    if 0 in signs:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    return PublishedVerdict(PublishedOutcome.SAME_SIGN if signs[0] == signs[1] else PublishedOutcome.CONTRADICTED)


def _find_sign(effect: Estimate, neutral: float) -> int:
    """Return 1 or -1, 0 if unknown. A published effect may have no interval; its value counts then."""
    low = effect.value if effect.low is None else effect.low
    high = effect.value if effect.high is None else effect.high
    if low is None or high is None:
        return 0
    return 1 if low > neutral else -1 if high < neutral else 0


def judge_interval(published: Estimate, measured: Estimate) -> PublishedVerdict:
    """Compare two estimates on one scale: the measured value is inside the published interval (or, without one, the
    published value inside the measured one), outside, or the intervals overlap. A measured interval that reaches half
    the published value away is inconclusive."""
    if published.value is None or measured.value is None:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    outer, inner = (measured, published) if published.low is None else (published, measured)
    if outer.low is None or outer.high is None or inner.value is None:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    if outer.low <= inner.value <= outer.high:
        is_vague = _is_vague(measured, published.value)
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE if is_vague else PublishedOutcome.INSIDE_INTERVAL)
    if inner is measured and (inner.low is None or inner.high is None):
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    low, high = inner.value if inner.low is None else inner.low, inner.value if inner.high is None else inner.high
    is_apart = high < outer.low or low > outer.high
    return PublishedVerdict(PublishedOutcome.CONTRADICTED if is_apart else PublishedOutcome.INCONCLUSIVE)


def _is_vague(measured: Estimate, published: float) -> bool:
    """Return whether a measured interval is too wide to confirm anything about a published value."""
    ends = [end for end in (measured.low, measured.high) if end is not None and measured.value is not None]
    return any(abs(end - (measured.value or 0.0)) > MAX_HALF_WIDTH * abs(published) for end in ends)


def judge_promise(limit: float, relation: str, measured: Estimate) -> PublishedVerdict:
    """Judge a promise of ``at_least`` or ``at_most`` a limit: kept if the whole measured interval fulfils it,
    contradicted if none of it does."""
    if measured.low is None or measured.high is None:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    sign = 1 if relation == "at_least" else -1
    ends = [sign * (end - limit) >= 0 for end in (measured.low, measured.high)]
    if all(ends):
        return PublishedVerdict(PublishedOutcome.KEPT)
    return PublishedVerdict(PublishedOutcome.INCONCLUSIVE if any(ends) else PublishedOutcome.CONTRADICTED)


def judge_absence(measured: Estimate, least: float) -> PublishedVerdict:
    """Judge a published effect of about 0: confirmed if the whole measured interval is within ± ``least``, contradicted
    if none of it is. An interval that only contains 0 leaves it open."""
    if measured.low is None or measured.high is None:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    if -least <= measured.low and measured.high <= least:
        return PublishedVerdict(PublishedOutcome.NO_EFFECT)
    is_apart = measured.high < -least or measured.low > least
    return PublishedVerdict(PublishedOutcome.CONTRADICTED if is_apart else PublishedOutcome.INCONCLUSIVE)


def judge_share(published: float, measured: Estimate, margin: float = SHARE_MARGIN) -> PublishedVerdict:
    """Compare shares of each system's own bound: the same if the whole measured interval is within ``margin`` of the
    published share, contradicted if none of it is."""
    if measured.low is None or measured.high is None:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    if published - margin <= measured.low and measured.high <= published + margin:
        return PublishedVerdict(PublishedOutcome.SAME_SHARE)
    is_apart = measured.high < published - margin or measured.low > published + margin
    return PublishedVerdict(PublishedOutcome.CONTRADICTED if is_apart else PublishedOutcome.INCONCLUSIVE)


def judge_ranking(published: Sequence[float], measured: Sequence[float]) -> PublishedVerdict:
    """Compare the orders of the same settings by a permutation test of Spearman's ρ, one-sided each way.

    Three settings cannot be significant: each of six orders has p ≥ 1/6. Raises ValueError for unequal lengths.
    """
    if len(published) != len(measured):
        raise ValueError("a ranking needs a measured value for each published one")
    ranks = [_center_ranks(values) for values in (published, measured)]
    scale = math.sqrt(float(ranks[0] @ ranks[0]) * float(ranks[1] @ ranks[1]))
    if scale == 0:
        return PublishedVerdict(PublishedOutcome.INCONCLUSIVE)
    rho = float(ranks[0] @ ranks[1]) / scale
    others = _permute(ranks[1]) @ ranks[0] / scale
    p_same, p_opposite = float(np.mean(others >= rho - 1e-9)), float(np.mean(others <= rho + 1e-9))
    if p_same <= SIGNIFICANCE:
        return PublishedVerdict(PublishedOutcome.SAME_RANKING, p_same, rho)
    if p_opposite <= SIGNIFICANCE:
        return PublishedVerdict(PublishedOutcome.CONTRADICTED, p_opposite, rho)
    return PublishedVerdict(PublishedOutcome.INCONCLUSIVE, min(p_same, p_opposite), rho)


def _center_ranks(values: Sequence[float]) -> Array:
    ranks: Array = compute_mean_ranks(np.asarray(values, dtype=np.float64))
    centered: Array = ranks - ranks.mean()
    return centered


def _permute(ranks: Array) -> Array:
    """Return orders of the ranks, one a row: all of them, or the given one and a sample."""
    if len(ranks) <= _MOST_EXACT:
        return np.array(list(itertools.permutations(ranks)))
    rng = np.random.default_rng(_SEED)
    sample = rng.permuted(np.tile(ranks, (_N_SAMPLES, 1)), axis=1)
    return np.vstack([ranks, sample])
