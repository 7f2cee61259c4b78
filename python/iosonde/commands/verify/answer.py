"""Verification that a store's numbers follow from its operations."""

from dataclasses import dataclass
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.answers.trials import build_measured_cells
from iosonde.commands.summary.answer import count_pilot_trials
from iosonde.core.types import Finding
from iosonde.data.query import ALL, ResponseQuery
from iosonde.data.source import Source
from iosonde.stats.overview.verify import Verified, verify_store


@dataclass(frozen=True)
class Verification(Answer):
    """``verified``: reproduced and different numbers; ``damaged`` files of the store. ``n_without_digest`` runs lack a
    digest to detect changes of their experiment."""

    verified: Verified
    damaged: tuple[Finding, ...]
    n_without_digest: int = 0

    def content(self) -> dict[str, Any]:
        """As ``iosonde verify --json``."""
        return self.verified.to_json() | {
            "problems": [problem.to_json() for problem in self.damaged],
            "runs_without_digest": self.n_without_digest,
        }

    def records(self) -> list[dict[str, Any]]:
        """Return one row for each different number, decision with a broken seal, and damaged file."""
        result = self.verified
        return [
            *({"kind": "different", **difference.to_json()} for difference in result.different),
            *({"kind": "decision", "what": f"{name}: {why}"} for name, why in result.decisions.items() if why),
            *({"kind": "damaged", "what": problem.sentence} for problem in self.damaged),
        ]

    @property
    def problem(self) -> bool:
        """Return whether anything speaks against the store."""
        return bool(self.damaged) or not self.verified.good


def verify(source: Source, level: float = 0.95) -> Verification:
    """Recompute every rate from the operations, and the summary from those rates. Raises InputError for a table."""
    from iosonde.engine import _native

    source.require_campaign(
        "{source} is not a store", "only a store keeps the operations behind its numbers", source=source.name
    )
    result = verify_store(
        source.table,
        build_measured_cells(source, ResponseQuery(clock=ALL, level=level)),
        ((run, source.operations(run.id)) for run in source.runs),
        list(_native.KINDS),
        [experiment for experiment in source.all_experiments if source.experiment in (None, experiment.id)],
        level,
        count_pilot_trials(source),
    )
    damaged = tuple(problem for problem in source.find_problems() if problem.severity != "info")
    return Verification(result, damaged, sum(not run.has_experiment_digest for run in source.runs))
