"""A lab as text: hosts with the measured rates of their links and disks; and the list of labs."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from iosonde.core.units import format_rate, format_seconds, format_size
from iosonde.layout.text import escape, table, wrapped
from iosonde_lab.capacity import LabCapacity
from iosonde_lab.faults import Healing, LabFault
from iosonde_lab.lab import CUT_SHORT
from iosonde_lab.listing import LabListing
from iosonde_lab.live import LiveOptions, Placement
from iosonde_lab.profile import LabProfile
from iosonde_lab.status import HostStatus, LabStatus


def lines(status: LabStatus) -> Iterator[str]:
    """The lines of the text."""
    state = "" if status.state == "up" else f", {status.state}"
    yield escape(f"lab {status.name}: {status.file_system}{f' ({status.version})' if status.version else ''}{state}")
    yield from _wrap_indented(f"on the clients at {status.mount_point}", 2)
    yield ""
    rows = [
        [
            host.name,
            host.address,
            _format_link(host, status),
            *_format_disk(host, status),
            _format_cpu(host),
            host.serves,
        ]
        for host in status.hosts
    ]
    head = ["host", "address", "link", "disk write", "disk read", "CPU used", "serves"]
    columns = len(head) - (not any(host.serves for host in status.hosts))
    yield from table(head[:columns], [row[:columns] for row in rows], "llrrrrl"[:columns]).splitlines()
    yield ""
    yield from _wrap_indented(_format_layout(status.layout), 2)
    yield from (line for text in _round_trips(status) for line in _wrap_indented(text, 2))
    if status.capacity:
        yield from _wrap_indented(_format_capacity(status.capacity), 2)
    if status.facts:
        yield from _wrap_indented("; ".join(f"{name} {value}" for name, value in status.facts.items()), 2)
    for warning in (*status.emulated.get("warnings", ()), *status.emulated.get("notes", ())):
        yield from _wrap_indented(f"~ {warning}", 2)
    for fault in status.faults:
        yield from _wrap_indented(
            f"! {fault.host}: {_describe_fault(fault)}, {_format_age(fault)}; undo it with iosonde lab heal", 2
        )
    for complaint in status.health:
        yield from _wrap_indented(f"! {complaint}", 2)
    if status.not_asked:
        yield from _wrap_indented(f"~ {status.not_asked}", 2)


def listing(lab_listing: LabListing) -> Iterator[str]:
    """Yield the lines of the list."""
    if lab_listing.labs:
        rows = [[escape(name), state, f"{hosts} hosts"] for name, state, hosts in lab_listing.labs]
        yield from table(["lab", "state", ""], rows, "lll").splitlines()
        for name in (name for name, state, _ in lab_listing.labs if state == CUT_SHORT):
            yield from _wrap_indented(
                f"{name}: its bring-up was interrupted; remove it with iosonde lab down {name}", 2
            )
    else:
        yield "no lab is up"
    yield ""
    if lab_listing.why_not or lab_listing.missing:
        needs = [lab_listing.why_not] if lab_listing.why_not else []
        needs += [f"apt install {' '.join(lab_listing.missing)}"] if lab_listing.missing else []
        yield from wrapped(f"this machine cannot run a lab: {'; '.join(needs)}", "  ")
        yield ""
    yield "file systems"
    for system in lab_listing.possible:
        ready = f"needs: {system.how_to_install}" if system.missing else "ready"
        yield from _wrap_indented(f"{system.name:<12}{system.title}; {ready}", 2)
        for option, meaning in system.options.items():
            yield from _wrap_indented(f"--set {option}=…: {meaning}", 14)
        if system.live:
            also = ", also --set" if system.live.keys() - system.options.keys() else ""
            yield from _wrap_indented(f"lab set{also}: {', '.join(system.live)}", 14)
        actions = [
            f"lab {name}" for name, there in (("profile", system.profiled), ("placement", system.placed)) if there
        ]
        if actions:
            yield from _wrap_indented(", ".join(actions), 14)


def options(live_options: LiveOptions) -> Iterator[str]:
    """Yield options with their values, and the previous value of changed ones."""
    wide = max(map(len, live_options.values))
    for name, value in live_options.values.items():
        was = f"   was {live_options.was[name]}" if name in live_options.was else ""
        yield escape(f"{name:<{wide}}  {value}{was}")


def placement(placement_report: Placement) -> Iterator[str]:
    """Yield the bytes on each server."""
    yield escape(placement_report.file)
    yield from table(["server", "bytes"], list(placement_report.n_bytes.items()), "lr").splitlines()


def profile(lab_profile: LabProfile) -> Iterator[str]:
    """Yield a table per server, the most expensive operation first."""
    for n, server in enumerate(lab_profile.servers):
        if n:
            yield ""
        yield escape(
            f"{server.server}: {server.seconds:.0f} s, read {format_size(server.read_bytes)}, "
            f"wrote {format_size(server.written_bytes)}"
        )
        rows = [
            [
                escape(operation.operation),
                operation.count,
                *map(_format_time, (operation.mean_s, operation.min_s, operation.max_s)),
                f"{operation.share:.1%}",
            ]
            for operation in server.operations
        ]
        yield from table(["operation", "count", "mean", "min", "max", "share of time"], rows, "lrrrrr").splitlines()


def fault(lab_fault: LabFault) -> Iterator[str]:
    """Describe a fault in force."""
    yield escape(f"{lab_fault.host}: {_describe_fault(lab_fault)}; undo it with iosonde lab heal {lab_fault.host}")


def healing(undoing: Healing) -> Iterator[str]:
    """Describe what was undone, and how long the file system took to become healthy."""
    for lab_fault in undoing.undone:
        yield escape(f"{lab_fault.host}: {_describe_fault(lab_fault)}: undone")
    if undoing.healed_s is not None:
        if not undoing.undone:
            yield "no fault was in force; healthy"
            return
        yield f"undone in {format_seconds(undoing.undone_s)}; healthy {format_seconds(undoing.healed_s)} later"
        return
    yield "not healthy yet"
    for complaint in undoing.health:
        yield from _wrap_indented(f"! {complaint}", 2)


def _format_time(seconds: float | None) -> str:
    return "" if seconds is None else format_seconds(seconds)


def _describe_fault(fault: LabFault) -> str:
    return fault.kind if fault.bytes_per_s is None else f"{fault.kind} {format_rate(fault.bytes_per_s, 'bytes/s')}"


def _format_age(fault: LabFault) -> str:
    return f"since {datetime.fromtimestamp(fault.since).astimezone():%H:%M:%S}"


def _format_link(host: HostStatus, status: LabStatus) -> str:
    if not host.running:
        return "gone"
    sent = [link["bytes_per_s"] for link in status.emulated.get("links", []) if link["from"] == host.name]
    return format_rate(sent[0], "bytes/s") if sent else ""


def _round_trips(status: LabStatus) -> Iterator[str]:
    """Yield the round-trip time between hosts, if measured."""
    if status.round_trips_s is None:
        return
    least, most = map(format_seconds, status.round_trips_s)
    delay_s, without = status.description.delay_s, status.emulated.get("rtt_without_delay_s")
    of = f", {format_seconds(delay_s)} of it added to {format_seconds(without)}" if delay_s and without else ""
    yield f"round trip between hosts {least if least == most else f'{least} to {most}'}{of}"


def _format_disk(host: HostStatus, status: LabStatus) -> tuple[str, str]:
    for disk in status.emulated.get("disks", []):
        if disk["host"] == host.name:
            write, read = disk["write_bytes_per_s"], disk["read_bytes_per_s"]
            return format_rate(write, "bytes/s"), format_rate(read, "bytes/s")
    return "", ""


def _format_cpu(host: HostStatus) -> str:
    return "" if host.cpu_seconds is None else f"{host.cpu_seconds:.1f} s"


def _format_layout(layout: dict[str, Any]) -> str:
    if not layout:
        return "data layout unknown: the lab was not finished"
    if layout["parity_parts"]:
        return (
            f"erasure code {layout['data_parts']}+{layout['parity_parts']} for every stripe of a file, "
            f"sent by the {layout['copied_by']}"
        )
    if layout["copies"] == 1:
        return "1 copy of every byte"
    how = "sent by the client" if layout["copied_by"] == "client" else "passed on from server to server"
    return f"{layout['copies']} copies of every byte, {how}"


def _format_capacity(capacity: LabCapacity) -> str:
    """Format the capacity that the mount reports, and whether it is the expected one."""
    holds, disks = f"reported capacity {format_size(capacity.mount_bytes)}", format_size(capacity.disks_bytes)
    if capacity.should_bytes is None:
        return f"{holds}, by the file system's own accounting; its disks hold {disks}"
    rule = f"{disks} of disks, {'less copies and parity' if capacity.deducted else 'copies not deducted'}"
    if capacity.as_should:
        return f"{holds}: {rule}"
    return f"~ {holds}, expected {format_size(capacity.should_bytes)}: {rule}"


def _wrap_indented(text: str, columns: int) -> list[str]:
    return wrapped(text, " " * columns, " " * columns)
