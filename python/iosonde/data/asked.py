"""What every analysis is asked: the same words for the command line, the page and Python."""

from __future__ import annotations

from dataclasses import dataclass

LAST_DONE = "last_done"
ALL = "all"
CLOCKS = (LAST_DONE, "first_done", "sum_of_ranks", "overlap")


@dataclass(frozen=True)
class Asked:
    """Which numbers of a Source, by which factors.

    ``response``: columns of a table, or operations, metrics or ``operation metric`` of a store; also ``log(Y)`` and
    ``Y/nodes``. Empty: every column that looks measured, every metric of ``clock``. ``on``: the factors; empty: those
    that are known. ``clock``: one of :data:`CLOCKS`, ``all``, or the name of a metric; stores only.
    """

    response: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    clock: str = LAST_DONE
    level: float = 0.95
