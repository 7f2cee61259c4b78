"""Network interfaces and InfiniBand ports: speed, state, MTU."""

from pathlib import Path
from typing import Any

from . import reading


def interfaces(root: Path = Path("/sys/class/net")) -> list[dict[str, Any]]:
    """Return all interfaces except loopback. ``bits_per_s`` is None if the driver does not report it (virtual ones,
    links that are down)."""
    rows = []
    for directory in sorted(root.iterdir()):
        if directory.name == "lo" or not directory.is_dir():
            continue
        megabits = reading.number(directory / "speed")
        driver = directory / "device/driver"
        rows.append(
            {
                "name": directory.name,
                "state": reading.text(directory / "operstate"),
                "bits_per_s": megabits * 10**6 if megabits and megabits > 0 else None,
                "mtu_bytes": reading.number(directory / "mtu"),
                "duplex": reading.text(directory / "duplex"),
                "driver": driver.resolve().name if driver.exists() else None,
            }
        )
    return rows


def infiniband(root: Path = Path("/sys/class/infiniband")) -> list[dict[str, Any]]:
    """Return the ports of InfiniBand and RoCE adapters; empty without any."""
    return [
        {
            "adapter": port.parent.parent.name,
            "port": int(port.name),
            "state": reading.text(port / "state"),
            "rate": reading.text(port / "rate"),
            "link_layer": reading.text(port / "link_layer"),
        }
        for port in sorted(root.glob("*/ports/*"))
    ]
