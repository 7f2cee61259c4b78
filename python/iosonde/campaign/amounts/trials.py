"""Amounts of the commands of a campaign: the most that a trial has on the target at once, and its work."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from iosonde.campaign.forecast import TrialWork
from iosonde.campaign.spec.check import MAX_TRIED, find_placeholders, iterate_cells_of
from iosonde.core.errors import IosondeError
from iosonde.core.message import Message
from iosonde.core.types import FactorValue, level_to_count
from iosonde.foreign.reach import check_reachable
from iosonde.measure import placeholders
from iosonde.measure.spec import CommandStep, Spec

from .amount import Amount, CallContext, FileSpace, UnknownAmountError, add_work, merge_spaces
from .command import RankCounts, RankTexts, compute_command_amount, list_new_directories

# Stand for the target, and for the directory of a trial in it.
_ROOT = "/TARGET"
_TRIAL = f"{_ROOT}/iosonde-ID/trial"
_COUNTS = ("nodes", "ranks_per_node")
_MAX_FILE_BYTES = 1 << 20  # of a file that a command names


@dataclass(frozen=True)
class UncountedStep:
    """A step whose amount is unknown: its number from 1, its command, and the reason."""

    number: int
    command: str
    reason: Message

    def to_json(self) -> dict[str, Any]:
        """Return the stable JSON form."""
        return {"step": self.number, "command": self.command, "reason": str(self.reason)}


@dataclass(frozen=True)
class SpaceNeed:
    """The largest space that any trial has on the target at once, without that of ``uncounted`` steps."""

    n_bytes: int
    n_files: int
    uncounted: tuple[UncountedStep, ...] = ()


class CommandAmounts:
    """Amounts of the commands of a campaign, cell by cell."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._steps = [
            *((0, step) for step in spec.set_up),
            *((number, step) for number, step in enumerate(spec.steps, 1) if isinstance(step, CommandStep)),
        ]
        self._amounts: dict[Any, Amount | Message] = {}

    @cached_property
    def need(self) -> SpaceNeed:
        """The space of the largest trial. What prepares it and is not understood counts nothing."""
        uncounted: dict[int, UncountedStep] = {}
        n_bytes = n_files = 0
        for cell in self._iterate_cells():
            amounts = []
            for number, step, amount in self._list_amounts(cell):
                if isinstance(amount, Amount):
                    amounts.append(amount)
                elif number:
                    uncounted.setdefault(number, UncountedStep(number, step.command, amount))
            peak = _compute_peak(amounts)
            n_bytes, n_files = max(n_bytes, peak.n_bytes), max(n_files, peak.n_files)
        return SpaceNeed(n_bytes, n_files, tuple(uncounted[number] for number in sorted(uncounted)))

    def _iterate_cells(self) -> Iterator[dict[str, Any]]:
        if self._steps:
            yield from iterate_cells_of(self._list_used_factors(), self._spec, MAX_TRIED)

    def compute_work(self, cell: Mapping[str, FactorValue]) -> TrialWork | None:
        """Return the work of a trial's steps that are commands, None if it is unknown."""
        amounts = [amount for number, _, amount in self._list_amounts(cell) if number]
        return add_work(None if isinstance(amount, Message) else amount.work for amount in amounts)

    def _list_used_factors(self) -> set[str]:
        names = {*_COUNTS, *(name for _, step in self._steps for name in step.when)}
        return names | {name for _, step in self._steps for name in find_placeholders(step.command)}

    def _list_amounts(self, cell: Mapping[str, Any]) -> Iterator[tuple[int, CommandStep, Amount | Message]]:
        """Yield the steps of a cell's trial, with their amounts, or the reasons why they are unknown."""
        ranks = RankCounts(*(level_to_count(cell[name]) for name in _COUNTS))
        values = {**cell, **_build_values(ranks)}
        making = [step.command for _, step in self._steps if "mkdir" in step.command]
        directories = list_new_directories([placeholders.fill(command, values) for command in making])
        context = CallContext(ranks.total, _TRIAL, directories, read_file=self._read_file)
        for number, step in self._steps:
            if step.is_for(cell):
                texts = _fill_texts(step, values, ranks)
                key = (number, texts, ranks, directories)
                if key not in self._amounts:
                    self._amounts[key] = self._compute_amount(step, texts, ranks, context)
                yield number, step, self._amounts[key]

    def _compute_amount(
        self, step: CommandStep, texts: RankTexts, ranks: RankCounts, context: CallContext
    ) -> Amount | Message:
        try:
            amount = compute_command_amount(step, texts, ranks, context)
        except UnknownAmountError as error:
            return error.reason
        outside = next((path for path in amount.spaces if not self._is_on_target(path)), None)
        if outside is not None:
            return Message("unknown-amount", "{path} is not on the target", path=outside)
        return amount

    def _read_file(self, path: str) -> str | None:
        """Return the text of a file that commands name. One on the target is not touched, and one that commands write
        is another in each trial."""
        place = Path.cwd() / path
        is_written = any(re.search(rf">\s*\S*{re.escape(place.name)}", step.command) for _, step in self._steps)
        if is_written or (self._spec.targets and self._is_on_target(path)):
            return None
        try:
            check_reachable(place)
            is_text = place.is_file() and place.stat().st_size <= _MAX_FILE_BYTES
            return place.read_text(encoding="utf-8") if is_text else None
        except (OSError, UnicodeDecodeError, IosondeError):
            return None

    def _is_on_target(self, path: str) -> bool:
        """Return whether a path is on the target; without one the commands name it themselves."""
        place = PurePosixPath(Path.cwd(), path)
        roots = (_ROOT, *map(str, self._spec.targets.values()))
        return not self._spec.targets or any(place.is_relative_to(root) for root in roots)


def _build_values(ranks: RankCounts) -> dict[str, FactorValue]:
    """Return the values of the placeholders of any trial, on its first rank."""
    return {
        **dict.fromkeys(placeholders.TRIAL, 0),
        **dict.fromkeys(placeholders.RANK, 0),
        "HOSTNAME": "node0",
        "MACHINEFILE": "machines",
        "IOZONE_CLIENTS": "clients",
        "RANKS": ranks.total,
        "NODES": ranks.nodes,
        "RANKS_PER_NODE": ranks.per_node,
        "TARGET": _TRIAL,
        "TARGET_ROOT": _ROOT,
    }


def _fill_texts(step: CommandStep, values: Mapping[str, FactorValue], ranks: RankCounts) -> RankTexts:
    neighbour: dict[str, FactorValue] = {"RANK": 1, "LOCAL_RANK": 1}
    elsewhere: dict[str, FactorValue] = {
        "RANK": ranks.per_node,
        "HOSTNAME": "node1",
        **dict.fromkeys(("NODENAME", "NODE_INDEX"), 1),
    }
    return RankTexts(
        *(placeholders.fill(step.command, {**values, **step.when, **other}) for other in ({}, neighbour, elsewhere))
    )


def _compute_peak(amounts: list[Amount]) -> FileSpace:
    """Return the largest space while the commands run one after another."""
    remaining: dict[str, FileSpace] = {}
    n_bytes = n_files = 0
    for amount in amounts:
        spaces = dict(remaining)
        merge_spaces(spaces, amount.spaces)
        n_bytes = max(n_bytes, sum(space.n_bytes for space in spaces.values()))
        n_files = max(n_files, sum(space.n_files for space in spaces.values()))
        remaining = spaces if amount.is_permanent else remaining
    return FileSpace(n_bytes, n_files)
