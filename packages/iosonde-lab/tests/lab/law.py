"""Set-ups whose limit is known, and what is measured in them: the rate law, and what doubling one capacity does.

All are slow (100 to 250 Mbit/s, disks of 8 to 40 MB/s), so that the machine's own CPUs never limit, and write long
enough for a steady state: seconds, with fsync and close.
"""

import json
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean
from typing import Any

import pytest
from lab_here import iosonde

from iosonde.core.units import parse_size
from iosonde.stats.checks.s118_emulated import BUSY
from iosonde.store import Store
from iosonde_lab import cgroups, disks, links
from iosonde_lab.lab import Lab

N = 5  # trials of each measurement: what an interval of a mean needs to be narrow
LINKS = ("network_clients", "network_servers")
_ATTEMPTS = 3
_FILE = """
name: law
nodes: {clients}
steps:
  - workload: phases
    phases:
      - name: write
        files: rank${{RANK}}/file
        steps: [create, {{kind: write, transfer_size: {transfer}, size: {size}}}, fsync, close]
"""


@dataclass(frozen=True)
class Setup:
    """A lab by the words of ``lab up``, what each client writes, and the term that limits. ``cpus`` of each client
    where its CPU is to limit. ``outside``: why the law, a ceiling, is not reached here; docs/lab.md says it."""

    name: str
    file_system: str
    limit: tuple[str, ...]
    servers: int
    clients: int
    net: str = "100mbit"
    disk: str = "30MB/s"
    size: str = "32MiB"
    transfer: str = "1MiB"
    options: Mapping[str, str] = field(default_factory=dict)
    cpus: float | None = None
    outside: str = ""

    def words(self) -> dict[str, Any]:
        """Of ``lab up``; little is held back of a disk's writes, so that streams wait for it from the beginning."""
        return {
            "servers": self.servers,
            "clients": self.clients,
            "net": self.net,
            "disk_read": self.disk,
            "disk_write": self.disk,
            "write_back": "1MiB",
            "disk_size": "6GiB",
        }


_CLIENTS, _SERVERS, _DISKS, _CPU = ("network_clients",), ("network_servers",), ("disks",), ("cpu",)
SETUPS = {
    one.name: one
    for one in (
        Setup("slow-net", "glusterfs", _CLIENTS, 2, 1, disk="9MB/s", options={"replica": "2"}),
        Setup("slow-disk", "glusterfs", _DISKS, 2, 2, disk="8MB/s", options={"replica": "2"}),
        Setup("few-servers", "glusterfs", _SERVERS, 1, 3, disk="40MB/s"),
        Setup("few-clients", "glusterfs", _CLIENTS, 3, 1, disk="9MB/s", options={"replica": "3"}),
        Setup("copies-by-client", "glusterfs", _SERVERS, 2, 3, options={"replica": "2"}),
        Setup("chained-copies", "moosefs", _SERVERS, 2, 2, options={"goal": "2"}),
        Setup("stripes", "glusterfs", _CLIENTS, 3, 2, options={"disperse": "3"}),
        Setup(
            "cpu-bound", "glusterfs", _CPU, 1, 1, net="993mbit", disk="80MB/s", size="64MiB", transfer="4KiB", cpus=0.2
        ),
    )
}
# No term is the runner-up that is far enough away, or the law itself is in question: the rate alone is looked at.
RATES = {
    one.name: one
    for one in (
        Setup("one-client-one-server", "glusterfs", LINKS, 1, 1, size="40MiB"),
        Setup("as-many-clients-as-servers", "glusterfs", LINKS, 2, 2, options={"replica": "2"}),
        Setup("chained-copies-one-client", "moosefs", LINKS, 2, 1, size="40MiB", options={"goal": "2"}),
        Setup("chained-slow-disk", "moosefs", _DISKS, 2, 2, disk="8MB/s", options={"goal": "2"}),
        Setup(
            "chunks",
            "moosefs",
            LINKS,
            2,
            2,
            size="128MiB",
            net="150mbit",
            disk="40MB/s",
            outside="both clients' chunks lie on one server at times",
        ),
        Setup("stripes-slow-disk", "glusterfs", _DISKS, 3, 2, disk="6MB/s", options={"disperse": "3"}),
    )
}


@dataclass(frozen=True)
class Bounded:
    """What ``iosonde bound STORE`` says of a measurement: its terms in bytes/s, and the trials' share of the least."""

    limit: tuple[str, ...]
    terms: Mapping[str, float]
    s: float
    share: float
    share_low: float
    share_high: float
    mean: float
    n: int

    @property
    def runners_up(self) -> tuple[str, ...]:
        """The terms that are next, and equal."""
        others = {name: value for name, value in self.terms.items() if name not in self.limit}
        least = min(others.values())
        return tuple(name for name, value in others.items() if value < 1.01 * least)

    @property
    def distance(self) -> float:
        """How far away the next one is."""
        return self.terms[self.runners_up[0]] / self.s


def measure(lab: Lab, setup: Setup, store: Path) -> Path:
    """Trials of the set-up's stream from all of its clients."""
    file = store.with_suffix(".yaml")
    file.write_text(_FILE.format(clients=setup.clients, transfer=setup.transfer, size=setup.size))
    done = iosonde("lab", "run", "--lab", lab.name, file, "--repetitions", N, "--store", store, limit_s=280)
    assert done.returncode == 0, done.stderr
    return store


def again_while_busy(directory: Path, look: Callable[[Path], None]) -> None:
    """``look`` measures below a directory and asserts. What fails while others took the machine's CPUs is looked at
    again; where they go on, nothing can be said, and the test is skipped."""
    for attempt in range(_ATTEMPTS):
        place = directory / str(attempt)
        place.mkdir()
        try:
            return look(place)
        except AssertionError:
            if (busy := _busy(place)) <= BUSY:
                raise
    pytest.skip(f"{busy:.0%} of the machine's CPUs were busy: what is measured is the machine's")


def _busy(directory: Path) -> float:
    """The largest share of the machine's CPUs that was used in a trial."""
    stores = [Store.open(one.parent) for one in directory.glob("*/runs")]
    return max(
        (load["busy_share"] for store in stores for run in store.runs() for load in run["facts"]["loads"]), default=0.0
    )


def bounded(store: Path, *options: object) -> Bounded:
    """As the lab's own truth has it."""
    done = iosonde("bound", store, "--json", *options)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    (row,) = [one for one in told["rows"] if one["operation"] == "write"]
    terms = {one["name"]: one["bytes_per_s"] for one in told["terms"]}
    values = [row[name] for name in ("s", "share", "share_low", "share_high", "mean", "n")]
    return Bounded(tuple(row["limit"]), terms, *values)


def ratio(store: Path, other: Path) -> tuple[float, float, float]:
    """Of the second's throughput to the first's, with its interval, as ``iosonde compare`` says it."""
    done = iosonde("compare", store, other, "--json")
    assert done.returncode in (0, 1), done.stderr
    (found,) = [one["ratio"] for one in json.loads(done.stdout)["comparisons"] if one["by"]["operation"] == "write"]
    return found["value"], found["low"], found["high"]


def limit_cpu(lab: Lab, cpus: float) -> None:
    """Let each client use so many CPUs."""
    for client in lab.clients:
        cgroups.make(lab.directory, client.name, cpus)


def cpu_per_byte(store: Path, setup: Setup) -> float:
    """CPU seconds of a client, with the daemon of its mount, for each byte, in the very trials of a store: what a byte
    takes depends on how fast they come, and on who else is on the machine's cores (a minute later a third more)."""
    found = []
    for run in Store.open(store).runs():
        load = run["facts"]["loads"][0]
        used_s = (load["own_share"] + load["client_daemon_share"]) * load["seconds"] * (os.cpu_count() or 1)
        found.append(used_s / parse_size(setup.size))
    return mean(found)


def set_capacity(lab: Lab, setup: Setup, terms: tuple[str, ...], times: float) -> None:
    """Make what these terms are made of so many times what was asked for."""
    asked = lab.description
    for term, hosts in (("network_clients", lab.clients), ("network_servers", lab.servers)):
        for host in hosts if term in terms else ():
            links.shape(lab.switch, host, times * asked.link_bits_per_s)
    for server in lab.servers if "disks" in terms else ():
        disks.throttle(server, times * asked.read_rate, times * asked.write_rate)
    if "cpu" in terms:
        limit_cpu(lab, times * setup.cpus)


def tell(what: str, *numbers: object) -> None:
    """A line of what was measured, for the table of docs/lab.md: in the file that LAW_FIGURES names."""
    if place := os.environ.get("LAW_FIGURES"):
        with Path(place).open("a") as file:
            file.write(re.sub(r"\s+", " ", " ".join([what, *map(str, numbers), _load()])) + "\n")


def _load() -> str:
    return f"load {os.getloadavg()[0]:.1f}"
