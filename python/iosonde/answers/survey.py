"""What a tree of files holds: sizes, ages and owners from the walk of all, kinds and compressibility from a sample."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.core.types import Estimate
from iosonde.stats.sampling.shares import DrawnSample, OfWhole, mean, share
from iosonde.stats.sampling.size import sample_size
from iosonde.survey.contents import CODECS, Contents, LookAsked, Piece, look_at_all
from iosonde.survey.magic import EMPTY
from iosonde.survey.opening import WalkedFile
from iosonde.survey.walk import DrawnFiles, WalkAsked, Walked, chances_of, walk

from .answer import Answer
from .survey_walk import WalkSummary, walk_summary

COUNT, CAPACITY = "files", "capacity"
MOST_DRAWS = 1_000_000
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SurveyAsked:
    """``precision``: half the width of the interval of a share, at worst; ``files``: instead, so many are read at most.

    ``codecs``: what the bytes that are read are compressed by, none for kinds alone. ``allocated``: the capacity is
    what is allocated, not the sizes.
    """

    path: str
    precision: float = 0.05
    files: int | None = None
    level: float = 0.95
    seed: int = 0
    codecs: tuple[str, ...] = ("zlib",)
    allocated: bool = False
    other_file_systems: bool = False
    snapshots: bool = False

    @property
    def draws(self) -> int:
        """How many are drawn by count, and as many by size. Raises InputError."""
        if self.files is None:
            draws = sample_size(self.precision, self.level)
        elif self.files < 2:
            raise InputError("two files is the least that is drawn: one by count, one by size", "ask for some hundred")
        else:
            draws = self.files // 2
        if draws > MOST_DRAWS:
            raise InputError(f"{draws:,} draws are too many", "ask for less precision, as 1%")
        return draws


@dataclass(frozen=True)
class SurveyEstimate:
    """One thing that the sample tells: ``what`` (``type``, ``compressed``, ``saved``, ``cpu``, ``zeros``) of which
    ``name`` (a kind, a codec), over what (``files``, ``capacity``), its unit, and the estimate."""

    what: str
    name: str
    of: str
    unit: str
    found: OfWhole

    def to_json(self) -> dict[str, Any]:
        """The estimate with its design effect, and its value if all that gave no answer had none or all of it."""
        bounded = self.what not in ("cpu", "saved")
        return {
            "what": self.what, "name": self.name, "of": self.of, "unit": self.unit, **self.found.estimate.to_json(),
            "design_effect": self.found.design_effect,
            "if_missing_none": self.found.if_none if bounded else None,
            "if_missing_all": self.found.if_all if bounded else None,
        }  # fmt: skip


@dataclass(frozen=True)
class SurveySample:
    """One of the two samples: how many were drawn of how many, how many of them with certainty, and what share of it
    (of the files, or the capacity) could not be looked at, as estimated."""

    by: str
    drawn: int
    certain: int
    missing: OfWhole

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {"by": self.by, "drawn": self.drawn, "certain": self.certain, "missing": self.missing.estimate.to_json()}


@dataclass(frozen=True)
class Survey(Answer):
    """What the walk knows of all files, and what the sample tells of their contents."""

    path: str
    seed: int
    walked: WalkSummary
    samples: tuple[SurveySample, ...]
    estimates: tuple[SurveyEstimate, ...]
    files_read: int
    bytes_read: int
    no_answer: dict[str, int]
    touched: int
    seconds: float

    def content(self) -> dict[str, Any]:
        """As ``iosonde survey --json``. No name of a file is in it."""
        return {
            "path": self.path, "files_seen": self.walked.files, "files_read": self.files_read,
            "bytes_read": self.bytes_read, "seconds": self.seconds, "seed": self.seed,
            "walk": self.walked.to_json(), "samples": [one.to_json() for one in self.samples],
            "no_answer": self.no_answer, "access_times_changed": self.touched,
            "estimates": [one.to_json() for one in self.estimates],
        }  # fmt: skip

    def records(self) -> list[dict[str, Any]]:
        """One row an estimate."""
        return [
            {"what": one.what, "name": one.name, "of": one.of, "unit": one.unit,
             **one.found.estimate.flat("value"), "n": one.found.estimate.n, "design_effect": one.found.design_effect}
            for one in self.estimates
        ]  # fmt: skip

    def of(self, what: str, over: str) -> Iterator[SurveyEstimate]:
        """The estimates of one kind."""
        return (one for one in self.estimates if (one.what, one.of) == (what, over))


def survey(asked: SurveyAsked, on_progress: Callable[[str, int], object] | None = None) -> Survey:
    """Walk a tree, draw, read what was drawn, and say what that tells of the whole. Raises InputError."""
    began, level = time.monotonic(), check_level(asked.level)
    unknown = set(asked.codecs) - set(CODECS)
    if unknown:
        raise InputError(f"there is no codec {min(unknown)}", f"known are {', '.join(CODECS)}")
    walked = walk(
        WalkAsked(asked.path, asked.seed, asked.draws, asked.allocated, asked.other_file_systems, asked.snapshots),
        on_progress and (lambda files: on_progress("files seen", files)),
    )
    if asked.files is None:  # of a small tree fewer are enough
        enough = sample_size(asked.precision, level, population=walked.files)
        by_count = walked.by_count.first(enough)
    else:
        by_count = walked.by_count
    drawn = {COUNT: by_count, CAPACITY: walked.by_size}
    seen = {file.inode_key: file for one in drawn.values() for file in seen_of(one)}
    looked = look_at_all(asked.path, list(seen.values()), LookAsked(asked.codecs, asked.seed),
                         on_progress and (lambda done: on_progress("files read", done)))  # fmt: skip
    contents = dict(zip(seen, looked, strict=True))
    samples = {by: _Sample(by, one, walked, asked.allocated, contents) for by, one in drawn.items()}
    return Survey(
        asked.path, asked.seed, walk_summary(walked, asked.allocated),
        tuple(one.said(level) for one in samples.values()), tuple(_estimates(samples, asked.codecs, level)),
        sum(one.read_bytes > 0 for one in looked), sum(one.read_bytes for one in looked),
        dict(Counter(one.why for one in looked if one.why)),
        sum(one.touched for one in looked), time.monotonic() - began,
    )  # fmt: skip


def seen_of(drawn: DrawnFiles) -> Iterable[WalkedFile]:
    """The drawn files as they are looked at."""
    columns = [drawn.columns[name].tolist() for name in ("size", "allocated", "device", "inode", "modified_ns")]
    return (WalkedFile(path, *row) for path, *row in zip(drawn.paths, *columns, strict=True))


class _Sample:
    """Files drawn one way, with what was found in them."""

    def __init__(
        self, by: str, drawn: DrawnFiles, walked: Walked, allocated: bool,
        contents: dict[tuple[int, int], Contents],
    ) -> None:  # fmt: skip
        self.by = by
        self.contents = [contents[file.inode_key] for file in seen_of(drawn)]
        self.answered = np.array([not one.why for one in self.contents], bool)
        if by == COUNT:
            self.drawn = count_sample(len(drawn), walked.files)
        else:
            size = "allocated" if allocated else "size"
            whole = walked.found["allocated_bytes" if allocated else "bytes"]
            self.drawn = size_sample(drawn, drawn.columns[size].astype(float), float(whole))

    def share(self, kind: str, level: float) -> OfWhole:
        return share(self.drawn, [one.kind == kind for one in self.contents], level, self.answered)

    def mean(self, of: Callable[[Piece], float], level: float) -> OfWhole:
        """Over the mass, of what each piece of a file has."""
        pieces = [[of(piece) for piece in one.pieces] for one in self.contents]
        values = [float(np.mean(one)) if one else 0.0 for one in pieces]
        within = [float(np.var(one, ddof=1)) / len(one) if len(one) > 1 else 0.0 for one in pieces]
        answered = self.answered & np.array([bool(one) for one in pieces], bool)
        return mean(self.drawn, values, level, answered, within)

    def said(self, level: float) -> SurveySample:
        missing = share(self.drawn, ~self.answered, level)
        return SurveySample(self.by, len(self.contents), int(self.drawn.certain.sum()), missing)


def count_sample(draws: int, population: int) -> DrawnSample:
    """Files drawn with equal chances, without replacement."""
    ones = np.ones(draws)
    return DrawnSample(float(population), ones, ones * (draws / population if population else 1.0))


def size_sample(drawn: DrawnFiles, sizes: Floats, whole: float) -> DrawnSample:
    """Files drawn by size: priority sampling, given its threshold."""
    return DrawnSample(whole, sizes, chances_of(drawn, sizes))


def _estimates(samples: dict[str, _Sample], codecs: Sequence[str], level: float) -> Iterator[SurveyEstimate]:
    kinds = Counter(one.kind for sample in samples.values() for one in sample.contents if one.kind)
    for of, sample in samples.items():
        found = {kind: sample.share(kind, level) for kind in kinds if of == COUNT or kind != EMPTY}
        for kind in sorted(found, key=lambda kind: (-(found[kind].estimate.value or 0.0), kind)):
            yield SurveyEstimate("type", kind, of, "share", found[kind])
    by_size = samples[CAPACITY]
    mass = by_size.drawn.mass
    for codec in codecs if mass else ():
        ratio = by_size.mean(partial(_left, codec), level)
        speed = by_size.mean(partial(_cpu_per_byte, codec), level)
        yield SurveyEstimate("compressed", codec, CAPACITY, "share", ratio)
        yield SurveyEstimate("saved", codec, CAPACITY, "bytes", _rest_of(ratio, mass))
        yield SurveyEstimate("cpu", codec, CAPACITY, "s", speed.times(mass))
    if codecs and mass:
        zeros = by_size.mean(lambda piece: piece.zeros / piece.blocks if piece.blocks else 0.0, level)
        yield SurveyEstimate("zeros", "4 KiB blocks", CAPACITY, "share", zeros)


def _left(codec: str, piece: Piece) -> float:
    """What a codec makes of it; who compresses keeps the original where that is smaller."""
    return min(1.0, piece.compressed[codec] / piece.size)


def _cpu_per_byte(codec: str, piece: Piece) -> float:
    return piece.cpu_s[codec] / piece.size


def _rest_of(ratio: OfWhole, mass: float) -> OfWhole:
    """What compression saves of a mass."""
    one = ratio.estimate
    value, high, low = (None if x is None else max(0.0, 1 - x) * mass for x in (one.value, one.low, one.high))
    saved = Estimate(value, low, high, one.level, one.n, one.warnings)
    return OfWhole(saved, ratio.design_effect, (1 - ratio.if_all) * mass, (1 - ratio.if_none) * mass)
