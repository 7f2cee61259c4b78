"""What a corpus is asked about besides the spread of its results."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.verdict import Verdict
from iosonde.data.source import Source, StoredSource
from iosonde.stats.overview.systems import Systems

from .dependence import Dependence, Kind, estimate_dependence
from .ratios import (
    Owners,
    RunRatio,
    SystemRatios,
    choose_level_column,
    list_balance,
    list_clock_offsets,
    list_open_close,
    list_wear_out,
)
from .sentence_parts import describe_dependence, describe_ratios, describe_validity
from .topics import BALANCE, DEPENDENCE, OPEN_CLOSE, VALIDITY, WEAR_OUT
from .validity import Validity, examine_validity


@dataclass(frozen=True)
class Parts:
    """The answers on each of ``topics``. ``ratios``: topic → ratios over systems, by the column ``by``.
    ``clock_offsets``: seconds by which the clocks of a phase's nodes differ, whose open and close are left out."""

    topics: tuple[str, ...] = ()
    validity: Validity = field(default_factory=lambda: Validity((), {}))
    dependence: Dependence | None = None
    ratios: Mapping[str, tuple[SystemRatios, ...]] = field(default_factory=dict)
    by: str = ""
    clock_offsets: tuple[RunRatio, ...] = ()

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """Return the verdicts on pairs of phases."""
        return () if self.dependence is None else self.dependence.verdicts

    @property
    def sentence(self) -> str:
        """Describe the answer on each topic."""
        validity = describe_validity(self.validity) if VALIDITY in self.topics else ()
        dependence = () if self.dependence is None else describe_dependence(self.dependence)
        return " ".join((*validity, *dependence, *describe_ratios(self.ratios)))

    def to_json(self) -> dict[str, Any]:
        """Return the keys of ``iosonde corpus --json``; null for a topic that was not requested."""
        ratios = {
            topic.replace("-", "_"): None if ratios is None else [ratio.to_json() for ratio in ratios]
            for topic in (OPEN_CLOSE, WEAR_OUT, BALANCE)
            for ratios in [self.ratios.get(topic)]
        }
        dependence = None if self.dependence is None else self.dependence.to_json()
        offsets = [{"run": p.run, "operation": p.operation, "seconds": p.value} for p in self.clock_offsets]
        return {
            "validity": self.validity.to_json(),
            "dependence": dependence,
            "by": self.by or None,
            **ratios,
            "clock_offsets": offsets if OPEN_CLOSE in self.topics else None,
        }


@dataclass(frozen=True)
class PartsQuery:
    """What is asked: the ``topics``, the columns ``clusters`` that identify a system, the requested covariates ``on``,
    the selected metrics ``kinds`` with their rows; ``every``: those of few systems, too."""

    topics: tuple[str, ...]
    clusters: tuple[str, ...]
    on: tuple[str, ...]
    kinds: Sequence[Kind]
    every: bool


def build_parts(source: Source, own: Source | None, work: Systems, query: PartsQuery) -> Parts:
    """Answer what is asked; ``own`` runs are left out."""
    assert isinstance(source, StoredSource)
    topics = query.topics
    by = choose_level_column(work.rows, query.on) if OPEN_CLOSE in topics else ""
    points = {OPEN_CLOSE: list_open_close, WEAR_OUT: list_wear_out, BALANCE: list_balance}
    ratios = {
        topic: Owners(work, by if topic == OPEN_CLOSE else "").estimate(points[topic](source), query.every)
        for topic in points
        if topic in topics
    }
    return Parts(
        topics,
        examine_validity(source, query.clusters, own),
        estimate_dependence(work, query.kinds) if DEPENDENCE in topics else None,
        ratios,
        by,
        tuple(list_clock_offsets(source)) if OPEN_CLOSE in topics else (),
    )
