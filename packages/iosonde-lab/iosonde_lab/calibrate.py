"""Calibration of a lab: goodput of links in both directions, round trips, rates of disks by direct I/O."""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from iosonde.core.emulated import BUSY
from iosonde.core.message import Message
from iosonde.core.units import format_seconds

from . import disks, links
from .description import LabDescription
from .filesystems import recipe_of
from .hosts import LabHost
from .lab import Lab

_OFF = 0.10
_LINK_S, _DISK_S = 0.5, 0.4
_UNDELAYED_S = 0.05  # duration of sending if only the round trip is measured
_ROUND_TRIPS = 40  # round trips that a flow needs to reach full speed and be measured
_PROGRAM = Path(__file__).with_name("rate_program.py")


def calibrate(lab: Lab, say: Callable[[str], None]) -> dict[str, Any]:
    """Measure the rate (bytes/s) of each link and disk, and the seconds of a round trip; warn of more than 10 % off.
    Each host sends to the next, so that every direction is used once. Raises LabError.
    """
    say("measuring links")
    delay_s = lab.description.delay_s or 0.0
    ring = list(zip(lab.hosts, (*lab.hosts[1:], lab.hosts[0]), strict=True)) if len(lab.hosts) > 1 else []
    for_s = _LINK_S + _ROUND_TRIPS * delay_s
    measurements: dict[str, Any] = {
        "links": [_link(sender, other, for_s) for sender, other in ring],
        "disks": [],
        "load": os.getloadavg()[0],
    }
    if ring and delay_s:
        measurements["rtt_without_delay_s"] = _undelayed(lab, *ring[0])
    if recipe_of(lab).has_disks:
        say("measuring disks")
        measurements["disks"] = [_disk(server) for server in lab.servers]
        if lab.description.base_fs != "tmpfs":
            measurements["throttle"] = disks.throttle(
                lab.servers[0], lab.description.read_rate, lab.description.write_rate
            )
    measurements["warnings"], measurements["notes"] = off(lab.description, measurements), busy(measurements["load"])
    return measurements


def _link(sender: LabHost, receiver: LabHost, for_s: float) -> dict[str, Any]:
    port = "5099"
    receiver.start(sys.executable, str(_PROGRAM), "receive", port, log="calibration")
    words = (sys.executable, str(_PROGRAM), "send", receiver.address, port, str(for_s))
    return {"from": sender.name, "to": receiver.name, **sender.ask(json.loads, *words)}


def _undelayed(lab: Lab, sender: LabHost, other: LabHost) -> float:
    """Return the seconds of a round trip without emulated delay, as the baseline of the added delay."""
    description = lab.description
    try:
        for host in (sender, other):
            links.shape(lab.switch, host, description.link_bits_per_s)
        return float(_link(sender, other, _UNDELAYED_S)["rtt_s"])
    finally:
        for host in (sender, other):
            links.shape(lab.switch, host, description.link_bits_per_s, description.delay_s)


def _disk(server: LabHost) -> dict[str, Any]:
    words = (sys.executable, str(_PROGRAM), "disk", str(server.disk / "calibration"), str(_DISK_S))
    return {"host": server.name, **server.ask(json.loads, *words)}


def off(description: LabDescription, measurements: dict[str, Any]) -> list[str]:
    """Warn of measurements more than 10 % off the requested values."""
    warnings = list[str]()
    if goodput := description.goodput:
        for row in measurements["links"]:
            if abs(row["bytes_per_s"] / goodput - 1) > _OFF:
                warnings.append(
                    Message(
                        "link-off",
                        "link {host} to {other}: {share:.0%} of the requested rate",
                        host=row["from"],
                        other=row["to"],
                        share=row["bytes_per_s"] / goodput,
                    )
                )
    if delay_s := description.delay_s:
        for row in measurements["links"]:
            added_s = row["rtt_s"] - measurements["rtt_without_delay_s"]
            if abs(added_s / delay_s - 1) > _OFF:
                warnings.append(
                    Message(
                        "delay-off",
                        "{host} to {other} and back: {added} added instead of {delay}",
                        host=row["from"],
                        other=row["to"],
                        added=format_seconds(added_s),
                        delay=format_seconds(delay_s),
                    )
                )
    for kind, target_rate in (("read", description.read_rate), ("write", description.write_rate)):
        for row in measurements["disks"]:
            if target_rate and abs(row[f"{kind}_bytes_per_s"] / target_rate - 1) > _OFF:
                share = row[f"{kind}_bytes_per_s"] / target_rate
                warnings.append(
                    Message(
                        "disk-off",
                        "disk of {host}: {kind}s at {share:.0%} of the requested rate",
                        host=row["host"],
                        kind=kind,
                        share=share,
                    )
                )
    return warnings


def busy(load: float) -> list[str]:
    """Warn of a load that makes these measurements doubtful: more than there are CPUs."""
    cpus = os.cpu_count() or 1
    return (
        [Message("busy-machine", BUSY + ": load {load:.1f} on {cpus} CPUs", load=load, cpus=cpus)]
        if load > cpus
        else []
    )
