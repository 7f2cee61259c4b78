"""A network of queues that is given by hand: its options, and its answer."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.core.option_kinds import Counts, Integer, Number
from iosonde.core.options import NameList, Names

if TYPE_CHECKING:
    from .queue import Network

_MAX_SIZE = 10**7


@dataclass(kw_only=True)
class NetworkOptions:
    """A network of queues and its clients."""

    stations: Names[NameList] = Names(
        "NAME=TIME[:…]",
        "Instead of DATA: where an operation needs time: disk=2ms:4, client=5ms:delay. Repeatable.",
        (),
        flag="station",
        is_repeatable=True,
    )
    at: Counts[tuple[int, ...] | None] = Counts("N,…", "Predict the rate at these numbers.", most=_MAX_SIZE)
    arrivals: Number[float | None] = Number("RATE", "With `stations`: operations/s that arrive from outside.")
    operations_per_phase: Integer[int | None] = Integer(
        "K",
        "With `stations`: all clients wait for the slowest after K operations each.",
        least=1,
        most=10**6,
    )
    spread: Number[float | None] = Number(
        "CV",
        "Of a phase: coefficient of variation of the time at a station.",
        least=0.01,
        most=10,
        default_text="1",
    )

    @property
    def sizes(self) -> list[float]:
        """Return the numbers of nodes or clients to predict at."""
        return [float(size) for size in self.at or ()]

    @property
    def has_clients(self) -> bool:
        """Whether an option describes clients, which only a network has."""
        return any(value is not None for value in (self.arrivals, self.operations_per_phase, self.spread))

    def solve(self) -> Result[Network]:
        """Solve the network. Raises InputError."""
        from .queue import Clients
        from .queue import queue as answer
        from .text_queue import lines

        clients = Clients(self.sizes, self.arrivals, self.operations_per_phase, self.spread)
        return Result(answer(self.stations, clients), lines)


@dataclass
class QueueOptions(NetworkOptions):
    """Options of ``iosonde.queue``."""

    stations: Names[NameList] = Names(
        "NAME=TIME[:…]",
        'Where an operation needs time: "disk=2ms", "disk=2ms:4" (4 servers of one queue), "client=5ms:delay".',
        flag="station",
        is_required=True,
    )
    at: Counts[tuple[int, ...] | None] = Counts("N,…", "Numbers of clients.", most=_MAX_SIZE)
    _: KW_ONLY


@command("", QueueOptions)
def queue(options: QueueOptions) -> Result[Network]:
    """Solve a network of queues given by hand: what limits, for numbers of clients that nobody has.

    It is ``iosonde scale --station``.

    Returns
    -------
    Result[Network]
        One row a number of clients.

    Examples
    --------
    >>> iosonde.queue(["client=5ms:delay", "disk=2ms:4"], [1, 64, 10000])
    """
    return options.solve()
