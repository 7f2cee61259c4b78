"""Simulated repeated surveys of a fully known tree: drawn by count, by size, with replacement, and by the wrong method;
per part; until intervals are narrow. Estimates are those of a survey, compared with the truth."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.arrays import Array, Indices
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval

from .population import CAPACITY, COUNT, TYPE, Population, TrueNumber
from .quantiles import estimate_weighted_quantile
from .shares import (
    DrawnSample,
    estimate_hansen_hurwitz_share,
    estimate_mean,
    estimate_share,
    sample_by_count,
    sample_by_size,
)
from .stopping import StopRule, is_narrow_enough
from .strata import StratumValues, allocate_by_mass, estimate_stratified_mean, estimate_stratified_share

BY_COUNT, BY_SIZE, WITH_REPLACEMENT, WRONG = "by count", "by size", "by size, with replacement", "wrong"
_BAND, _BINS = (0.05, 0.95), 24


@dataclass(frozen=True)
class DrawnAgain:
    """Simulation settings: ``sizes`` of the samples, of each part by itself (``parts``), or drawn until all shares are
    as narrow as ``until``."""

    repetitions: int
    seed: int
    level: float
    sizes: Sequence[int]
    parts: bool = False
    until: float | None = None


@dataclass(frozen=True)
class SimulatedEstimate:
    """A number estimated from ``n`` files drawn one way: its truth and the estimates of all repetitions. ``worst``: the
    95th percentile of the error; ``band``: the middle 90 % of the estimates; ``first``: the first estimate; ``bins``:
    their histogram."""

    way: str
    n: int
    true_number: TrueNumber
    mean: float
    sd: float
    worst: float
    coverage: Estimate
    band: tuple[float, float]
    first: float
    bins: tuple[tuple[float, float, int], ...]

    def to_json(self) -> dict[str, Any]:
        """Return its numbers."""
        number = self.true_number
        return {
            "way": self.way,
            "what": number.what,
            "kind": number.name,
            "of": number.of,
            "unit": number.unit,
            "n": self.n,
            "truth": number.truth,
            "mean": self.mean,
            "sd": self.sd,
            "error_p95": self.worst,
            "p5": self.band[0],
            "p95": self.band[1],
            "first": self.first,
            "coverage": self.coverage.to_json(),
        }


@dataclass(frozen=True)
class _Draw:
    """Files of the whole, or of each part, drawn one way. ``samples`` is None if a file may be drawn twice."""

    chosen: list[Indices]
    samples: list[DrawnSample] | None


def simulate_estimates(population: Population, settings: DrawnAgain) -> Iterator[SimulatedEstimate]:
    """Simulate each way with each sample size below the number of files."""
    estimates_by_draw: dict[tuple[str, int], list[tuple[int, list[Estimate]]]] = {}
    true_numbers = {of: population.list_true_numbers(of) for of in (COUNT, CAPACITY)}
    random = np.random.default_rng(settings.seed)
    for _ in range(settings.repetitions):
        for way, size, n, draw in _iterate_draws(population, random, settings):
            targets = _select_targets(way, true_numbers)
            estimates = [_estimate_number(population, target, draw, random, settings.level) for target in targets]
            estimates_by_draw.setdefault((way, size), []).append((n, estimates))
    for (way, _), repetitions in estimates_by_draw.items():
        n = int(np.median([n for n, _ in repetitions]))
        for place, target in enumerate(_select_targets(way, true_numbers)):
            yield _summarise_estimates(way, n, target, [estimates[place] for _, estimates in repetitions])


def _select_targets(way: str, true_numbers: dict[str, list[TrueNumber]]) -> list[TrueNumber]:
    """Select the numbers that a way of drawing estimates: types alone for ways that no survey uses."""
    numbers = true_numbers[COUNT if way == BY_COUNT else CAPACITY]
    return numbers if way in (BY_COUNT, BY_SIZE) else [number for number in numbers if number.what == TYPE]


def _iterate_draws(
    population: Population, random: np.random.Generator, settings: DrawnAgain
) -> Iterator[tuple[str, int, int, _Draw]]:
    """Iterate over (way, index of the size, n, draw) of one repetition; small samples are the beginning of large
    ones."""
    files = len(population.sizes)
    numbers = random.random(files)
    keys = {
        BY_COUNT: numbers,
        BY_SIZE: np.divide(numbers, population.sizes, out=np.full(files, np.inf), where=population.sizes > 0),
    }
    sizes = [n for n in settings.sizes if n < files] or [max(1, files // 2)]
    if settings.until is not None:
        yield from _draw_until(population, keys, settings)
        return
    order = {way: _select_smallest(way_keys, max(sizes)) for way, way_keys in keys.items()}
    for n in sizes:
        for way in keys:
            alone = _draw_from_parts if settings.parts else _draw_from_all
            yield way, n, n, alone(population, way, keys[way], order[way][: n + 1])
        if not settings.parts:
            yield WRONG, n, n, _draw_from_all(population, BY_COUNT, numbers, order[BY_COUNT][: n + 1])
    if not settings.parts:
        twice = random.choice(files, max(sizes), p=population.sizes / population.totals[CAPACITY])
        for n in sizes:
            yield WITH_REPLACEMENT, n, n, _Draw([twice[:n]], None)


def _draw_from_all(population: Population, way: str, keys: Array, order: Indices) -> _Draw:
    """Draw all but the last of an order, which is the threshold."""
    chosen = order[:-1]
    return (
        _Draw([chosen], [sample_by_count(len(chosen), len(population.sizes))])
        if way == BY_COUNT
        else _Draw(
            [chosen],
            [sample_by_size(population.sizes[chosen], _find_end_key(keys, order[-1:]), population.totals[CAPACITY])],
        )
    )


def _find_end_key(keys: Array, after: Indices) -> float | None:
    """Return the threshold key, from which on no file was drawn; None if all files with a size were drawn."""
    end = float(keys[after[0]]) if len(after) else np.inf
    return end if np.isfinite(end) else None


def _draw_from_parts(population: Population, way: str, keys: Array, order_of_all: Indices) -> _Draw:
    """Draw the same number from the parts, each by itself with its share of the draws."""
    of = COUNT if way == BY_COUNT else CAPACITY
    parts = population.scan.part
    files = np.bincount(parts).tolist()
    masses = np.bincount(parts, population.masses[of]).tolist()
    order = np.lexsort((keys, parts))
    ends = np.cumsum([0, *files])
    chosen, samples = [], []
    for part, n in enumerate(allocate_by_mass(len(order_of_all) - 1, masses, files)):
        mine = order[ends[part] : ends[part + 1]]
        some, after = mine[:n], mine[n : n + 1]
        chosen.append(some)
        if of == COUNT:
            samples.append(sample_by_count(n, files[part]))
        else:
            samples.append(sample_by_size(population.sizes[some], _find_end_key(keys, after), masses[part]))
    return _Draw(chosen, samples)


def _draw_until(
    population: Population, keys: dict[str, Array], settings: DrawnAgain
) -> Iterator[tuple[str, int, int, _Draw]]:
    """Draw both samples in parallel until the intervals of all shares in them are narrow, as a survey does."""
    assert settings.until is not None
    most = min(max(settings.sizes), len(population.sizes) - 1)
    order = {way: _select_smallest(way_keys, most) for way, way_keys in keys.items()}
    for n in StopRule(settings.until, None).steps(most):
        draws = {way: _draw_from_all(population, way, way_keys, order[way][: n + 1]) for way, way_keys in keys.items()}
        if is_narrow_enough(_estimate_shares(population, draws, settings.level), settings.until):
            break
    for way, draw in draws.items():
        yield way, most, n, draw


def _estimate_shares(population: Population, draws: dict[str, _Draw], level: float) -> list[Estimate]:
    met = {kind for draw in draws.values() for kind in population.scan.kind[draw.chosen[0]].tolist()}
    return [
        estimate_share(draw.samples[0], population.scan.kind[draw.chosen[0]] == kind, level).estimate
        for draw in draws.values()
        if draw.samples
        for kind in met
    ]


def _select_smallest(keys: Array, most: int) -> Indices:
    """Return the places of the ``most`` smallest keys and of the one after, in order."""
    some = np.argpartition(keys, most)[: most + 1]
    return np.asarray(some[np.argsort(keys[some])])


def _estimate_number(
    population: Population, number: TrueNumber, draw: _Draw, random: np.random.Generator, level: float
) -> Estimate:
    if draw.samples is None:
        return estimate_hansen_hurwitz_share(population.has(number.name, draw.chosen[0]), level)
    if number.what == TYPE:
        parts = [StratumValues(sample, population.has(number.name, some)) for some, sample in _pair_samples(draw)]
        return _choose_estimate(
            parts,
            lambda p: estimate_share(p.sample, p.values, level).estimate,
            lambda: estimate_stratified_share(parts, level).estimate,
        )
    if number.unit == "share":
        name = number.name or number.what
        parts = [_simulate_pieces_read(population, name, some, sample, random) for some, sample in _pair_samples(draw)]
        return _choose_estimate(
            parts,
            lambda p: estimate_mean(p.sample, p.values, level, None, p.within, pieces=p.pieces).estimate,
            lambda: estimate_stratified_mean(parts, level).estimate,
        )
    return _estimate_quantile(
        population.sizes if number.what == "size" else population.scan.ages, float(number.name), draw, level
    )


def _simulate_pieces_read(
    population: Population, name: str, chosen: Indices, sample: DrawnSample, random: np.random.Generator
) -> StratumValues:
    values, within, pieces = population.drawn(name, chosen, random)
    return StratumValues(sample, values, None, within, pieces)


def _pair_samples(draw: _Draw) -> Iterator[tuple[Indices, DrawnSample]]:
    return zip(draw.chosen, draw.samples or (), strict=True)


def _choose_estimate(
    parts: list[StratumValues],
    estimate_single: Callable[[StratumValues], Estimate],
    estimate_all: Callable[[], Estimate],
) -> Estimate:
    return estimate_single(parts[0]) if len(parts) == 1 else estimate_all()


def _estimate_quantile(values: Array, q: float, draw: _Draw, level: float) -> Estimate:
    mine = np.concatenate([values[some] for some in draw.chosen])
    weights = np.concatenate([sample.weights for _, sample in _pair_samples(draw)])

    def share_below(at: float) -> Any:
        return (
            estimate_share(next(_pair_samples(draw))[1], mine <= at, level)
            if len(draw.chosen) == 1
            else estimate_stratified_share(
                [StratumValues(sample, values[some] <= at) for some, sample in _pair_samples(draw)], level
            )
        )

    return estimate_weighted_quantile(mine, weights, q, level, share_below).estimate


def _summarise_estimates(way: str, n: int, true_number: TrueNumber, estimates: Sequence[Estimate]) -> SimulatedEstimate:
    values = np.array([estimate.value for estimate in estimates], float)
    holds = sum(_is_covered(estimate, true_number.truth) for estimate in estimates)
    low, high = binomial_interval(holds, len(estimates), 0.95)
    coverage = Estimate(holds / len(estimates), low, high, 0.95, len(estimates))
    low, high = np.quantile(values, _BAND).tolist()
    many, edges = np.histogram(values, _BINS)
    return SimulatedEstimate(
        way,
        n,
        true_number,
        float(values.mean()),
        float(values.std(ddof=1)),
        float(np.quantile(np.abs(values - true_number.truth), 0.95)),
        coverage,
        (low, high),
        float(values[0]),
        tuple(zip(edges[:-1].tolist(), edges[1:].tolist(), many.tolist(), strict=True)),
    )


def _is_covered(estimate: Estimate, truth: float) -> bool:
    """Return whether an interval covers the truth. Either end may be open; an interval without ends covers nothing."""
    if estimate.low is None and estimate.high is None:
        return False
    slack = 1e-9 * max(1.0, abs(truth))
    return (estimate.low is None or estimate.low <= truth + slack) and (
        estimate.high is None or truth <= estimate.high + slack
    )
