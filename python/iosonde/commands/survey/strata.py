"""A survey of each part of a tree: projects or owners, each with its own draws, combined to the whole."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from iosonde.core.errors import InputError
from iosonde.survey.contents import Contents
from iosonde.survey.opening import WalkedFile
from iosonde.survey.sampling.quantiles import estimate_weighted_quantile
from iosonde.survey.sampling.shares import DrawnSample, PopulationEstimate
from iosonde.survey.sampling.strata import (
    StratumValues,
    allocate_by_mass,
    estimate_stratified_mean,
    estimate_stratified_share,
)
from iosonde.survey.walk import DrawnFiles, Walked

from .sample import Floats, OfPiece, SurveyEstimate, Where

OWNER, DIRECTORY = "owner", "directory"


def parse_by(text: str | None) -> tuple[bool, int | None]:
    """Parse ``owner``, ``directory`` or ``directory:2`` to (whether by owner, down to which depth). Raises
    InputError."""
    if text is None:
        return False, None
    if text == OWNER:
        return True, None
    match = re.fullmatch(rf"{DIRECTORY}(?::([1-9]\d{{0,2}}))?", text)
    if not match:
        raise InputError(
            "unknown-option-value",
            "a tree has no parts by {grouping!r}",
            "write {spell.by:directory}, {spell.by:directory:2} or {spell.by:owner}",
            grouping=text,
        )
    return False, int(match[1] or 1)


@dataclass(frozen=True)
class SurveyStratum:
    """A part: its name (a directory, the number of an owner), its sizes from the walk, the number of files read, and
    its shares of types."""

    name: str
    files: int
    bytes: int
    allocated_bytes: int
    capacity: int
    looked_at: int
    estimates: tuple[SurveyEstimate, ...]

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {
            "name": self.name,
            "files": self.files,
            "bytes": self.bytes,
            "allocated_bytes": self.allocated_bytes,
            "looked_at": self.looked_at,
            "estimates": [estimate.to_json() for estimate in self.estimates],
        }

    @property
    def mostly(self) -> SurveyEstimate | None:
        """Return the type that holds most of its capacity."""
        capacity_types = [
            estimate
            for estimate in self.estimates
            if estimate.of == "capacity" and estimate.inference.estimate.value is not None
        ]
        return max(capacity_types, key=lambda estimate: estimate.inference.estimate.value or 0.0, default=None)


class StratumSample(Protocol):
    """Files drawn one way in one stratum, with their contents."""

    files: list[WalkedFile]
    contents: list[Contents]
    drawn: DrawnSample

    def are(self, where: Where) -> StratumValues:
        """Return which files ``where`` selects."""

    def average_pieces(self, of: OfPiece, where: Where | None = None, outside: float = 0.0) -> StratumValues:
        """Return the mean of each file's pieces; files that ``where`` does not select have ``outside``."""

    def evaluate_files(self, of: Callable[[WalkedFile], float]) -> Floats:
        """Return a quantity that the walk has for each drawn file."""

    def silent(self) -> StratumValues:
        """Return which files gave no answer."""


class StratifiedSample:
    """Samples of all strata, drawn one way, as one sample of the whole."""

    def __init__(self, by: str, parts: Sequence[StratumSample]) -> None:
        self.by, self.parts = by, parts
        self.mass = sum(part.drawn.mass for part in parts)
        self.files = [file for part in parts for file in part.files]
        self.contents = [content for part in parts for content in part.contents]
        self.certain = sum(int(part.drawn.certain.sum()) for part in parts)

    def share(self, where: Where, level: float) -> PopulationEstimate:
        """Estimate the share of the mass in files that ``where`` selects."""
        return estimate_stratified_share([part.are(where) for part in self.parts], level)

    def mean(
        self, of: OfPiece, level: float, where: Where | None = None, outside: float = 0.0, bounded: bool = True
    ) -> PopulationEstimate:
        """Estimate the mean over the mass of ``of`` each piece (0 to 1; not ``bounded``: always small). Files that
        ``where`` does not select have ``outside``."""
        return estimate_stratified_mean(
            [part.average_pieces(of, where, outside) for part in self.parts], level, bounded
        )

    def quantile(self, of: Callable[[WalkedFile], float], q: float, level: float) -> PopulationEstimate:
        """Estimate a quantile of a quantity that the walk has for every drawn file."""
        if not self.parts:
            return estimate_weighted_quantile([], [], q, level, lambda _: estimate_stratified_share([], level))
        values = [part.evaluate_files(of) for part in self.parts]
        weights = np.concatenate([part.drawn.weights for part in self.parts])

        def below(at: float) -> PopulationEstimate:
            return estimate_stratified_share(
                [StratumValues(part.drawn, mine <= at) for part, mine in zip(self.parts, values, strict=True)], level
            )

        return estimate_weighted_quantile(np.concatenate(values), weights, q, level, below)

    def missing(self, level: float) -> PopulationEstimate:
        """Estimate the share of files without an answer."""
        return estimate_stratified_share([part.silent() for part in self.parts], level)


def allocate_draws(
    strata: Mapping[str, Walked], draws: Mapping[str, int], sizes: str
) -> Iterator[tuple[str, str, DrawnFiles]]:
    """Yield (how drawn, stratum, its draws): draws by count in proportion to the files, by size to the bytes."""
    files = [walked.files for walked in strata.values()]
    masses = {"files": files, "capacity": [walked.counts[sizes] for walked in strata.values()]}
    for by, count in draws.items():
        yield from (
            (by, name, (stratum.by_count if by == "files" else stratum.by_size).first(n_draws))
            for (name, stratum), n_draws in zip(strata.items(), allocate_by_mass(count, masses[by], files), strict=True)
        )
