"""``iosonde scale --station …``: a network of queues by hand, for numbers of clients that nobody has."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from iosonde.core.errors import InputError
from iosonde.core.units import format_rate, format_seconds, parse_seconds, significant
from iosonde.report.text import escape, table

if TYPE_CHECKING:
    from iosonde.model.queues.open_queues import OpenLoad
    from iosonde.model.queues.queueing import Load, Solution, Station
    from iosonde.model.queues.slowest import Phase

_WIDTH = 79
_MOST_CLIENTS, _MOST_SERVERS = 10**6, 10**6
_STATION = re.compile(r"^\s*([^=]+?)\s*=\s*([^:]+?)\s*(?::\s*(?:(delay)|(\d+)\s*(queues?)?)\s*)?$")


def stations_of(texts: Sequence[str]) -> list[Station]:
    """``disk=2ms:4``, ``server=1ms:16queues``, ``client=5ms:delay`` → stations. Raises InputError."""
    from iosonde.model.queues.queueing import Kind, Station, check

    found = []
    for text in texts:
        parts = _STATION.match(text)
        if not parts:
            raise InputError(f"--station '{text}' is no station", _EXAMPLES)
        name, time, delay, servers, queues = parts.groups()
        kind = Kind.DELAY if delay else Kind.QUEUES if queues else Kind.QUEUE
        if servers and not 1 <= int(servers) <= _MOST_SERVERS:
            raise InputError(f"--station '{text}': {servers} servers", f"give 1 to {_MOST_SERVERS:,}")
        found.append(Station(name, parse_seconds(time), int(servers or 1), kind))
    check(found)
    return found


_EXAMPLES = "write disk=2ms (one server), disk=2ms:4 (4 of one queue), disk=2ms:4queues, or client=5ms:delay"


def clients_of(sizes: Sequence[float]) -> list[int]:
    """The numbers of clients of ``--at``. Raises InputError."""
    if not sizes:
        raise InputError("--at is missing", "give the numbers of clients, as --at 1,64,10000")
    if max(sizes) > _MOST_CLIENTS:
        raise InputError(
            f"--at {max(sizes):.0f} is too many", f"a network of queues takes up to {_MOST_CLIENTS:,} clients"
        )
    return [int(size) for size in sizes]


def as_json(
    stations: Sequence[Station], solved: Sequence[tuple[Solution, Phase | None]], opened: Sequence[OpenLoad] | None
) -> dict[str, Any]:
    """The stable JSON form."""
    listed = [_solution_json(stations, solution, phase) for solution, phase in solved]
    named = [{"name": s.name, "demand_s": s.demand_s, "servers": s.servers, "kind": str(s.kind)} for s in stations]
    arrivals = None if opened is None else [
        {"name": load.station.name, "utilisation": load.utilisation, "residence_s": load.residence_s} for load in opened
    ]  # fmt: skip
    return {"stations": named, "bottleneck": solved[0][0].bottleneck if solved else None, "network": listed,
            "open": arrivals}  # fmt: skip


def _solution_json(stations: Sequence[Station], solution: Solution, phase: Phase | None) -> dict[str, Any]:
    loads = [{"name": load.station.name, "utilisation": load.utilisation, "operations": load.operations,
              "residence_s": load.residence_s, "asked": load.asked} for load in solution.loads]  # fmt: skip
    return {"clients": solution.clients, "rate": solution.rate, "response_s": solution.response_s,
            "rate_low": solution.low, "rate_high": solution.high, "of_linear": _of_linear(solution, stations),
            "exact": solution.exact, "stations": loads,
            "phase": None if phase is None else dict(vars(phase))}  # fmt: skip


def lines(stations: Sequence[Station], solved: Sequence[tuple[Solution, Phase | None]]) -> Iterator[str]:
    """The lines of the text."""
    alone_s = sum(station.demand_s for station in stations)
    yield from _wrapped(f"closed network: each client has one operation on its way, which takes "
                        f"{format_seconds(alone_s)} "
                        "where nobody waits; under a station's name, how busy each of its servers is")  # fmt: skip
    yield ""
    queues = [place for place, load in enumerate(solved[0][0].loads) if load.utilisation is not None]
    phases = any(phase for _, phase in solved)
    rows = []
    for solution, phase in solved:
        busy = [_percent(solution.loads[place].utilisation) for place in queues]
        barrier = [format_seconds(phase.seconds), _percent(phase.waiting)] if phase else []
        rate = format_rate(phase.rate if phase else solution.rate, "operations/s")
        share = _of_linear(solution, stations) if phase is None else phase.rate * alone_s / solution.clients
        rows.append(
            [f"{solution.clients:,}", rate, _percent(share), format_seconds(solution.response_s), *barrier, *busy]
        )
    names = [stations[place].name for place in queues]
    header = ["clients", "rate", "of linear", "response", *(["phase", "at barrier"] if phases else []), *names]
    yield from table(
        header, rows, "r" * 6 + "l" * len(queues) if phases else "rrrr" + "l" * len(queues), _WIDTH
    ).splitlines()
    yield ""
    last = solved[-1][0]
    yield f"{last.clients:,} clients"
    rows = [_station(load) for load in last.loads]
    yield from table(["station", "servers", "there", "time there", "asked of each"], rows, "lrrrr", _WIDTH).splitlines()
    yield ""
    if not last.exact:
        yield from _wrapped(
            "~ so many clients are computed by an approximation (Schweitzer, Seidmann), some per cent off", "  "
        )
        yield ""
    yield from _wrapped(sentence(stations, last, alone_s))


def open_lines(opened: Sequence[OpenLoad], arrivals_per_s: float) -> Iterator[str]:
    """An open network as text."""
    yield f"open network: {format_rate(arrivals_per_s, 'operations/s')} arrive, whatever becomes of them"
    yield ""
    rows = [[load.station.name, str(load.station.servers), _percent(load.utilisation),
             "without end" if load.residence_s == float("inf") else format_seconds(load.residence_s)]
            for load in opened]  # fmt: skip
    yield from table(["station", "servers", "busy", "time there"], rows, "lrrr", _WIDTH).splitlines()
    yield ""
    most = max((load for load in opened if load.utilisation is not None), key=lambda load: load.utilisation or 0.0)
    total = sum(load.residence_s for load in opened)
    name, busy = most.station.name, most.utilisation or 0.0
    if busy >= 1:
        yield from _wrapped(f"{name} cannot serve so many ({_percent(busy)} of what it can): the queue before it grows "
                            f"without end. The most is {format_rate(most.station.most, 'operations/s')}.")  # fmt: skip
    else:
        yield from _wrapped(f"An operation takes {format_seconds(total)}; the bottleneck is {name}, busy "
                            f"{_percent(busy)} of the time.")  # fmt: skip


def sentence(stations: Sequence[Station], last: Solution, alone_s: float) -> str:
    """What limits, from where on, and what the most clients would ask of each server."""
    limit = next(station for station in stations if station.name == last.bottleneck)
    knee = limit.most * alone_s
    load = next(load for load in last.loads if load.station.name == limit.name)
    most = format_rate(limit.most, "operations/s")
    said = f"{limit.name} limits: {most} at most, which about {significant(knee)} clients reach."
    if load.asked is not None and load.asked > 1:
        asked = significant(load.asked)
        said += (f" {last.clients:,} clients that do not wait would ask of each of its servers {asked} times what it "
                 f"can do: {significant(load.asked * limit.servers)} such servers instead of "
                 f"{limit.servers}.")  # fmt: skip
    next_ = [other for other in last.loads if other.asked and other.asked > 1 and other.station.name != limit.name]
    if next_:
        named = ", ".join(f"{other.station.name} ({significant(other.asked or 0.0)} times)" for other in next_)
        said += f" The next limits would be {named}."
    return said


def _station(load: Load) -> list[str]:
    asked = "" if load.asked is None else f"{significant(load.asked)} ×"
    servers = "" if load.asked is None else str(load.station.servers)
    return [load.station.name, servers, significant(load.operations), format_seconds(load.residence_s), asked]


def _of_linear(solution: Solution, stations: Sequence[Station]) -> float:
    return solution.rate * sum(station.demand_s for station in stations) / solution.clients


def _percent(share: float | None) -> str:
    return "" if share is None else f"{significant(100 * share, 2 if share < 0.995 else 3)} %"


def _wrapped(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(escape(text), _WIDTH, subsequent_indent=indent)
