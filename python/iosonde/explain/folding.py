"""Test for slow operations at the same places of a period: folded, learned on one half and judged on the other."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .causes.target import Agreement, compute_agreement

Slots = npt.NDArray[np.intp]
Array = npt.NDArray[np.float64]
LONGEST = 1 << 17  # values of a series that are searched for a period
_LEAST_PERIODS = 4
_LEAST_CORRELATION = 0.1
_NEARLY = 0.75
_BINS, _PARTS_A_VALUE = 4096, 8
_PHASES = 5000  # values whose phases are compared, and lengths that are tried
_MOST_LENGTHS = 2000
_DRIFT, _USUAL = 0.03, 4.0


@dataclass(frozen=True)
class PeriodFold:
    """``slots`` of a period of ``of`` slots that hold the slow operations, in order, and their agreement."""

    slots: tuple[int, ...]
    of: int
    agreement: Agreement

    @property
    def runs(self) -> int:
        """The length of the longest run of adjacent slots, around the end."""
        mask = np.zeros(self.of, bool)
        mask[list(self.slots)] = True
        return (
            self.of
            if mask.all()
            else int((np.diff(np.flatnonzero(~np.concatenate([mask, mask])), prepend=-1) - 1).max())
        )


def find_best_slots_of_period(slow: Slots, others: Slots, of: int, prevalence: float, tried: int) -> PeriodFold:
    """Find the slots (0 … ``of`` − 1) that agree best with the slow operations. Slots are in the order of the
    operations: the first half selects, the second half judges."""
    cut_slow, cut_others = slow.size // 2, others.size // 2
    slots = _select_best_slots(slow[:cut_slow], others[:cut_others], of, prevalence)
    hit, false = np.isin(slow[cut_slow:], slots), np.isin(others[cut_others:], slots)
    score = compute_agreement(int(hit.sum()), hit.size, int(false.sum()), false.size, prevalence, tried)
    return PeriodFold(tuple(sorted(slots.tolist())), of, score)


def _select_best_slots(slow: Slots, others: Slots, of: int, prevalence: float) -> Slots:
    """Select the slots by falling share of slow operations that agree best with them."""
    recall = np.bincount(slow, minlength=of) / max(slow.size, 1)
    alarms = np.bincount(others, minlength=of) / max(others.size, 1)
    weight = prevalence * recall + (1 - prevalence) * alarms
    order = np.argsort(-np.divide(prevalence * recall, weight, out=np.zeros(of), where=weight > 0), kind="stable")
    hits, false = np.cumsum(recall[order]), np.cumsum(alarms[order])
    positives = prevalence * hits + (1 - prevalence) * false
    alike = prevalence * hits + (1 - prevalence) * (1 - false)
    chance = prevalence * positives + (1 - prevalence) * (1 - positives)
    return order[: int(np.divide(alike - chance, 1 - chance, out=np.zeros(of), where=chance < 1).argmax()) + 1]


def find_shortest_period(series: Array) -> int | None:
    """Return the shortest period of a series, in its steps, by the autocorrelation of its first 131,072 values; None
    unless a period occurs four times."""
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
    return None if not peaks.size else int(peaks[correlation[peaks] >= _NEARLY * correlation[peaks].max()][0])


def list_candidate_periods(at: npt.NDArray[Any], reach: float) -> list[float]:
    """Return candidate periods of values between 0 and ``reach`` (moments, places).

    The autocorrelation of counts in parts of the reach gives a period, refined to the best agreement of phases. Its
    half and third are added, as a period between two parts shows at its multiples."""
    n_bins = int(np.clip(_PARTS_A_VALUE * at.size, _BINS, LONGEST))
    width = reach / n_bins
    counts = np.bincount(np.minimum((at / width).astype(np.intp), n_bins - 1), minlength=n_bins)
    steps = find_shortest_period(np.convolve(np.minimum(counts, 3), (0.25, 0.5, 0.25), "same"))
    if steps is None or steps < 3:
        return []
    some = at[:: max(1, at.size // _PHASES)].astype(float)
    return [_refine_length(some, steps * width / part, width / part, reach) for part in (1, 2, 3) if steps >= 3 * part]


def _refine_length(some: Array, near: float, width: float, reach: float) -> float:
    """Refine the length within ``width`` of ``near`` to the best agreement of phases, without drift."""
    tried = np.linspace(near - width, near + width, int(np.clip(16 * width * reach / near**2, 21, _MOST_LENGTHS)))
    length = float(tried[int(np.argmax([_measure_alignment(some / length) for length in tried]))])
    phase = compute_phases(some, length)
    usual = ~np.isnan(phase)
    number = np.round(some / length - phase)[usual]
    slope = float(np.polyfit(number, some[usual], 1)[0]) if np.ptp(number) else length
    return slope if abs(slope / length - 1) < _DRIFT else length


def _measure_alignment(turns: Array) -> float:
    """Measure the alignment: the length of the sum of their unit vectors, to six digits."""
    angles = ((turns - np.floor(turns)) * (2 * np.pi)).astype(np.float32)
    return math.hypot(float(np.cos(angles).sum()), float(np.sin(angles).sum()))


def compute_phases(at: npt.NDArray[Any], length: float) -> Array:
    """Return the phase of each value in the period, in turns around their mean. NaN for outliers: another cause would
    bias a line or an edge."""
    turns = at / length
    middle = float(np.angle(np.exp(2j * np.pi * turns).sum()) / (2 * np.pi))
    phase = (turns - middle + 0.5) % 1.0 - 0.5
    away = np.abs(phase - np.median(phase))
    return np.where(away <= _USUAL * np.median(away), middle + phase, np.nan)
