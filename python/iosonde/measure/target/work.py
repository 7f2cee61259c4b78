"""Work on the target for the main process, in a helper that may hang in its stead (``foreign.child_program``).

Arguments and results are plain values.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import space
from .workspace import Workspace

if TYPE_CHECKING:
    from iosonde.ranks.machine import TargetCondition, TargetFacts

_workspaces: dict[str, Workspace] = {}


def resolve(path: str) -> str:
    """Return the path without links."""
    return str(Path(path).resolve())


def check(path: str, need: dict[str, Any], limits: dict[str, Any], quota: dict[str, Any]) -> None:
    """See ``space.check_space``."""
    space.check_space(Path(path), space.Need(**need), space.Limits(**limits), space.QuotaFree(**quota))


def facts(path: str) -> TargetFacts:
    """Return the facts of the file system."""
    from iosonde.ranks.machine import collect_target_facts

    return collect_target_facts(Path(path))


def condition(path: str) -> TargetCondition | None:
    """Return the current condition of the file system."""
    from iosonde.ranks.machine import query_target_condition

    return query_target_condition(Path(path))


def create(path: str, experiment: str, resumed: bool, hold: bool) -> None:
    """See ``Workspace.create``."""
    _workspaces[path] = Workspace.create(Path(path).parent, experiment, resumed=resumed, hold=hold)


def left(target: str, experiments: list[str]) -> list[str]:
    """List the experiments that left a workspace."""
    return [experiment for experiment in experiments if os.path.lexists(f"{target}/iosonde-{experiment}")]


def remove_left(target: str, experiment: str) -> None:
    """Remove the remains of an earlier experiment of ours."""
    Workspace(Path(target) / f"iosonde-{experiment}", experiment).remove(resumed=True)


def progress() -> int:
    """Return the progress of the removal of a tree."""
    from iosonde.engine import _native

    return _native.removed()


def _on_workspace(operation: Callable[..., object]) -> Callable[..., None]:
    """Return the operation on the workspace that is held open; in a new helper, on the one whose marker names our
    experiment."""

    def operate(path: str, experiment: str, **more: str) -> None:
        operation(_workspaces.setdefault(path, Workspace(Path(path), experiment, is_created=True)), **more)

    return operate


OPERATIONS: dict[str, Callable[..., Any]] = {
    operation.__name__: operation for operation in (resolve, check, facts, condition, create, left, remove_left)
} | {
    operation.__name__: _on_workspace(operation)
    for operation in (Workspace.trial, Workspace.verify, Workspace.remove_trial, Workspace.remove)
}
