"""Number of files that a survey has to read for a precision, and its cost, against reading everything."""

from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import InputError
from iosonde.core.levels import check_level
from iosonde.survey.contents import FULL_READ_BYTES
from iosonde.survey.sampling.stopping import compute_sample_size

USUAL = (0.1, 0.05, 0.02, 0.01)
_HOUR_S = 3600.0


@dataclass(frozen=True)
class PlannedSurvey:
    """Plan for one precision: the number of files, of which ``by_count`` are drawn by count and at most as many by
    size. It has the maximum bytes read, and seconds on one node, ``seconds_of_bytes`` of them for the bytes alone.
    ``precision`` None: everything is read."""

    precision: float | None
    files: int
    by_count: int
    bytes: float
    seconds: float
    seconds_of_bytes: float

    @property
    def node_hours(self) -> float:
        """Return the hours of one node that reads alone."""
        return self.seconds / _HOUR_S

    def to_json(self) -> dict[str, Any]:
        """Its numbers."""
        return {
            "precision": self.precision,
            "files": self.files,
            "by_count": self.by_count,
            "bytes": self.bytes,
            "seconds": self.seconds,
            "seconds_of_bytes": self.seconds_of_bytes,
            "node_hours": self.node_hours,
        }


@dataclass(frozen=True)
class SurveyPlan(Answer):
    """Rows per precision, the last for reading everything. ``rate``: bytes/s of one node; ``per_file_s``: additional
    time per file."""

    population: int
    capacity: int
    rate: float
    per_file_s: float
    level: float
    rows: tuple[PlannedSurvey, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde survey plan --json``."""
        return {
            "population": self.population,
            "capacity": self.capacity,
            "rate": self.rate,
            "per_file_s": self.per_file_s,
            "level": self.level,
            "plans": self.records(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row per precision."""
        return [row.to_json() for row in self.rows]


def plan_survey(
    population: int,
    capacity: int,
    rate: float,
    per_file_s: float,
    precisions: tuple[float, ...] = USUAL,
    level: float = 0.95,
) -> SurveyPlan:
    """Plan a survey. ``rate``: bytes/s that one node reads; ``per_file_s``: additional time per file. Raises
    InputError."""
    check_level(level)
    if population < 1 or capacity < 1 or rate <= 0 or per_file_s < 0:
        raise InputError(
            "out-of-range",
            "a plan needs files, a capacity and a rate above 0",
            "as {spell.population:300000000} {spell.capacity:50PB}",
        )
    rows = []
    for precision in precisions:
        draws = compute_sample_size(precision, level, population=population)
        files = min(population, 2 * draws)
        read_bytes = min(files * FULL_READ_BYTES, capacity)
        seconds = read_bytes / rate
        rows.append(PlannedSurvey(precision, files, draws, read_bytes, files * per_file_s + seconds, seconds))
    total_s = capacity / rate
    everything = PlannedSurvey(None, population, population, capacity, population * per_file_s + total_s, total_s)
    return SurveyPlan(population, capacity, rate, per_file_s, level, (*rows, everything))
