"""Surroundings of the ranks of one trial: the target's file system, its servers, and a lab's faults."""

from types import TracebackType
from typing import Any, Self

from iosonde.core.schema import HEALTH
from iosonde.core.types import FactorValue, Observation, Trial
from iosonde.ranks.machine import TargetCondition
from iosonde.ranks.watchdog import Outcome

from .bench import Bench
from .faults import LabAnswer, TrialFaults
from .servers_seen import LOOK_S, SOON_S, ServersOfTrial, build_condition_facts, compute_condition_level


class Surroundings:
    """Checks before and after the ranks of a trial. The lab's faults are undone when the block ends, for whatever
    reason. Raises SystemFaultError if no lab is there to inflict them."""

    def __init__(self, bench: Bench, trial: Trial, name: str) -> None:
        """Prepare for the trial whose directory is called ``name``."""
        self._bench, self._trial = bench, trial
        self._faults = TrialFaults(bench.lab, name, trial.factors)
        self.servers = ServersOfTrial(bench.server_hands)
        self.lab = LabAnswer()
        self._before: TargetCondition | None = None
        self._after: TargetCondition | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._faults.over()

    @property
    def marks(self) -> str:
        """The file in which rank 0 notes the begin of phases; '' if not needed."""
        return self._faults.marks

    def look_before(self) -> None:
        """Check before the ranks start. Some file systems count only as an option: it is set first."""
        self.servers.count()
        self._before = self.servers.look("before", self._read_condition(LOOK_S))

    def look_after(self, outcome: Outcome) -> None:
        """Check once the ranks have ended, and the lab has healed."""
        self._faults.over()
        self.servers.counted(self._trial.repetition)
        self.lab = self._faults.answer()
        hung = outcome.timed_out or outcome.leftover_pids
        self._after = self.servers.look("after", self._read_condition(SOON_S if hung else LOOK_S))

    def _read_condition(self, limit_s: float) -> TargetCondition | None:
        return self._bench.look(limit_s) if self._bench.look else None

    @property
    def factors(self) -> dict[str, FactorValue]:
        """The health of the file system, if known."""
        health = compute_condition_level(self._before, self._after)
        return {HEALTH: health} if health else {}

    @property
    def facts(self) -> dict[str, Any]:
        """The facts of both checks that a run keeps."""
        entries: dict[str, Any] = {}
        if self._before or self._after or self._bench.look:
            entries["conditions"] = build_condition_facts(self._before, self._after, self._bench.sets)
        return entries | ({"servers": self.servers.facts} if self.servers.facts else {})

    @property
    def observations(self) -> list[Observation]:
        """The servers' counts, and how long the lab took to heal and settle."""
        return [*self.servers.observations, *self.lab.observations(self._trial.repetition)]
