"""A lab as text: drawn, with what its links and disks really give; and the list of labs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from iosonde.core.units import format_rate, format_seconds, format_size
from iosonde.lab.capacity import LabCapacity
from iosonde.lab.faults import Healing, LabFault
from iosonde.lab.lab import CUT_SHORT
from iosonde.lab.listing import LabListing
from iosonde.lab.live import LiveOptions, Placement
from iosonde.lab.profile import LabProfile
from iosonde.lab.status import HostStatus, LabStatus

from .layout import escape, table, wrapped


def lines(status: LabStatus) -> Iterator[str]:
    """The lines of the text."""
    state = "" if status.state == "up" else f", {status.state}"
    yield escape(f"lab {status.name}: {status.file_system}{f' ({status.version})' if status.version else ''}{state}")
    yield from _indented(f"on the clients at {status.mount_point}", 2)
    yield ""
    rows = [[one.name, one.address, _link(one, status), *_disk(one, status), _cpu(one), one.serves]
            for one in status.hosts]  # fmt: skip
    head = ["host", "address", "link", "disk write", "disk read", "CPU used", "serves"]
    known = len(head) - (not any(one.serves for one in status.hosts))
    yield from table(head[:known], [row[:known] for row in rows], "llrrrrl"[:known]).splitlines()
    yield ""
    yield from _indented(_layout(status.layout), 2)
    yield from (line for text in _round_trips(status) for line in _indented(text, 2))
    if status.capacity:
        yield from _indented(_capacity(status.capacity), 2)
    if status.facts:
        yield from _indented("; ".join(f"{name} {value}" for name, value in status.facts.items()), 2)
    for warning in (*status.emulated.get("warnings", ()), *status.emulated.get("notes", ())):
        yield from _indented(f"~ {warning}", 2)
    for one in status.faults:
        yield from _indented(f"! {one.host}: {_said(one)}, {_ago(one)}; iosonde lab heal undoes it", 2)
    for complaint in status.health:
        yield from _indented(f"! {complaint}", 2)
    if status.not_asked:
        yield from _indented(f"~ {status.not_asked}", 2)


def listing(found: LabListing) -> Iterator[str]:
    """The lines of the list."""
    if found.labs:
        rows = [[escape(name), state, f"{hosts} hosts"] for name, state, hosts in found.labs]
        yield from table(["lab", "state", ""], rows, "lll").splitlines()
        for name in (name for name, state, _ in found.labs if state == CUT_SHORT):
            yield from _indented(f"{name}: its bring-up was cut short: iosonde lab down {name} removes it", 2)
    else:
        yield "no lab is up"
    yield ""
    if found.why_not or found.missing:
        needs = [found.why_not] if found.why_not else []
        needs += [f"apt install {' '.join(found.missing)}"] if found.missing else []
        yield from wrapped(f"this machine cannot have a lab: {'; '.join(needs)}", "  ")
        yield ""
    yield "a lab can hold"
    for one in found.possible:
        ready = f"needs: {one.how_to_install}" if one.missing else "ready"
        yield from _indented(f"{one.name:<12}{one.title}; {ready}", 2)
        for option, meaning in one.options.items():
            yield from _indented(f"--set {option}=…: {meaning}", 14)
        if one.live:
            also = ", also --set" if one.live.keys() - one.options.keys() else ""
            yield from _indented(f"lab set{also}: {', '.join(one.live)}", 14)
        told = [f"lab {name}" for name, there in (("profile", one.profiled), ("placement", one.placed)) if there]
        if told:
            yield from _indented(", ".join(told), 14)


def options(found: LiveOptions) -> Iterator[str]:
    """Options with their values; of those that were changed, from what."""
    wide = max(map(len, found.values))
    for name, value in found.values.items():
        was = f"   it was {found.was[name]}" if name in found.was else ""
        yield escape(f"{name:<{wide}}  {value}{was}")


def placement(found: Placement) -> Iterator[str]:
    """Bytes on each server."""
    yield escape(found.file)
    yield from table(["server", "bytes"], list(found.n_bytes.items()), "lr").splitlines()


def profile(found: LabProfile) -> Iterator[str]:
    """A table a server: what took longest first."""
    for n, server in enumerate(found.servers):
        if n:
            yield ""
        yield escape(f"{server.server}: {server.seconds:.0f} s, read {format_size(server.read_bytes)}, "
                     f"wrote {format_size(server.written_bytes)}")  # fmt: skip
        rows = [[escape(one.operation), one.count, *map(_time, (one.mean_s, one.min_s, one.max_s)),
                 f"{one.share:.1%}"] for one in server.operations]  # fmt: skip
        yield from table(["operation", "count", "mean", "least", "most", "of its time"], rows, "lrrrrr").splitlines()


def fault(one: LabFault) -> Iterator[str]:
    """One that is in force."""
    yield escape(f"{one.host}: {_said(one)}; iosonde lab heal {one.host} undoes it")


def healing(found: Healing) -> Iterator[str]:
    """What was undone, and how long it took until all was well."""
    for one in found.undone:
        yield escape(f"{one.host}: {_said(one)}: undone")
    if found.healed_s is not None:
        if not found.undone:
            yield "no fault was in force; well"
            return
        yield f"well {format_seconds(found.healed_s)} after that ({format_seconds(found.undone_s)} to undo it)"
        return
    yield "not well yet"
    for complaint in found.health:
        yield from _indented(f"! {complaint}", 2)


def _time(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds)


def _said(one: LabFault) -> str:
    return one.kind if one.bytes_per_s is None else f"{one.kind} {format_rate(one.bytes_per_s, 'bytes/s')}"


def _ago(one: LabFault) -> str:
    return f"since {datetime.fromtimestamp(one.since).astimezone():%H:%M:%S}"


def _link(host: HostStatus, status: LabStatus) -> str:
    if not host.running:
        return "gone"
    sent = [one["bytes_per_s"] for one in status.emulated.get("links", []) if one["from"] == host.name]
    return format_rate(sent[0], "bytes/s") if sent else ""


def _round_trips(status: LabStatus) -> Iterator[str]:
    """Between hosts, where they were measured."""
    if status.round_trips_s is None:
        return
    least, most = map(format_seconds, status.round_trips_s)
    asked, without = status.description.delay_s, status.emulated.get("rtt_without_delay_s")
    of = f", {format_seconds(asked)} of it added to {format_seconds(without)}" if asked and without else ""
    yield f"from host to host and back {least if least == most else f'{least} to {most}'}{of}"


def _disk(host: HostStatus, status: LabStatus) -> tuple[str, str]:
    for one in status.emulated.get("disks", []):
        if one["host"] == host.name:
            write, read = one["write_bytes_per_s"], one["read_bytes_per_s"]
            return format_rate(write, "bytes/s"), format_rate(read, "bytes/s")
    return "", ""


def _cpu(host: HostStatus) -> str:
    return "" if host.cpu_seconds is None else f"{host.cpu_seconds:.1f} s"


def _layout(layout: dict[str, Any]) -> str:
    if not layout:
        return "how data lies on the servers is not known: the lab was not finished"
    if layout["parity_parts"]:
        return f"every piece of a file is {layout['data_parts']} parts and {layout['parity_parts']} of parity, " \
               f"sent by the {layout['copied_by']}"  # fmt: skip
    if layout["copies"] == 1:
        return "one copy of every byte"
    how = "sent by the client" if layout["copied_by"] == "client" else "passed on from server to server"
    return f"{layout['copies']} copies of every byte, {how}"


def _capacity(found: LabCapacity) -> str:
    """What the mount says that it holds, and whether that is what it should be."""
    holds, disks = f"it says that it holds {format_size(found.mount_bytes)}", format_size(found.disks_bytes)
    if found.should_bytes is None:
        return f"{holds}, by a reckoning of its own; its disks hold {disks}"
    rule = f"its disks' {disks}, {'less copies and parity' if found.deducted else 'copies not deducted'}"
    if found.as_should:
        return f"{holds}: {rule}"
    return f"~ {holds}; it should be {format_size(found.should_bytes)}: {rule}"


def _indented(text: str, columns: int) -> list[str]:
    return wrapped(text, " " * columns, " " * columns)
