"""The analytic ceiling S = min(N/c, N·I, M·I, P·R), T = D/S, extended by what real file systems add.

The four terms and their assumptions are from Cheng, "Performance Analysis of Cluster File System on Linux" (CHEP 2004).
Every further term names its own source. A term with unknown inputs is left out and reported: the true ceiling can only
be lower than S.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from iosonde.core.errors import InputError

from .balance import compute_balance
from .system import READ, WRITE, System, raise_if_invalid_system, replace_fields
from .traffic import Traffic, compute_traffic

_TIED = 1e-9
CHENG = "Cheng, CHEP 2004"
# Term → (formula, source), in the order in which they are shown.
TERMS = {
    "cpu": ("N/c", CHENG),
    "network_clients": ("N·I", CHENG),
    "network_servers": ("M·I", CHENG),
    "disks": ("P·R", CHENG),
    "fabric": ("F", "bisection bandwidth: Dally & Towles 2004, §3.3"),
    "server_cpu": ("M/c", "utilisation law: Lazowska et al. 1984, ch. 3"),
    "memory_copy": ("N·B/copies", "STREAM copy: McCalpin 1995"),
    "latency": ("N·q·b/L", "Little's law: Little 1961, Operations Research 9(3)"),
    "metadata": ("K·f/o", "utilisation law: Lazowska et al. 1984, ch. 3"),
}


class UnlimitedSystemError(InputError):
    """No known property of a system limits it."""


@dataclass(frozen=True)
class BoundTerm:
    """Limit of one resource, in bytes/s of the application."""

    name: str
    bytes_per_s: float
    formula: str
    source: str


@dataclass(frozen=True)
class Ceiling:
    """S and what it is the minimum of. ``missing`` are the classical terms whose inputs are not known."""

    system: System
    terms: tuple[BoundTerm, ...]
    missing: tuple[str, ...]
    balance: float

    @property
    def s(self) -> float:
        """The highest rate that can be delivered, bytes/s."""
        return min(term.bytes_per_s for term in self.terms)

    @property
    def limit(self) -> tuple[str, ...]:
        """The limiting terms, by name."""
        return tuple(term.name for term in self.terms if term.bytes_per_s <= self.s * (1 + _TIED))

    @property
    def relieved(self) -> float | None:
        """S without the limiting terms, bytes/s; None if no other term is known."""
        others = [term.bytes_per_s for term in self.terms if term.name not in self.limit]
        return min(others) if others else None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON form: s, limit, relieved, balance, missing, terms."""
        return {
            "s": self.s,
            "limit": list(self.limit),
            "relieved": self.relieved,
            "balance": self.balance,
            "missing": list(self.missing),
            "terms": [
                {
                    "name": t.name,
                    "bytes_per_s": t.bytes_per_s,
                    "formula": t.formula,
                    "source": t.source,
                    "used": self.s / t.bytes_per_s,
                }
                for t in self.terms
            ],
        }

    def seconds(self, data: float) -> float:
        """Return T = D/S for ``data`` bytes. Raises InputError if it overflows."""
        seconds = data / self.s
        if not math.isfinite(seconds):
            raise InputError(
                "number-overflow",
                "the time for {data_bytes:g} bytes overflows",
                "look at the units",
                data_bytes=data,
            )
        return seconds


def compute_bound(system: System, settings: Mapping[str, Any] | None = None) -> float:
    """S of a system in bytes/s, with some of its fields set anew (see :class:`System`). Raises InputError."""
    return compute_ceiling(replace_fields(system, settings or {})).s


def compute_ceiling(system: System, share: float | None = None) -> Ceiling:
    """Compute all terms of a system. ``share``: what the placement lets through, if known better than from its stripes.
    Raises InputError for an impossible system, UnlimitedSystemError."""
    raise_if_invalid_system(system)
    moved, share = compute_traffic(system), compute_balance(system) if share is None else share
    values = _compute_terms(system, moved, share)
    if not values:
        raise UnlimitedSystemError(
            "no-limiting-term",
            "no known property limits the system",
            "give at least a network, a disk or a CPU time, or measure them into the store of the "
            "results: iosonde probe --store STORE",
        )
    wild = next((name for name, value in values.items() if not 0 < value < math.inf), None)
    if wild is not None:
        raise InputError(
            "number-overflow",
            "the term {term} ({description}) overflows",
            "look at the units",
            term=wild,
            description=TERMS[wild][0],
        )
    terms = tuple(
        BoundTerm(name, values[name], *_describe_term(name, moved, share)) for name in TERMS if name in values
    )
    links = ("network_clients", "network_servers") if system.path == "network" else ()
    return Ceiling(system, terms, tuple(name for name in (*links, "disks") if name not in values), share)


def compute_terms_by_field_value(system: System, name: str, values: Sequence[float]) -> dict[str, list[float]]:
    """Every term's value, and ``s``, while one field takes each of ``values``: the lines of a roofline."""
    lines: dict[str, list[float]] = {}
    for value in values:
        system_ceiling = compute_ceiling(replace_fields(system, {name: value}))
        for term in system_ceiling.terms:
            lines.setdefault(term.name, []).append(term.bytes_per_s)
        lines.setdefault("s", []).append(system_ceiling.s)
    return lines


def _compute_terms(system: System, moved: Traffic, share: float) -> dict[str, float]:
    n, m = system.clients, system.servers
    client_link = system.client_network if system.client_network is not None else system.network
    server_link = system.server_network if system.server_network is not None else system.network
    terms: dict[str, float] = {}
    if system.cpu:
        terms["cpu"] = n / system.cpu
    if client_link is not None:
        terms["network_clients"] = n * client_link / moved.clients
    if server_link is not None:
        terms["network_servers"] = m * server_link * share / moved.servers
    seconds = _compute_disk_seconds_per_byte(system, moved)
    if system.disks is not None and seconds is not None:
        terms["disks"] = system.disks * share / seconds
    if system.fabric is not None:
        terms["fabric"] = system.fabric / moved.fabric
    if system.server_cpu:
        terms["server_cpu"] = m * share / (system.server_cpu * moved.servers)
    if system.memory_copy is not None:
        terms["memory_copy"] = n * system.memory_copy / system.copies
    if system.latency and system.request_size:
        terms["latency"] = n * system.queue_depth * system.request_size / system.latency
    if system.metadata_rate is not None and system.file_size is not None:
        terms["metadata"] = system.metadata_rate * system.file_size / system.metadata_operations
    return terms


def _compute_disk_seconds_per_byte(system: System, moved: Traffic) -> float | None:
    """Return how long one disk works for one byte of the application; None where its rate is not known."""
    seconds = 0.0
    for operation, amount in ((WRITE, moved.disk_written), (READ, moved.disk_read)):
        rate = system.get_disk_rate(operation)
        if amount and rate is None:
            return None
        seconds += amount / rate if amount and rate is not None else 0.0
    return seconds


def _describe_term(name: str, moved: Traffic, share: float) -> tuple[str, str]:
    """The formula with what multiplies it here, and the source."""
    formula, source = TERMS[name]
    amounts = {
        "network_clients": moved.clients,
        "network_servers": moved.servers,
        "fabric": moved.fabric,
        "server_cpu": moved.servers,
        "disks": moved.disk_written + moved.disk_read,
    }
    amount = amounts.get(name, 1.0)
    if abs(amount - 1) > _TIED:
        formula += f"/{amount:.4g}"
    if share < 1 - _TIED and name in ("network_servers", "disks", "server_cpu"):
        formula += f"·{share:.3g}"
    return formula, source
