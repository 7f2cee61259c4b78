"""Faults of a lab: a server process killed or stopped, a link cut or slow, a disk slow or full; and their undoing.
Faults are recorded in the lab's directory until they are undone: `iosonde lab heal` undoes what an interrupted
experiment left.
"""

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
# Reserve as much as the base file system can at once, then fill the rest block by block.
_FILL_SCRIPT = f"""\
cd "$1"
fallocate --posix --length "$(df --output=avail --block-size=1 . | tail -n 1)" {_FILL} 2>/dev/null || :
dd if=/dev/zero of={_FILL} bs=65536 oflag=append conv=notrunc 2>/dev/null || :
sync -f .
"""
# Arguments: the signal, PIDs. Prints the PIDs reached; a process that has ended is not a failure.
_SIGNAL_SCRIPT = """\
signal=$1
shift
for pid; do
    if kill -"$signal" "$pid"; then echo "$pid"; else [ ! -e "/proc/$pid" ] || exit 1; fi
done
"""


@dataclass(frozen=True)
class LabFault:
    """A fault in force.
    ``since`` is in seconds since 1970. ``rate`` is in bits/s of a link or bytes/s of a disk. ``pids`` are the affected
    processes as the host numbers them.
    """

    kind: str
    host: str
    since: float
    rate: float | None = None
    pids: tuple[int, ...] = ()

    @property
    def bytes_per_s(self) -> float | None:
        """Return the rate in bytes/s, of a link or a disk; None for a kind without a rate."""
        return None if self.rate is None else self.rate / 8 if self.kind == "slow-link" else self.rate

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return asdict(self) | {"pids": list(self.pids)}


@dataclass(frozen=True)
class Healing:
    """Outcome of undoing faults: which, how long it took, and the time until the file system was healthy.
    ``healed_s`` is None if it is not healthy yet; ``health`` lists why.
    """

    undone: tuple[LabFault, ...]
    undone_s: float
    healed_s: float | None
    health: tuple[str, ...]

    @property
    def problem(self) -> bool:
        """Return whether the file system is still not healthy."""
        return self.healed_s is None

    def to_dict(self) -> dict[str, Any]:
        """Return stable JSON."""
        return {
            "undone": [fault.to_dict() for fault in self.undone],
            "undone_s": self.undone_s,
            "healed_s": self.healed_s,
            "health": list(self.health),
        }


def check(description: LabDescription, fault: PlannedFault) -> None:
    """Check that a lab like this can have this fault, before it exists. Raises InputError."""
    how = recipe(description.file_system)
    lab = planned(description, how.extra_hosts)
    some = lab.servers if fault.on == SERVERS else (lab.host(fault.on),)
    _rate(fault.kind, fault.on, fault.rate or None)
    for host in some:
        if fault.kind in _OF_SERVERS and host not in (killable := how.killable(lab)):
            raise InputError(
                "no-server-process",
                "cannot inject {kind} on {host}: it has no restartable server process",
                "use one of {hosts}" if killable else "{file_system} has no such hosts",
                kind=fault.kind,
                host=host.name,
                hosts=", ".join(server.name for server in killable),
                file_system=how.title,
            )
        if fault.kind in _OF_DISKS:
            _its_disk(lab, host)
    if fault.kind == "slow-disk" and description.base_fs == "tmpfs":
        raise InputError("conflicting-options", "slow-disk: cannot throttle memory", "use another base_fs")


def inflict(lab: Lab, kind: str, host: LabHost, rate: str | None = None) -> LabFault:
    """Inject a fault, and return when it is in force.
    ``rate`` is for slow links and disks: 10mbit, 5MB/s. Raises InputError, LabError.
    """
    need_root()
    if kind not in KINDS:
        raise InputError(
            "unknown-fault", "{kind}: unknown fault", "use one of {kinds}", kind=kind, kinds=", ".join(KINDS)
        )
    if any(active_fault.kind == kind and active_fault.host == host.name for active_fault in in_force(lab)):
        raise InputError(
            "fault-active",
            "{host}: {kind} is already in force",
            "undo it with iosonde lab heal {host}",
            host=host.name,
            kind=kind,
        )
    how, value = KINDS[kind], _rate(kind, host.name, rate)
    pids = how.look(lab, host) if how.look else ()
    fault = LabFault(kind, host.name, time.time(), value, pids)
    _keep(lab, [*in_force(lab), fault])  # before injecting, so that an interrupted injection is undone too
    try:
        how.inflict(lab, host, fault)
    except BaseException:
        with suppress(LabError):
            undo_fault(lab, fault)
        raise
    return fault


def _rate(kind: str, host: str, rate: str | None) -> float | None:
    """Parse the rate if the kind takes one. Raises InputError."""
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
            "{rate}: must be positive",
            "use cut-link to cut it" if "link" in kind else "",
            rate=rate,
        )
    return value


def in_force(lab: Lab) -> list[LabFault]:
    """Return the faults in force, in order of injection."""
    try:
        records = json.loads((lab.directory / _FILE).read_text())
    except (OSError, ValueError):
        return []
    return [LabFault(**record | {"pids": tuple(record["pids"])}) for record in records]


def undo(lab: Lab, host: str | None = None) -> list[LabFault]:
    """Undo all faults, or those of a host, last first; return them. Raises LabError at the first that fails."""
    need_root()
    if host is not None:
        lab.host(host)
    undone = [active_fault for active_fault in reversed(in_force(lab)) if host in (None, active_fault.host)]
    for fault in undone:
        undo_fault(lab, fault)
    return undone


def heal(lab: Lab, host: str | None = None, limit_s: float = _HEALED_S) -> Healing:
    """Undo faults, and wait until the file system is healthy, or for ``limit_s``. Raises LabError."""
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
    """Request the file system to heal now.
    First restart servers that ended by themselves, as an administrator would; a Gluster brick ends when its health
    check finds a full disk. Raises LabError.
    """
    how = recipe_of(lab)
    killed = {active_fault.host for active_fault in in_force(lab) if active_fault.kind == "kill-server"}
    for server in how.killable(lab):
        if server.name not in killed and not how.server_processes(lab, server):
            how.restart(lab, server)
    how.heal(lab)


def undo_fault(lab: Lab, fault: LabFault) -> None:
    """Undo a fault in force. Raises LabError."""
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


# Server processes


def _serving(lab: Lab, host: LabHost) -> tuple[int, ...]:
    how = recipe_of(lab)
    pids = tuple(how.server_processes(lab, host))
    if not pids:
        raise InputError(
            "no-server-process",
            "{host} has no server process",
            "use one of {hosts}",
            host=host.name,
            hosts=", ".join(server.name for server in how.killable(lab) or lab.servers),
        )
    return pids


def _signal(host: LabHost, name: str, pids: tuple[int, ...]) -> None:
    """Signal all processes that still exist: one may end with another. Raises LabError if none exists."""
    reached = host.run("sh", "-c", _SIGNAL_SCRIPT, "sh", name, *map(str, pids)).split()
    if not reached:
        raise LabError(
            "server-process-exited",
            "{host}: its server process has ended by itself",
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
    if not recipe_of(lab).server_processes(lab, host):  # it may have been restarted meanwhile
        recipe_of(lab).restart(lab, host)


def _stop(lab: Lab, host: LabHost, fault: LabFault) -> None:
    _signal(host, "STOP", fault.pids)


def _continue(lab: Lab, host: LabHost, fault: LabFault) -> None:
    there = set(recipe_of(lab).server_processes(lab, host))
    if running_pids := tuple(
        pid for pid in fault.pids if pid in there
    ):  # a process killed and restarted meanwhile is another one
        _signal(host, "CONT", running_pids)


# Links and disks


def _cut(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.cut(lab.switch, host)


def _mend(lab: Lab, host: LabHost, fault: LabFault) -> None:
    links.mend(lab.switch, host)


def _side(lab: Lab, host: LabHost) -> tuple[LabHost, ...]:
    """Return the hosts of this side of a partition: a server, and the client of the same number if there is one."""
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
            "use one of {servers}",
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
    look: Callable[[Lab, LabHost], tuple[int, ...]] | None = None  # checks feasibility before; returns the processes


KINDS = {
    "kill-server": _Kind("kill -9 the server process", _kill, _restart, look=_serving),
    "stop": _Kind("stop the server process (SIGSTOP)", _stop, _continue, look=_serving),
    "cut-link": _Kind("disconnect its link", _cut, _mend),
    "partition": _Kind("separate it, and the client of the same number, from all others", _part, _join),
    "slow-link": _Kind("limit its link to a RATE in Ethernet bits, both ways", _slow_link, _usual_link, parse_bits),
    "slow-disk": _Kind("limit its disk to a RATE, reading and writing", _slow_disk, _usual_disk, parse_rate, _its_disk),
    "fill-disk": _Kind("fill its disk", _fill, _empty, look=_its_disk),
}
MEANINGS = {name: kind.says for name, kind in KINDS.items()}
