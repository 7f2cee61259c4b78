"""Detectors of changes on the same series: false changes, changes that are found, how soon, and how well dated.

    python benches/bench_detectors.py [--quick] [--only NAME] [--table docs/method/detectors.md]

About a thousand series, eight in a store, of four kinds of noise. A detector sees a store each night, with all nights
until then, as a team would run it. Stationary stores last a year: a change at any place that a look lists is false, and
the year ends with the first. In the others a change is planted after 60 nights, for the worse: once in one series of
eight, once in all. It is found by the first look that lists a change for the worse near its night (for a drift, after
its begin); the same stores without it say how often that is chance.

Ends with code 1 where ours has a wrong change in more than 5 % of the years by more than luck, or finds less or later
than ``LIMITS`` says. Where a peer that has no more wrong changes is sooner is printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import limits
from detectors import OURS, Detector, load_detectors
from iosonde.stats.estimate.distributions import binomial_interval

SERIES, CV = 8, 0.03
YEAR, FIRST, BEFORE = 365, 20, 60  # nights: a year, of its first look, before a change
NEAR = 7  # nights that a change may be dated wrongly
ALLOWED = 0.05  # wrong changes of ours: share of the years of a store
STATIONARY, CHANGED = 4, 12  # stores of each noise
QUICK_YEAR = 90
TABLES = "## What was measured"
Draw = Callable[[np.random.Generator, int], np.ndarray]


def white(rng: np.random.Generator, nights: int) -> np.ndarray:
    return rng.standard_normal((SERIES, nights))


def autoregressive(rng: np.random.Generator, nights: int) -> np.ndarray:
    x = rng.standard_normal((SERIES, nights))
    for night in range(1, nights):
        x[:, night] = 0.5 * x[:, night - 1] + np.sqrt(0.75) * x[:, night]
    return x


def heavy_tailed(rng: np.random.Generator, nights: int) -> np.ndarray:
    return rng.standard_t(3, (SERIES, nights)) / np.sqrt(3)


def with_bad_nights(rng: np.random.Generator, nights: int) -> np.ndarray:
    """One night in 20 all series of a store are 20 % slower."""
    return white(rng, nights) - 0.2 / CV * (rng.random(nights) < 0.05)


NOISES: dict[str, Draw] = {
    "normal": white,
    "AR(0.5)": autoregressive,
    "Student's t, 3 df": heavy_tailed,
    "bad nights": with_bad_nights,
}


@dataclass(frozen=True)
class Change:
    """``factor``: of the nights after a change, given their number; ``latest``: nights that are looked at;
    ``has_date``: it begins at once."""

    name: str
    factor: Callable[[int], np.ndarray]
    latest: int = 25
    has_date: bool = True


NONE = Change("none", np.ones)
CHANGES = (
    NONE,
    Change("−5 %", lambda nights: np.full(nights, 0.95)),
    Change("−10 %", lambda nights: np.full(nights, 0.90)),
    Change("drift", lambda nights: 1 - 0.002 * np.arange(1, nights + 1), latest=60, has_date=False),
)
# (noise, change, series that change) → the share that ours finds at least until a night.
LIMITS: dict[tuple[str, str, str], tuple[float, int]] = {
    ("normal", "−5 %", "1 of 8"): (0.6, 25),
    ("normal", "−10 %", "1 of 8"): (0.8, 10),
    ("normal", "−5 %", "8 of 8"): (0.8, 10),
    ("normal", "−10 %", "8 of 8"): (0.9, 7),
    ("normal", "drift", "8 of 8"): (0.8, 40),
}
ONE, ALL = "1 of 8", "8 of 8"
CONCERNED = {ONE: (0,), ALL: tuple(range(SERIES))}


@dataclass(frozen=True)
class Detection:
    """``delay``: the first night of those after the change that finds it; ``error``: nights between its date and the
    true one."""

    delay: int
    error: int


def draw_store(noise: str, number: int, nights: int) -> np.ndarray:
    """The series of a store as rows; the same for each detector."""
    rng = np.random.default_rng([zlib.crc32(noise.encode()), number])
    return 100 * (1 + CV * NOISES[noise](rng, nights))


def plant(values: np.ndarray, change: Change, rows: Sequence[int]) -> np.ndarray:
    """The store with this change in these series."""
    changed = values.copy()
    changed[list(rows), BEFORE:] *= change.factor(values.shape[1] - BEFORE)
    return changed


def find_first_false(detector: Detector, values: np.ndarray) -> int | None:
    """The first night at which a look lists a change in any series of a store that does not change."""
    np.random.seed(0)  # E-divisive permutes by the generator of all
    looks = range(FIRST, values.shape[1] + 1)
    return next((night for night in looks if any(detector.find(values[:, :night], range(SERIES)))), None)


def is_worse(values: np.ndarray, places: Sequence[int], place: int) -> bool:
    """Whether the nights from a place to the next are slower than those before it."""
    edges = [0, *sorted(set(places)), values.size]
    number = edges.index(place)
    return bool(values[place : edges[number + 1]].mean() < values[edges[number - 1] : place].mean())


def find_change(detector: Detector, values: np.ndarray, change: Change, rows: Sequence[int]) -> Detection | None:
    """The look that finds a change first in any of these series, or None within its ``latest`` nights."""
    np.random.seed(0)
    for delay in range(1, change.latest + 1):
        known = values[:, : BEFORE + delay]
        for row, places in zip(rows, detector.find(known, rows), strict=True):
            errors = [
                place - BEFORE
                for place in places
                if place >= BEFORE - NEAR
                and (not change.has_date or place <= BEFORE + NEAR)
                and is_worse(known[row], places, place)
            ]
            if errors:
                return Detection(delay, min(errors, key=abs))
    return None


@dataclass(frozen=True)
class Row:
    """Of a detector and a noise: the nights of the first wrong change by store, and what was found of each change."""

    detector: str
    noise: str
    years: tuple[int | None, ...]
    found: dict[tuple[str, str], tuple[Detection | None, ...]]

    @property
    def n_wrong(self) -> int:
        return sum(night is not None for night in self.years)

    def share(self, change: str, rows: str) -> float:
        detections = self.found[change, rows]
        return sum(detection is not None for detection in detections) / len(detections)

    def delay(self, change: str, rows: str) -> float:
        """The median night; infinite where half of the changes are not found."""
        return float(np.median([np.inf if one is None else one.delay for one in self.found[change, rows]]))

    def date_error(self, change: str, rows: str) -> float:
        """The mean distance of the date from the true one, in nights, where a change was found."""
        errors = [abs(one.error) for one in self.found[change, rows] if one]
        return float(np.mean(errors)) if errors else float("nan")


def _one_store(noise: str, year: int, named: str, job: tuple[str, int]) -> list[tuple[tuple[str, str], object, float]]:
    """What a detector says of one store: (what, answer, seconds of CPU)."""
    detector = next(each for each in load_detectors()[0] if each.name == named)
    kind, number = job
    begun = time.process_time()
    if kind == "year":
        night = find_first_false(detector, draw_store(noise, number, year))
        return [(("year", ""), night, time.process_time() - begun)]
    answers: list[tuple[tuple[str, str], object, float]] = []
    for change in CHANGES:
        values = draw_store(noise, 1000 + number, BEFORE + change.latest)
        for name, rows in CONCERNED.items():
            if change is NONE and name == ALL:  # the stationary stores say that
                continue
            begun = time.process_time()
            detection = find_change(detector, plant(values, change, rows), change, rows)
            answers.append(((change.name, name), detection, time.process_time() - begun))
    return answers


def measure(detector: str, noise: str, size: tuple[int, int, int], workers: ProcessPoolExecutor) -> tuple[Row, float]:
    """Ask a detector about all stores of a noise; ``size``: stationary stores, nights of each, stores that change.
    Also return the seconds of CPU."""
    n_years, year, n_changed = size
    jobs = [*(("year", number) for number in range(n_years)), *(("change", number) for number in range(n_changed))]
    answers: dict[tuple[str, str], list[object]] = {}
    seconds = 0.0
    for store in workers.map(partial(_one_store, noise, year, detector), jobs):
        for what, answer, spent in store:
            answers.setdefault(what, []).append(answer)
            seconds += spent
    nights = answers.pop(("year", ""), [])
    return Row(detector, noise, tuple(nights), {what: tuple(each) for what, each in answers.items()}), seconds


def format_wrong(rows: Sequence[Row]) -> str:
    """Years with a wrong change, of all, and the median night of the first."""
    nights = [night for row in rows for night in row.years]
    wrong = sum(night is not None for night in nights)
    middle = float(np.median([np.inf if night is None else night for night in nights])) if nights else np.inf
    return f"{wrong} of {len(nights)}" + (f"; night {middle:.0f}" if np.isfinite(middle) else "")


def wrong_table(rows: Sequence[Row], detectors: Sequence[Detector]) -> Iterator[str]:
    """Wrong changes in years of stores that do not change."""
    noises = list(dict.fromkeys(row.noise for row in rows))
    yield f"| detector | run with | {' | '.join(noises)} | all | 95 % interval | CPU of a look |"
    yield "|---|---|" + "---:|" * (len(noises) + 3)
    for detector in detectors:
        own = [row for row in rows if row.detector == detector.name]
        n, wrong = sum(len(row.years) for row in own), sum(row.n_wrong for row in own)
        low, high = binomial_interval(wrong, n, 0.95)
        cells = [format_wrong([row]) for row in own]
        cells += [f"{wrong} of {n}", f"{100 * low:.0f} to {100 * high:.0f} %", f"{1000 * time_look(detector):.0f} ms"]
        yield f"| {detector.name} | {detector.settings} | {' | '.join(cells)} |"


def found_tables(rows: Sequence[Row]) -> Iterator[str]:
    """For each change the share that is found, the median night and the mean error of the date."""
    noises = list(dict.fromkeys(row.noise for row in rows))
    for change, concerned in rows[0].found:
        yield f"\n**{change}, {concerned}**\n"
        yield f"| detector | {' | '.join(noises)} |"
        yield "|---|" + "---:|" * len(noises)
        for name in dict.fromkeys(row.detector for row in rows):
            cells = [format_found(row, change, concerned) for row in rows if row.detector == name]
            yield f"| {name} | {' | '.join(cells)} |"


def format_found(row: Row, change: str, concerned: str) -> str:
    share, delay = row.share(change, concerned), row.delay(change, concerned)
    if not share or change == NONE.name:
        return f"{100 * share:.0f} %"
    return f"{100 * share:.0f} %, {format_night(delay)}, {row.date_error(change, concerned):.1f}"


def format_night(night: float) -> str:
    return f"{night:g}" if np.isfinite(night) else "–"


def time_look(detector: Detector) -> float:
    """Seconds of CPU of a look at a store after a year."""
    values = draw_store("normal", 0, YEAR)
    begun = time.process_time()
    list(detector.find(values, range(SERIES)))
    return time.process_time() - begun


def sooner_peers(rows: Iterable[Row]) -> Iterator[str]:
    """Where a peer with as few wrong changes finds a change sooner than ours."""
    rows = list(rows)
    ours = {row.noise: row for row in rows if row.detector == OURS}
    for row in rows:
        mine = ours[row.noise]
        if row.detector == OURS or row.n_wrong > mine.n_wrong:
            continue
        for change, concerned in row.found:
            if change == NONE.name:
                continue
            theirs, own = ((each.share(change, concerned), each.delay(change, concerned)) for each in (row, mine))
            if np.isfinite(theirs[1]) and theirs[1] < own[1]:
                yield (
                    f"{row.noise}, {change} in {concerned}: {row.detector} {100 * theirs[0]:.0f} %, night "
                    f"{format_night(theirs[1])}; ours {100 * own[0]:.0f} %, night {format_night(own[1])}"
                )


def broken_limits(rows: Iterable[Row]) -> list[str]:
    """Where ours is beyond its limits."""
    ours = [row for row in rows if row.detector == OURS]
    wrong, years = sum(row.n_wrong for row in ours), sum(len(row.years) for row in ours)
    broken = [f"wrong changes in {wrong} of {years} years"] if limits.too_many(wrong, years, ALLOWED) else []
    for row in ours:
        for (noise, change, concerned), (share, latest) in LIMITS.items():
            detections = row.found.get((change, concerned), ())
            missed = sum(one is None or one.delay > latest for one in detections)
            if noise == row.noise and limits.too_many(missed, len(detections), 1 - share):
                broken.append(f"{noise}, {change} in {concerned}: {missed} of {len(detections)} after night {latest:g}")
    return broken


def record(page: Path, text: str) -> None:
    """The page with these tables in the place of those that it has."""
    before, _, _ = page.read_text(encoding="utf-8").partition(TABLES)
    page.write_text(before + text, encoding="utf-8")


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help="one store of each kind, 90 nights for a year")
    options.add_argument("--only", default="", metavar="NAME", help="detectors whose name holds this, besides ours")
    options.add_argument("--table", type=Path, metavar="FILE.md", help="record the tables in this page")
    asked = options.parse_args()
    size = (1, QUICK_YEAR, 1) if asked.quick else (STATIONARY, YEAR, CHANGED)
    detectors, missing = load_detectors()
    detectors = [each for each in detectors if each.name == OURS or asked.only in each.name]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        measured = [measure(each.name, noise, size, workers) for each in detectors for noise in NOISES]
    rows, seconds = [row for row, _ in measured], sum(spent for _, spent in measured)
    n_series = SERIES * len(NOISES) * (size[0] + size[2])
    text = "\n".join(
        [
            TABLES,
            "",
            f"{n_series} series of {SERIES} in a store; a year is {size[1]} nights. {seconds:.0f} s of CPU.",
            "",
            "### Without a change",
            "",
            "Years with a wrong change, and the median night of the first.",
            "",
            *wrong_table(rows, detectors),
            *(f"\n{why}" for why in missing),
            "",
            "### Changes",
            "",
            "The share that is found, the median night after it (–: most are not found), the mean error of its date.",
            *found_tables(rows),
            "",
            "### Where a peer with no more wrong changes is sooner",
            "",
            *(f"* {line}" for line in sooner_peers(rows)),
            "",
        ]
    )
    print(text)
    if asked.table:
        record(asked.table, text)
    return limits.report(broken_limits(rows))


if __name__ == "__main__":
    sys.exit(main())
