"""Detectors of changes in nightly series: `iosonde watch` and its peers, each as its own documentation runs it.

``make build/detectors`` installs the peers into a directory that only benches look into. A missing one is named and
left out. Nothing is tuned: where a peer asks for a number and has no default, it is the one that its authors recommend.
One more row is Otava with a limit of p at which it is about as quiet as ours in normal noise: that is no default.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import numpy as np

from iosonde.changes.find import Search
from iosonde.changes.pooled import Pool, find_changes_together

PACKAGES = Path(__file__).parent.parent / "build/detectors"
OURS = "iosonde watch"
# Places of changes in one series.
FindPlaces = Callable[[np.ndarray], Sequence[int]]


@dataclass(frozen=True)
class Detector:
    """``find``: (series as rows, the rows that are asked) → the places of changes in each of these; a place is the
    first night at another level. ``settings``: what it is run with."""

    name: str
    settings: str
    find: Callable[[np.ndarray, Sequence[int]], Iterator[Sequence[int]]]


def find_ours(values: np.ndarray, rows: Sequence[int]) -> Iterator[Sequence[int]]:
    """As the command does: all series of a store at once, of which higher is better."""
    every = tuple(range(len(values)))
    changes = find_changes_together(list(values), [Pool(every, values, (1,) * len(every), (every,))], Search())
    return ([change.at for change in changes[row]] for row in rows)


def estimate_noise(values: np.ndarray) -> float:
    """The standard deviation without changes, from the median difference of neighbours."""
    return float(np.median(np.abs(np.diff(values))) / 0.6745 / np.sqrt(2))


def build_otava(p_limit: float) -> Callable[[ModuleType], FindPlaces]:
    """E-divisive with Student's t in windows, as `otava analyze`."""

    def build(package: ModuleType) -> FindPlaces:
        return lambda values: [
            int(change.index) for change in package.compute_change_points(values.tolist(), max_pvalue=p_limit)[0]
        ]

    return build


def build_e_divisive(package: ModuleType) -> FindPlaces:
    """E-divisive with permutations, as MongoDB's evergreen."""
    return lambda values: sorted(int(place) for place in package.e_divisive(values))


def build_pelt(parameters: int) -> Callable[[ModuleType], FindPlaces]:
    """Changes of the mean with a penalty of so many parameters a change."""

    def build(package: ModuleType) -> FindPlaces:
        def find(values: np.ndarray) -> Sequence[int]:
            penalty = parameters * estimate_noise(values) ** 2 * np.log(values.size)
            return [int(place) for place in package.Pelt().fit(values).predict(pen=penalty)[:-1]]

        return find

    return build


# name, settings, module, what makes it from the module
PEERS: tuple[tuple[str, str, str, Callable[[ModuleType], FindPlaces]], ...] = (
    ("Apache Otava", "window 50, p ≤ 0.001", "otava.analysis", build_otava(0.001)),
    ("Apache Otava, quiet", "no default: p ≤ 10⁻⁸", "otava.analysis", build_otava(1e-8)),
    (
        "E-divisive (MongoDB)",
        "100 permutations, p ≤ 0.05",
        "signal_processing_algorithms.energy_statistics.energy_statistics",
        build_e_divisive,
    ),
    ("PELT (ruptures), BIC", "l2, jump 5, penalty σ² ln n", "ruptures", build_pelt(1)),
    ("PELT (ruptures), 2 × BIC", "l2, jump 5, penalty 2 σ² ln n", "ruptures", build_pelt(2)),
)


def _ask_each(find: FindPlaces) -> Callable[[np.ndarray, Sequence[int]], Iterator[Sequence[int]]]:
    return lambda values, rows: (find(values[row]) for row in rows)


def load_detectors() -> tuple[list[Detector], list[str]]:
    """Ours, then the peers that are installed; and why others are not among them."""
    if str(PACKAGES) not in sys.path:
        sys.path.append(str(PACKAGES))
    detectors, missing = [Detector(OURS, "3 %, 5 nights, 5 % of years", find_ours)], []
    for name, settings, module, build in PEERS:
        try:
            detectors.append(Detector(name, settings, _ask_each(build(importlib.import_module(module)))))
        except (ImportError, OSError, AttributeError) as error:
            missing.append(f"{name}: not installed ({error}); make build/detectors")
    return detectors, missing
