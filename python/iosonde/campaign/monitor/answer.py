"""What the looks of one call of a monitor say."""

import os
from dataclasses import dataclass
from typing import Any, ClassVar

from iosonde.core.types import Estimate, Run
from iosonde.measure.monitor.window import DIRECTORY
from iosonde.stats.estimate.summarise import estimate_median

from .looks import METRIC, OPERATIONS
from .request import MonitorRequest

_LEVEL = 0.95


@dataclass(frozen=True)
class Monitored:
    """The looks of one call. ``runs``: these, in order; ``share``: of the time in which operations were under way,
    from the first look to the begin of the last, None for fewer than two; ``due_in_s``: until the next may begin;
    ``strain``: how often the interval is doubled by now."""

    request: MonitorRequest
    experiment: str
    path: str
    runs: tuple[Run, ...]
    share: float | None
    due_in_s: float
    strain: int = 0
    schema: ClassVar[int] = 1

    @staticmethod
    def plan(request: MonitorRequest) -> "Monitored":
        """Return the answer of a call that measures nothing."""
        return Monitored(request, "", os.path.abspath(request.path), (), None, 0.0)

    @property
    def failed(self) -> tuple[Run, ...]:
        """Return the looks that lack something."""
        return tuple(run for run in self.runs if not run.complete)

    @property
    def problem(self) -> bool:
        """Return whether a look failed: exit code 1."""
        return bool(self.failed)

    @property
    def bytes(self) -> int:
        """Return the bytes written and read."""
        return sum(int(run.facts["look"]["bytes"]) for run in self.runs)

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Return the median over the complete looks of each operation, in seconds."""
        values: dict[str, list[float]] = {name: [] for name in OPERATIONS}
        for run in self.runs:
            for row in run.observations if run.complete else ():
                if row.metric == METRIC:
                    values[row.operation].append(row.value)
        return {name: estimate_median(some, _LEVEL) for name, some in values.items() if some}

    def to_dict(self) -> dict[str, Any]:
        """Return what ``--json`` prints (docs/commands/monitor.md)."""
        return {
            "schema": self.schema,
            "path": self.path,
            "directory": DIRECTORY,
            "store": self.request.store,
            "experiment": self.experiment,
            "looks": len(self.runs),
            "failed": [{"run": run.id, "missing": list(map(str, run.missing))} for run in self.failed],
            "budget": self.request.budget,
            "share": self.share,
            "bytes": self.bytes,
            "due_in_s": self.due_in_s,
            "strain": self.strain,
            "operations": self.records(),
        }

    def records(self) -> list[dict[str, Any]]:
        """Return a row per operation."""
        return [
            {"operation": name, "metric": METRIC, "unit": "s", "n": item.n, **item.flat("median")}
            for name, item in self.estimates.items()
        ]
