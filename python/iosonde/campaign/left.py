"""What earlier experiments of a store had to leave in the target, because it did not answer or they were killed."""

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
    """Remove it, but for what is of ``experiment`` itself, or being measured, or somebody else's."""
    others = [other.id for other in store.experiments() if other.id != experiment and str(target) in _targets_of(other)]
    for old in keeper.list_leftovers(target, others):
        try:
            with lock_experiment(store.path, old):
                keeper.remove_leftover(target, old)
                say(
                    Message(
                        "stale-directory-removed",
                        "removed {path}, which an earlier run had to leave there",
                        path=f"{target}/iosonde-{old}",
                    )
                )
        except InputError as error:  # it is being measured, or somebody else's
            say(error.message.prefixed(f"{target}/iosonde-{old} stays"))


def _targets_of(experiment: Experiment) -> list[object]:
    settings = experiment.settings.get("probe", experiment.settings)
    return [settings.get("target"), *settings.get("targets", {}).values()]
