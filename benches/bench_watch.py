"""How often `iosonde watch` cries wolf over a year of daily looks, and how soon it sees a step, on simulated stores.

    python benches/bench_watch.py [--years N] [--steps N] [--quick]
    python benches/bench_watch.py --figure docs/images/watch-delay.svg
    python benches/bench_watch.py --alarms FILE.json --noise skewed --years 1000        (about 2 minutes on two cores)
    python benches/bench_watch.py --alarms FILE.json --figure docs/images/watch-alarms.svg
    python benches/bench_watch.py --open 40           (new and open changes, and suspicions, in so many years)

Prints the tables of docs/method/watching.md. A year of one series is a look each day from day 20 on. The first table is
of the smallest p of a change among the newest 14 points, up or down, that any look of a year shows: where p keeps its
promise, a share of at most p of the years. A store of 48 series alarms where one of them has p ≤ 5 % ÷ 48.

Ends with code 1 where p is small more often than it says, changes are wrongly open or suspected in more than 5 % of
years or looks, or where fewer steps are found than ``FOUND`` says, or
those of several series later than ``POOLED_DELAYS`` says.

``--alarms`` adds years of one noise to those that a file has, and draws all of them beside the promise.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import limits
from iosonde.changes.all_changes import find_all_changes
from iosonde.changes.find import Search, compute_newest_p, find_changes
from iosonde.changes.pooled import Pool
from iosonde.changes.suspected import find_suspected
from iosonde.layout.figure import Figure
from iosonde.layout.vocabulary import SERIES as SERIES_COLOURS
from iosonde.stats.estimate.distributions import binomial_interval

SERIES, DAYS, FIRST = 48, 365, 20
LATEST = 25  # nights after a step that are drawn
AT_ONCE = 50  # years that one process simulates, with a seed of their own
CV = 0.03
Draw = Callable[[np.random.Generator, int], np.ndarray]


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return 100 * (1 + CV * rng.standard_normal(n))


def autoregressive(rng: np.random.Generator, n: int) -> np.ndarray:
    x = rng.standard_normal(n)
    for i in range(1, n):
        x[i] = 0.5 * x[i - 1] + np.sqrt(0.75) * x[i]
    return 100 * (1 + CV * x)


def skewed(rng: np.random.Generator, n: int) -> np.ndarray:
    return 100 * np.exp(0.3 * rng.standard_normal(n))


def bimodal(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.7, 100.0, 90.0) + rng.standard_normal(n)


# (trials a night, series with the step, nights before, nights after) → the share of steps that is found at least.
FOUND = {(2, 1, 60, 20): 0.85, (2, 1, 200, 10): 0.8, (3, 1, 200, 10): 0.9, (6, 1, 60, 20): 0.9, (6, 1, 200, 10): 0.95}
# (correlation of series, of neighbouring nights) → the median night by which half of the series are named.
POOLED = 8
JUMP, JUMP_DELAY = 0.6, 3  # a loss so large in two series of a pool is named by this night
POOLED_DELAYS = {(0.0, 0.0): 5, (0.25, 0.0): 6, (0.5, 0.0): 7, (0.0, 0.5): 10}
DRAWS: dict[str, Draw] = {"normal": normal, "AR(0.5)": autoregressive, "skewed": skewed, "bimodal": bimodal}


def years(draw: Draw, count: int, seed: int = 1) -> np.ndarray:
    """The smallest p that any look of a year shows, of so many years of one series that does not change."""
    rng, search, found = np.random.default_rng(seed), Search(), []
    for _ in range(count):
        values = draw(rng, DAYS)
        found.append(min(compute_newest_p(values[:day], search) for day in range(FIRST, DAYS + 1)))
    return np.array(found)


@dataclass(frozen=True)
class YearOfLooks:
    """A year of daily looks at one series that does not change. ``new``: a look has a new change; ``any_change``: a
    look has one, new or still open, up or down; ``is_open``: a look has one for the worse that is new or open, so that
    ``watch`` ends with 1. ``suspected``: the share of looks with a suspicion."""

    new: bool
    any_change: bool
    is_open: bool
    suspected: float


def look_for_a_year(values: np.ndarray) -> YearOfLooks:
    """Look at a series, of which higher is better, each day from day ``FIRST`` on."""
    search, new, any_change, wrong, suspected = Search(), False, False, False, 0
    for day in range(FIRST, values.size + 1):
        known = values[:day]
        (changes,) = find_all_changes([known], [], search)
        new |= any(change.at >= day - search.newest for change in changes)
        any_change |= bool(changes)
        wrong |= any(
            known[change.at : change.end].mean() < known[change.begin : change.at].mean() for change in changes
        )
        suspected += find_suspected([known], (), [changes], search)[0] is not None
    return YearOfLooks(new, any_change, wrong, suspected / (values.size + 1 - FIRST))


def open_years(noise: str, count: int, seed: int = 4) -> list[YearOfLooks]:
    """So many years of one series, by as many processes as there are processors."""
    draws = np.random.default_rng(seed).spawn(count)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(look_for_a_year, [DRAWS[noise](rng, DAYS) for rng in draws]))


def wrong_opens(names: list[str], count: int) -> list[str]:
    """Print how often a series that does not change has a change, open ones apart; what is beyond its limit."""
    broken, allowed = [], Search().rate
    print("| noise | years | a new change | new or open, up or down | for the worse: exit code 1 | suspicious looks |")
    print("|---|---:|---:|---:|---:|---:|")
    for name in names:
        looked = open_years(name, count)
        suspected = [year.suspected for year in looked]
        counts = [sum(year.new for year in looked), sum(year.any_change for year in looked)]
        counts.append(sum(year.is_open for year in looked))
        shares = " | ".join(f"{100 * each / count:.1f} %" for each in counts)
        print(f"| {name} | {count} | {shares} | {100 * float(np.mean(suspected)):.1f} % |", flush=True)
        if limits.too_many(counts[1], count, allowed):
            broken.append(f"{name}: a wrong change in {counts[1]} of {count} years")
        if limits.is_above(suspected, allowed):
            broken.append(f"{name}: suspicions in {100 * float(np.mean(suspected)):.1f} % of the looks")
    return broken


def many_years(noise: str, count: int, before: int = 0) -> list[float]:
    """The same of about so many years more than ``before``, by as many processes as there are processors; each
    ``AT_ONCE`` have a seed of their own."""
    seeds = range(100 + before // AT_ONCE, 100 + (before + count) // AT_ONCE)
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        found = pool.map(partial(years, DRAWS[noise], AT_ONCE), seeds)
        return [float(p) for part in found for p in part]


def of_stores(smallest: list[float], allowed: float) -> tuple[float, float, float]:
    """The share of stores of 48 series that alarm in a year where so much is allowed, with its 95 % interval."""
    seen = int(np.searchsorted(smallest, allowed / SERIES, side="right"))
    low, high = binomial_interval(seen, len(smallest), 0.95)
    share, low, high = (1 - (1 - one) ** SERIES for one in (seen / len(smallest), low, high))
    return share, low, high


def alarms_figure(kept: dict[str, list[float]], path: Path) -> None:
    """How many stores alarm, over how many may, noise by noise."""
    rows = []
    for noise, smallest in kept.items():
        for allowed in np.geomspace(0.01, 0.5, 60):
            share, low, high = of_stores(smallest, float(allowed))
            rows.append(
                {
                    "allowed": float(allowed),
                    "share": share,
                    "low": low,
                    "high": high,
                    "promise": float(allowed),
                    "noise": f"{noise}, {len(smallest)} years",
                }
            )
        said = ", ".join(f"{100 * one:.2g} %" for one in of_stores(smallest, 0.05))
        print(f"{noise}, {len(smallest)} years of a series: at 5 % allowed {said}")
    x = {
        "field": "allowed",
        "type": "quantitative",
        "title": "stores that may alarm in a year",
        "scale": {"type": "log", "domain": [0.01, 0.5]},
        "axis": {"format": ".0%", "values": [0.01, 0.05, 0.2, 0.5]},
    }
    y = {
        "type": "quantitative",
        "title": "stores of 48 series that alarm",
        "scale": {"domain": [0, 0.5]},
        "axis": {"format": ".0%"},
    }
    spec = {
        "data": {"values": rows},
        "facet": {"field": "noise", "type": "nominal", "title": None, "sort": None},
        "columns": 2,
        "spec": {
            "width": 260,
            "height": 170,
            "layer": [
                {
                    "mark": {"type": "area", "opacity": 0.25, "interpolate": "step-after", "color": SERIES_COLOURS[0]},
                    "encoding": {"x": x, "y": {**y, "field": "low"}, "y2": {"field": "high"}},
                },
                {
                    "mark": {"type": "line", "interpolate": "step-after", "color": SERIES_COLOURS[0]},
                    "encoding": {"x": x, "y": {**y, "field": "share"}},
                },
                {
                    "mark": {"type": "line", "strokeDash": [4, 3], "color": "gray"},
                    "encoding": {"x": x, "y": {**y, "field": "promise"}},
                },
            ],
        },
    }
    Figure(spec, "", "The share of stores that alarm in a year without a change, over the share that may.").save(path)


def power(trials: int, of: int, before: int, after: int, steps: int, seed: int = 2) -> float:
    """The share of steps of 5 % for the worse, at a CV of 3 %, in ``of`` of 48 series, that a store reports within
    ``after`` nights of so many trials, where ``before`` nights are known. The other series are no discoveries: of those
    with the step Benjamini & Hochberg takes as many at this rate as of all at the usual one."""
    rng, search, seen = np.random.default_rng(seed), Search(), 0
    search = replace(search, rate=search.rate * of / SERIES)
    for _ in range(steps):
        nights = np.stack([np.mean([normal(rng, before + after) for _ in range(trials)], axis=0) for _ in range(of)])
        nights[:, before:] *= 0.95
        for end in range(before + search.least, before + after + 1):
            found = find_changes([one[:end] for one in nights], search)
            if any(each.last >= before for breaks in found for each in breaks):
                seen += 1
                break
    return seen / steps


def delays(trials: int, before: int, steps: int, seed: int = 3) -> np.ndarray:
    """The night after a step, as of ``power`` in one of 48 series, in which it is reported first; 0 where within
    ``LATEST`` nights it is not."""
    rng, search, found = np.random.default_rng(seed), Search(), []
    search = replace(search, rate=search.rate / SERIES)
    for _ in range(steps):
        nights = np.mean([normal(rng, before + LATEST) for _ in range(trials)], axis=0)
        nights[before:] *= 0.95
        ends = range(before + search.least, before + LATEST + 1)
        told = (end for end in ends if any(one.last >= before for one in find_changes([nights[:end]], search)[0]))
        found.append(next(told, before) - before)
    return np.array(found)


def figure(path: Path, steps: int) -> None:
    """The share of steps that is found within so many nights, drawn."""
    rows = []
    for before in (60, 200):
        for trials in (1, 2, 3, 6):
            first = delays(trials, before, steps)
            rows += [
                {
                    "nights": night,
                    "share": float(((first > 0) & (first <= night)).mean()),
                    "trials": f"{trials} a night",
                    "before": f"{before} nights known before",
                }
                for night in range(LATEST + 1)
            ]
            print(
                f"{trials} a night, {before} before: {100 * ((first > 0) & (first <= 10)).mean():.0f} % within 10",
                flush=True,
            )
    spec = {
        "data": {"values": rows},
        "facet": {"column": {"field": "before", "title": None, "sort": "descending"}},
        "spec": {
            "width": 300,
            "height": 200,
            "mark": {"type": "line", "interpolate": "step-after"},
            "encoding": {
                "x": {"field": "nights", "type": "quantitative", "title": "nights after the step"},
                "y": {
                    "field": "share",
                    "type": "quantitative",
                    "title": "share of steps of 5 % that is found",
                    "axis": {"format": ".0%"},
                    "scale": {"domain": [0, 1]},
                },
                "color": {"field": "trials", "type": "nominal", "scale": {"range": list(SERIES_COLOURS)}},
            },
        },
    }
    Figure(spec, "", "The share of steps of 5 % that is found, over the nights after them.").save(path)


def false_alarms(names: list[str], count: int) -> list[str]:
    """Print how often p is small without a change; what is beyond its limit."""
    broken, levels = [], (0.2, 0.05, 0.01, 0.05 / SERIES)
    heads = " | ".join(f"p ≤ {100 * p:.2g} %" for p in levels)
    print(f"| noise | years of one series | {heads} |")
    print("|---|" + "---:|" * (1 + len(levels)))
    for name in names:
        found = years(DRAWS[name], count)
        shares = " | ".join(f"{100 * (found <= p).mean():.2g} %" for p in levels)
        print(f"| {name} | {count} | {shares} |", flush=True)
        broken += [
            f"{name}: p ≤ {100 * p:.2g} % in {(found <= p).sum()} of {count} years"
            for p in levels
            if limits.too_many(int((found <= p).sum()), count, p)
        ]
    return broken


def nights_of_pool(rng: np.random.Generator, n: int, cross: float, lasting: float) -> np.ndarray:
    """``POOLED`` series whose values of a night correlate by ``cross``, and of neighbouring nights by ``lasting``."""
    x = np.sqrt(cross) * rng.standard_normal((1, n)) + np.sqrt(1 - cross) * rng.standard_normal((POOLED, n))
    for night in range(1, n):
        x[:, night] = lasting * x[:, night - 1] + np.sqrt(1 - lasting**2) * x[:, night]
    return 100 * (1 + CV * x)


def pooled_delay(
    cross: float, lasting: float, steps: int, seed: int = 4, before: int = 200, hit: int = POOLED, share: float = 0.05
) -> float:
    """The median night in which half of the ``hit`` series of a pool are named after a step by ``share`` in them."""
    rng, every, first = np.random.default_rng(seed), tuple(range(POOLED)), []
    for _ in range(steps):
        nights = nights_of_pool(rng, before + LATEST, cross, lasting)
        nights[:hit, before:] *= 1 - share
        for end in range(before + 3, before + LATEST + 1):
            pool = Pool(every, nights[:, :end], (1,) * POOLED, (every,))
            found = find_all_changes(list(nights[:, :end]), [pool], Search())
            if 2 * sum(any(each.last >= before for each in breaks) for breaks in found[:hit]) >= hit:
                break
        first.append(end - before)
    return float(np.median(first))


def pools_found(steps: int) -> list[str]:
    """Print how soon a step of all series of a pool is named in half of them; what is beyond its limit."""
    broken = []
    print("\n| nights correlate by | from night to night | median night |\n|---:|---:|---:|")
    for (cross, lasting), latest in POOLED_DELAYS.items():
        delay = pooled_delay(cross, lasting, steps)
        print(f"| {cross:g} | {lasting:g} | {delay:g} |", flush=True)
        broken += [f"a pool correlated by {cross:g}, {lasting:g}: {delay:g} nights"] if delay > latest else []
    delay = pooled_delay(0.0, 0.0, steps, before=60, hit=2, share=JUMP)
    print(f"| a loss of {100 * JUMP:.0f} % in 2 of {POOLED} | | {delay:g} |", flush=True)
    return broken + ([f"a large loss: {delay:g} nights"] if delay > JUMP_DELAY else [])


def is_too_late(of: tuple[int, int, int, int], share: float, steps: int) -> bool:
    """Whether fewer steps are found than is promised here."""
    return limits.too_many(round((1 - share) * steps), steps, 1 - FOUND.get(of, 0.0))


def steps_found(steps: int) -> list[str]:
    """Print how soon a step is found; what is beyond its limit."""
    broken = []
    print("\n| trials a night | series with the step | nights before | found within 10 nights | within 20 |")
    print("|---:|---:|---:|---:|---:|")
    for trials, of in ((1, 1), (1, 12), (2, 1), (3, 1), (6, 1)):
        for before in (60, 200):
            found = {after: power(trials, of, before, after, steps) for after in (10, 20)}
            shares = " | ".join(f"{100 * share:.0f} %" for share in found.values())
            print(f"| {trials} | {of} of {SERIES} | {before} | {shares} |", flush=True)
            late = [after for after, share in found.items() if is_too_late((trials, of, before, after), share, steps)]
            broken += [
                f"{trials} a night, {of} of {SERIES}, {before} before: {100 * found[after]:.0f} % within {after}"
                for after in late
            ]
    return broken


def main() -> int:
    options = argparse.ArgumentParser()
    options.add_argument("--years", type=int, default=300)
    options.add_argument("--steps", type=int, default=60)
    options.add_argument("--quick", action="store_true")
    options.add_argument("--noise", choices=list(DRAWS), help="false alarms of this one alone")
    options.add_argument("--figure", type=Path, help="draw how soon a step is found, and nothing else")
    options.add_argument(
        "--alarms", type=Path, help="keep false alarms of --noise in this file; with --figure draw them"
    )
    options.add_argument("--open", type=int, help="new and open changes, and suspicions, in so many years each")
    asked = options.parse_args()
    if asked.open:
        return limits.report(wrong_opens([asked.noise] if asked.noise else list(DRAWS), asked.open))
    if asked.alarms:
        kept = json.loads(asked.alarms.read_text()) if asked.alarms.exists() else {}
        if asked.noise:
            there = kept.get(asked.noise, [])
            kept[asked.noise] = sorted(there + many_years(asked.noise, asked.years, len(there)))
            asked.alarms.write_text(json.dumps(kept))
        if asked.figure:
            alarms_figure(kept, asked.figure)
        return 0
    if asked.figure:
        figure(asked.figure, asked.steps)
        return 0
    count, steps = (30, 5) if asked.quick else (asked.years, asked.steps)
    broken = false_alarms([asked.noise] if asked.noise else list(DRAWS), count)
    if not asked.noise:
        broken += steps_found(steps)
        broken += pools_found(max(5, steps // 3))
        print()
        broken += wrong_opens(list(DRAWS), 2 if asked.quick else 20)
        begun = time.perf_counter()
        find_changes([normal(np.random.default_rng(n), DAYS) for n in range(SERIES)], Search())
        print(f"\n{SERIES} series of {DAYS} points: {time.perf_counter() - begun:.2f} s without reading the store")
    return limits.report(broken)


if __name__ == "__main__":
    sys.exit(main())
