"""Known machines on a real GlusterFS, at random settings, before ``diagnose``: which cause it names.

    python -m known_machines                    the table of docs/method/diagnosing.md (10 to 20 minutes)
    python -m known_machines --seed 1           the seed while finders and readings were made
    python -m known_machines --labs 1 --keep D  one of its labs; stores stay in D
    python -m known_machines --again D          what is in D diagnosed anew

A machine is something that we do to a healthy lab: one server's disk or link is made slow, the client's cache is small,
write-behind is off, read-ahead is off; or nothing. The lab (servers, links, disks), how bad it is, and what is measured
(sizes, files, order, ranks) are drawn. Every trial is diagnosed by itself. Run it in this directory.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from lab_here import noting, surroundings, why_not

from iosonde.commands.diagnose.answer import DiagnosedOperations, diagnose
from iosonde.core.errors import DataError
from iosonde.data.source import open_data
from iosonde.explain import readings
from iosonde_lab import api as labs
from iosonde_lab import place

sys.path.insert(0, str(Path(__file__).parents[4] / "tests"))
from machine_matrix import percent_of  # noqa: E402

TUNED, HELD_OUT = 1, 2027
LABS, TRIALS = 2, 6  # bring-ups; trials of each machine in one
NONE, CANNOT_TELL = "nothing", "cannot tell"
RIGHT = {
    "slow-disk": readings.SLOW_DISK,
    "slow-server": readings.SLOW_LINK,
    "small-cache": readings.CACHE,
    "write-behind-off": readings.NO_WRITE_BEHIND,
    "read-ahead-off": readings.NO_READ_AHEAD,
}
HEALTHY = ("healthy-writes", "healthy-reads", "healthy-files")
_LIMIT_S = 240
KIB, MIB = 1024, 2**20
Rng = np.random.Generator


@dataclass(frozen=True)
class Machine:
    """``name``; the ``fault`` (kind, host, rate in bits/s or bytes/s), and ``options`` of the file system that make it
    what it is; what is done ``before_reads`` (empty: as usual); the cells of its trials and their phases."""

    name: str
    phases: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    ranks: int = 1
    fault: tuple[str, str, float] | None = None
    options: dict[str, str] | None = None
    before_reads: str = ""
    cache: str = "cold"


@dataclass(frozen=True)
class Shape:
    """The lab: rates in bytes/s, of a link what TCP gets of it."""

    servers: int
    link: float
    disk: float

    def words(self) -> dict[str, Any]:
        """Of ``lab up``."""
        return {
            "servers": self.servers,
            "clients": 1,
            "net": f"{self.link * 8 / 0.956 / 1e6:.0f}mbit",
            "disk_read": f"{self.disk / 1e6:.0f}MB/s",
            "disk_write": f"{self.disk / 1e6:.0f}MB/s",
            "write_back": "4MiB",
            "disk_size": "1GiB",
        }


def shape(rng: Rng) -> Shape:
    """Gigabit at most: the machine's own CPUs are not to be what limits."""
    return Shape(int(rng.integers(2, 5)), _between(rng, 12e6, 50e6), _between(rng, 40e6, 100e6))


def _between(rng: Rng, low: float, high: float) -> float:
    return float(np.exp(rng.uniform(np.log(low), np.log(high))))


def _size(rng: Rng, *of: int) -> int:
    return int(rng.choice(of)) * KIB


def _phase(name: str, files: int | str, steps: list[Any], **more: Any) -> dict[str, Any]:
    return {"name": name, "files": {"template": "r${RANK}/f", "count": files}, "steps": steps, **more}


def _write(files: int | str, **more: Any) -> dict[str, Any]:
    step = {"kind": "write", "transfer_size": "${request}", "size": "${length}"}
    return _phase("write", files, ["create", step, "fsync", "close"], **more)


def _read(files: int | str, offsets: str = "seq", **more: Any) -> dict[str, Any]:
    step = {"kind": "read", "transfer_size": "${request}", "size": "${length}", "offsets": offsets}
    return _phase("read", files, ["open", step, "close"], **more)


def _made(files: int | str) -> dict[str, Any]:
    step = {"kind": "write", "transfer_size": "128KiB", "size": "${length}"}
    return _phase("made", files, ["create", step, "fsync", "close"], timed=False)


def _many(rng: Rng, lab: Shape) -> dict[str, Any]:
    """Files enough that each server has some of them. A link's token bucket lets a request of 16 KiB pass at once, a
    disk's what it may do in 0.1 s: requests are larger than the one, files than the other."""
    request = _size(rng, 32, 64, 128)
    length = request * math.ceil(max(8, _between(rng, 0.02, 0.04) * lab.link / request))
    return {"request": request, "n_files": int(rng.integers(18, 29)), "length": length}


def _stream(rng: Rng, link: float) -> dict[str, Any]:
    """One after another through a file, for two seconds of the link at most."""
    request = _size(rng, 4, 8, 16, 32, 64)
    return {"request": request, "length": request * min(int(rng.integers(400, 1200)), int(2 * link / request))}


def _slow_disk(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    rate = _between(rng, 0.4e6, 1.2e6)  # an emulated disk has the machine's own beneath it, which others use, too
    made: list[dict[str, Any]] = []
    while len(made) < len(cells):
        size = _size(rng, 32, 64)
        cell = {"request": size, "n_files": int(rng.integers(16, 23)), "length": size * int(rng.integers(8, 14))}
        made += [cell] if cell not in made else []
    phases = [_write("${n_files}", open_flags=["dsync"])]
    return Machine("slow-disk", phases, made, fault=("slow-disk", _server(rng, lab), rate))


def _slow_server(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    phases = _whole_files(rng)
    return Machine(
        "slow-server",
        phases,
        cells,
        fault=("slow-link", _server(rng, lab), lab.link * 8 / 0.956 / _between(rng, 3, 10)),
    )


def _server(rng: Rng, lab: Shape) -> str:
    return f"server{int(rng.integers(1, lab.servers + 1))}"


def _whole_files(rng: Rng) -> list[dict[str, Any]]:
    """Written with each request on the disk when it returns; or read, past the kernel's pages, or backwards."""
    how = int(rng.integers(3))
    if how == 0:
        return [_write("${n_files}", open_flags=["dsync"])]
    more = {"open_flags": ["direct"]} if how == 1 else {}
    return [_made("${n_files}"), _read("${n_files}", "seq" if how == 1 else "rnd", **more)]


def _small_cache(rng: Rng, lab: Shape, usual: list[dict[str, Any]]) -> Machine:
    cache = int(rng.integers(5, 13)) * MIB
    cells = []
    for _ in usual:
        length = int(cache / _between(rng, 0.5, 0.95)) // MIB * MIB
        cells.append({"request": _size(rng, 4, 8, 16, 32), "length": length, "reads": int(rng.integers(400, 900))})
    read = _read(1, "rnd")
    read["steps"][1]["count"] = "${reads}"
    warm = _read(1, timed=False) | {"name": "warm"}
    warm["steps"][1] |= {"transfer_size": "128KiB"}
    options = {"direct_io": "on", "performance.io-cache": "on", "performance.cache-size": f"{cache // MIB}MB"}
    return Machine("small-cache", [_made(1), warm, read], cells, options=options, cache="warm")


def _write_behind_off(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    return Machine(
        "write-behind-off",
        [_write(1)],
        cells,
        ranks=int(rng.integers(1, 3)),
        options={"performance.write-behind": "off"},
    )


def _read_ahead_off(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    return Machine(
        "read-ahead-off",
        [_made(1), _read(1)],
        cells,
        ranks=int(rng.integers(1, 3)),
        before_reads="iosonde lab remount && echo 0 > /sys/class/bdi/$(mountpoint -d {mount})/read_ahead_kb",
    )


def _healthy_writes(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    return Machine("healthy-writes", [_write(1)], cells)


def _healthy_reads(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    return Machine("healthy-reads", [_made(1), _read(1)], cells)


def _healthy_files(rng: Rng, lab: Shape, cells: list[dict[str, Any]]) -> Machine:
    return Machine("healthy-files", _whole_files(rng), cells)


_RULES: dict[str, Callable[[Rng, Shape, list[dict[str, Any]]], Machine]] = {
    "slow-disk": _slow_disk,
    "slow-server": _slow_server,
    "small-cache": _small_cache,
    "write-behind-off": _write_behind_off,
    "read-ahead-off": _read_ahead_off,
    "healthy-writes": _healthy_writes,
    "healthy-reads": _healthy_reads,
    "healthy-files": _healthy_files,
}
_OF_FILES = ("slow-disk", "slow-server", "healthy-files")


def drawn(name: str, lab: Shape, seed: int, number: int, trials: int = TRIALS) -> Machine:
    """The machine of a name in the lab of this number: always the same one for a seed."""
    rng = np.random.default_rng([seed, number, list(_RULES).index(name)])
    n = trials if name in RIGHT else 1
    cells: list[dict[str, Any]] = []
    while len(cells) < n:
        cell = _many(rng, lab) if name in _OF_FILES else _stream(rng, lab.link)
        cells += [cell] if cell not in cells else []
    made = _RULES[name](rng, lab, cells)
    return replace(made, cells=made.cells[:n])


def experiment(machine: Machine, lab: labs.Lab, seed: int) -> dict[str, Any]:
    """As a file has it."""
    names = machine.cells[0]
    factors = {one: sorted({cell[one] for cell in machine.cells}) for one in names}
    step = {"workload": "phases", "cache": machine.cache, "phases": machine.phases}
    made = {
        "name": machine.name,
        "seed": seed,
        "lab": {"file_system": "glusterfs", "name": lab.name, "profile": True},
        "repetitions": 1,
        "ranks_per_node": [machine.ranks],
        "factors": factors,
        "design": {"kind": "list", "cells": machine.cells},
        "steps": [step],
    }
    before = machine.before_reads or ("iosonde lab remount" if machine.cache == "cold" else "")
    if before and any(phase["name"] == "read" for phase in machine.phases):
        made["cache"] = {"before_reads": before.format(mount=lab.mount_point)}
    return made


@contextmanager
def made_so(lab: labs.Lab, machine: Machine) -> Iterator[None]:
    """The lab is that machine, and healthy again afterwards."""
    options = machine.options or {}
    was = labs.set_options(lab, options).was if options else {}
    if machine.fault:
        kind, host, rate = machine.fault
        labs.inflict(lab, kind, lab.host(host), f"{rate / 1e6:.3g}{'mbit' if kind == 'slow-link' else 'MB/s'}")
    try:
        yield
    finally:
        if machine.fault:
            labs.heal(lab)
        if was:
            labs.set_options(lab, was)


def measure(lab: labs.Lab, machine: Machine, seed: int, place_of: Path) -> Path:
    """The store of its trials; beside it, what it was."""
    place_of.mkdir(parents=True)
    file, client = place_of / "e.yaml", lab.clients[0]
    file.write_text(json.dumps(experiment(machine, lab, seed), indent=1))
    (place_of / "machine.json").write_text(json.dumps(asdict(machine), indent=1))
    words = labs.run_words(lab, (str(file), "--store", str(place_of / "s")))
    with made_so(lab, machine):
        done = subprocess.run(
            client.words(*words, directory=str(place_of)),
            env=surroundings(**client.environment()),
            capture_output=True,
            text=True,
            timeout=_LIMIT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    if done.returncode not in (0, 1):  # 1: a trial lacks something, and is left out
        raise SystemExit(f"{machine.name}: {done.stderr[-2000:]}")
    return place_of / "s"


@dataclass(frozen=True)
class Case:
    """A trial, and what was said of it."""

    machine: str
    group: DiagnosedOperations

    @property
    def said(self) -> str:
        """What all operations read like, else the class that costs most, of those that have a reading."""
        if self.group.reading:
            return self.group.reading.mechanism
        if not self.group.slow:
            return NONE
        return next((one.reading.mechanism for one in self.group.slow if one.reading), CANNOT_TELL)

    @property
    def right(self) -> bool:
        """The cause that it has; of a healthy one, none of those."""
        return self.said == RIGHT[self.machine] if self.machine in RIGHT else self.said not in RIGHT.values()


def cases(machine: str, store: Path) -> Iterator[Case]:
    """Every trial by itself: each has a setting of its own."""
    for group in diagnose(open_data(store), 0.95, ("write", "read")).groups:
        if group.group.kind in ("write", "read"):
            yield Case(machine, group)


def in_a_lab(seed: int, number: int, keep: Path, trials: int = TRIALS, only: Collection[str] = ()) -> list[Case]:
    """The cases of every machine, in the lab of this number."""
    root = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")).resolve()
    before, os.environ[place.ROOT] = os.environ.get(place.ROOT), str(root)
    of = shape(np.random.default_rng([seed, number]))
    found: list[Case] = []
    try:
        lab = labs.up(labs.described({**of.words(), "file_system": "glusterfs", "name": noting("known")}, {}))
        for name in only or _RULES:
            started = time.monotonic()
            store = measure(lab, drawn(name, of, seed, number, trials), seed, keep / f"{seed}-{number}-{name}")
            made = list(cases(name, store))
            found += made
            told = ", ".join(one.said for one in made)
            sys.stderr.write(f"lab {number} {time.monotonic() - started:5.1f} s  {name}: {told}\n")
    finally:
        for name in place.names():
            labs.down(name)
        root.rmdir()
        if before is None:
            os.environ.pop(place.ROOT)
        else:
            os.environ[place.ROOT] = before
    return found


def kept(directory: Path) -> list[Case]:
    """The cases of stores that were kept, of those that have a trial."""
    found = []
    for one in sorted(directory.glob("*/s")):
        with suppress(DataError):
            found += list(cases(json.loads((one.parent / "machine.json").read_text())["name"], one))
    return found


def table(found: list[Case]) -> str:
    """As Markdown, with shares at the end: of the known machines, and of those to which nothing was done."""
    said = [*RIGHT.values(), *sorted({one.said for one in found} - {*RIGHT.values(), CANNOT_TELL}), CANNOT_TELL]
    lines = [f"| machine | {' | '.join(said)} |", "|---|" + "---|" * len(said)]
    for name in dict.fromkeys(one.machine for one in found):
        told = [one.said for one in found if one.machine == name]
        lines.append(f"| {name} | " + " | ".join(str(told.count(one) or "") for one in said) + " |")
    known, healthy = ([one for one in found if (one.machine in RIGHT) is has] for has in (True, False))
    right, silent = sum(one.right for one in known), sum(one.said == CANNOT_TELL for one in known)
    counts = {"right": right, "cannot tell": silent, "wrong": len(known) - right - silent}
    told = "; ".join(f"{word} {percent_of(k, len(known))}" for word, k in counts.items())
    if not healthy:
        return "\n".join([*lines, "", f"Of {len(known)}: {told}"])
    false = sum(not one.right for one in healthy)
    return "\n".join(
        [
            *lines,
            "",
            f"Of {len(known)}: {told}",
            f"Of {len(healthy)} to which nothing was done: one of these causes named {percent_of(false, len(healthy))}",
        ]
    )


def main() -> None:
    """What was asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=HELD_OUT)
    parser.add_argument("--labs", type=int, nargs="+", default=list(range(LABS)))
    parser.add_argument("--trials", type=int, default=TRIALS)
    parser.add_argument("--only", nargs="+", choices=list(_RULES), default=())
    parser.add_argument("--keep", type=Path)
    parser.add_argument("--again", type=Path)
    asked = parser.parse_args()
    if asked.again:
        print(table(kept(asked.again)))
        return
    if why := why_not("glusterfs"):
        sys.exit(f"known machines are not tried: {why}")
    with tempfile.TemporaryDirectory(prefix="iosonde-known-", dir="/var/tmp") as made:
        keep = (asked.keep or Path(made)).resolve()
        found = [one for number in asked.labs for one in in_a_lab(asked.seed, number, keep, asked.trials, asked.only)]
        print(table(found))


if __name__ == "__main__":
    main()
