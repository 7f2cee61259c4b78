"""One look of a monitor as a run: carried out by a helper with a time limit, so that a dead mount is a failed look."""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

from iosonde.campaign import turn
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.stored import CONCURRENT_PROCESSES
from iosonde.core.timestamps import format_now
from iosonde.core.types import Observation, Run
from iosonde.foreign.child import Child, NoAnswerError
from iosonde.measure.target.keeper import Keeper
from iosonde.ranks import machine
from iosonde.ranks.hosts import get_this_host
from iosonde.ranks.machine import mount
from iosonde.ranks.processes import is_hung

from .pace import adjust_strain, measure_load
from .state import MonitorState

SOURCE = "iosonde monitor"
METRIC, LONGEST = "latency_median", "latency_max"
OPERATIONS = ("stat", "open", "read", "write")
_INCLUDES = {"write": "fsync"}


@dataclass
class Observer:
    """Carries out the looks of one monitor. ``limit_s``: for one operation."""

    limit_s: float
    command: tuple[str, ...]
    _child: Child = field(init=False)
    _facts: dict[str, Any] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        self._child = Child("iosonde.measure.monitor.operations", self.limit_s)

    def close(self) -> None:
        """End the helper."""
        self._child.close()

    def remove_files(self, state: MonitorState) -> None:
        """Remove the monitor's files from the target. Raises TargetError, TargetFaultError."""
        what = f"removing the files of the monitor in {state.target}"
        self._child.call("remove", state.target, what, target=state.target, experiment=state.experiment)

    def observe(self, state: MonitorState) -> tuple[Run, MonitorState]:
        """Return a look, whole or with what it lacks, and the state after it. Raises nothing that the target does."""
        started_at, started_s, began_s = format_now(), time.time(), time.monotonic()
        load, busy_s = measure_load(), 0.0
        others: list[int] = []
        outcome: Mapping[str, Any] = {}
        hung = tuple(pid for pid in state.hung if is_hung(pid))
        missing = _find_obstacle(state, hung)
        if not missing:
            try:
                with turn.hold_machine(turn.Turn(alongside=True), True, lambda _: None):
                    others = turn.list_other_processes()
                    outcome = self._call_look(state)
                missing, busy_s = list(outcome["errors"]), float(outcome["busy_s"])
            except NoAnswerError as error:
                missing = [str(error)]  # it waits and does no work: its time is not that of the budget
            except IosondeError as error:
                missing, busy_s = [str(error)], time.monotonic() - began_s
        if missing:
            self._facts = {}
        took_s = time.monotonic() - began_s
        seconds = {name: values for name, values in outcome.get("seconds", {}).items() if values}
        after = _advance_state(replace(state, started_s=started_s, busy_s=busy_s), seconds, bool(missing), load)
        after = replace(after, hung=tuple(dict.fromkeys((*hung, *self._child.stuck_pids))))
        facts = {
            **self._collect_facts(state, bool(outcome)),
            "order": state.number,
            "look": {"busy_s": after.busy_s, "bytes": outcome.get("bytes", 0), "strain": after.strain, "load": load},
            **({CONCURRENT_PROCESSES: others} if others else {}),
        }
        run = Run(
            id=f"{state.experiment}-{state.number:06d}",
            experiment=state.experiment,
            source=SOURCE,
            started_at=started_at,
            seconds=took_s,
            factors={
                "nodes": 1,
                "ranks_per_node": 1,
                "repetition": state.number,
                **({"client_cache": outcome["cache"]} if outcome else {}),
            },
            observations=_build_observations(seconds),
            facts=facts,
            missing=missing,
            headlines={name: [METRIC] for name in seconds},
        )
        return run, after

    def _call_look(self, state: MonitorState) -> Mapping[str, Any]:
        outcome: Mapping[str, Any] = self._child.call(
            "look",
            state.target,
            f"a look at {state.target}",
            target=state.target,
            experiment=state.experiment,
            number=state.number,
            looks=state.window,
            prepare=not state.is_clean,
        )
        return outcome

    def _collect_facts(self, state: MonitorState, is_answering: bool) -> dict[str, Any]:
        """Return the facts of node and target; those of the target only while it answers, once after each failure."""
        if not self._facts and is_answering:
            try:
                with Keeper(self.limit_s) as keeper:
                    target_facts = keeper.facts(Path(state.target))
                self._facts = {"machine": {**machine.collect_node_facts(), **target_facts}}
            except IosondeError:
                pass
        return {
            **self._facts,
            "hosts": [get_this_host().name],
            "software": machine.describe_software(),
            "command": machine.redact_words(self.command),
            "target": state.path,
        }


def find_mount(target: str) -> tuple[str, str]:
    """Return mount point and type of a path without links, from the kernel's list; the path is not accessed."""
    entry = mount.find_mount_entry(target)
    return ("", "") if entry is None else (entry.mount_point, entry.type)


def _find_obstacle(state: MonitorState, hung: tuple[int, ...]) -> list[str]:
    """Return why the target is not touched now, () if nothing is in the way."""
    if hung:
        text = "process {pid} of an earlier look still hangs in the kernel on {target}"
        return [Message("still-hanging", text, pid=hung[0], target=state.target)]
    if (now := find_mount(state.target)) != state.mount:
        text = "{mount_point} ({type}) is not mounted: {target} lies on {now_at} ({now_type})"
        return [
            Message(
                "not-mounted",
                text,
                mount_point=state.mount[0],
                type=state.mount[1],
                target=state.target,
                now_at=now[0] or "no mount",
                now_type=now[1] or "unknown",
            )
        ]
    return []


def _advance_state(
    state: MonitorState, seconds: Mapping[str, list[float]], is_failed: bool, load: float
) -> MonitorState:
    total_s = None if is_failed else sum(median(values) for values in seconds.values())
    return replace(
        state,
        number=state.number + 1,
        is_clean=not is_failed,
        strain=adjust_strain(state.strain, load, total_s, state.usual),
        usual=state.usual if total_s is None else state.add_usual(total_s),
    )


def _build_observations(seconds: Mapping[str, list[float]]) -> list[Observation]:
    rows = []
    for operation in OPERATIONS:
        values = seconds.get(operation)
        if values:
            includes = _INCLUDES.get(operation, "")
            for metric, value in ((METRIC, median(values)), (LONGEST, max(values))):
                rows.append(Observation(operation, metric, value, "s", count=len(values), includes=includes))
    return rows
