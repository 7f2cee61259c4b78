"""What a corpus is asked besides its spread, in sentences."""

from collections.abc import Iterator, Mapping, Sequence

from iosonde.core.estimate_text import format_estimate
from iosonde.core.types import Estimate
from iosonde.core.units import format_significant
from iosonde.core.words import format_count, format_decimals

from .dependence import Dependence, PairState
from .ratios import SystemRatios
from .topics import BALANCE, OPEN_CLOSE, WEAR_OUT
from .validity import RunState, Validity


def describe_validity(validity: Validity) -> Iterator[str]:
    """Yield how many runs are valid, and whose score is the best."""
    if validity.submissions:
        yield _describe_validity(validity)


def describe_dependence(dependence: Dependence) -> Iterator[str]:
    """Yield how many pairs of phases go together, and which most."""
    if dependence.tests:
        yield _describe_dependence(dependence)


def describe_ratios(ratios: Mapping[str, Sequence[SystemRatios]]) -> Iterator[str]:
    """Yield the largest ratio of each topic."""
    if ratio := _find_largest(ratios.get(OPEN_CLOSE, ())):
        high = format_significant(100 * (ratio.high.value or 0.0), 2)
        yield f"In a tenth of the systems {ratio.what} takes more than {high} % of {ratio.operation}."
    if ratio := _find_largest(ratios.get(WEAR_OUT, ())):
        yield (
            f"Stragglers cost most in {ratio.operation}: it takes {_format_times(ratio.median)} its stonewall in the "
            f"median system, and more than {format_significant(ratio.high.value or 0.0)} times in a tenth of them."
        )
    if ratio := _find_largest(ratios.get(BALANCE, ())):
        most = f"{ratio.operation}, {ratio.what}"
        yield f"Least even is {most}: the largest is {_format_times(ratio.median)} the mean in the median system."


def _describe_validity(validity: Validity) -> str:
    counts = validity.counts
    valid = f"{counts[RunState.VALID]} of {format_count(len(validity.submissions), 'run')} are valid"
    best = validity.submissions[0]
    name = next(iter(validity.units), "")
    if not name or name not in best.scores:
        return f"{valid}."
    return f"{valid}; the best {name} is that of {', '.join(best.settings)}."


def _describe_dependence(dependence: Dependence) -> str:
    remaining, by_size = (dependence.list_pairs(state) for state in (PairState.REMAINS, PairState.BY_SIZE))
    count = f"Of {format_count(len(dependence.pairs), 'pair')} of phases {len(remaining)} go together"
    also = f" per {dependence.per} and at equal {dependence.per}s" if dependence.per else ""
    size = f", {len(by_size)} more by the number of {dependence.per}s only" if by_size else ""
    if not remaining:
        return f"{count}{also}{size}."
    pair = remaining[0]
    rho = format_decimals(pair.deciding.rho.value or 0.0, 2)
    return f"{count}{also}{size}; the closest are {' and '.join(pair.names)} (ρ {rho})."


def _find_largest(ratios: Sequence[SystemRatios]) -> SystemRatios | None:
    """Return the ratio over all systems with the largest ninth tenth."""
    overall = [ratio for ratio in ratios if not ratio.level]
    return max(overall, key=lambda ratio: ratio.high.value or 0.0, default=None)


def _format_times(estimate: Estimate) -> str:
    return f"{format_estimate(estimate, '')} times"
