"""What every analysis is asked: the same words for the command line, the page and Python."""

from __future__ import annotations

from dataclasses import dataclass

LAST_DONE = "last_done"
ALL = "all"
CLOCKS = (LAST_DONE, "first_done", "sum_of_ranks", "overlap")


@dataclass(frozen=True)
class MetricChoice:
    """Which of a store's numbers: the words of ``--clock`` and ``--metric``."""

    clock: str = LAST_DONE
    metric: tuple[str, ...] = ()


# Every row there is; ``all`` leaves out what only repeats another number.
EVERY = MetricChoice(clock="")


@dataclass(frozen=True)
class ResponseQuery:
    """Which numbers of a Source, by which factors.

    ``response``: columns of a table, or operations, metrics or ``operation metric`` of a store; also ``log(Y)`` and
    ``Y/nodes``. Empty: every column that looks measured, every metric of ``clock``. ``on``: the factors; empty: those
    that are known. ``clock``: of :data:`CLOCKS`, several with commas between them, or ``all``; ``metric``: names of
    metrics, kinds of them (``bandwidth``, ``iops``, ``p99``), or ``all``; empty: what the engine measured until
    ``clock``, and of another tool its headlines. Both of stores only.
    """

    response: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    clock: str = LAST_DONE
    level: float = 0.95
    metric: tuple[str, ...] = ()

    @property
    def choice(self) -> MetricChoice:
        """Which of a store's numbers."""
        return MetricChoice(self.clock, self.metric)
