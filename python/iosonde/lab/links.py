"""Links: a switch that is a host of its own, and from each host a cable to it, shaped in both directions.

Nothing is made in the machine's own network, so that labs of the same addresses stand side by side, and all cables go
with their hosts.
"""

from __future__ import annotations

from .hosts import LabHost
from .tools import LabError, run

SWITCH = "switch"
DEVICE = "eth0"
_QUEUE = "20ms"
# The kernel passes on at most this much at once; less lowers fast links: 128 kB gave 4.8 of 5.8 Gbit/s.
_BURSTS_PER_S, _LEAST_BURST = 4000, 16_384


def make_switch(switch: LabHost) -> None:
    """The bridge that all cables end in. Raises LabError."""
    switch.shell("ip link add br0 type bridge forward_delay 0 stp_state 0; ip link set br0 up")


def connect(switch: LabHost, host: LabHost) -> None:
    """Lay a cable from the host to the switch. Raises LabError."""
    port = port_of(host)
    in_switch = ["nsenter", "--target", str(switch.pid), "--net", "--", "ip", "link"]
    run([*in_switch, "add", port, "type", "veth", "peer", "name", DEVICE, "netns", str(host.pid)])
    run([*in_switch, "set", port, "master", "br0", "up"])
    host.shell(f"ip addr add {host.address}/24 dev {DEVICE}; ip link set {DEVICE} up")


def port_of(host: LabHost) -> str:
    """The switch's end of the host's cable."""
    return f"port{host.address.rpartition('.')[2]}"


def shape(switch: LabHost, host: LabHost, bits_per_s: float | None, delay_s: float | None = None) -> None:
    """Limit what the host sends and what it receives, each to a rate of Ethernet bits; None: not at all. A delay is
    added to what it sends and receives, half each. Raises LabError."""
    for one, device in ((host, DEVICE), (switch, port_of(host))):
        one.shell(f"tc qdisc del dev {device} root 2>/dev/null || :")
        if bits_per_s:
            burst = max(int(bits_per_s / _BURSTS_PER_S), _LEAST_BURST)
            one.run("tc", "qdisc", "add", "dev", device, "root", "handle", "1:", "tbf", "rate", f"{bits_per_s:.0f}bit",
                    "burst", str(burst), "latency", _QUEUE)  # fmt: skip
        if delay_s:
            parent = ["parent", "1:"] if bits_per_s else ["root"]
            try:
                one.run("tc", "qdisc", "add", "dev", device, *parent, "netem", "delay", f"{delay_s / 2 * 1e6:.0f}us")
            except LabError as error:
                raise LabError(f"a delay of {delay_s * 1e3:g} ms: {error.message}",
                               "this kernel has no netem: leave out --delay") from error  # fmt: skip


def cut(switch: LabHost, host: LabHost) -> None:
    """Pull the cable. Raises LabError."""
    switch.run("ip", "link", "set", port_of(host), "down")


def mend(switch: LabHost, host: LabHost) -> None:
    """Plug it in again. Raises LabError."""
    switch.run("ip", "link", "set", port_of(host), "up")
