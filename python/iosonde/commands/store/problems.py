"""Problems of stores: what a check ends with, and what was left out of a copy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from iosonde.core.errors import IncompleteError
from iosonde.core.front_end import front_end
from iosonde.core.message import Message
from iosonde.core.words import counted

if TYPE_CHECKING:
    from iosonde.core.types import Finding

    from .answer import StoreCheck


def build_check_error(store: str, store_check: StoreCheck) -> IncompleteError | None:
    """Return what the check of a store ends with; None where nothing is damaged or incomplete."""
    serious, incomplete = store_check.serious, store_check.incomplete
    if not serious and not incomplete:
        return None
    return IncompleteError(
        "damaged-store" if serious else "incomplete-runs",
        "{store}: {n_damaged} damaged or foreign, {n_incomplete} incomplete of {runs}",
        "iosonde explain {finding} says what to do" if serious else "iosonde show {store} RUN says more",
        store=store,
        n_damaged=len(serious),
        n_incomplete=len(incomplete),
        runs=counted(len(store_check.runs), "run"),
        finding=serious[0].code if serious else "",
    )


def report_omissions(problems: Iterable[Finding]) -> None:
    """Say what was damaged and left out."""
    for problem in problems:
        sentence, finding = problem.sentence, problem.code
        message = Message("damage-left-out", "left out: {sentence} [{finding}]", sentence=sentence, finding=finding)
        front_end().remark(message)
