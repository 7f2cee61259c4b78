"""How good a survey of a tree is: the truth from reading every file's head, against samples that are drawn again and
again; by count, by size, and the wrong way, in which equal draws are taken for the capacity."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.types import Estimate
from iosonde.stats.estimate.distributions import binomial_interval
from iosonde.stats.sampling.shares import DrawnSample, hansen_hurwitz, share
from iosonde.survey.contents import LookAsked, look_at_all
from iosonde.survey.magic import EMPTY
from iosonde.survey.walk import WalkAsked, seen_of, walk

from .answer import Answer
from .survey import MOST_DRAWS
from .survey_sample import CAPACITY, COUNT, count_sample

BY_COUNT, BY_SIZE, WITH_REPLACEMENT, WRONG = "by count", "by size", "by size, with replacement", "wrong"
SIZES = (64, 256, 1024, 4096)
_LEAST_SHARE, _MOST_KINDS = 0.01, 6
Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Population:
    """All files of which the kind is known: their sizes, and by kind which are of it."""

    sizes: Floats
    kinds: dict[str, Flags]

    def truth(self, kind: str, of: str) -> float:
        """The share of a kind, of the files or of the capacity."""
        has = self.kinds[kind]
        return float(has.mean()) if of == COUNT else float(self.sizes[has].sum() / self.sizes.sum())


@dataclass(frozen=True)
class SimulatedShare:
    """One kind, drawn one way, ``n`` files each time: the truth, and what the repetitions said of it."""

    way: str
    of: str
    n: int
    kind: str
    truth: float
    mean: float
    sd: float
    worst: float
    coverage: Estimate

    def to_json(self) -> dict[str, Any]:
        """Its numbers; ``worst`` is the 95th percentile of the error, without its sign."""
        return {"way": self.way, "of": self.of, "n": self.n, "kind": self.kind, "truth": self.truth, "mean": self.mean,
                "sd": self.sd, "error_p95": self.worst, "coverage": self.coverage.to_json()}  # fmt: skip


@dataclass(frozen=True)
class Simulation(Answer):
    """What surveys of a tree that is known would have said."""

    path: str
    files: int
    capacity: int
    left_out: int
    repetitions: int
    level: float
    seed: int
    shares: tuple[SimulatedShare, ...]
    seconds: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde survey simulate --json``."""
        return {
            "path": self.path, "files": self.files, "capacity": self.capacity, "left_out": self.left_out,
            "repetitions": self.repetitions, "level": self.level, "seed": self.seed, "seconds": self.seconds,
            "shares": [one.to_json() for one in self.shares],
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """One row a way, a number of draws, and a kind."""
        return [{**one.to_json(), "coverage": one.coverage.value} for one in self.shares]


def simulate(
    path: str, repetitions: int = 100, seed: int = 0, level: float = 0.95, sizes: Sequence[int] = SIZES,
    on_progress: Callable[[str, int], object] | None = None,
) -> Simulation:  # fmt: skip
    """Look at the head of every file of a tree, then draw from that. Raises InputError."""
    began = time.monotonic()
    if not 2 <= repetitions <= 100_000:
        raise InputError(f"{repetitions} repetitions are not possible", "ask for 2 to 100,000")
    whole, left_out = _population(path, on_progress)
    shares = tuple(simulated(whole, repetitions, seed, check_level(level), sizes))
    return Simulation(path, len(whole.sizes), int(whole.sizes.sum()), left_out, repetitions, level, seed, shares,
                      time.monotonic() - began)  # fmt: skip


def _population(path: str, on_progress: Callable[[str, int], object] | None) -> tuple[Population, int]:
    walked = walk(WalkAsked(path, 0, MOST_DRAWS), on_progress and (lambda files: on_progress("files seen", files)))
    if walked.files > MOST_DRAWS:
        raise InputError(f"{path}: {walked.files:,} files are more than are read whole", "name a part of the tree")
    drawn = walked.by_count
    looked = look_at_all(path, list(seen_of(drawn)), LookAsked((), 0),
                         on_progress and (lambda done: on_progress("files read", done)))  # fmt: skip
    known = np.array([not one.why for one in looked], bool)
    names = np.array([one.kind or "" for one in looked])[known]
    if not len(names) or not drawn.columns["size"][known].sum():
        raise InputError(f"{path}: there is no file with contents that can be read", "name another tree")
    kinds = {kind: names == kind for kind in Counter(names.tolist())}
    return Population(drawn.columns["size"][known].astype(float), kinds), int((~known).sum())


def simulated(
    whole: Population, repetitions: int, seed: int, level: float, sizes: Sequence[int]
) -> Iterator[SimulatedShare]:  # fmt: skip
    """Each way with each number of draws below that of all files, on the kinds with 1 % and more."""
    said: dict[tuple[str, int, str], list[Estimate]] = {}
    kinds = _kinds(whole)
    sizes = [n for n in sizes if n < len(whole.sizes)] or [max(1, len(whole.sizes) // 2)]
    random = np.random.default_rng(seed)
    for _ in range(repetitions):
        for way, n, chosen, sample in _draws(whole, random, sizes):
            for kind in kinds if way == BY_COUNT else [one for one in kinds if one != EMPTY]:
                has = whole.kinds[kind][chosen]
                found = share(sample, has, level).estimate if sample else hansen_hurwitz(has, level)
                said.setdefault((way, n, kind), []).append(found)
    for (way, n, kind), estimates in said.items():
        of = COUNT if way == BY_COUNT else CAPACITY
        yield _summary(way, of, n, kind, whole.truth(kind, of), estimates)


def _kinds(whole: Population) -> list[str]:
    """The largest."""
    largest = {kind: max(whole.truth(kind, COUNT), whole.truth(kind, CAPACITY)) for kind in whole.kinds}
    return sorted((kind for kind in largest if largest[kind] >= _LEAST_SHARE), key=lambda kind: -largest[kind])[
        :_MOST_KINDS
    ]


def _draws(
    whole: Population, random: np.random.Generator, sizes: Sequence[int]
) -> Iterator[tuple[str, int, npt.NDArray[np.intp], DrawnSample | None]]:
    """(way, n, the files drawn, their chances; None: with replacement) of one repetition; the small samples are the
    begin of the large ones."""
    files, capacity = len(whole.sizes), float(whole.sizes.sum())
    numbers = random.random(files)
    keys = np.divide(numbers, whole.sizes, out=np.full(files, np.inf), where=whole.sizes > 0)
    most = max(sizes)
    by_count, by_size = _smallest(numbers, most), _smallest(keys, most)
    twice = random.choice(files, most, p=whole.sizes / capacity)
    for n in sizes:
        equal = count_sample(n, files)
        yield BY_COUNT, n, by_count[:n], equal
        drawn, threshold = by_size[:n], keys[by_size[n]]
        masses = whole.sizes[drawn]
        chances = np.minimum(1.0, masses * threshold) if np.isfinite(threshold) else np.ones(n)
        yield BY_SIZE, n, drawn, DrawnSample(capacity, masses, chances)
        yield WITH_REPLACEMENT, n, twice[:n], None
        yield WRONG, n, by_count[:n], equal


def _smallest(keys: Floats, most: int) -> npt.NDArray[np.intp]:
    """The places of the ``most`` smallest and of the one after, in order."""
    some = np.argpartition(keys, most)[: most + 1]
    return some[np.argsort(keys[some])]


def _summary(
    way: str, of: str, n: int, kind: str, truth: float, estimates: Sequence[Estimate]
) -> SimulatedShare:  # fmt: skip
    values = np.array([one.value for one in estimates], float)
    holds = sum(one.low is not None and one.high is not None and one.low <= truth <= one.high for one in estimates)
    low, high = binomial_interval(holds, len(estimates), 0.95)
    coverage = Estimate(holds / len(estimates), low, high, 0.95, len(estimates))
    worst = float(np.quantile(np.abs(values - truth), 0.95))
    return SimulatedShare(way, of, n, kind, truth, float(values.mean()), float(values.std(ddof=1)), worst, coverage)
