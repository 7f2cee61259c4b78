"""Interpretation of structure: the optimisation, or part of the system, suggested by common properties and by times.

Some limits are physical. An operation no slower than a copy came from memory; one faster than the known path to the
servers did not wait (``at_client``). A whole period of bytes faster than any link was a message about them, not their
transfer (``_explain_single_slow_operation``). Between clear cases there is no interpretation.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.message import Message
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import format_share, join_names

from .causes import NEARLY
from .causes.target import Suspect
from .known_path import NetworkPath, ServerTimes
from .slow_files import SlowFiles

READ_AHEAD, WRITE_BEHIND, SLOW_SERVER = "read-ahead", "write-behind", "slow server"
LOCK, CACHE, WARM_UP, SEEK = "lock", "cache", "warm-up", "seek"
FIRST_TOUCH = "first touch"
NO_READ_AHEAD, NO_WRITE_BEHIND = "no read-ahead", "no write-behind"
SLOW_DISK, SLOW_LINK = "slow disk", "slow link"
ALIGNMENT, DISTURBANCE = "alignment", "disturbance"
# A copy within memory: a call, and the lowest rate of a copy.
_CALL_S, _COPY_RATE = 5e-6, 1.5e9
# Bytes that an operation waits for come at less than the first rate; a message appears faster than the second.
_TRANSFER, _MESSAGE = 2.5e9, 10e9
_RARE = 0.005
_ALL_OF_A_FILE = 0.7  # kappa
# Share of a pass's operations that may not have waited; half of Linux' read-ahead window.
_HARDLY, _AHEAD = 0.05, 64 * 1024
# Share of operations that reach a server: at least the first if none is merged, less than the second if many are.
_EACH, _GATHERED = 0.98, 0.75
# Least share of lost time worth explaining; a server is slow if it takes this many times as long.
_MATTERS, _TIMES = 0.2, 2.0
# Share of the excess time in the server itself: at least the first if it is the cause, at most the second if it is not.
_ITSELF, _NOT_ITSELF = 0.5, 0.25
_IN_A_ROW = 0.01  # p below which slow files share a moment, not a server


@dataclass(frozen=True)
class Reading:
    """``mechanism``: a constant above; ``words``: its details here."""

    mechanism: str
    words: str


@dataclass(frozen=True)
class Times:
    """Times of the interpreted operations.

    Their kind, size (bytes, 0: no data), and the seconds of a typical fast and a typical slow one. ``path`` to the
    servers and own times of the ``servers``, if known. ``sent``: operations at a server for each one made (None:
    unknown). ``trials``: number of trials; the servers' times are those of the first, and files lie elsewhere in the
    next. ``local``: the file system is the node's own, without a server."""

    kind: str
    size: int
    fast_s: float
    slow_s: float
    path: NetworkPath | None = None
    servers: ServerTimes | None = None
    sent: float | None = None
    trials: int = 1
    local: bool = False

    @property
    def at_client(self) -> bool:
        """True if fast ones take no longer than a copy, or less than the path plus the servers' least time. Also true
        if many did not reach a server by themselves."""
        if self.sent is not None and self.sent < _GATHERED:
            return True
        own_s = self.servers.least_s if self.servers else 0.0
        is_too_fast = bool(self.size and self.path and self.fast_s < self.path.least_s(self.size) + own_s)
        return is_too_fast or self.fast_s <= _CALL_S + self.size / _COPY_RATE

    @property
    def waited(self) -> bool:
        """True if fast ones certainly waited for a server: they take at least the path and the servers' usual time, and
        each reached one. False if unknown."""
        if not (self.size and self.path and self.servers) or self.at_client:
            return False
        if self.sent is not None and self.sent < _EACH:
            return False
        return self.fast_s >= self.path.least_s(self.size) + self.servers.usual_s


@dataclass(frozen=True)
class Pass:
    """All operations of one kind and size in a trial with a known path to the servers and these' own times.

    ``took_s`` is their total time, ``typical_s`` that of one, ``lost_s`` the excess time of slow ones. ``sequential``:
    they follow each other through their files. ``faster`` is the share that took less than ``least_s``, the path and
    the servers' usual time. ``sent``: operations at a server for each one made. ``is_synchronous``: files were opened
    so that each must wait. ``files``: those in which all operations are slow, None if unknown.
    """

    kind: str
    size: int
    took_s: float
    typical_s: float
    lost_s: float
    sequential: bool
    faster: float
    least_s: float
    sent: float
    is_synchronous: bool
    servers: ServerTimes
    files: SlowFiles | None = None


def read_pass(operations: Pass) -> Reading | None:
    """Interpret all of them together: a server that itself took the lost time, or no optimisation that avoids waiting.
    None if neither is clear."""
    return (
        _explain_slow_disk(operations) or _explain_slow_server(operations) or _explain_missing_optimisation(operations)
    )


def _explain_slow_disk(operations: Pass) -> Reading | None:
    slowest, excess_s = operations.servers.slowest, operations.servers.excess_s
    if slowest is None or operations.lost_s < _MATTERS * operations.took_s or excess_s < _ITSELF * operations.lost_s:
        return None
    server, its_s, others_s = slowest
    if its_s < _TIMES * others_s:
        return None
    return Reading(
        SLOW_DISK,
        Message(
            "slow-disk",
            "a slow disk, or the host of {server}: by its own counter a {operation} takes {time} there, {others} "
            "elsewhere. This is {excess} of {lost} of excess time",
            server=server,
            operation=operations.kind,
            time=format_rate(its_s, "s"),
            others=format_rate(others_s, "s"),
            excess=format_rate(excess_s, "s"),
            lost=format_rate(operations.lost_s, "s"),
        ),
    )


def _explain_slow_server(operations: Pass) -> Reading | None:
    """Interpret files whose operations at a server are all slow, scattered among the others, and as many as one server
    has. It is a server then: a cache hits or misses within a file, and a disturbance takes one moment."""
    files = operations.files
    if files is None or files.lost_s < _MATTERS * operations.took_s or files.slow_s < _TIMES * files.others_s:
        return None
    holders = operations.servers.find_servers_with_share(files.share, files.of)
    if not holders or files.in_a_row_p < _IN_A_ROW:
        return None
    words = Message(
        "slow-server",
        "a slow server: {n} of the {n_files} files, as many as "
        + ("{servers} has" if len(holders) == 1 else "one of {servers} has")
        + ", take at least {time} per {operation} that reaches it, the others {others}",
        n=files.count,
        n_files=files.of,
        servers=join_names(sorted(holders)),
        time=format_rate(files.slow_s, "s"),
        operation=operations.kind,
        others=format_rate(files.others_s, "s"),
    )
    return _decide_by_server_counters(words, holders, operations.servers, files.slow_s - files.others_s)


def _decide_by_server_counters(words: str, holders: Sequence[str], servers: ServerTimes, longer_s: float) -> Reading:
    """Decide by its own counters whether a slow server among ``holders`` takes the time itself, or the path to it."""
    shares = [servers.compute_extra_seconds(name) / longer_s for name in holders]
    counted = ", ".join(f"{name} takes {format_rate(servers.by_server[name][1], 's')} itself" for name in holders)
    if min(shares) >= _ITSELF:
        template = "{slow_server}; in the server, its disk or its host: {times}"
        return Reading(
            SLOW_DISK,
            Message("slow-disk", template, **{**_get_message_values(words), "slow_server": words, "times": counted}),
        )
    if max(shares) <= _NOT_ITSELF:
        template = "{slow_server}; not in the server, on the path to it: {times}"
        return Reading(
            SLOW_LINK,
            Message("slow-link", template, **{**_get_message_values(words), "slow_server": words, "times": counted}),
        )
    return Reading(SLOW_SERVER, words)


def _get_message_values(words: str) -> Mapping[str, object]:
    return words.values if isinstance(words, Message) else {}


def _explain_missing_optimisation(operations: Pass) -> Reading | None:
    if not operations.sequential or operations.is_synchronous or not 0 < operations.size <= _AHEAD:
        return None
    if operations.faster > _HARDLY or operations.sent < _EACH:
        return None
    text = (
        f"each goes to a server by itself and waits {format_rate(operations.typical_s, 's')}; the path there "
        f"and back and the server take {format_rate(operations.least_s, 's')}"
    )
    if "read" in operations.kind:
        return Reading(NO_READ_AHEAD, f"no read-ahead, or none in time: they are sequential, and {text}")
    return Reading(NO_WRITE_BEHIND, f"no write-behind: {text}") if "write" in operations.kind else None


def interpret_suspects(suspects: Sequence[Suspect], times: Times) -> Reading | None:
    """Interpret the first suspect with an interpretation, the best explanation first; None without any."""
    return next((reading for suspect in suspects if (reading := _explain_suspect(suspect, times)) is not None), None)


def list_explanations(suspects: Sequence[Suspect], times: Times) -> tuple[str, ...]:
    """Return the distinct explanations of suspects nearly as good as the first: the mechanism, or for the first its
    cause. A single one means a clear cause; empty without suspects."""
    if not suspects:
        return ()
    rivals = [suspect for suspect in suspects if suspect.agreement.kappa >= NEARLY * suspects[0].agreement.kappa]
    read = [_explain_suspect(rival, times) for rival in rivals]
    first = [suspects[0].cause] if read[0] is None else []
    return tuple(dict.fromkeys([*first, *(reading.mechanism for reading in read if reading is not None)]))


def _explain_suspect(suspect: Suspect, times: Times) -> Reading | None:
    rules = {
        "S401": _explain_period,
        "S402": _explain_periodic_wait,
        "S404": _explain_full_write_behind,
        "S405": lambda *_: Reading(FIRST_TOUCH, "a cache hit from the second time on"),
        "S406": _explain_place,
        "S407": _explain_jump,
        "S408": _explain_slow_files,
        "S409": lambda _, times: Reading(
            LOCK, f"all wait for one thing: a lock, or a {'disk' if times.local else 'server'} that pauses"
        ),
        "S411": _explain_amount,
        "S412": _explain_chance,
    }
    rule = rules.get(suspect.code)
    reading = rule(suspect, times) if rule else None
    if reading is None or reading.mechanism != SLOW_SERVER:
        return reading
    if "files" not in suspect.evidence:
        return _refine_by_servers(reading, times)
    of = suspect.evidence["of"]
    return _refine_by_servers(reading, times, len(suspect.evidence["files"]) / of, of) if times.trials == 1 else reading


def _refine_by_servers(reading: Reading, times: Times, share: float | None = None, files: int = 0) -> Reading:
    """Decide whether a slow server takes the time itself: the server with this ``share`` of ``files`` files, else the
    slowest."""
    longer_s = times.slow_s - times.fast_s
    if times.servers is None or times.servers.slowest is None or longer_s <= 0:
        return reading
    holders = [times.servers.slowest[0]] if share is None else times.servers.find_servers_with_share(share, files)
    return _decide_by_server_counters(reading.words, holders, times.servers, longer_s) if holders else reading


def _explain_period(suspect: Suspect, times: Times) -> Reading | None:
    """Interpret a period: a single slow operation fetches, flushes or locks for the others; several in a row belong to
    one server."""
    evidence = suspect.evidence
    if "period_bytes" not in evidence:
        return None
    if not times.at_client:
        return _explain_server_share(evidence["slow_bytes"], evidence["period_bytes"], times)
    return _explain_single_slow_operation(evidence["period_bytes"], times) if evidence["slow_operations"] == 1 else None


def _explain_single_slow_operation(n_bytes: int, times: Times) -> Reading | None:
    rate = n_bytes / max(times.slow_s - times.fast_s, 1e-9)
    if rate > _MESSAGE:
        return Reading(LOCK, f"a lock of each {format_size(n_bytes)}, or its allocation: too short to transfer them")
    if rate > _TRANSFER:
        return None
    at = f"{format_size(n_bytes)}, at {format_rate(rate, 'bytes/s')}"
    if "read" in times.kind:
        return Reading(READ_AHEAD, f"read-ahead: one operation waits for the next {at}; the others find it in memory")
    if "write" in times.kind:
        return Reading(WRITE_BEHIND, f"write-behind: one operation waits until a buffer is written, {at}")
    return None


def _explain_amount(suspect: Suspect, times: Times) -> Reading | None:
    if "write" not in times.kind or not times.at_client:
        return None
    n_bytes = suspect.evidence["gap_bytes"]
    rate = format_rate(n_bytes / max(times.slow_s - times.fast_s, 1e-9), "bytes/s")
    return Reading(
        WRITE_BEHIND,
        f"write-behind up to a limit: a write beyond it waits for about {format_size(n_bytes)} at {rate}",
    )


def _explain_full_write_behind(suspect: Suspect, times: Times) -> Reading | None:
    if not suspect.evidence["late"]:
        return Reading(WARM_UP, "something is warmed up until then")
    if "write" not in times.kind:
        return None
    return Reading(WRITE_BEHIND, f"write-behind, full after {format_size(suspect.evidence['bytes_before'])}")


def _explain_place(suspect: Suspect, times: Times) -> Reading | None:
    evidence = suspect.evidence
    if evidence["crosses"]:
        return (
            _explain_single_slow_operation(evidence["unit_bytes"], times)
            if times.at_client
            else Reading(ALIGNMENT, f"requests that are split at borders of {format_size(evidence['unit_bytes'])}")
        )
    if not times.at_client:
        return _explain_server_share(evidence["width_bytes"], evidence["unit_bytes"], times)
    return (
        _explain_single_slow_operation(evidence["unit_bytes"], times)
        if evidence["width_bytes"] <= max(times.size, 1)
        else None
    )


def _explain_server_share(part: int, total: int, times: Times) -> Reading | None:
    """Interpret a share of at most half as one of several servers (or disks, of a local file system)."""
    if 2 * part > total:
        return None
    return _build_holder_reading(
        f"{format_size(part)} of every {format_size(total)}, one of {total / max(part, 1):.3g} parts", times
    )


def _build_holder_reading(part: str, times: Times) -> Reading:
    if times.local:
        return Reading(
            SLOW_DISK, f"a slow disk or device of the node itself, as the file system is local: it holds {part}"
        )
    return Reading(SLOW_SERVER, f"a slow server: it holds {part}")


def _explain_slow_files(suspect: Suspect, times: Times) -> Reading | None:
    """Interpret two files or more, as a single one may be slow for any reason. All their operations must be slow: a
    disturbance would affect neighbouring files as well."""
    files = suspect.evidence.get("files", ())
    if len(files) < 2 or times.at_client or suspect.agreement.kappa < _ALL_OF_A_FILE:
        return None
    return _build_holder_reading(f"{len(files)} of the {suspect.evidence['of']} files", times)


def _explain_periodic_wait(suspect: Suspect, times: Times) -> Reading:
    every = format_rate(suspect.evidence["period_s"], "s")
    return Reading(LOCK, f"another user takes the resource every {every}: a lock, a commit, another job")


def _explain_chance(suspect: Suspect, times: Times) -> Reading | None:
    share = suspect.evidence["probability"]
    if share < _RARE:
        return Reading(DISTURBANCE, "rare and by chance: an interrupt, another process, a retry")
    if times.waited:
        return None
    return Reading(
        CACHE, f"cache hits and misses, or two paths through the system: {format_share(share)} take the slow one"
    )


def _explain_jump(suspect: Suspect, times: Times) -> Reading:
    return Reading(
        SEEK,
        "a seek, or useless read-ahead"
        if "read" in times.kind
        else "a seek, or blocks that are looked up or allocated first",
    )
