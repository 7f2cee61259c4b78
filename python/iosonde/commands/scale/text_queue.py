"""A queueing network as text: rates by clients, the stations at the largest number of clients, the bottleneck."""

from collections.abc import Iterator

from iosonde.core.units import format_rate, format_seconds, format_significant
from iosonde.layout.text import table, wrapped
from iosonde.model.queues.queueing import Load

from .queue import Network, Solved


def lines(network: Network) -> Iterator[str]:
    """The lines of the text."""
    if network.opened is not None:
        yield from _format_open(network)
    if network.opened is not None and network.solved:
        yield ""
    if network.solved:
        yield from _format_closed(network)


def _format_closed(network: Network) -> Iterator[str]:
    yield from wrapped(
        f"closed network: each client has one outstanding operation, which takes "
        f"{format_seconds(network.alone_s)} "
        "without waiting; station columns: utilisation of each server"
    )
    yield ""
    places = [place for place, load in enumerate(network.solved[0].solution.loads) if load.utilisation is not None]
    phases = any(solved.phase for solved in network.solved)
    names = [network.stations[place].name for place in places]
    header = ["clients", "rate", "of linear", "response", *(["phase", "at barrier"] if phases else []), *names]
    rows = [_format_row(solved, places) for solved in network.solved]
    yield from table(header, rows, ("r" * 6 if phases else "rrrr") + "l" * len(places)).splitlines()
    yield ""
    last = network.solved[-1].solution
    yield f"{last.clients:,} clients"
    rows = [_format_station(load) for load in last.loads]
    yield from table(["station", "servers", "operations", "residence time", "offered load"], rows, "lrrrr").splitlines()
    yield ""
    if not last.exact:
        yield from wrapped(
            "~ approximated (Schweitzer, Seidmann) for this many clients; the error is some per cent", "  "
        )
        yield ""
    yield from wrapped(network.sentence)


def _format_row(solved: Solved, places: list[int]) -> list[str]:
    solution, phase = solved.solution, solved.phase
    busy = [_format_percent(solution.loads[place].utilisation) for place in places]
    barrier = [format_seconds(phase.seconds), _format_percent(phase.waiting)] if phase else []
    rate = format_rate(phase.rate if phase else solution.rate, "operations/s")
    share = solved.phase_of_linear if phase else solved.linear_share
    return [f"{solution.clients:,}", rate, _format_percent(share), format_seconds(solution.response_s), *barrier, *busy]


def _format_open(network: Network) -> Iterator[str]:
    yield f"open network: {format_rate(network.arrivals_per_s or 0.0, 'operations/s')} arrive, regardless of the queue"
    yield ""
    rows = [
        [
            load.station.name,
            str(load.station.servers),
            _format_percent(load.utilisation),
            "unbounded" if load.residence_s == float("inf") else format_seconds(load.residence_s),
        ]
        for load in network.opened or ()
    ]
    yield from table(["station", "servers", "busy", "residence time"], rows, "lrrr").splitlines()
    yield ""
    most = network.busiest
    name, busy = most.station.name, most.utilisation or 0.0
    if busy >= 1:
        yield from wrapped(
            f"{name} is overloaded ({_format_percent(busy)} of its capacity): its queue grows without bound. "
            f"The maximum is {format_rate(most.station.most, 'operations/s')}."
        )
    else:
        yield from wrapped(
            f"An operation takes {format_seconds(network.open_s)}; the bottleneck is {name}, busy "
            f"{_format_percent(busy)} of the time."
        )


def _format_station(load: Load) -> list[str]:
    demand = "" if load.offered_load is None else f"{format_significant(load.offered_load)} ×"
    servers = "" if load.offered_load is None else str(load.station.servers)
    return [load.station.name, servers, format_significant(load.operations), format_seconds(load.residence_s), demand]


def _format_percent(share: float | None) -> str:
    return "" if share is None else f"{format_significant(100 * share, 2 if share < 0.995 else 3)} %"
