"""A number of a tool that contradicts another of the same execution, or what is possible at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from .types import FactorValue

BELOW_ZERO = "below-zero"  # the code of a table's warning about rates and times below 0 (S138)
COPIED_ROWS = "copied-rows"  # the same of rows that repeat a block of others (S121)
OTHER_UNIT = "other-unit"  # the same of speeds that are too fast by a factor between units (S126)
CONTRADICTIONS = "contradictions"  # in the facts of a run, and in the entry of a phase


@dataclass(frozen=True)
class Contradiction:
    """A broken rule. ``code`` has a page; ``metrics`` of the operation are not believed, possibly none of them.

    ``note`` is the sentence outside the finding, if it is another. ``line`` is that of the number, ``factors`` are the
    settings of its row that differ from those of other rows. ``memory_bytes``: the rule is broken if the memory of a
    node is larger, which the tool does not print; 0 if it is broken whatever the memory.
    """

    code: str
    operation: str
    metrics: tuple[str, ...]
    sentence: str
    line: int = 0
    factors: Mapping[str, FactorValue] | None = field(default=None, compare=False)
    note: str = ""
    memory_bytes: float = 0.0

    def to_json(self, prefix: str = "") -> dict[str, Any]:
        """Return the form in run.json; ``prefix`` is put before the operation."""
        return {
            "code": self.code,
            "operation": prefix + self.operation,
            "metrics": list(self.metrics),
            "sentence": str(self.sentence),
            **({"memory_bytes": self.memory_bytes} if self.memory_bytes else {}),
        }

    @classmethod
    def from_json(cls, entry: Mapping[str, Any]) -> Contradiction:
        """Return the contradiction of an entry of run.json."""
        words = entry["code"], entry["operation"], tuple(entry["metrics"]), entry["sentence"]
        return cls(*words, memory_bytes=entry.get("memory_bytes", 0.0))


def group_doubtful_metrics(contradictions: Iterable[Contradiction]) -> dict[str, set[str]]:
    """Return operation → metrics that are not believed."""
    metrics: dict[str, set[str]] = {}
    for contradiction in contradictions:
        if contradiction.metrics:
            metrics.setdefault(contradiction.operation, set()).update(contradiction.metrics)
    return metrics
