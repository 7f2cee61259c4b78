"""What is around the ranks of one trial: the target's file system, its servers, and what a lab does to them."""

from __future__ import annotations

from types import TracebackType
from typing import Any

from iosonde.core.schema import HEALTH
from iosonde.core.types import FactorValue, Observation, Trial
from iosonde.ranks.machine import TargetCondition
from iosonde.ranks.watchdog import Outcome

from . import conditions
from .bench import Bench
from .faults import LabAnswer, TrialFaults
from .servers_seen import ServersOfTrial


class Surroundings:
    """They are looked at before and after the ranks of a trial. What a lab inflicts is undone when the block is left,
    however that is. Raises SystemFaultError where nobody is there to inflict it."""

    def __init__(self, bench: Bench, trial: Trial, name: str) -> None:
        """``name`` is that of the trial's directory."""
        self._bench, self._trial = bench, trial
        self._faults = TrialFaults(bench.lab, name, trial.factors)
        self.servers = ServersOfTrial(bench.server_hands)
        self.lab = LabAnswer()
        self._before: TargetCondition | None = None
        self._after: TargetCondition | None = None

    def __enter__(self) -> Surroundings:
        """Nothing is done yet."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Nothing of the lab's faults stays in force."""
        self._faults.over()

    @property
    def marks(self) -> str:
        """Where rank 0 says what it begins; '' where nobody wants to know."""
        return self._faults.marks

    def look_before(self) -> None:
        """Before the ranks start. That servers count is an option of some file systems: it is set first."""
        self.servers.count()
        self._before = self.servers.look("before", self._read_condition(conditions.LOOK_S))

    def look_after(self, outcome: Outcome) -> None:
        """Once the ranks have ended, and the lab has healed."""
        self._faults.over()
        self.servers.counted(self._trial.repetition)
        self.lab = self._faults.answer()
        hung = outcome.timed_out or outcome.leftover_pids
        self._after = self.servers.look("after", self._read_condition(conditions.SOON_S if hung else conditions.LOOK_S))

    def _read_condition(self, limit_s: float) -> TargetCondition | None:
        return self._bench.look(limit_s) if self._bench.look else None

    @property
    def factors(self) -> dict[str, FactorValue]:
        """The health of the file system, where that is known."""
        health = conditions.health(self._before, self._after)
        return {HEALTH: health} if health else {}

    @property
    def facts(self) -> dict[str, Any]:
        """What a run keeps of both looks."""
        entries: dict[str, Any] = {}
        if self._before or self._after or self._bench.look:
            entries["conditions"] = conditions.facts(self._before, self._after, self._bench.sets)
        return entries | ({"servers": self.servers.facts} if self.servers.facts else {})

    @property
    def observations(self) -> list[Observation]:
        """What the servers counted, and how long the lab took to heal and settle."""
        return [*self.servers.observations, *self.lab.observations(self._trial.repetition)]
