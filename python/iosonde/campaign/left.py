"""Data of earlier experiments left in the target, because it did not respond or they were killed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.types import Experiment
from iosonde.measure.target.keeper import Keeper
from iosonde.store import Store
from iosonde.store.lock import lock_experiment


def remove(store: Store, target: Path, experiment: str, keeper: Keeper, say: Callable[[str], None]) -> None:
    """Remove it, except data of ``experiment`` itself, of a running measurement, or of other users."""
    others = [other.id for other in store.experiments() if other.id != experiment and str(target) in _targets_of(other)]
    for old in keeper.list_leftovers(target, others):
        try:
            with lock_experiment(store.path, old):
                keeper.remove_leftover(target, old)
                say(
                    Message(
                        "stale-directory-removed",
                        "removed {path}, left by an earlier run",
                        path=f"{target}/iosonde-{old}",
                    )
                )
        except InputError as error:  # it is being measured, or another user's
            say(error.message.prefixed(f"{target}/iosonde-{old} stays"))


def _targets_of(experiment: Experiment) -> list[object]:
    settings = experiment.settings.get("probe", experiment.settings)
    return [settings.get("target"), *settings.get("targets", {}).values()]
