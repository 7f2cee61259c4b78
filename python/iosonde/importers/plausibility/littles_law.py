"""Little's law: rate × mean latency = operations in flight. The settings limit these, and a closed loop keeps all of
them in flight: each that completes is followed by the next.

Little: A proof for the queuing formula L = λW, Operations Research 9(3), 1961.
"""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, prod

from iosonde.core.contradiction import Contradiction, group_doubtful_metrics
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.units import format_rate, format_significant
from iosonde.core.vocabulary.fio import CALLING_ENGINES, SYNCHRONOUS_ENGINES

from ..parsed import Parsed
from .numbers import Numbers

CODE = "S136"
# Rounded rates and times, and operations that began before the clock of the rate.
_ROUNDED_SHARE, _ROUNDED_S = 0.5, 0.002
_MERGED = "merged-jobs"
# A loop that is always busy keeps this share of its operations in flight, at least. Short runs begin and end slowly.
_LOWEST_SHARE, _SHORTEST_S, _FEWEST_ROUNDS = 1 / 50, 1.0, 10
# In the right unit, the latencies are that many times as long, and keep such a share in flight.
_UNIT_FACTORS, _FULL_SHARES = (1000.0, 1024.0), (0.2, 1.1)
# A system call for data, and two readings of the clock, take longer.
_SHORTEST_CALL_S = 50e-9
# Tools that make one for each operation, and print its mean latency beside rates of other jobs.
_CALLING_TOOLS = ("kbench",)
# Words of a command with several clients.
_CLIENTS = ("--hosts", "--warp-client")
_WORDS = {"ranks": "jobs", "io_depth": "depth"}


@dataclass(frozen=True)
class _Loop:
    """How a tool keeps operations in flight: names of its rates and of their mean latencies, the settings whose product
    limits them, and those of which one must be printed, as a tool that prints none may have any (none: no limit is
    needed). ``step``: the latencies' last digit, in s. ``only``: operations for which each latency is of one that the
    rate counts, empty for all. ``are_mixed``: all operations share the limit."""

    rates: tuple[str, ...]
    latencies: tuple[str, ...]
    settings: tuple[str, ...]
    printed: tuple[str, ...]
    step: float = 0.0
    only: tuple[str, ...] = ()
    are_mixed: bool = False

    def get_place(self, group: Numbers) -> tuple[object, ...]:
        """Return what the operations that share a limit have in common."""
        return "" if self.are_mixed else group.operation, group.rank, group.place


_TOTALS = ("rate_last_done", "rate_sum_of_ranks", "rate")
_BANDWIDTHS = ("bandwidth_last_done", "bandwidth_sum_of_ranks", "bandwidth", "bandwidth_own")
_LOOPS = {
    "fio": (
        _Loop(
            (*_TOTALS, "rate_own"),
            ("latency_mean", "completion_latency_mean"),
            ("ranks", "io_depth"),
            ("io_depth", "rw", "block_size"),
            are_mixed=True,
        ),
    ),
    "elbencho": (
        _Loop(("access_rate_last_done",), ("access_latency_mean",), ("threads", "nodes", "io_depth"), ("threads",)),
        _Loop(("rate_last_done",), ("latency_mean",), ("threads", "nodes"), ("threads",)),
    ),
    "ioping": (_Loop(("rate_while_busy",), ("latency_mean",), (), ()),),
    "rados-bench": (_Loop(_TOTALS, ("latency_mean",), ("io_depth",), ("io_depth",)),),
    "sysbench-fileio": (_Loop(_TOTALS, ("latency_mean",), ("threads",), ("threads",), step=1e-5, only=("event",)),),
    # Others list or delete several objects in one request.
    "warp": (
        _Loop(_TOTALS, ("latency_mean",), ("concurrency", "nodes"), ("concurrency",), only=("get", "put", "stat")),
    ),
}


@dataclass(frozen=True)
class _Flight:
    """Operations of a group in flight: their rate, their mean latency (of metric ``name``), and the settings whose
    product limits them."""

    group: Numbers
    loop: _Loop
    rate: float
    latency: float
    name: str
    counts: Mapping[str, int]

    @property
    def mean(self) -> float:
        return self.rate * self.latency

    @property
    def limit(self) -> int:
        return prod(self.counts.values())


def find_wrong_in_flight(run: Parsed, groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    """Yield the operations with more in flight than their settings allow, and those with too few in a closed loop; of
    ranks, only the first. Yield also latencies that are below that of a system call."""
    if run.tool in _CALLING_TOOLS:
        yield from _find_short_calls(groups)
    if any(getattr(note.sentence, "code", "") == _MERGED for note in run.warnings):
        return
    of_ranks: set[str] = set()
    for loop in _LOOPS.get(run.tool, ()):
        flights = list(_list_flights(run, groups, loop))
        sums = _sum_in_flight(groups, loop, flights)
        for flight in flights:
            group = flight.group
            if group.operation in of_ranks:
                continue
            contradiction = _find_excess(run, flight) or _find_short_latency(run, flight, sums[loop.get_place(group)])
            if contradiction is None:
                continue
            if group.rank is not None:
                of_ranks.add(group.operation)
            yield contradiction


def _list_flights(run: Parsed, groups: Sequence[Numbers], loop: _Loop) -> Iterator[_Flight]:
    doubtful = group_doubtful_metrics(run.contradictions)
    n_ranks = Counter((group.operation, group.place) for group in groups if group.rank is not None)
    for group in groups:
        names = group.rows.keys() - doubtful.get(group.operation, set())
        rate = group.get(*(name for name in loop.rates if name in names)) or _count_rate(group)
        name = next((name for name in loop.latencies if name in names), "")
        latency = group.get(name)
        if rate and latency and (not loop.only or group.operation in loop.only):
            counts = _get_counts(run, group, loop, n_ranks[group.operation, group.place])
            if counts is not None:
                yield _Flight(group, loop, rate, latency, name, counts)


def _sum_in_flight(groups: Sequence[Numbers], loop: _Loop, flights: Sequence[_Flight]) -> dict[Hashable, float]:
    """Return the operations in flight by place, infinitely many where those of an operation are not known."""
    sums: dict[Hashable, float] = {}
    for flight in flights:
        place = loop.get_place(flight.group)
        sums[place] = sums.get(place, 0.0) + flight.mean
    included = {id(flight.group) for flight in flights}
    for group in groups:
        if id(group) not in included and any(name in group.rows for name in loop.rates):
            sums[loop.get_place(group)] = inf
    return sums


def _count_rate(group: Numbers) -> float | None:
    n_operations, time = group.get("operations"), group.get("time")
    return n_operations / time if n_operations and time else None


def _get_counts(run: Parsed, group: Numbers, loop: _Loop, n_ranks: int) -> dict[str, int] | None:
    """Return the settings that limit the operations of a group in flight, None if they are not known."""
    settings = group.get_settings(run)
    if loop.printed and not any(name in settings for name in loop.printed):
        return None
    if "nodes" in loop.settings and "nodes" not in settings and _has_clients(run):
        return None
    if n_ranks and "ranks" in loop.settings and "ranks" not in settings:
        return None
    counts = {name: _get_count(settings, name) for name in loop.settings}
    if None in counts.values():
        return None
    limits = {name: count for name, count in counts.items() if count is not None}
    if "ranks" in limits:
        limits["ranks"] = max(limits["ranks"], run.most_threads)
        if group.rank is not None:
            limits["ranks"] = -(-limits["ranks"] // max(1, n_ranks))
    return limits


def _has_clients(run: Parsed) -> bool:
    return any(word in str(run.facts.get("command", "")) for word in _CLIENTS)


def _get_count(settings: Mapping[str, FactorValue], name: str) -> int | None:
    """Return a counted setting, 1 if it is not printed, None if it is no number."""
    value = settings.get(name, 1)
    return value if isinstance(value, int) and value > 0 else None


def _find_excess(run: Parsed, flight: _Flight) -> Contradiction | None:
    if run.tool == "fio" and run.form == "json" and not run.most_threads:
        return None  # group_reporting may have merged several jobs
    group = flight.group
    step = max(flight.loop.step, group.estimate_step(flight.latency))
    share = 1 + _ROUNDED_SHARE + _ROUNDED_S / (group.get("time") or 1.0)
    if flight.mean <= flight.limit * share + flight.rate * step:
        return None
    if _is_rate_confirmed(group):
        return _build("more-in-flight", flight, "the rate is believed, as amount ÷ time agrees with it", False)
    return _build("more-in-flight", flight, "neither is believed", True)


def _find_short_latency(run: Parsed, flight: _Flight, in_flight: float) -> Contradiction | None:
    """Return the contradiction of latencies that are most probably in a wrong unit. ``in_flight``: of all operations
    that share the limit."""
    settings = flight.group.get_settings(run)
    engine = settings.get("engine", "psync")
    is_synchronous = run.tool == "fio" and engine in SYNCHRONOUS_ENGINES
    if flight.name.startswith("completion") and not is_synchronous:
        return None  # of a buffered operation, all of the time may be that of its submission
    limit = flight.limit // flight.counts["io_depth"] if is_synchronous else flight.limit
    share = in_flight / limit
    if share >= _LOWEST_SHARE:
        return None
    if run.tool == "fio" and "engine" in settings and engine in CALLING_ENGINES and flight.latency < _SHORTEST_CALL_S:
        why = f"as no system call takes less than {format_rate(_SHORTEST_CALL_S, 's')}"
        return _build("short-latency", flight, f"the unit of the latency is most probably wrong, {why}", False)
    time = flight.group.get("time") or 0.0
    if time < _SHORTEST_S or flight.rate * time < _FEWEST_ROUNDS * limit or not _is_closed_loop(run, settings):
        return None
    lowest, highest = _FULL_SHARES
    if not any(lowest <= factor * share <= highest for factor in _UNIT_FACTORS):
        return None
    why = "as nothing pauses them, and latencies 1000 times as long would keep them busy"
    if _is_rate_confirmed(flight.group):
        return _build("short-latency", flight, f"the unit of the latency is most probably wrong, {why}", False)
    return _build("short-latency", flight, f"the unit of one of them is most probably wrong, {why}", True)


def _find_short_calls(groups: Sequence[Numbers]) -> Iterator[Contradiction]:
    for group in groups:
        latency = group.get("latency_mean")
        if latency and latency < _SHORTEST_CALL_S:
            yield Contradiction(
                CODE,
                group.operation,
                ("latency_mean",),
                Message(
                    "short-call",
                    "{operation} latency mean, {latency}: the unit of the latency is most probably wrong, as no system "
                    "call takes less than {limit}",
                    operation=group.operation,
                    latency=format_rate(latency, "s"),
                    limit=format_rate(_SHORTEST_CALL_S, "s"),
                ),
                group.find_line("latency_mean"),
                group.factors,
            )


def _is_closed_loop(run: Parsed, settings: Mapping[str, FactorValue]) -> bool:
    """Return whether each operation is followed by the next, without a pause or a limit of the rate."""
    if run.tool == "fio":
        return run.is_closed_loop and settings.get("engine", "psync") in (*SYNCHRONOUS_ENGINES, *CALLING_ENGINES)
    if run.tool == "sysbench-fileio":
        return settings.get("io_mode") != "async" and not {"requested_rate", "fsync_at_end"} & settings.keys()
    return run.tool in ("ioping", "rados-bench")


def _is_rate_confirmed(group: Numbers) -> bool:
    """Return whether an amount ÷ time agrees with a rate of it."""
    time = group.get("time")
    for amount, speeds in (("bytes", _BANDWIDTHS), ("operations", _TOTALS)):
        size, speed = group.get(amount), group.get(*speeds)
        if time and size and speed and abs(size / time / speed - 1) < 0.05:
            return True
    return False


def _build(code: str, flight: _Flight, believed: str, doubts_rate: bool) -> Contradiction:
    """Return the contradiction between a rate, a latency and the settings; the latencies are in doubt."""
    group = flight.group
    latencies = [
        row.metric
        for family, statistics in group.latencies.items()
        if not family.startswith("submission")
        for row in statistics.values()
    ]
    rates = [metric for metric in group.rows if metric.startswith(("rate", "bandwidth", "access_rate")) and doubts_rate]
    settings = ", ".join(f"{_WORDS.get(name, name)} {count}" for name, count in flight.counts.items())
    return Contradiction(
        CODE,
        group.operation,
        (*rates, *latencies),
        Message(
            code,
            "{operation}: {rate} × {latency} = {in_flight} operations in flight (Little's law); the limit is {limit} "
            "({settings}): {believed}",
            operation=group.operation,
            rate=format_rate(flight.rate, "operations/s"),
            latency=format_rate(flight.latency, "s"),
            in_flight=format_significant(flight.mean),
            settings=settings or "one at a time",
            limit=flight.limit,
            believed=believed,
        ),
        group.find_line(flight.name),
        group.factors,
    )
