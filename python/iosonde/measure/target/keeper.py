"""Access of the main process to the target, through a helper that can be abandoned.

A target that does not answer within ``limit_s`` raises a TargetFaultError, which says what hangs and since when.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

from iosonde.core.errors import SystemFaultError, TargetFaultError
from iosonde.core.message import restore_message
from iosonde.foreign.child import LIMIT_S, Child, NoAnswerError, OnWait
from iosonde.ranks.machine.fact_types import TargetCondition, TargetFacts

from .space import NO_QUOTA, Limits, Need, QuotaFree

# For a target on which ranks just hung, perhaps even after SIGKILL: it gets only enough time to have recovered.
SUSPECT_S = 1.0


class Keeper:
    """Keeper for one command. It calls ``on_wait`` while it waits."""

    def __init__(self, limit_s: float = LIMIT_S, on_wait: OnWait | None = None) -> None:
        self._child = Child("iosonde.measure.target.work", limit_s, on_wait)

    def __enter__(self) -> Keeper:
        return self

    def __exit__(self, *_: object) -> None:
        self._child.close()

    def limit(self, seconds: float) -> None:
        """Wait no longer than ``seconds`` for any answer, from now on."""
        self._child.limit_s = min(self._child.limit_s, seconds)

    @contextmanager
    def limited(self, seconds: float) -> Iterator[None]:
        """Wait no longer than ``seconds`` for any answer in this block."""
        before = self._child.limit_s
        self.limit(seconds)
        try:
            yield
        finally:
            self._child.limit_s = before

    def resolve(self, path: Path) -> Path:
        """Return the absolute path without links."""
        absolute = os.path.abspath(path)
        return Path(self._child.call("resolve", absolute, f"finding {absolute}", path=absolute))

    def check(self, target: Path, need: Need, limits: Limits, quota: QuotaFree = NO_QUOTA) -> None:
        """See ``target.check``."""
        self._child.call(
            "check",
            str(target),
            f"looking at {target}",
            path=str(target),
            need=asdict(need),
            limits=asdict(limits),
            quota=asdict(quota),
        )

    def facts(self, target: Path) -> TargetFacts:
        """Return the facts of the target's file system: mount, quota, devices, filesystem."""
        what = f"asking for the mount and the quota of {target}"
        return cast("TargetFacts", self._child.call("facts", str(target), what, path=str(target)))

    def condition(self, target: Path, limit_s: float) -> TargetCondition | None:
        """Return the current condition of the target's file system; None if it does not report one within the limit."""
        try:
            with self.limited(limit_s):
                answer = self._child.call("condition", str(target), f"asking how {target} is", path=str(target))
                return cast("TargetCondition | None", answer)
        except (TargetFaultError, SystemFaultError):
            return None

    def workspace(self, target: Path, experiment: str) -> ManagedWorkspace:
        """Return the workspace of an experiment, which does not exist yet."""
        return ManagedWorkspace(target / f"iosonde-{experiment}", experiment, self)

    def list_leftovers(self, target: Path, experiments: list[str]) -> list[str]:
        """List the experiments that left a workspace."""
        what = f"looking for what earlier experiments left in {target}"
        return list(self._child.call("left", str(target), what, target=str(target), experiments=experiments))

    def remove_leftover(self, target: Path, experiment: str) -> None:
        """Remove the remains of an earlier experiment that no longer runs."""
        self._child.call(
            "remove_left",
            str(target),
            f"removing {target}/iosonde-{experiment}",
            target=str(target),
            experiment=experiment,
        )

    def on(self, workspace: ManagedWorkspace, operation: str, what: str, **more: Any) -> None:
        """Run an operation on a workspace."""
        self._child.call(
            operation,
            str(workspace.path.parent),
            what,
            path=str(workspace.path),
            experiment=workspace.experiment,
            **more,
        )


@dataclass
class ManagedWorkspace:
    """A ``Workspace`` that a helper looks after. ``begun``: some of it may exist. ``lost``: why it is unusable: its
    target does not answer, or was changed by others. ``suspected``: ranks hung on it."""

    path: Path
    experiment: str
    keeper: Keeper
    begun: bool = False
    lost: str = ""
    suspected: bool = False

    def create(self, *, resumed: bool, hold: bool) -> None:
        """See ``Workspace.create``."""
        self._call_keeper("create", f"making {self.path}", resumed=resumed, hold=hold)
        self.begun = True

    def trial(self, name: str) -> Path:
        """See ``Workspace.trial``."""
        self._call_keeper("trial", f"making {name} in {self.path}", name=name)
        return self.path / name

    def verify(self, name: str) -> None:
        """See ``Workspace.verify``."""
        self._call_keeper("verify", f"looking at {self.path / name}", name=name)

    def suspect(self) -> None:
        """Shorten the time limits after ranks hung, until it has answered."""
        self.suspected = True

    def remove_trial(self, name: str) -> None:
        """See ``Workspace.remove_trial``."""
        self._call_keeper("remove_trial", f"removing {self.path / name}", leftover=str(self.path / name), name=name)

    def remove(self) -> None:
        """See ``Workspace.remove``. Not tried if the target is lost: its remains were reported then."""
        if self.begun and not self.lost:
            self._call_keeper("remove", f"removing {self.path}", leftover=str(self.path))

    def _call_keeper(self, operation: str, what: str, leftover: str = "", **more: Any) -> None:
        try:
            with self.keeper.limited(SUSPECT_S) if self.suspected else nullcontext():
                self.keeper.on(self, operation, what, **more)
            self.suspected = False
        except TargetFaultError as error:
            self.lost = error.message
            if leftover and isinstance(error, NoAnswerError):
                message = restore_message(
                    error.code, f"{error.message}; {leftover} is left there", {**error.values, "leftover": leftover}
                )
                raise error.with_words(message) from None
            raise
