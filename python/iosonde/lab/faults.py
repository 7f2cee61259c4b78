"""Faults of a lab: a server's process killed or stopped, a link cut or slow, a disk slow or full; and their undoing.

What was inflicted is kept in the lab's directory until it is undone, whoever asks: `iosonde lab heal` undoes what an
experiment left when it was ended.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.faults import SERVERS, PlannedFault
from iosonde.core.units import parse_bits, parse_rate

from . import disks, links, patience
from .description import LabDescription
from .filesystems import recipe, recipe_of
from .hosts import LabHost
from .lab import CLIENT, Lab, planned
from .tools import LabError, need_root

_FILE = "faults.json"
_OF_SERVERS, _OF_DISKS = ("kill-server", "stop"), ("slow-disk", "fill-disk")
_GONE_S, _HEALED_S, _ASK_AGAIN_S = 10.0, 300.0, 5.0
_FILL = "lab-fill"
# As much at once as the base file system can reserve, then what is left block by block; until there is no space.
_FILL_SCRIPT = f"""\
cd "$1"
fallocate --posix --length "$(df --output=avail --block-size=1 . | tail -n 1)" {_FILL} 2>/dev/null || :
dd if=/dev/zero of={_FILL} bs=65536 oflag=append conv=notrunc 2>/dev/null || :
sync -f .
"""
# Arguments: the signal, PIDs. Prints those that it reached; one that is not there any more is no failure.
_SIGNAL_SCRIPT = """\
signal=$1
shift
for pid; do
    if kill -"$signal" "$pid"; then echo "$pid"; else [ ! -e "/proc/$pid" ] || exit 1; fi
done
"""


@dataclass(frozen=True)
class LabFault:
    """One that is in force: what, where, since when (seconds since 1970), with its rate in bits/s of a link or bytes/s
    of a disk, and the processes (as the host has them) that it hit."""

    kind: str
    host: str
    since: float
    rate: float | None = None
    pids: tuple[int, ...] = ()

    @property
    def bytes_per_s(self) -> float | None:
        """Its rate, of a link as of a disk; None of a kind that has none."""
        return None if self.rate is None else self.rate / 8 if self.kind == "slow-link" else self.rate

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return asdict(self) | {"pids": list(self.pids)}


@dataclass(frozen=True)
class Healing:
    """What became of a lab when faults were undone: which, how long the undoing took, and the time from then until the
    file system was well; None: it is not yet, ``health`` says why."""

    undone: tuple[LabFault, ...]
    undone_s: float
    healed_s: float | None
    health: tuple[str, ...]

    @property
    def problem(self) -> bool:
        """Whether it is still not well."""
        return self.healed_s is None

    def to_dict(self) -> dict[str, Any]:
        """Stable JSON."""
        return {
            "undone": [fault.to_dict() for fault in self.undone],
            "undone_s": self.undone_s,
            "healed_s": self.healed_s,
            "health": list(self.health),
        }


def check(description: LabDescription, fault: PlannedFault) -> None:
    """See that a lab like this can have this fault, before there is one. Raises InputError."""
    how = recipe(description.file_system)
    lab = planned(description, how.extra_hosts)
    some = lab.servers if fault.on == SERVERS else (lab.host(fault.on),)
    _rate(fault.kind, fault.on, fault.rate or None)
    for host in some:
        if fault.kind in _OF_SERVERS and host not in (killable := how.killable(lab)):
            raise InputError(
                "no-server-process",
                "{kind} on {host}: nothing serves data there that could be started again",
                "one of {hosts}" if killable else "{file_system} has none such",
                kind=fault.kind,
                host=host.name,
                hosts=", ".join(server.name for server in killable),
                file_system=how.title,
            )
        if fault.kind in _OF_DISKS:
            _its_disk(lab, host)
    if fault.kind == "slow-disk" and description.base_fs == "tmpfs":
        raise InputError("conflicting-options", "slow-disk: memory cannot be slowed down", "another base_fs")


def inflict(lab: Lab, kind: str, host: LabHost, rate: str | None = None) -> LabFault:
    """Inflict one, and return when it is in force; ``rate`` for those that are slow: 10mbit, 5MB/s. Raises InputError,
    LabError."""
    need_root()
    if kind not in KINDS:
        raise InputError(
            "unknown-fault", "{kind}: no fault that a lab knows", "one of {kinds}", kind=kind, kinds=", ".join(KINDS)
        )
    if any(active_fault.kind == kind and active_fault.host == host.name for active_fault in in_force(lab)):
        raise InputError(
            "fault-active",
            "{host}: {kind} is in force already",
            "undo it: iosonde lab heal {host}",
            host=host.name,
            kind=kind,
        )
    how, value = KINDS[kind], _rate(kind, host.name, rate)
    pids = how.look(lab, host) if how.look else ()
    fault = LabFault(kind, host.name, time.time(), value, pids)
    _keep(lab, [*in_force(lab), fault])  # before: what is cut off half-way is undone, too
    try:
        how.inflict(lab, host, fault)
    except BaseException:
        with suppress(LabError):
            undo_fault(lab, fault)
        raise
    return fault


def _rate(kind: str, host: str, rate: str | None) -> float | None:
    """What it says, where the kind takes one. Raises InputError."""
    how = KINDS[kind]
    if (rate is None) is (how.parse is not None):
        raise InputError(
            "rate-mismatch",
            "{kind} takes a rate" if how.parse else "{kind} takes no rate",
            "iosonde lab fault {kind} {host}" + (" 10MB/s" if how.parse else ""),
            kind=kind,
            host=host,
        )
    try:
        value = how.parse(rate) if how.parse and rate is not None else None
    except ValueError as error:
        raise InputError(
            "invalid-rate", "{rate}: {error}", "write it like 10mbit or 5MB/s", rate=rate, error=error
        ) from error
    if value is not None and value <= 0:
        raise InputError(
            "out-of-range",
            "{rate}: it must be positive",
            "cut-link cuts it" if "link" in kind else "",
            rate=rate,
        )
    return value


def in_force(lab: Lab) -> list[LabFault]:
    """Those that were inflicted and not undone, in their order."""
    try:
        records = json.loads((lab.directory / _FILE).read_text())
    except (OSError, ValueError):
        return []
    return [LabFault(**record | {"pids": tuple(record["pids"])}) for record in records]


def undo(lab: Lab, host: str | None = None) -> list[LabFault]:
    """Undo all, or those of a host, the last first; which. Raises LabError at the first that cannot be."""
    need_root()
    if host is not None:
        lab.host(host)
    undone = [active_fault for active_fault in reversed(in_force(lab)) if host in (None, active_fault.host)]
    for fault in undone:
        undo_fault(lab, fault)
    return undone


def heal(lab: Lab, host: str | None = None, limit_s: float = _HEALED_S) -> Healing:
    """Undo faults, and wait until the file system says that it is well, or for ``limit_s``. Raises LabError."""
    begin = time.monotonic()
    undone = undo(lab, host)
    undone_at = requested_at = time.monotonic()
    how = recipe_of(lab)
    ask(lab)
    while (health := how.health(lab)) and time.monotonic() - undone_at < limit_s:
        patience.say_waiting(health[0], time.monotonic() - undone_at)
        time.sleep(0.1)
        if time.monotonic() - requested_at > _ASK_AGAIN_S:
            ask(lab)
            requested_at = time.monotonic()
    healed_s = None if health else time.monotonic() - undone_at
    return Healing(tuple(undone), undone_at - begin, healed_s, tuple(health))


def ask(lab: Lab) -> None:
    """Ask the file system to heal now. A server that ended by itself (a brick of Gluster's does where its look at its
    own disk meets one that is full) is started again before, as an administrator would. Raises LabError."""
    how = recipe_of(lab)
    killed = {active_fault.host for active_fault in in_force(lab) if active_fault.kind == "kill-server"}
    for server in how.killable(lab):
        if server.name not in killed and not how.server_processes(lab, server):
            how.restart(lab, server)
    how.heal(lab)


def undo_fault(lab: Lab, fault: LabFault) -> None:
    """Undo one that is in force. Raises LabError."""
    KINDS[fault.kind].undo(lab, lab.host(fault.host), fault)
    _keep(
        lab,
        [
            active_fault
            for active_fault in in_force(lab)
            if (active_fault.kind, active_fault.host) != (fault.kind, fault.host)
        ],
    )


def _keep(lab: Lab, faults: list[LabFault]) -> None:
    temporary_file = lab.directory / f".{_FILE}"
    temporary_file.write_text(json.dumps([fault.to_dict() for fault in faults], indent=1) + "\n")
    temporary_file.replace(lab.directory / _FILE)


# What serves data there


def _serving(lab: Lab, host: LabHost) -> tuple[int, ...]:
    how = recipe_of(lab)
    pids = tuple(how.server_processes(lab, host))
    if not pids:
        raise InputError(
            "no-server-process",
            "{host}: nothing serves data there",
            "one of {hosts}",
            host=host.name,
            hosts=", ".join(server.name for server in how.killable(lab) or lab.servers),
        )
    return pids


def _signal(host: LabHost, name: str, pids: tuple[int, ...]) -> None:
    """Signal all of them that are still there: one may end with another. Raises LabError where none is."""
    reached = host.run("sh", "-c", _SIGNAL_SCRIPT, "sh", name, *map(str, pids)).split()
    if not reached:
        raise LabError(
            "server-process-exited",
            "{host}: what served there has ended by itself",
            "iosonde lab heal {host}",
            host=host.name,
        )


def _kill(lab: Lab, host: LabHost, fault: LabFault) -> None:
    _signal(host, "KILL", fault.pids)
    lab.wait(
        f"{host.name}: its processes have ended",
        lambda: not set(fault.pids) & set(recipe_of(lab).server_processes(lab, host)),
        _GONE_S,
    )


def _restart(lab: Lab, host: LabHost, fault: LabFault) -> None:
    if not recipe_of(lab).server_processes(lab, host):  # somebody may have started it again meanwhile
        recipe_of(lab).restart(lab, host)


def _stop(lab: Lab, host: LabHost, fault: LabFault) -> None:
    _signal(host, "STOP", fault.pids)


def _continue(lab: Lab, host: LabHost, fault: LabFault) -> None:
    there = set(recipe_of(lab).server_processes(lab, host))
    if running_pids := tuple(
        pid for pid in fault.pids if pid in there
    ):  # killed and started again meanwhile: another one
        _signal(host, "CONT", running_pids)


# Links and disks


def _cut(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.cut(lab.switch, host)


def _mend(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.mend(lab.switch, host)


def _side(lab: Lab, host: LabHost) -> tuple[LabHost, ...]:
    """The hosts of its side of a partition: a server, and the client of its number where there is one."""
    if host not in lab.servers or host in lab.clients:
        return (host,)
    number = lab.servers.index(host)
    return (host, *lab.select_hosts(CLIENT)[number : number + 1])


def _part(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.part(lab.switch, _side(lab, host))


def _join(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.join(lab.switch, _side(lab, host))


def _slow_link(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.shape(lab.switch, host, fault.rate, lab.description.delay_s)


def _usual_link(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.shape(lab.switch, host, lab.description.link_bits_per_s, lab.description.delay_s)


def _its_disk(lab: Lab, host: LabHost) -> tuple[int, ...]:
    if host not in lab.servers or not recipe_of(lab).has_disks:
        raise InputError(
            "host-without-disk",
            "{host} has no disk of its own",
            "one of {servers}",
            host=host.name,
            servers=", ".join(server.name for server in lab.servers),
        )
    return ()


def _slow_disk(lab: Lab, host: LabHost, fault: LabFault) -> None:
    disks.throttle(host, fault.rate, fault.rate)


def _usual_disk(lab: Lab, host: LabHost, fault: LabFault) -> None:
    disks.throttle(host, lab.description.read_rate, lab.description.write_rate)


def _fill(lab: Lab, host: LabHost, fault: LabFault) -> None:
    host.run("sh", "-c", _FILL_SCRIPT, "sh", str(host.disk), limit_s=600)


def _empty(lab: Lab, host: LabHost, fault: LabFault) -> None:
    host.run("rm", "-f", str(host.disk / _FILL))


@dataclass(frozen=True)
class _Kind:
    says: str
    inflict: Callable[[Lab, LabHost, LabFault], None]
    undo: Callable[[Lab, LabHost, LabFault], None]
    parse: Callable[[str], float] | None = None
    look: Callable[[Lab, LabHost], tuple[int, ...]] | None = None  # before: whether it can be; which processes


KINDS = {
    "kill-server": _Kind("kill -9 what serves data there", _kill, _restart, look=_serving),
    "stop": _Kind("stop what serves data there (SIGSTOP)", _stop, _continue, look=_serving),
    "cut-link": _Kind("pull its cable", _cut, _mend),
    "partition": _Kind("part it, and the client of its number, from all others", _part, _join),
    "slow-link": _Kind("its link to a RATE of Ethernet bits, both ways", _slow_link, _usual_link, parse_bits),
    "slow-disk": _Kind("its disk to a RATE, reading and writing", _slow_disk, _usual_disk, parse_rate, _its_disk),
    "fill-disk": _Kind("use up all space of its disk", _fill, _empty, look=_its_disk),
}
MEANINGS = {name: kind.says for name, kind in KINDS.items()}
