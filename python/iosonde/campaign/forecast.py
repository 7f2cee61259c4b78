"""Expected duration of a campaign, before it starts: from measured trials, else from sizes and speeds.

Sources for a cell, best first: the median of its own earlier trials; the speeds, corrected by earlier trials of other
cells (part of their time may be constant, as commands that set a factor); the median of all earlier trials, if the
moved data is unknown; the speeds. Unmeasured speeds are a guess, so they are always shown.

The time until a lab has healed from its faults and settled does not depend on the moved data. It comes from trials with
the same faults, else from those with others.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import linear_regression, median
from typing import Any

from iosonde.core import expression
from iosonde.core.errors import InputError
from iosonde.core.faults import PlannedFault
from iosonde.core.message import Message, restore_message
from iosonde.core.schema import CENTRE
from iosonde.core.types import FactorValue, Trial

from .pacing import NO_PACE, Pacing

MEASURED, SCALED, ALIKE, GUESSED, UNKNOWN = "measured", "scaled", "alike", "guessed", "unknown"
_KINDS = (MEASURED, SCALED, ALIKE, GUESSED, UNKNOWN)
Cell = Mapping[str, FactorValue]
Waits = Callable[[Cell], "LabWait | None"]
SpeedsOf = Callable[[Cell], "Speeds"]


@dataclass(frozen=True)
class TrialWork:
    """Work of one trial over all ranks: bytes read and written, files created, opened, or removed; ``n_written`` of the
    bytes are written, if known."""

    n_bytes: float
    n_files: float = 0.0
    n_written: float = 0.0


@dataclass(frozen=True)
class Speeds:
    """Speeds of all ranks together. ``start_s`` is the constant time of a trial (processes, MPI, clocks).
    ``written_per_s``: rate of writes, if slower, as a client sends several copies."""

    bytes_per_s: float = 200e6
    files_per_s: float = 2000.0
    start_s: float = 1.5
    written_per_s: float | None = None

    def seconds(self, work: TrialWork) -> float:
        """Return the seconds of a trial with this work."""
        read_s = transfer_seconds(work.n_bytes - work.n_written, self.bytes_per_s)
        written_s = transfer_seconds(work.n_written, self.written_per_s or self.bytes_per_s)
        return self.start_s + read_s + written_s + work.n_files / self.files_per_s


@dataclass(frozen=True)
class FinishedTrial:
    """A finished trial: the factors of its run, and its duration; ``lab_s`` of that until its lab had healed and
    settled."""

    factors: Cell
    seconds: float
    lab_s: float = 0.0


@dataclass(frozen=True)
class LabWait:
    """Events that a trial's lab waits for: healing from these faults, and settling."""

    faults: tuple[PlannedFault, ...] = ()
    settles: bool = False

    def __bool__(self) -> bool:
        return self.settles or bool(self.faults)


@dataclass(frozen=True)
class Forecast:
    """Seconds of each trial, in order (None: unknown), and their source in words."""

    seconds: list[float | None]
    basis: Message
    pacing: Pacing = NO_PACE

    @property
    def total_s(self) -> float:
        """The time of all trials with a known duration, with the breaks between them."""
        return self.pacing.total_s(sum(seconds for seconds in self.seconds if seconds is not None), len(self.seconds))

    @property
    def unknown(self) -> int:
        """Trials with an unknown duration; the total does not include them."""
        return self.seconds.count(None)


def transfer_seconds(n_bytes: float, bytes_per_s: float) -> float:
    """Divide size by speed. Raises InputError for a speed that is not above 0."""
    if not bytes_per_s > 0:
        raise InputError(
            "out-of-range", "the speed is {bytes_per_s:g} bytes/s", "give a speed above 0", bytes_per_s=bytes_per_s
        )
    return n_bytes / bytes_per_s


def forecast_trials(
    trials: Sequence[Trial],
    measured: Sequence[FinishedTrial],
    work: Callable[[Cell], TrialWork | None],
    speeds: Speeds | SpeedsOf | None = None,
    besides: int = 0,
    waits: Waits | None = None,
) -> Forecast:
    """Predict the seconds of all trials.

    ``measured``: finished trials of the same workload on the same target. ``work`` of a cell is None if it is unknown.
    ``speeds`` None: the guess; a function: a better guess, cell by cell. ``besides``: commands that no speed covers.
    ``waits``: waits of a cell's lab, None without a lab, or if unknown for an earlier trial."""
    expected = build_estimator(measured, work, speeds, waits)
    estimates = [expected(trial.factors) for trial in trials]
    counts = Counter(why for _, why in estimates)
    words = _describe_basis(counts, len(measured), speeds, trials)
    n_besides = besides if counts[GUESSED] else 0
    if n_besides:
        words += f", without the time of {besides} command{'s' if besides > 1 else ''} per trial"
    is_without_lab = bool(counts[GUESSED] and waits and any(waits(trial.factors) for trial in trials))
    if is_without_lab:
        words += ", without the time until the lab has healed and settled"
    values = {
        **dict.fromkeys(_KINDS, 0),
        **counts,
        "n_measured": len(measured),
        "speeds": _format_rates(speeds, trials),
        "n_commands": n_besides,
        "is_without_lab": is_without_lab,
        "is_sent_by_clients": _is_sent_by_clients(speeds, trials),
    }
    return Forecast([seconds for seconds, _ in estimates], restore_message("forecast-basis", words, values))


def build_estimator(
    measured: Sequence[FinishedTrial],
    work: Callable[[Cell], TrialWork | None],
    speeds: Speeds | SpeedsOf | None = None,
    waits: Waits | None = None,
) -> Callable[[Cell], tuple[float | None, str]]:
    """Return a function: cell → (seconds, MEASURED | SCALED | ALIKE | GUESSED | UNKNOWN). Arguments as in
    ``forecast``."""
    of = _normalize_speeds(speeds)
    medians = _Medians(measured)
    samples = [(trial, moved) for trial in measured if (moved := work(trial.factors)) is not None]
    learned = _fit_guess([(of(trial.factors).seconds(moved), trial.seconds - trial.lab_s) for trial, moved in samples])
    lab_s = _build_lab_estimator(measured, waits)

    def estimate_cell(cell: Cell) -> tuple[float | None, str]:
        seconds = medians.find_median(cell)
        if seconds is not None:
            return seconds, MEASURED
        moved = work(cell)
        if moved is not None:
            guess = of(cell).seconds(moved)
            return (learned(guess) + lab_s(cell), SCALED) if learned else (guess, GUESSED)
        if measured:
            return median(trial.seconds - trial.lab_s for trial in measured) + lab_s(cell), ALIKE
        return None, UNKNOWN

    return estimate_cell


def _build_lab_estimator(measured: Sequence[FinishedTrial], waits: Waits | None) -> Callable[[Cell], float]:
    """Return cell → seconds until its lab has healed and settled: of trials with the same waits, else of those with
    other faults (without any, if the cell has none)."""
    if waits is None:
        return lambda cell: 0.0
    lab_times = [(wait, trial.lab_s) for trial in measured if (wait := waits(trial.factors))]

    def estimate_wait(cell: Cell) -> float:
        lab_wait = waits(cell)
        same = [lab_s for wait, lab_s in lab_times if wait == lab_wait]
        alike = [lab_s for wait, lab_s in lab_times if lab_wait and bool(wait.faults) is bool(lab_wait.faults)]
        return median(same or alike) if same or alike else 0.0

    return estimate_wait


def _fit_guess(samples: Sequence[tuple[float, float]]) -> Callable[[float], float] | None:
    """Fit guess → seconds by a line through (guess, seconds) of earlier trials; its intercept is the constant time of a
    trial. With a single guess, or an implausible line, scale the guess by a factor."""
    by_guess: dict[float, list[float]] = {}
    for guess, seconds in samples:
        by_guess.setdefault(guess, []).append(seconds)
    if not by_guess:
        return None
    if len(by_guess) > 1:
        slope, height = linear_regression(list(by_guess), [median(seconds) for seconds in by_guess.values()])
        if slope >= 0 and height >= 0:
            return lambda guess: height + slope * guess
    off = median(seconds / guess for guess, seconds in samples)
    return lambda guess: guess * off


def parse_work(text: str, names: Iterable[str], where: str) -> Callable[[Cell], TrialWork | None]:
    """Parse the user's work of a trial, in bytes: an expression over factors, as ``size * clients * replica``.

    Raises InputError, naming the key ``where``, now or for a cell if the result is not a number. The work of an earlier
    trial without one of the factors is unknown.
    """
    read = expression.read(text, set(names), where)

    def compute_work(cell: Cell) -> TrialWork | None:
        return TrialWork(read.number(cell)) if read.names <= cell.keys() else None

    return compute_work


def sum_seconds_by_level(
    trials: Sequence[Trial], seconds: Sequence[float | None]
) -> dict[str, dict[FactorValue, float]]:
    """Sum the seconds of all trials at each level of each factor that varies."""
    totals: dict[str, dict[FactorValue, float]] = {}
    for trial, took in zip(trials, seconds, strict=True):
        for name, level in trial.factors.items():
            levels = totals.setdefault(name, {})
            levels[level] = levels.get(level, 0.0) + (took or 0.0)
    return {name: levels for name, levels in totals.items() if len(levels) > 1 and name != CENTRE}


class _Medians:
    """Median seconds of the measured trials of a cell; other factors are ignored."""

    def __init__(self, measured: Sequence[FinishedTrial]) -> None:
        self._measured = measured
        self._by_names: dict[tuple[str, ...], dict[tuple[Any, ...], list[float]]] = {}

    def find_median(self, cell: Cell) -> float | None:
        names = tuple(name for name in cell if name != CENTRE)
        if names not in self._by_names:
            cells = self._by_names[names] = {}
            for trial in self._measured:
                if all(name in trial.factors for name in names):
                    cells.setdefault(tuple(trial.factors[name] for name in names), []).append(trial.seconds)
        durations = self._by_names[names].get(tuple(cell[name] for name in names))
        return median(durations) if durations else None


def _normalize_speeds(speeds: Speeds | SpeedsOf | None) -> SpeedsOf:
    if callable(speeds):
        return speeds
    stated = speeds or Speeds()
    return lambda cell: stated


def _describe_basis(
    counts: Counter[str], n_measured: int, speeds: Speeds | SpeedsOf | None, trials: Sequence[Trial]
) -> str:
    numbers = f"{_format_rates(speeds, trials)} in all"
    if callable(speeds):
        numbers += ", the rate of the lab's links"
        numbers += ", over which clients send each copy" if _is_sent_by_clients(speeds, trials) else ""
    words = {
        MEASURED: f"measured, cell by cell, in {n_measured} earlier trials",
        SCALED: f"scaled by moved data from {n_measured} earlier trials",
        ALIKE: f"the median of {n_measured} earlier trials of other cells",
        GUESSED: f"at {numbers}" if isinstance(speeds, Speeds) else f"a guess: {numbers}",
        UNKNOWN: "unknown until each cell was measured once (the first block): the commands' data is not declared",
    }
    if len(counts) == 1:
        return words[next(iter(counts))]
    return "; ".join(f"{counts[why]} trials {words[why]}" for why in words if counts[why])


def _is_sent_by_clients(speeds: Speeds | SpeedsOf | None, trials: Sequence[Trial]) -> bool:
    return callable(speeds) and any(speeds(trial.factors).written_per_s for trial in trials)


def _format_rates(speeds: Speeds | SpeedsOf | None, trials: Sequence[Trial]) -> str:
    used = [_normalize_speeds(speeds)(trial.factors) for trial in trials] or [Speeds()]
    digits = 3 if callable(speeds) else 6  # stated speeds are printed in full
    rates = sorted({f"{speed.bytes_per_s / 1e6:.{digits}g}" for speed in used}, key=float)
    return f"{' to '.join(dict.fromkeys((rates[0], rates[-1])))} MB/s and {used[0].files_per_s:g} files/s"
