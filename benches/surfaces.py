"""Surfaces for races: settings whose true means are planted, and noise around them. Higher is better.

Each surface has a seed. A choice is right if its true mean is within the margin of the best one. Measured surfaces are
trials that this repository holds, drawn with replacement: their truth is the mean of these trials.
"""

from __future__ import annotations

import csv
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

ROOT = Path(__file__).parent.parent
MARGIN = 0.05
BEST = 100.0  # true mean of the best setting of a made surface
OUTSIDE = 94.999  # just not within the margin of it
LEAST_REPETITIONS = 5
# (generator, settings, blocks) → factors with mean 1 of the shape that settings and blocks broadcast to. The last axis
# are settings, the one before it blocks.
Noise = Callable[[np.random.Generator, np.ndarray, np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Surface:
    """``means`` are the true means by setting. ``is_promised``: the guarantee of a race is claimed for such noise."""

    name: str
    means: np.ndarray
    noise: Noise
    is_promised: bool = True

    @property
    def n_settings(self) -> int:
        return self.means.size

    @property
    def has_trials_limit(self) -> bool:
        """True where a race must take fewer trials than a fixed plan."""
        return self.is_promised and self.n_settings >= 8 and self.name != SLIPPAGE

    def create_generator(self, purpose: str) -> np.random.Generator:
        """Return a generator with the seed of the surface, another one for each purpose."""
        return np.random.default_rng([zlib.crc32(self.name.encode()), zlib.crc32(purpose.encode())])

    def draw(self, generator: np.random.Generator, settings: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        """Draw a trial for each of ``settings`` (last axis: settings) in each of ``blocks`` (one axis)."""
        return self.means[settings] * self.noise(generator, settings, blocks[:, None])

    def draw_all(self, generator: np.random.Generator, n_races: int, blocks: np.ndarray) -> np.ndarray:
        """Draw a trial of every setting: races by blocks by settings."""
        every = np.broadcast_to(np.arange(self.n_settings), (n_races, 1, self.n_settings))
        return self.draw(generator, every, blocks)

    def compute_regret(self, choices: np.ndarray) -> np.ndarray:
        """Return the share of the best true mean that each choice loses."""
        return 1 - self.means[choices] / self.means.max()

    def is_right(self, choices: np.ndarray) -> np.ndarray:
        return self.means[choices] >= (1 - MARGIN) * self.means.max()


def _get_shape(settings: np.ndarray, blocks: np.ndarray) -> tuple[int, ...]:
    return np.broadcast_shapes(settings.shape, blocks.shape)


def build_normal(cv: float | np.ndarray) -> Noise:
    """``cv``: coefficient of variation, of all settings or of each."""
    return lambda generator, settings, blocks: (
        1
        + (
            (cv if np.ndim(cv) == 0 else np.asarray(cv)[settings])
            * generator.standard_normal(_get_shape(settings, blocks))
        )
    )


def build_log_normal(sigma: float) -> Noise:
    return lambda generator, settings, blocks: np.exp(
        sigma * generator.standard_normal(_get_shape(settings, blocks)) - sigma**2 / 2
    )


def build_drift(cv: float, level_cv: float, swing: float, period: int) -> Noise:
    """Each block has a level of its own, on a wave with an amplitude of ``swing`` and a ``period`` in blocks."""
    normal = build_normal(cv)

    def draw(generator: np.random.Generator, settings: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        shape = _get_shape(settings, blocks)
        levels = (
            1 + swing * np.sin(2 * np.pi * blocks / period) + level_cv * generator.standard_normal((*shape[:-1], 1))
        )
        return levels * normal(generator, settings, blocks)

    return draw


def build_mixture(cv: float, share: float, factor: float) -> Noise:
    """A ``share`` of the trials is slower by a ``factor``; scaled to a mean of 1."""
    normal = build_normal(cv)

    def draw(generator: np.random.Generator, settings: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        is_slow = generator.random(_get_shape(settings, blocks)) < share
        scale = 1 - share * (1 - factor)
        return np.where(is_slow, factor, 1.0) / scale * normal(generator, settings, blocks)

    return draw


def build_resampled(trials: Sequence[np.ndarray]) -> Noise:
    """Draw with replacement from the trials of each setting, divided by their mean."""
    counts = np.array([values.size for values in trials])
    ratios = np.ones((len(trials), counts.max()))
    for row, values in zip(ratios, trials, strict=True):
        row[: values.size] = values / values.mean()

    def draw(generator: np.random.Generator, settings: np.ndarray, blocks: np.ndarray) -> np.ndarray:
        shape = _get_shape(settings, blocks)
        return ratios[settings, (generator.random(shape) * counts[settings]).astype(int)]

    return draw


def _spread(low: float, n_settings: int, high: float = BEST) -> np.ndarray:
    return np.linspace(high, low, n_settings)


def _build_grid() -> np.ndarray:
    """Three factors with 5, 8 and 5 levels, whose effects multiply and have a best level inside."""
    effects = [1 - depth * (np.linspace(-0.6, 0.4, n) / 0.6) ** 2 for depth, n in ((0.3, 5), (0.4, 8), (0.2, 5))]
    grid = np.multiply.outer(np.multiply.outer(effects[0], effects[1]), effects[2]).ravel()
    return BEST * grid / grid.max()


SLIPPAGE = "slippage"


def build_made_surfaces() -> list[Surface]:
    """Return the twelve made surfaces."""
    return [
        Surface("normal, CV 3 %", _spread(80, 8), build_normal(0.03)),
        Surface("normal, CV 8 %", _spread(60, 20), build_normal(0.08)),
        Surface("log-normal, σ 0.3", _spread(40, 12), build_log_normal(0.3)),
        Surface("unequal variances", _spread(60, 16), build_normal(np.linspace(0.12, 0.02, 16))),
        Surface("drift by blocks", _spread(60, 24), build_drift(0.05, 0.05, 0.15, 40)),
        Surface("two near ties", np.append(_spread(99, 2), _spread(60, 28, 93)), build_normal(0.08)),
        Surface("200 settings", _build_grid(), build_normal(0.08)),
        Surface(SLIPPAGE, np.append(BEST, np.full(9, OUTSIDE)), build_normal(0.08)),
        Surface("2 settings", np.array([BEST, OUTSIDE]), build_normal(0.08)),
        Surface("3 settings", np.array([BEST, OUTSIDE, 90.0]), build_normal(0.08)),
        Surface("one slow trial in ten", _spread(60, 10), build_mixture(0.03, 0.1, 0.5), is_promised=False),
        Surface("two modes", _spread(60, 12), build_mixture(0.03, 0.5, 0.7), is_promised=False),
    ]


def read_trials(path: Path, by: Sequence[str], response: str) -> list[np.ndarray]:
    """Return the trials of each setting of a table (.parquet, or .csv with comments), in the order of its rows.

    A setting is a combination of the columns ``by``. A row without a value is left out. Raises ValueError if a setting
    has fewer than ``LEAST_REPETITIONS`` trials.
    """
    trials: dict[tuple[object, ...], list[float]] = {}
    for row in _read_rows(path):
        if row[response] not in (None, ""):
            trials.setdefault(tuple(row[column] for column in by), []).append(float(str(row[response])))
    least = min(len(values) for values in trials.values())
    if least < LEAST_REPETITIONS:
        raise ValueError(f"{path}: a setting has {least} trials, and {LEAST_REPETITIONS} are needed")
    return [np.array(values) for values in trials.values()]


def _read_rows(path: Path) -> Iterable[Mapping[str, object]]:
    if path.suffix == ".parquet":
        return pq.read_table(path).to_pylist()
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    return list(csv.DictReader(lines))


_CONDITIONS = ("file_system", "access", "request_KiB", "pattern", "processes")
MEASURED = (
    ("measured: translators", "docs/results/translators.parquet", ("without",), "read_twice (bytes/s)"),
    ("measured: reads", "tests/golden/data/what_matters.csv", _CONDITIONS, "read (MiB/s)"),
    ("measured: writes", "tests/golden/data/what_matters.csv", _CONDITIONS, "write (MiB/s)"),
)


def build_measured_surfaces() -> list[Surface]:
    """Return the surfaces that are trials in this repository."""
    surfaces = []
    for name, path, by, response in MEASURED:
        trials = read_trials(ROOT / path, by, response)
        surfaces.append(Surface(name, np.array([values.mean() for values in trials]), build_resampled(trials)))
    return surfaces


def build_surfaces() -> list[Surface]:
    return build_made_surfaces() + build_measured_surfaces()
