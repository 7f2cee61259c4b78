"""The options of every analysis: the same words for the command line, the page and Python."""

from dataclasses import dataclass

LAST_DONE = "last_done"
ALL = "all"
CLOCKS = (LAST_DONE, "first_done", "sum_of_ranks", "overlap")


@dataclass(frozen=True)
class MetricChoice:
    """A choice among a store's numbers, as by ``--clock`` and ``--metric``."""

    clock: str = LAST_DONE
    metric: tuple[str, ...] = ()


# Every row; ``all`` leaves out numbers that only repeat another one.
EVERY = MetricChoice(clock="")


@dataclass(frozen=True)
class ResponseQuery:
    """The numbers of a Source to analyse, and their factors.

    ``response``: columns of a table, or operations, metrics or ``operation metric`` of a store; also ``log(Y)`` and
    ``Y/nodes``. Empty: every column that looks measured, every metric of ``clock``. ``on``: the factors; empty: the
    known ones. ``clock`` and ``metric`` apply only to stores. ``clock``: names in :data:`CLOCKS` separated by commas,
    or ``all``. ``metric``: names of metrics, kinds of them (``bandwidth``, ``iops``, ``p99``), or ``all``. Empty: the
    engine's metrics of ``clock``, and the headlines of other tools.
    """

    response: tuple[str, ...] = ()
    on: tuple[str, ...] = ()
    clock: str = LAST_DONE
    level: float = 0.95
    metric: tuple[str, ...] = ()

    @property
    def choice(self) -> MetricChoice:
        """Choice among a store's numbers."""
        return MetricChoice(self.clock, self.metric)
