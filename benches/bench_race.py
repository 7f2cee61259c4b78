"""Races for the best setting on surfaces with a planted truth, beside other procedures that choose one.

    python benches/bench_race.py [--quick] [--only NAME] [--table docs/method/race.md]

A choice is right if its true mean is within 5 % of the best one. Rinott's two-stage procedure gives the same guarantee
by a fixed plan; the other procedures get as many trials as the race took.

Ends with code 1 where the race breaks a limit: on each surface for which it promises anything, the lower limit of
Wilson's interval of right choices is at least 93.5 %, and the 95th percentile of the regret is within the margin; it
takes at most 0.35 of Rinott's trials, as the median over surfaces with 8 settings or more. With --quick the intervals
are too wide for that: there a share of right choices below 95 % by more than luck fails.
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.stats import binomtest

import limits
import racers
from bench_detectors import TABLES, record
from racers import CONFIDENCE, OURS, RINOTT, Choices
from surfaces import MARGIN, Surface, build_surfaces

LEAST_RIGHT = 0.935  # lower limit of the share of right choices
MOST_TRIALS = 0.35  # of Rinott's, median
RACES, QUICK_RACES = 2000, 200
OPTUNA_WORK, MOST_STUDIES, LEAST_STUDIES = 5_000_000, 100, 3  # the time of a study is that of its trials squared
IRACE_RACES = 40


@dataclass(frozen=True)
class Score:
    """``n_right`` of ``n_races`` choices are within the margin. ``regret`` is the 95th percentile, a share of the best
    mean; ``n_trials`` are the mean of a race."""

    procedure: str
    n_races: int
    n_right: int
    n_trials: float
    regret: float

    @property
    def share(self) -> float:
        return self.n_right / self.n_races

    def compute_interval(self) -> tuple[float, float]:
        """Return Wilson's interval of the share of right choices."""
        interval = binomtest(self.n_right, self.n_races).proportion_ci(0.95, method="wilson")
        return float(interval.low), float(interval.high)


@dataclass(frozen=True)
class SurfaceScores:
    """The scores of all procedures on one surface, the first of which is ours. ``seconds`` of CPU, with those of
    children."""

    surface: str
    n_settings: int
    is_promised: bool
    has_trials_limit: bool
    scores: tuple[Score, ...]
    notes: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def ours(self) -> Score:
        return self.scores[0]

    def compute_ratio(self, score: Score) -> float:
        """Return the trials of a procedure, divided by Rinott's."""
        return score.n_trials / next(each.n_trials for each in self.scores if each.procedure == RINOTT)


def score_choices(procedure: str, surface: Surface, choices: Choices) -> Score:
    """Hold choices against the truth."""
    return Score(
        procedure,
        choices.settings.size,
        int(surface.is_right(choices.settings).sum()),
        choices.n_trials,
        float(np.quantile(surface.compute_regret(choices.settings), 0.95)),
    )


def measure_surface(surface: Surface, n_races: int) -> SurfaceScores:
    """Run all procedures that are installed on a surface."""
    begun = _read_cpu_seconds()
    ours = racers.run_races(surface, n_races)
    n_trials = round(ours.n_trials)
    choices = {
        OURS: ours,
        RINOTT: racers.run_rinott(surface, n_races),
        racers.HALVING: racers.run_halving(surface, n_races, n_trials),
        **racers.run_random(surface, n_races, n_trials),
    }
    n_peer_races = max(1, n_races * IRACE_RACES // RACES)
    optuna, notes = racers.load_optuna(), []
    if optuna:
        choices |= racers.run_optuna(optuna, surface, count_studies(n_trials, n_races), n_trials)
    irace = racers.find_irace()
    if irace:
        try:
            choices[racers.IRACE] = racers.run_irace(irace, surface, n_peer_races, n_trials)
        except subprocess.CalledProcessError:
            notes.append(f"irace: refuses a budget of {n_trials} trials")
    scores = tuple(score_choices(name, surface, each) for name, each in choices.items())
    return SurfaceScores(
        surface.name,
        surface.n_settings,
        surface.is_promised,
        surface.has_trials_limit,
        scores,
        tuple(notes),
        _read_cpu_seconds() - begun,
    )


def count_studies(n_trials: int, n_races: int) -> int:
    """Return the number of Optuna's studies, whose time grows with the square of their trials."""
    n_studies = min(max(OPTUNA_WORK // n_trials**2, LEAST_STUDIES), MOST_STUDIES)
    return max(1, n_studies * n_races // RACES)


def _read_cpu_seconds() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def _measure_named(job: tuple[str, int]) -> SurfaceScores:
    name, n_races = job
    return measure_surface(next(surface for surface in build_surfaces() if surface.name == name), n_races)


def find_broken_limits(results: Sequence[SurfaceScores]) -> list[str]:
    """List where the race is beyond its limits."""
    broken = []
    for result in results:
        if not result.is_promised:
            continue
        score = result.ours
        low, _ = score.compute_interval()
        if score.n_races < RACES:
            if limits.too_many(score.n_races - score.n_right, score.n_races, 1 - CONFIDENCE):
                broken.append(f"{result.surface}: {score.n_right} of {score.n_races} choices are within the margin")
            continue
        if low < LEAST_RIGHT:
            broken.append(f"{result.surface}: {100 * score.share:.1f} % right, lower limit {100 * low:.1f} %")
        if score.regret > MARGIN:
            broken.append(f"{result.surface}: 95th percentile of regret {100 * score.regret:.1f} %")
    ratio = compute_median_ratio(results)
    if ratio is not None and ratio > MOST_TRIALS:
        broken.append(f"trials: {ratio:.2f} of Rinott's, median over surfaces with 8 settings or more")
    return broken


def compute_median_ratio(results: Iterable[SurfaceScores]) -> float | None:
    """Return the median of our trials divided by Rinott's over surfaces with that limit; None without one."""
    ratios = [result.compute_ratio(result.ours) for result in results if result.has_trials_limit]
    return statistics.median(ratios) if ratios else None


def format_share(score: Score) -> str:
    low, high = score.compute_interval()
    return f"{100 * score.share:.1f} % ({100 * low:.1f}–{100 * high:.1f})"


def format_row(result: SurfaceScores, score: Score) -> str:
    """Return the cells that the tables share."""
    ratio = result.compute_ratio(score)
    return f"{format_share(score)} | {score.n_trials:,.0f} | {ratio:.2f} | {100 * score.regret:.1f} %"


def format_overview(results: Iterable[SurfaceScores]) -> Iterator[str]:
    """The race on each surface."""
    yield "| surface | settings | within the margin (95 % interval) | trials | ÷ Rinott's | regret, 95th percentile |"
    yield "|---|---:|---:|---:|---:|---:|"
    for result in results:
        name = result.surface + ("" if result.is_promised else " †")
        yield f"| {name} | {result.n_settings} | {format_row(result, result.ours)} |"


def format_surface(result: SurfaceScores) -> Iterator[str]:
    """All procedures on one surface."""
    yield f"\n**{result.surface}, {result.n_settings} settings**\n"
    yield "| procedure | races | within the margin (95 % interval) | trials | ÷ Rinott's | regret, 95th percentile |"
    yield "|---|---:|---:|---:|---:|---:|"
    for score in result.scores:
        yield f"| {score.procedure} | {score.n_races:,} | {format_row(result, score)} |"
    yield from (f"\n{note}" for note in result.notes)


def format_tables(results: Sequence[SurfaceScores], missing: Sequence[str]) -> str:
    """Return the generated part of the page."""
    ratio = compute_median_ratio(results)
    median = "" if ratio is None else f" Median ÷ Rinott's over surfaces with 8 settings or more: {ratio:.2f}."
    seconds = sum(result.seconds for result in results)
    lines = [
        TABLES,
        "",
        f"{results[0].ours.n_races:,} races a surface, {seconds:.0f} s of CPU.{median}",
        "",
        *format_overview(results),
        "",
        "† Shown without a limit.",
        "",
        "### Other procedures",
        *(line for result in results for line in format_surface(result)),
        *(f"\n{why}" for why in missing),
        "",
    ]
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--quick", action="store_true", help=f"{QUICK_RACES} races a surface instead of {RACES}")
    options.add_argument("--only", default="", metavar="NAME", help="surfaces whose name holds this")
    options.add_argument("--table", type=Path, metavar="FILE.md", help="record the tables in this page")
    query = options.parse_args()
    names = [surface.name for surface in build_surfaces() if query.only in surface.name]
    jobs = [(name, QUICK_RACES if query.quick else RACES) for name in names]
    with ProcessPoolExecutor(os.cpu_count()) as workers:
        results = list(workers.map(_measure_named, jobs))
    text = format_tables(results, racers.find_missing_peers())
    print(text)
    if query.table:
        record(query.table, text)
    return limits.report(find_broken_limits(results))


if __name__ == "__main__":
    sys.exit(main())
