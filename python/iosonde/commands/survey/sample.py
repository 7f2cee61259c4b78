"""A sample of the whole tree: files drawn one way, by count or by size, with their contents; an estimate from it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from iosonde.survey.contents import Contents, Piece
from iosonde.survey.opening import WalkedFile
from iosonde.survey.sampling.population import COUNT
from iosonde.survey.sampling.quantiles import estimate_weighted_quantile
from iosonde.survey.sampling.shares import (
    PopulationEstimate,
    estimate_mean,
    estimate_share,
    sample_by_count,
    sample_by_size,
)
from iosonde.survey.sampling.strata import StratumValues
from iosonde.survey.walk import DrawnFiles, Walked, files_from_drawn

Where = Callable[[WalkedFile, Contents], bool]
OfPiece = Callable[[Piece], float]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class SurveyEstimate:
    """An estimate from the sample: ``what`` (``type``, ``compressed``, ``saved``, ``cpu``, ``pack``, ``unpack``,
    ``entropy``, ``zeros``, ``size``, ``age``), the ``name`` of a kind or codec, and ``of`` (``files``, ``capacity``).
    It has a unit and the estimate."""

    what: str
    name: str
    of: str
    unit: str
    inference: PopulationEstimate

    def to_json(self) -> dict[str, Any]:
        """Return the estimate with its design effect, and its value if all missing files had none or all of it."""
        bounded = self.unit == "share"
        return {
            "what": self.what,
            "name": self.name,
            "of": self.of,
            "unit": self.unit,
            **self.inference.estimate.to_json(),
            "design_effect": self.inference.design_effect,
            "if_missing_none": self.inference.if_none if bounded else None,
            "if_missing_all": self.inference.if_all if bounded else None,
        }


class FileSample:
    """Files drawn one way, with their contents."""

    def __init__(
        self,
        by: str,
        drawn: DrawnFiles,
        walked: Walked,
        allocated: bool,
        contents: dict[tuple[int, int], Contents],
    ) -> None:
        self.by = by
        self.files = list(files_from_drawn(drawn))  # a list may hold a file under two names
        self.contents = [contents[file.inode_key] for file in self.files]
        self.answered = np.array([not content.why for content in self.contents], bool)
        if by == COUNT:
            self.drawn = sample_by_count(len(drawn), walked.files)
        else:
            size = "allocated" if allocated else "size"
            total = walked.counts["allocated_bytes" if allocated else "bytes"]
            self.drawn = sample_by_size(drawn.columns[size].astype(float), drawn.threshold, float(total))

        self.mass, self.certain = self.drawn.mass, int(self.drawn.certain.sum())

    def share(self, where: Where, level: float) -> PopulationEstimate:
        """Estimate the share of the mass in files that ``where`` selects."""
        stratum = self.are(where)
        return estimate_share(stratum.sample, stratum.values, level, stratum.answered)

    def are(self, where: Where) -> StratumValues:
        """Return which files ``where`` selects."""
        values = [where(file, content) for file, content in zip(self.files, self.contents, strict=True)]
        return StratumValues(self.drawn, values, self.answered)

    def mean(
        self, of: OfPiece, level: float, where: Where | None = None, outside: float = 0.0, bounded: bool = True
    ) -> PopulationEstimate:
        """Estimate the mean over the mass of ``of`` each piece (0 to 1; not ``bounded``: always small). Files that
        ``where`` does not select have ``outside``."""
        stratum = self.average_pieces(of, where, outside)
        return estimate_mean(
            stratum.sample, stratum.values, level, stratum.answered, stratum.within, bounded, stratum.pieces
        )

    def average_pieces(self, of: OfPiece, where: Where | None = None, outside: float = 0.0) -> StratumValues:
        """Return the mean of each file's pieces, and the variance of that mean if they are not the whole file."""
        files = list(zip(self.files, self.contents, strict=True))
        inside = [where is None or where(file, content) for file, content in files]
        pieces = [
            [of(piece) if its else outside for piece in content.pieces]
            for (_, content), its in zip(files, inside, strict=True)
        ]
        values = [float(np.mean(file_pieces)) if file_pieces else 0.0 for file_pieces in pieces]
        within = [
            float(np.var(file_pieces, ddof=1)) / len(file_pieces) if len(file_pieces) > 1 else 0.0
            for file_pieces in pieces
        ]
        answered = self.answered & np.array([bool(file_pieces) for file_pieces in pieces], bool)
        # All pieces of an excluded file are excluded: it has no variance.
        many = [
            len(file_pieces) if len(file_pieces) > 1 and its else 0
            for file_pieces, its in zip(pieces, inside, strict=True)
        ]
        return StratumValues(self.drawn, values, answered, within, many)

    def quantile(self, of: Callable[[WalkedFile], float], q: float, level: float) -> PopulationEstimate:
        """Estimate a quantile of a quantity that the walk has for every drawn file."""
        values = self.evaluate_files(of)
        return estimate_weighted_quantile(
            values, self.drawn.weights, q, level, lambda at: estimate_share(self.drawn, values <= at, level)
        )

    def evaluate_files(self, of: Callable[[WalkedFile], float]) -> Floats:
        """Return the quantity for each drawn file."""
        return np.array([of(file) for file in self.files], float)

    def missing(self, level: float) -> PopulationEstimate:
        """Estimate the share of files without an answer."""
        return estimate_share(self.drawn, ~self.answered, level)

    def silent(self) -> StratumValues:
        """Return which files gave no answer."""
        return StratumValues(self.drawn, ~self.answered)
