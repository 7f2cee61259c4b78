"""Accuracy of surveys of a tree: the truth from a full scan, against repeated samples. They are drawn by count, by
size, and the wrong way, which uses equal draws for the capacity."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.foreign.child import LIMIT_S, OnWait
from iosonde.survey.codecs import normalize_codec_name
from iosonde.survey.sampling.population import Population
from iosonde.survey.sampling.resampling import DrawnAgain, SimulatedEstimate, simulate_estimates
from iosonde.survey.sampling.stopping import compute_sample_size
from iosonde.survey.scan import TreeScan, load_scan, scan_tree
from iosonde.survey.tree import SurveyedTree

from .strata import parse_by

DRAWS = (64, 256, 1024, 4096)


@dataclass(frozen=True)
class SimulationQuery:
    """Options of a simulation. ``draws``: sizes of the samples. ``codecs``: read all bytes, to compress them by these.
    ``by``: parts have their own draws (``directory``, ``directory:2``); ``until``: stop once the intervals of all
    shares are this narrow. ``scan``: file to keep the full scan in, or to take it from."""

    path: str
    repetitions: int = 100
    seed: int = 0
    level: float = 0.95
    draws: tuple[int, ...] = DRAWS
    codecs: tuple[str, ...] = ()
    by: str | None = None
    until: float | None = None
    scan: str | None = None
    idle_timeout: float = LIMIT_S

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 2 <= self.repetitions <= 100_000:
            raise InputError(
                "out-of-range",
                "{repetitions} repetitions are not possible",
                "use 2 to 100,000",
                repetitions=self.repetitions,
            )
        if not self.draws or min(self.draws) < 2:
            raise InputError("too-few-draws", "a sample needs at least 2 files", "write {spell.draws:64,256,1024}")
        if self.by and self.until is not None:
            raise InputError(
                "conflicting-options",
                "parts of a tree are drawn from in numbers that are known before",
                "leave out {spell.by} or {spell.until}",
            )
        if parse_by(self.by)[0]:
            raise InputError(
                "unsupported-option-value",
                "a simulation has directories, but no owners",
                "write {spell.by:directory}",
            )

    @property
    def depth(self) -> int:
        """Return the depth of the directories that are parts."""
        return parse_by(self.by)[1] or 1

    @property
    def resampled(self) -> DrawnAgain:
        """Return the way of drawing files. Raises InputError."""
        sizes = self.draws if self.until is None else (compute_sample_size(self.until, self.level),)
        return DrawnAgain(self.repetitions, self.seed, self.level, sorted(sizes), self.by is not None, self.until)


@dataclass(frozen=True)
class Simulation(Answer):
    """Results of simulated surveys of a tree with known truth."""

    options: SimulationQuery
    files: int
    capacity: int
    n_excluded: int
    shares: tuple[SimulatedEstimate, ...]
    seconds: float
    hangs: tuple[str, ...] = ()

    @property
    def problem(self) -> bool:
        """Return whether files did not answer; ``hangs`` names them, a sentence each."""
        return bool(self.hangs)

    def content(self) -> dict[str, Any]:
        """As ``iosonde survey simulate --json``."""
        options = self.options
        return {
            "path": options.path,
            "files": self.files,
            "capacity": self.capacity,
            "left_out": self.n_excluded,
            "repetitions": options.repetitions,
            "level": options.level,
            "seed": options.seed,
            "by": options.by,
            "until": options.until,
            "seconds": self.seconds,
            "shares": [share.to_json() for share in self.shares],
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per way of drawing, number of draws, and estimate."""
        return [{**share.to_json(), "coverage": share.coverage.value} for share in self.shares]


def simulate(
    options: SimulationQuery, on_progress: Callable[[str, int], object] | None = None, on_wait: OnWait | None = None
) -> Simulation:
    """Scan every file of a tree, or take a stored scan, then draw from it. Raises InputError."""
    began = time.monotonic()
    how = options.resampled
    scan, hangs = _obtain_scan(options, on_progress, on_wait)
    if not len(scan.sizes) or not scan.sizes.sum():
        raise InputError(
            "no-files",
            "{path}: no file has readable contents",
            "name another tree",
            path=options.path,
        )
    if len(scan.sizes) < 2:
        raise InputError(
            "too-few-files",
            "{path}: cannot draw samples of a single file",
            "name a tree with more files",
            path=options.path,
        )
    shares = tuple(simulate_estimates(Population(scan), how))
    return Simulation(
        options, len(scan.sizes), int(scan.sizes.sum()), scan.n_omitted, shares, time.monotonic() - began, hangs
    )


def _obtain_scan(
    options: SimulationQuery, on_progress: Callable[[str, int], object] | None, on_wait: OnWait | None
) -> tuple[TreeScan, tuple[str, ...]]:
    codecs = tuple(map(normalize_codec_name, options.codecs))
    if options.scan is None or not Path(options.scan).exists():
        with SurveyedTree(options.path, options.idle_timeout, on_wait) as tree:
            scan = scan_tree(tree, codecs, options.depth, on_progress)
        if options.scan is not None:
            scan.save(options.scan)
        return scan, tree.hangs()
    stored_scan = load_scan(options.scan)
    if not set(codecs) <= stored_scan.pieces.keys() or (options.by and options.depth != stored_scan.depth):
        raise InputError(
            "scan-mismatch",
            "{scan} was scanned without these codecs, or with directories of another depth",
            "scan anew, into another file",
            scan=options.scan,
        )
    return stored_scan, ()
