"""Is something slow at the same places of a period? Folded upon itself, learned on one half and judged on the other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .causes.target import Agreement, agreement

Slots = npt.NDArray[np.intp]
Array = npt.NDArray[np.float64]
LONGEST = 1 << 17  # values of a series that are looked at for a period
_LEAST_PERIODS = 4
_LEAST_CORRELATION = 0.1
_NEARLY = 0.75


@dataclass(frozen=True)
class PeriodFold:
    """``slots`` of a period that hold the slow operations, in order, of so many; how well they tell them."""

    slots: tuple[int, ...]
    of: int
    agreement: Agreement

    @property
    def runs(self) -> int:
        """How many slots follow each other in the longest run, around the end."""
        named = np.zeros(self.of, bool)
        named[list(self.slots)] = True
        if named.all():
            return self.of
        lengths = np.diff(np.flatnonzero(~np.concatenate([named, named])), prepend=-1) - 1
        return int(lengths.max())


def fold(slow: Slots, others: Slots, of: int, prevalence: float, tried: int) -> PeriodFold:
    """The slots (0 … ``of`` − 1) that tell slow operations best. Slots are in the order of the operations: the first
    half says which, the second how well."""
    cut_slow, cut_others = slow.size // 2, others.size // 2
    named = _best_slots(slow[:cut_slow], others[:cut_others], of, prevalence)
    hit, false = np.isin(slow[cut_slow:], named), np.isin(others[cut_others:], named)
    found = agreement(int(hit.sum()), hit.size, int(false.sum()), false.size, prevalence, tried)
    return PeriodFold(tuple(sorted(named.tolist())), of, found)


def _best_slots(slow: Slots, others: Slots, of: int, prevalence: float) -> Slots:
    """Those, by falling share of slow operations, that agree with them most."""
    recall = np.bincount(slow, minlength=of) / max(slow.size, 1)
    alarms = np.bincount(others, minlength=of) / max(others.size, 1)
    weight = prevalence * recall + (1 - prevalence) * alarms
    order = np.argsort(-np.divide(prevalence * recall, weight, out=np.zeros(of), where=weight > 0), kind="stable")
    hits, false = np.cumsum(recall[order]), np.cumsum(alarms[order])
    named = prevalence * hits + (1 - prevalence) * false
    alike = prevalence * hits + (1 - prevalence) * (1 - false)
    chance = prevalence * named + (1 - prevalence) * (1 - named)
    kappa = np.divide(alike - chance, 1 - chance, out=np.zeros(of), where=chance < 1)
    return order[: int(kappa.argmax()) + 1]


def period(series: Array) -> int | None:
    """The shortest period of a series, in its steps, by the autocorrelation of its first 131,072 values; None where it
    has none that is seen four times."""
    x = series[:LONGEST] - series[:LONGEST].mean()
    most = x.size // _LEAST_PERIODS
    if most < 3 or not x.any():
        return None
    length = 1 << (2 * x.size - 1).bit_length()
    transformed = np.fft.rfft(x, length)
    correlation = np.fft.irfft(transformed * np.conj(transformed), length)[: most + 1]
    correlation *= x.size / (correlation[0] * (x.size - np.arange(most + 1)))
    inner = correlation[1:-1]
    peaks = np.flatnonzero((inner > correlation[:-2]) & (inner >= correlation[2:])) + 1
    peaks = peaks[(peaks >= 2) & (correlation[peaks] > _LEAST_CORRELATION)]
    if not peaks.size:
        return None
    return int(peaks[correlation[peaks] >= _NEARLY * correlation[peaks].max()][0])
