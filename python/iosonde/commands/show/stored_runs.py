"""Runs of a store, as the options of a command choose them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from iosonde.commands.stored_run import StoreOptions
from iosonde.core.front_end import front_end
from iosonde.core.message import Message
from iosonde.core.options import NameList, Names, Text

if TYPE_CHECKING:
    from .answer import ChosenRuns


@dataclass(kw_only=True)
class RunsOptions(StoreOptions):
    """Runs of a store."""

    experiment: Text[str | None] = Text("ID", "Only the runs of this experiment.")
    where: Names[NameList] = Names(
        "COND", "Only runs for which it holds, as 'fs=nfs'. Repeatable.", (), is_repeatable=True
    )


@dataclass(kw_only=True)
class RunOrRunsOptions(RunsOptions):
    """Runs of a store, or one of them."""

    run: Text[str | None] = Text("RUN", "Only this run: its id, or a beginning of it that no other run has.")


def choose_runs(options: StoreOptions) -> ChosenRuns:
    """Open the store and choose the runs. Raises InputError, DataError."""
    from .answer import choose

    values = vars(options)
    return choose(options.store, values.get("run"), values.get("experiment"), values.get("where") or ())


def choose_sound_runs(options: StoreOptions) -> ChosenRuns:
    """Choose the runs, and warn of what is damaged in the store. Raises InputError, DataError."""
    chosen = choose_runs(options)
    for problem in chosen.problems:
        template = "{sentence} [{finding}]"
        front_end().warn(Message("store-problem", template, sentence=problem.sentence, finding=problem.code))
    return chosen
