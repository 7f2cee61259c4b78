"""Restoration of factors at a campaign's end: each system setting gets the value that it had before the first set.

The store keeps that value until it is restored, so that a killed campaign restores it when it is resumed.
"""

import json
import re
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.ranks import temporary, watchdog
from iosonde.ranks.launch import Launcher

from . import placeholders
from .levels_program import RESULT, LevelsTask, NodeLevel
from .spec import EACH, Control, Spec

LIMIT_S = 60.0  # to read, or to set back, all factors
_VARIABLE = re.compile(r"IOSONDE_(\w+)")
# Names that exist in a trial but not in a campaign.
_OF_TRIALS = {*placeholders.TRIAL, *placeholders.RANK} - {"TARGET_ROOT", *placeholders.OF_NODE}


@dataclass(frozen=True)
class SystemSettings:
    """The factors that a campaign sets back. ``values`` are the placeholders' values in their commands, on all nodes;
    ``remember`` holds the original levels until they are restored."""

    controls: tuple[Control, ...]
    values: Mapping[str, FactorValue]
    launcher: Launcher
    nodes: int
    remember: Path
    spool: Path | None = None


def explain_unrestored_level(control: Control, spec: Spec) -> str:
    """Return why a factor keeps the last trial's level, in words; empty if it is set back."""
    if not control.restore:
        return Message("restore-disabled", "restore: false")
    if not control.read:
        return Message("no-read-command", "no command reads it")
    missing = list_trial_names(f"{control.set} {control.read}", collect_constant_values(spec))
    if not missing:
        return ""
    return Message("trial-only-name", "its commands need ${{{name}}}, which is known in a trial only", name=missing[0])


def list_trial_names(text: str, available: Collection[str]) -> list[str]:
    """Return the names in a factor's command that only a trial has: neither ``available`` nor the level."""
    # Names in shell variables are in capitals.
    names = {*placeholders.list_placeholders(text), *(name for name in _VARIABLE.findall(text) if name in _OF_TRIALS)}
    return sorted(names - {placeholders.LEVEL, *placeholders.OF_NODE, *available})


def collect_constant_values(spec: Spec) -> dict[str, FactorValue]:
    """Return the values that are the same in all trials: factors of one level, and the target if there is one."""
    target = {"TARGET_ROOT": str(next(iter(spec.targets.values())))} if len(spec.targets) == 1 else {}
    return {factor.name: factor.levels[0] for factor in spec.factors if len(factor.levels) == 1} | target


def select_restored_controls(spec: Spec) -> tuple[Control, ...]:
    """Return the controls that are set back."""
    return tuple(control for control in spec.controls if control.set and not explain_unrestored_level(control, spec))


@contextmanager
def preserve_levels(settings: SystemSettings, say: Callable[[str], None]) -> Iterator[dict[str, list[str]]]:
    """Yield factor → its level on each node before the first set, and set it back at the end, however it ends. ``say``
    receives what was set back, and what could not be."""
    if not settings.controls:
        yield {}
        return
    levels = _read_original_levels(settings, say)
    try:
        yield levels
    finally:
        if levels:
            _put_back(settings, levels, say)
            settings.remember.unlink(missing_ok=True)


def _read_original_levels(settings: SystemSettings, say: Callable[[str], None]) -> dict[str, list[str]]:
    with suppress(OSError, ValueError):  # the original levels of a killed campaign: the system has its levels now
        return dict(json.loads(settings.remember.read_text()))
    answers, why = _query_levels(settings, settings.controls, {})
    for control in settings.controls:
        faults = [node_level.fault for node_level in answers.get(control.factor, ()) if node_level.fault]
        if faults or control.factor not in answers:
            say(
                Message(
                    "not-restorable",
                    "warning: {factor} will not be set back: {reason}",
                    factor=control.factor,
                    reason=(faults or [why])[0],
                )
            )
            answers.pop(control.factor, None)
    levels = {name: [node_level.level for node_level in nodes] for name, nodes in answers.items()}
    if levels:
        temporary_path = settings.remember.with_suffix(".tmp")
        temporary_path.write_text(json.dumps(levels))
        temporary_path.rename(settings.remember)
    return levels


def _put_back(settings: SystemSettings, original: Mapping[str, list[str]], say: Callable[[str], None]) -> None:
    mine = tuple(candidate for candidate in settings.controls if candidate.factor in original)
    now, why = _query_levels(settings, mine, original)
    for control in mine:
        levels = original[control.factor]
        words = ", ".join(dict.fromkeys(levels))
        faults = [node_level.fault for node_level in now.get(control.factor, ()) if node_level.fault]
        if faults or control.factor not in now:
            say(
                Message(
                    "not-restored",
                    "warning: {factor} could not be set back to {level}: {reason}; by hand: {command}",
                    factor=control.factor,
                    level=words,
                    reason=(faults or [why])[0],
                    command=placeholders.fill(control.set, _build_names(control, levels[0], settings)),
                )
            )
        else:
            say(Message("restored", "{factor} is {level} again", factor=control.factor, level=words))


def _build_names(control: Control, level: str, settings: SystemSettings) -> dict[str, FactorValue]:
    """Return the names that are known here; those of a node stand for themselves."""
    itself: dict[str, FactorValue] = {name: f"${{{name}}}" for name in placeholders.OF_NODE}
    return itself | dict(settings.values) | {placeholders.LEVEL: level, control.factor: level}


def _query_levels(
    settings: SystemSettings, controls: tuple[Control, ...], levels: Mapping[str, list[str]]
) -> tuple[dict[str, list[NodeLevel]], str]:
    """Return the nodes' levels of these factors, and why any are missing."""
    nodes = settings.nodes if any(control.on == EACH for control in controls) else 1
    with temporary.hold_directory("levels", settings.spool) as folder:
        task = LevelsTask(
            nodes, str(folder), [asdict(control) for control in controls], dict(settings.values), dict(levels)
        )
        program = [sys.executable, "-m", "iosonde.measure.levels_program", task.to_word()]
        limits = watchdog.TimeLimits(LIMIT_S, grace_s=0.5)
        command = settings.launcher.command(nodes, 1, program)
        ended = watchdog.watch_command(command, heartbeat_dir=folder, limits=limits, ranks=nodes)
        try:
            answers: dict[str, list[dict[str, Any]]] = json.loads((folder / RESULT).read_text())
        except (OSError, ValueError):
            return {}, f"no answer within {LIMIT_S:.0f} s" if ended.timed_out else ended.last_words() or "no answer"
    return {name: [NodeLevel(**fields) for fields in node_levels] for name, node_levels in answers.items()}, ""
