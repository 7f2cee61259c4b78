"""Which optimisation, or which part of the system, structure reads like: from what a class has in common, and from what
its times can and cannot be.

Some things are physics, not habit. What takes no longer than a copy came from memory, and what takes less than the
way to the servers, where that is known, was not waited for (``at_client``); what would have moved a whole period of
bytes faster than any link was a message about them, not their transfer (``_read_single``). Between what is surely one
and surely the other nothing is read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.message import Message
from iosonde.core.units import format_rate, format_size
from iosonde.core.words import listed, percent

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
# A copy within memory: a call, and a rate that none is slower than.
_CALL_S, _COPY_RATE = 5e-6, 1.5e9
# Bytes that one operation of a client waits for come at less than the first; a message looks faster than the second.
_TRANSFER, _MESSAGE = 2.5e9, 10e9
_RARE = 0.005
_ALL_OF_A_FILE = 0.7  # kappa
# Of all operations of a pass so many may not have waited; and what read-ahead of Linux' window has twice.
_HARDLY, _AHEAD = 0.05, 64 * 1024
# So many of each reach a server where none is gathered with others, and so many where many are.
_EACH, _GATHERED = 0.98, 0.75
# What is lost is asked about from this share of the time on, and a server is slow if it takes so many times as long.
_MATTERS, _TIMES = 0.2, 2.0
# Of what slow operations take longer, a server that is to blame takes so much itself; one that is not, at most so much.
_ITSELF, _NOT_ITSELF = 0.5, 0.25
_IN_A_ROW = 0.01  # chance below which slow files share a moment, not a server


@dataclass(frozen=True)
class Reading:
    """``mechanism``: one of the words above; ``words``: what it is here."""

    mechanism: str
    words: str


@dataclass(frozen=True)
class Times:
    """Of the operations that are read: their kind, their size (bytes, 0: none are moved), and the seconds of a usual
    fast one and a usual slow one; what is known of the path to the servers, and of what these took themselves; how
    many operations of this kind reached a server for each that was made (None: not known); and of how many ``trials``
    they are: the servers' times are those of the first, and files lie elsewhere in the next. ``local``: the file system
    is the node's own, and there is no server."""

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
        """Whether fast ones take no longer than a copy, or less than the way to the servers and what these take; or
        whether many did not reach a server by themselves."""
        if self.sent is not None and self.sent < _GATHERED:
            return True
        own_s = self.servers.least_s if self.servers else 0.0
        is_too_fast = bool(self.size and self.path and self.fast_s < self.path.least_s(self.size) + own_s)
        return is_too_fast or self.fast_s <= _CALL_S + self.size / _COPY_RATE

    @property
    def waited(self) -> bool:
        """Whether fast ones surely waited for a server: they take longer than the way and what the servers usually do,
        and each reached one; False where nobody knows."""
        if not (self.size and self.path and self.servers) or self.at_client:
            return False
        if self.sent is not None and self.sent < _EACH:
            return False
        return self.fast_s >= self.path.least_s(self.size) + self.servers.usual_s


@dataclass(frozen=True)
class Pass:
    """All operations of one kind and size in a trial, where the way to the servers and these' own times are known.

    ``took_s`` is all their time, ``typical_s`` that of one, ``lost_s`` what those that were slower than the fast ones
    took longer; ``sequential``: they follow each other through their files; ``faster`` is the share that took less than
    ``least_s``, the way and what the servers usually took. ``sent``: how many reached a server for each that was made.
    ``is_synchronous``: files were opened so that each has to wait. ``files``: those in which all operations are slow,
    None where that cannot be asked.
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
    """What all of them together read like: a server that itself took what was lost, or nothing that saves them from
    waiting; None where neither can be said."""
    return _in_a_server(operations) or _read_slow_server(operations) or _all_wait(operations)


def _in_a_server(operations: Pass) -> Reading | None:
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
            "a slow disk, or what {server} runs on: by its own count a {operation} takes {time} there, {others} "
            "elsewhere. That is {excess} of {lost} that slow ones took longer",
            server=server,
            operation=operations.kind,
            time=format_rate(its_s, "s"),
            others=format_rate(others_s, "s"),
            excess=format_rate(excess_s, "s"),
            lost=format_rate(operations.lost_s, "s"),
        ),
    )


def _read_slow_server(operations: Pass) -> Reading | None:
    """Files in which all operations that reach a server are slow, scattered among the others, and as many as one
    server has: that is a server, and neither a cache, which a file may hit or miss, nor a moment."""
    files = operations.files
    if files is None or files.lost_s < _MATTERS * operations.took_s or files.slow_s < _TIMES * files.others_s:
        return None
    holders = operations.servers.holders(files.share, files.of)
    if not holders or files.in_a_row_p < _IN_A_ROW:
        return None
    words = Message(
        "slow-server",
        "a slow server: {n} of the {n_files} files, as many as "
        + ("{servers} has" if len(holders) == 1 else "one of {servers} has")
        + ", take at least {time} for each {operation} that reaches it, the others {others}",
        n=files.count,
        n_files=files.of,
        servers=listed(sorted(holders)),
        time=format_rate(files.slow_s, "s"),
        operation=operations.kind,
        others=format_rate(files.others_s, "s"),
    )
    return _by_itself(words, holders, operations.servers, files.slow_s - files.others_s)


def _by_itself(words: str, holders: Sequence[str], servers: ServerTimes, longer_s: float) -> Reading:
    """Of a slow server that is one of these: whether it takes the time itself, by its own count, or the way to it."""
    shares = [servers.longer_s(name) / longer_s for name in holders]
    counted = ", ".join(f"{name} takes {format_rate(servers.by_server[name][1], 's')} itself" for name in holders)
    if min(shares) >= _ITSELF:
        template = "{slow_server}; in the server, its disk or what it runs on: {times}"
        return Reading(
            SLOW_DISK, Message("slow-disk", template, **{**_values(words), "slow_server": words, "times": counted})
        )
    if max(shares) <= _NOT_ITSELF:
        template = "{slow_server}; not in the server, on the way to it: {times}"
        return Reading(
            SLOW_LINK, Message("slow-link", template, **{**_values(words), "slow_server": words, "times": counted})
        )
    return Reading(SLOW_SERVER, words)


def _values(words: str) -> Mapping[str, object]:
    return words.values if isinstance(words, Message) else {}


def _all_wait(operations: Pass) -> Reading | None:
    if not operations.sequential or operations.is_synchronous or not 0 < operations.size <= _AHEAD:
        return None
    if operations.faster > _HARDLY or operations.sent < _EACH:
        return None
    text = (
        f"each goes to a server by itself and waits, {format_rate(operations.typical_s, 's')}, where the way there "
        f"and back and the server take {format_rate(operations.least_s, 's')}"
    )
    if "read" in operations.kind:
        return Reading(NO_READ_AHEAD, f"no read-ahead, or none that is ahead: they follow each other, and {text}")
    if "write" in operations.kind:
        return Reading(NO_WRITE_BEHIND, f"no write-behind: {text}")
    return None


def reading(suspects: Sequence[Suspect], times: Times) -> Reading | None:
    """Of the first of these that reads like anything, what explains most first; None where none does."""
    return next((reading for suspect in suspects if (reading := _read_suspect(suspect, times)) is not None), None)


def explanations(suspects: Sequence[Suspect], times: Times) -> tuple[str, ...]:
    """The different explanations of those that explain nearly as much as the first: the mechanism that one reads like,
    else, of the first alone, what it has in common. One, where a cause can be told; none of no suspect."""
    if not suspects:
        return ()
    rivals = [suspect for suspect in suspects if suspect.agreement.kappa >= NEARLY * suspects[0].agreement.kappa]
    read = [_read_suspect(rival, times) for rival in rivals]
    first = [suspects[0].cause] if read[0] is None else []
    return tuple(dict.fromkeys([*first, *(reading.mechanism for reading in read if reading is not None)]))


def _read_suspect(suspect: Suspect, times: Times) -> Reading | None:
    rules = {
        "S401": _read_period,
        "S402": _read_clock,
        "S404": _from_when_on,
        "S405": _read_first_touch,
        "S406": _read_place,
        "S407": _read_jump,
        "S408": _read_files,
        "S409": _read_stall,
        "S411": _read_amount,
        "S412": _read_chance,
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
    """Of a slow server: whether it takes the time itself. It is that which has this ``share`` of so many ``files``,
    else the slowest."""
    longer_s = times.slow_s - times.fast_s
    if times.servers is None or times.servers.slowest is None or longer_s <= 0:
        return reading
    holders = [times.servers.slowest[0]] if share is None else times.servers.holders(share, files)
    return _by_itself(reading.words, holders, times.servers, longer_s) if holders else reading


def _read_period(suspect: Suspect, times: Times) -> Reading | None:
    """Once a period: what fetches, flushes or locks for the others; several in a row: those of one server."""
    evidence = suspect.evidence
    if "period_bytes" not in evidence:
        return None
    if not times.at_client:
        return _read_server_share(evidence["slow_bytes"], evidence["period_bytes"], times)
    return _read_single(evidence["period_bytes"], times) if evidence["slow_operations"] == 1 else None


def _read_single(n_bytes: int, times: Times) -> Reading | None:
    rate = n_bytes / max(times.slow_s - times.fast_s, 1e-9)
    if rate > _MESSAGE:
        return Reading(LOCK, f"a lock of each {format_size(n_bytes)}, or its allocation: too short to move them")
    if rate > _TRANSFER:
        return None
    at = f"{format_size(n_bytes)}, at {format_rate(rate, 'bytes/s')}"
    if "read" in times.kind:
        return Reading(READ_AHEAD, f"read-ahead: one operation waits for the next {at}; the others find it there")
    if "write" in times.kind:
        return Reading(WRITE_BEHIND, f"write-behind: one operation waits until a buffer is written, {at}")
    return None


def _read_amount(suspect: Suspect, times: Times) -> Reading | None:
    if "write" not in times.kind or not times.at_client:
        return None
    n_bytes = suspect.evidence["gap_bytes"]
    rate = format_rate(n_bytes / max(times.slow_s - times.fast_s, 1e-9), "bytes/s")
    return Reading(
        WRITE_BEHIND,
        f"write-behind up to a limit: who passes it waits until about {format_size(n_bytes)} are written, at {rate}",
    )


def _from_when_on(suspect: Suspect, times: Times) -> Reading | None:
    if not suspect.evidence["late"]:
        return Reading(WARM_UP, "something is warmed up until then")
    if "write" not in times.kind:
        return None
    return Reading(WRITE_BEHIND, f"write-behind, full after {format_size(suspect.evidence['bytes_before'])}")


def _read_place(suspect: Suspect, times: Times) -> Reading | None:
    evidence = suspect.evidence
    if evidence["crosses"]:
        return (
            _read_single(evidence["unit_bytes"], times)
            if times.at_client
            else Reading(ALIGNMENT, f"requests that are split at borders of {format_size(evidence['unit_bytes'])}")
        )
    if not times.at_client:
        return _read_server_share(evidence["width_bytes"], evidence["unit_bytes"], times)
    return _read_single(evidence["unit_bytes"], times) if evidence["width_bytes"] <= max(times.size, 1) else None


def _read_server_share(part: int, total: int, times: Times) -> Reading | None:
    """None of more than half: one of several servers (or disks, of a local file system) has that at most."""
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


def _read_files(suspect: Suspect, times: Times) -> Reading | None:
    """More than one file, as a single one may have been slow for any reason; and all or nothing, as files that follow
    each other share what disturbed them."""
    files = suspect.evidence.get("files", ())
    if len(files) < 2 or times.at_client or suspect.agreement.kappa < _ALL_OF_A_FILE:
        return None
    return _build_holder_reading(f"{len(files)} of the {suspect.evidence['of']} files", times)


def _read_clock(suspect: Suspect, times: Times) -> Reading:
    every = format_rate(suspect.evidence["period_s"], "s")
    return Reading(LOCK, f"somebody else has it every {every}: a lock, a commit, another job")


def _read_stall(suspect: Suspect, times: Times) -> Reading:
    return Reading(LOCK, f"all wait for one thing: a lock, or a {'disk' if times.local else 'server'} that pauses")


def _read_chance(suspect: Suspect, times: Times) -> Reading | None:
    share = suspect.evidence["probability"]
    if share < _RARE:
        return Reading(DISTURBANCE, "rare and by chance: an interrupt, another process, a retry")
    if times.waited:
        return None
    return Reading(
        CACHE, f"a cache that has it or not, or two ways through the system: {percent(share)} take the slow one"
    )


def _read_first_touch(suspect: Suspect, times: Times) -> Reading:
    return Reading(FIRST_TOUCH, "a cache that has it from the second time on")


def _read_jump(suspect: Suspect, times: Times) -> Reading:
    return Reading(
        SEEK,
        "a seek, or read-ahead in vain"
        if "read" in times.kind
        else "a seek, or blocks that are looked up or allocated first",
    )
