"""Procedures that choose the best of several settings: the race of `iosonde run --find best`, and its rivals.

A fixed plan with the same guarantee (Rinott 1978) determines how many trials it takes. The others get as many as the
race took in the mean. Each draws its own trials. ``make build/racers`` installs Optuna where only benches look; irace
needs R. A missing one is named and left out.
"""

from __future__ import annotations

import importlib
import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr
from scipy.stats import chi2

from iosonde.core.blas_threads import use_single_blas_thread
from iosonde.selection import race
from surfaces import MARGIN, Surface

HERE = Path(__file__).parent
PACKAGES = HERE.parent / "build/racers"
CONFIDENCE = 0.95
FIRST_STAGES = (6, 10, 20)  # of Rinott's procedure; that with the fewest trials is taken
OURS, RINOTT, HALVING = "iosonde", "Rinott", "successive halving"
RANDOM_DRAW, RANDOM_MEAN = "random, best trial", "random, best mean"
OPTUNA_DRAW, OPTUNA_MEAN, IRACE = "Optuna TPE, best trial", "Optuna TPE, best mean", "irace"
_BLOCKS_AT_ONCE = 16
_VALUES_AT_ONCE = 1_000_000
_IRACE_BLOCKS = 400  # of each race; a budget that needs more sees them again


@dataclass(frozen=True)
class Choices:
    """``settings`` are the choices of a procedure, one a race. ``n_trials`` is the mean of a race."""

    settings: np.ndarray
    n_trials: float


# -- ours


def run_races(surface: Surface, n_races: int) -> Choices:
    """Run the product's race; each race has a seed."""
    settings, n_trials = [], []
    for generator in surface.create_generator(OURS).spawn(n_races):
        outcome = race(_build_draw(surface, generator), surface.n_settings, margin=MARGIN, confidence=CONFIDENCE)
        settings.append(outcome.best)
        n_trials.append(outcome.n_trials)
    return Choices(np.array(settings), float(np.mean(n_trials)))


def _build_draw(surface: Surface, generator: np.random.Generator) -> Callable[[int, int], float]:
    """Return what measures a trial for a race. A block is drawn at once, so that its level is common."""
    rows: list[list[float]] = []

    def draw(setting: int, block: int) -> float:
        while block >= len(rows):
            blocks = np.arange(len(rows), len(rows) + _BLOCKS_AT_ONCE)
            rows.extend(surface.draw_all(generator, 1, blocks)[0].tolist())
        return rows[block][setting]

    return draw


# -- Rinott


def compute_rinott_h(n_settings: int, first_stage: int, confidence: float = CONFIDENCE, nodes: int = 400) -> float:
    """Return the constant h of Rinott's two-stage procedure (1978, Communications in Statistics A7, 799-811).

    P(correct selection) = E_y[E_x[Phi(h / sqrt(df (1/x + 1/y)))]^(k-1)] for x, y chi-squared with df = first_stage - 1.
    Both integrals are Gauss-Legendre's over the quantiles.
    """
    with use_single_blas_thread():
        places, weights = np.polynomial.legendre.leggauss(nodes)
    weights /= 2
    quantiles = chi2.ppf((places + 1) / 2, first_stage - 1)
    scale = np.sqrt((first_stage - 1) * (1 / quantiles[:, None] + 1 / quantiles[None, :]))

    def compute_excess(h: float) -> float:
        return float(weights @ (ndtr(h / scale) @ weights) ** (n_settings - 1)) - confidence

    with use_single_blas_thread():
        return float(brentq(compute_excess, 0, 100))


def run_rinott(surface: Surface, n_races: int) -> Choices:
    """Run Rinott's procedure, which is told the true margin, with the first stage that takes the fewest trials."""
    generator = surface.create_generator(RINOTT)
    delta = MARGIN * surface.means.max()
    first_stage, h = _choose_first_stage(surface, delta)
    means = np.empty((n_races, surface.n_settings))
    n_trials = 0
    for setting in range(surface.n_settings):
        first = surface.draw(generator, np.array([setting]), np.arange(n_races * first_stage) % first_stage)
        first = first.reshape(n_races, first_stage)
        wanted = np.ceil((h / delta) ** 2 * first.var(axis=1, ddof=1)).astype(int)
        more = np.maximum(wanted - first_stage, 0)
        sums = first.sum(axis=1) + _sum_trials(surface, generator, setting, more, first_stage)
        means[:, setting] = sums / (first_stage + more)
        n_trials += n_races * first_stage + int(more.sum())
    return Choices(means.argmax(axis=1), n_trials / n_races)


def _choose_first_stage(surface: Surface, delta: float) -> tuple[int, float]:
    """Return the first stage, and its h, that takes the fewest trials at the true variances."""
    trials = surface.draw_all(surface.create_generator("variance"), 1, np.arange(2000))[0]
    variances = trials.var(axis=0, ddof=1)
    candidates = [(n, compute_rinott_h(surface.n_settings, n)) for n in FIRST_STAGES]
    return min(candidates, key=lambda each: np.maximum(each[0], (each[1] / delta) ** 2 * variances).sum())


def _sum_trials(
    surface: Surface, generator: np.random.Generator, setting: int, counts: np.ndarray, first_block: int
) -> np.ndarray:
    """Return the sum of ``counts`` trials of a setting for each race."""
    sums = np.zeros(counts.size)
    n_parts = max(1, math.ceil(counts.sum() / _VALUES_AT_ONCE))
    for races in np.array_split(np.arange(counts.size), n_parts):
        own = counts[races]
        race_of_trial = np.repeat(np.arange(races.size), own)
        blocks = first_block + np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
        values = surface.draw(generator, np.array([setting]), blocks)[:, 0]
        sums[races] = np.bincount(race_of_trial, values, minlength=races.size)
    return sums


# -- as many trials as the race


def run_halving(surface: Surface, n_races: int, n_trials: int) -> Choices:
    """Run successive halving with equal shares of the budget a round (Karnin, Koren and Somekh 2013, ICML, 1238-1246).

    Trials of earlier rounds count, too.
    """
    generator = surface.create_generator(HALVING)
    chosen = [_halve(surface, generator, races.size, n_trials) for races in _split_races(n_races, 2 * n_trials)]
    return Choices(np.concatenate(chosen), n_trials)


def _halve(surface: Surface, generator: np.random.Generator, n_races: int, n_trials: int) -> np.ndarray:
    settings = np.broadcast_to(np.arange(surface.n_settings), (n_races, surface.n_settings))
    sums, n_rounds, block = np.zeros(settings.shape), math.ceil(math.log2(surface.n_settings)), 0
    for _ in range(n_rounds):
        n_blocks = max(1, n_trials // (settings.shape[1] * n_rounds))
        blocks = np.arange(block, block + n_blocks)
        sums = sums + surface.draw(generator, settings[:, None, :], blocks).sum(axis=1)
        best = np.argsort(-sums, axis=1)[:, : math.ceil(settings.shape[1] / 2)]
        settings, sums = (np.take_along_axis(each, best, axis=1) for each in (settings, sums))
        block += n_blocks
    return settings[:, 0]


def run_random(surface: Surface, n_races: int, n_trials: int) -> dict[str, Choices]:
    """Draw a random setting for each trial; choose that of the best trial, or that with the best mean."""
    generator = surface.create_generator("random")
    by_trial, by_mean = [], []
    blocks = np.arange(n_trials) // surface.n_settings
    for races in _split_races(n_races, n_trials):
        settings = generator.integers(0, surface.n_settings, (races.size, n_trials))
        values = surface.draw(generator, settings[..., None], blocks)[..., 0]
        by_trial.append(_choose_best_trial(settings, values))
        by_mean.append(_choose_best_mean(settings, values, surface.n_settings))
    return {
        RANDOM_DRAW: Choices(np.concatenate(by_trial), n_trials),
        RANDOM_MEAN: Choices(np.concatenate(by_mean), n_trials),
    }


def _split_races(n_races: int, n_values: int) -> Iterator[np.ndarray]:
    """Split races into parts whose values fit into memory, at ``n_values`` a race."""
    yield from np.array_split(np.arange(n_races), max(1, math.ceil(n_races * n_values / _VALUES_AT_ONCE)))


def _choose_best_trial(settings: np.ndarray, values: np.ndarray) -> np.ndarray:
    return np.take_along_axis(settings, values.argmax(axis=1)[:, None], axis=1)[:, 0]


def _choose_best_mean(settings: np.ndarray, values: np.ndarray, n_settings: int) -> np.ndarray:
    """Return the setting with the best mean for each row. One without a trial is never chosen."""
    cells = (settings + n_settings * np.arange(len(settings))[:, None]).ravel()
    size = len(settings) * n_settings
    counts, sums = np.bincount(cells, minlength=size), np.bincount(cells, values.ravel(), minlength=size)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), -np.inf)
    return means.reshape(-1, n_settings).argmax(axis=1)


# -- Optuna and irace


def load_optuna() -> ModuleType | None:
    """Return Optuna, or None if it is not installed."""
    if str(PACKAGES) not in sys.path:
        sys.path.append(str(PACKAGES))
    try:
        return importlib.import_module("optuna")
    except (ImportError, OSError):
        return None


def run_optuna(optuna: ModuleType, surface: Surface, n_races: int, n_trials: int) -> dict[str, Choices]:
    """Run studies with the default TPE sampler; a setting is a category. Their own answer is that of the best trial."""
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    names = list(range(surface.n_settings))
    settings, values = np.empty((n_races, n_trials), int), np.empty((n_races, n_trials))
    for number, generator in enumerate(surface.create_generator("optuna").spawn(n_races)):
        study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=number))
        for trial_number in range(n_trials):
            trial = study.ask()
            setting = trial.suggest_categorical("setting", names)
            block = np.array([trial_number // surface.n_settings])
            value = float(surface.draw(generator, np.array([setting]), block)[0, 0])
            study.tell(trial, value)
            settings[number, trial_number], values[number, trial_number] = setting, value
    return {
        OPTUNA_DRAW: Choices(_choose_best_trial(settings, values), n_trials),
        OPTUNA_MEAN: Choices(_choose_best_mean(settings, values, surface.n_settings), n_trials),
    }


def find_irace() -> str | None:
    """Return the Rscript that has irace, or None."""
    program = shutil.which("Rscript")
    if program is None:
        return None
    check = subprocess.run([program, "-e", "library(irace)"], capture_output=True, timeout=60, check=False)
    return program if check.returncode == 0 else None


def run_irace(program: str, surface: Surface, n_races: int, n_trials: int) -> Choices:
    """Run irace with its defaults; a setting is a category and a block an instance.

    Raises CalledProcessError if irace refuses the budget.
    """
    blocks = np.arange(_IRACE_BLOCKS)
    values = surface.draw_all(surface.create_generator(IRACE), n_races, blocks)
    with tempfile.NamedTemporaryFile(suffix=".f64") as file:
        values.tofile(file.name)
        sizes = [str(size) for size in (n_races, _IRACE_BLOCKS, surface.n_settings, n_trials)]
        command = [program, str(HERE / "irace.R"), file.name, *sizes]
        lines = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True).stdout.split()
    return Choices(np.array([int(line) for line in lines]), n_trials)


def find_missing_peers() -> list[str]:
    """Say which peers are not installed, and what installs them."""
    missing = [] if load_optuna() else ["Optuna: not installed; make build/racers"]
    return missing if find_irace() else [*missing, "irace: not installed; apt install r-cran-irace"]
