"""S104: cache may have served this

What it says
    A read may have come from memory instead of the storage to be measured.

How we know
    From any of these, where known: part of the files was still in the page
    cache of the reading node (mincore) when the read began. Or the caches
    were dropped but this could not be verified, and the files are smaller
    than the node's memory. Or the rate is above the limit of the network or
    the device. Or the target lies in memory itself (tmpfs).

    Of another tool's output: one node read what it had just written, without
    O_DIRECT, at least 4 times as fast as it wrote (IOR, elbencho, IOzone,
    IO500 on one node), or 1.5 times if IOR's -C was to prevent this on one
    node, where it changes nothing; or IO500 read 4 KiB at random faster than
    the same files in sequence; or fio read its files more than twice without
    direct=1, or fio or IOzone read at random in less than 3 µs on average.

When it is wrong
    When the cache is what you want to measure (a warm read): then this
    confirms it. When something that the tool does not print dropped the
    caches in between (drop-caches of IO500, a script). Files smaller than
    memory may still have come from the storage. A cold client cache does not
    mean a cold server cache.

What to do
    Let iosonde drop caches ({spell.cache:cold}), give a hook that drops the
    servers' caches, or make the files larger than the memory of all nodes
    that can hold them. Else report the numbers as reads with a warm cache.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from iosonde.core.message import Message
from iosonde.core.types import Finding, Severity
from iosonde.core.units import format_rate, format_size

from . import MAX_LISTED, Subject
from .runs import iterate_read_facts

NEEDS_RUNS = True


def check(subject: Subject) -> Iterator[Finding]:
    """Report one finding per reason, with its operations."""
    by_reason: dict[str, dict[str, str]] = {}
    for run in subject.runs:
        for operation, facts in iterate_read_facts(run):
            for reason, words in list_cache_suspicions(facts).items():
                by_reason.setdefault(reason, {}).setdefault(operation, words)
        for entry in run.contradictions:
            if entry.code == "S104":
                by_reason.setdefault("printed_settings", {}).setdefault(entry.operation, entry.sentence)
    for reason, operations in by_reason.items():
        names = list(operations)
        yield Finding(
            "S104",
            Severity.WARNING,
            Message(
                "cached-reads",
                "cache may have served {operations}: {reason}",
                operations=", ".join(names),
                reason=operations[names[0]],
            ),
            {"reason": reason, "operations": dict(list(operations.items())[:MAX_LISTED])},
            "drop the caches, or read more than the memory that could hold it",
        )


def list_cache_suspicions(facts: Mapping[str, Any]) -> dict[str, str]:
    """Return why a read is suspicious: name of the reason → text. Facts that are absent or None are ignored.

    Keys: ``state`` (cold-verified, cold-requested, warm), ``resident_bytes``, ``bytes`` (of the files read on a node),
    ``memory_bytes`` (of that node), ``rate_bytes_per_s``, ``limit_bytes_per_s`` and ``limit`` (its name),
    ``in_memory``.
    """
    texts: dict[str, str] = {}
    resident, size, memory = (facts.get(key) for key in ("resident_bytes", "bytes", "memory_bytes"))
    if facts.get("in_memory"):
        return {"in_memory": Message("in-memory", "the target lies in memory")}
    if resident and size:
        texts["resident"] = Message(
            "in-page-cache",
            "{percent:.0f} % of the data was in the page cache when the read began",
            percent=100 * resident / size,
        )
    elif facts.get("state") == "cold-requested" and size and memory and size < memory:
        texts["unverified"] = Message(
            "unverified-cache",
            "the files ({size}) fit into the node's memory ({memory}), and the cache drop was not verified",
            size=format_size(size),
            memory=format_size(memory),
        )
    rate, limit = facts.get("rate_bytes_per_s"), facts.get("limit_bytes_per_s")
    if rate and limit and rate > limit:
        texts["too_fast"] = Message(
            "too-fast",
            "{rate} is above the {limit_of}'s {limit}",
            rate=format_rate(rate, "bytes/s"),
            limit_of=facts.get("limit") or "limit",
            limit=format_rate(limit, "bytes/s"),
        )
    return texts
