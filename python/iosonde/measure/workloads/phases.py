"""A user-defined native workload: the phases of docs/workload.md as data, with file names that contain the rank.

In names and numbers ``${RANK}`` is the rank, ``${RANKS}`` their number, and ``${PEER}`` the rank whose files this one
reads: with several nodes, no node reads its own data. ``${PART}`` is the rank modulo ``parts``: the directory of this
rank if files are spread over several servers. Expressions are allowed: ``base: ${RANK} * 64MiB``. Pure functions: the
parent and every rank compute the same plan.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.workload import Device, FileNames, Files, Phase, Step, Workload
from iosonde.engine import _native

from .phase_maker import READS, WRITES, PhaseMaker
from .phase_plan import PhasePlan
from .settings import SettingError, read_count

OWN_NAMES = ("RANK", "RANKS", "PEER", "PART")


@dataclass(frozen=True)
class Settings:
    """``phases`` as in docs/experiment.md; ``cache`` before reads is cold or warm, as in the envelope; files are spread
    over ``parts`` directories by ``${PART}``."""

    phases: Any
    cache: str = "cold"
    parts: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", read_count("parts", self.parts))
        if self.cache not in ("cold", "warm"):
            raise SettingError(
                ("cache",),
                "unknown-cache-regime",
                "cache regime '{cache}' is unknown",
                "use cold or warm",
                cache=self.cache,
            )
        if not isinstance(self.phases, (list, tuple)) or not self.phases:
            raise SettingError(
                ("phases",), "no-phases", "no phases", "give a list of phases, each with name, files, steps"
            )
        for place, planned in enumerate(plan(self, 0, 2, 1)):
            if isinstance(planned.phase, Phase):
                _check_by_engine(planned.phase, planned.backend, place)

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return {"phases": list(self.phases), "cache": self.cache, "parts": self.parts}


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank`` out of ``ranks``, in order. Raises SettingError for invalid phases."""
    values = {"RANK": rank, "RANKS": ranks, "PEER": (rank + shift) % ranks, "PART": rank % settings.parts}
    first_templates: set[str] = set()
    return [
        PhaseMaker(values, ("phases", place)).plan(spec, first_templates) for place, spec in enumerate(settings.phases)
    ]


def _check_by_engine(phase: Phase, backend: dict[str, Any], place: int) -> None:
    """Have the engine parse the phase as it will before running it. Raises SettingError if it refuses."""
    try:
        _native.Session(Workload("/", ((phase,),), backend=backend).to_json(), 0).close()
    except _native.EngineError as error:
        key, _, what = str(error).removeprefix("workers[0].phases[0]").partition(": ")
        at = tuple(int(part) if part.isdecimal() else part for part in re.findall(r"\w+", key))
        raise SettingError(
            ("phases", place, *at), "invalid-phase", "{reason}", "see docs/workload.md", reason=what
        ) from None
    except OSError:  # this machine lacks something (io_uring); the nodes may have it
        return


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum bytes of one trial on the target at once, as if nothing were removed."""
    return sum(count * extent for count, extent in _group_files(settings, ranks).values())


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the maximum files and directories at once, as if nothing were removed."""
    groups = _group_files(settings, ranks)
    return sum(count for count, _ in groups.values()) + 3 * len(groups)


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial; a phase that only a time limit ends counts one pass."""
    return _sum_bytes(settings, ranks, (*READS, *WRITES))


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    return _sum_bytes(settings, ranks, WRITES)


def _sum_bytes(settings: Settings, ranks: int, kinds: Sequence[str]) -> int:
    return sum(
        max(phase.passes, 1) * _count_files(phase.files) * sum(_count_moved(step, kinds) for step in phase.steps)
        for phase in _list_phases(settings, ranks)
    )


def _list_phases(settings: Settings, ranks: int) -> list[Phase]:
    plans = (phase_plan for rank in range(ranks) for phase_plan in plan(settings, rank, ranks, 0))
    return [phase_plan.phase for phase_plan in plans if isinstance(phase_plan.phase, Phase)]


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial visits a file, removal included."""
    walked = sum(max(phase.passes, 1) * _count_files(phase.files) for phase in _list_phases(settings, ranks))
    return walked + sum(count for count, _ in _group_files(settings, ranks).values())


def _count_files(files: Files | FileNames | Device) -> int:
    if isinstance(files, Device):
        return 1
    return files.count if isinstance(files, Files) else len(files.names)


def _group_files(settings: Settings, ranks: int) -> dict[Any, tuple[int, int]]:
    """Return every group of files that any rank makes: their number and length."""
    groups: dict[Any, tuple[int, int]] = {}
    for phase in _list_phases(settings, ranks):
        if isinstance(phase.files, Device):
            continue
        extent = max((_compute_extent(step, max(phase.passes, 1)) for step in phase.steps), default=0)
        target = next((step.to for step in phase.steps if step.kind == "create" and step.to), None)
        key = phase.files if target is None else (phase.files, target)
        count, longest = groups.get(key, (0, 0))
        groups[key] = (max(count, _count_files(phase.files)), max(longest, extent))
    return groups


def _compute_extent(step: Step, passes: int) -> int:
    if step.of:
        return max(_compute_extent(part.step, passes) for part in step.of)
    if step.kind == "truncate":
        return int(step.to or 0)
    if step.kind not in WRITES:
        return 0
    length = (step.base or 0) + (step.size or (step.count or 1) * (step.transfer_size or 0))
    return length * passes if step.kind == "append" else length


def _count_moved(step: Step, kinds: Sequence[str]) -> int:
    if step.of:
        drawn = sum(part.weight * (part.step.transfer_size or 0) for part in step.of if part.step.kind in kinds)
        return (step.count or 1) * drawn // sum(part.weight for part in step.of)
    if step.kind not in kinds:
        return 0
    return (step.count * (step.transfer_size or 0)) if step.count else step.size or step.transfer_size or 0
