"""A lab as text: drawn, with what its links and disks really give; and the list of labs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from iosonde.core.units import format_rate
from iosonde.lab.listing import LabListing
from iosonde.lab.status import HostStatus, LabStatus

from .layout import escape, table, wrapped


def lines(status: LabStatus) -> Iterator[str]:
    """The lines of the text."""
    state = "" if status.state == "up" else f", {status.state}"
    yield escape(f"lab {status.name}: {status.file_system}{f' ({status.version})' if status.version else ''}{state}")
    yield from wrapped(f"on the clients at {status.mount_point}", "  ")
    yield ""
    rows = [[one.name, one.address, _link(one, status), *_disk(one, status), _cpu(one)] for one in status.hosts]
    head = ["host", "address", "link", "disk write", "disk read", "CPU used"]
    yield from table(head, rows, "llrrrr").splitlines()
    yield ""
    yield from wrapped(_layout(status.layout), "  ")
    for warning in status.emulated.get("warnings", []):
        yield from wrapped(f"~ {warning}", "  ")
    for complaint in status.health:
        yield from wrapped(f"! {complaint}", "  ")


def listing(found: LabListing) -> Iterator[str]:
    """The lines of the list."""
    if found.labs:
        rows = [[escape(name), state, f"{hosts} hosts"] for name, state, hosts in found.labs]
        yield from table(["lab", "state", ""], rows, "lll").splitlines()
    else:
        yield "no lab is up"
    yield ""
    yield "a lab can hold"
    for one in found.possible:
        ready = f"needs: {one.how_to_install}" if one.missing else "ready"
        yield from wrapped(f"{one.name:<12}{one.title}; {ready}", "  ")
        for option, meaning in one.options.items():
            yield from wrapped(f"--set {option}=…: {meaning}", "                ")


def _link(host: HostStatus, status: LabStatus) -> str:
    if not host.running:
        return "gone"
    sent = [one["bytes_per_s"] for one in status.emulated.get("links", []) if one["from"] == host.name]
    return format_rate(sent[0], "bytes/s") if sent else ""


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
