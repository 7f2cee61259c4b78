"""Links: a switch, which is a host of its own, and a cable from each host to it, shaped in both directions.
Nothing is created in the machine's own network. So labs may use the same addresses, and all cables vanish with their
hosts.
"""

from collections.abc import Sequence

from iosonde.core.emulated import compute_burst_bytes
from iosonde.core.errors import InputError
from iosonde.core.units import format_seconds

from .hosts import LabHost
from .tools import LabError, run

SWITCH = "switch"
DEVICE = "eth0"
_QUEUE = "20ms"
_LEGS = 4  # of a round trip: from each of the two hosts to the switch, and back
_QUEUE_PACKETS = 100_000  # packets in flight; netem's default of 1000 is too small for a fast link


def make_switch(switch: LabHost) -> None:
    """Create the bridge that all cables end in. Raises LabError."""
    switch.shell("ip link add br0 type bridge forward_delay 0 stp_state 0; ip link set br0 up")


def connect(switch: LabHost, host: LabHost) -> None:
    """Create a cable from the host to the switch. Raises LabError."""
    port = port_of(host)
    in_switch = ["nsenter", "--target", str(switch.pid), "--net", "--", "ip", "link"]
    run([*in_switch, "add", port, "type", "veth", "peer", "name", DEVICE, "netns", str(host.pid)])
    run([*in_switch, "set", port, "master", "br0", "up"])
    host.shell(f"ip addr add {host.address}/24 dev {DEVICE}; ip link set {DEVICE} up")


def port_of(host: LabHost) -> str:
    """Return the switch's end of the host's cable."""
    return f"port{host.address.rpartition('.')[2]}"


def shape(switch: LabHost, host: LabHost, bits_per_s: float | None, delay_s: float | None = None) -> None:
    """Limit sending and receiving of the host to a rate of Ethernet bits each; None: no limit.
    ``delay_s`` is added to the round trip between two hosts shaped alike. Raises LabError.
    """
    for end, device in ((host, DEVICE), (switch, port_of(host))):
        end.shell(f"tc qdisc del dev {device} root 2>/dev/null || :")
        for words in queues(bits_per_s, delay_s):
            end.run("tc", "qdisc", "add", "dev", device, *words)


def queues(bits_per_s: float | None, delay_s: float | None) -> list[list[str]]:
    """Return the words of ``tc qdisc add`` for one end of a cable, outermost queue first: delay, then rate limit."""
    commands = []
    if delay_s:
        commands.append(
            ["root", "handle", "1:", "netem", "delay", f"{delay_s / _LEGS * 1e6:.0f}us", "limit", str(_QUEUE_PACKETS)]
        )
    if bits_per_s:
        burst = compute_burst_bytes(bits_per_s)
        place = ["parent", "1:1"] if delay_s else ["root"]
        commands.append(
            [*place, "handle", "2:", "tbf", "rate", f"{bits_per_s:.0f}bit", "burst", str(burst), "latency", _QUEUE]
        )
    return commands


def check_delay(delay_s: float | None) -> None:
    """Check that this kernel can delay packets, in a temporary name space. Raises InputError."""
    if not delay_s:
        return
    try:
        run(["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"], limit_s=10)
    except LabError as error:
        raise InputError(
            "kernel-feature-missing",
            "{spell.delay:{delay}}: this kernel has no netem ({message})",
            "modprobe sch_netem (Ubuntu: apt install linux-modules-extra-$(uname -r)), or omit the delay",
            delay=format_seconds(delay_s),
            message=error.message,
        ) from error


def cut(switch: LabHost, host: LabHost) -> None:
    """Disconnect the cable. Raises LabError."""
    switch.run("ip", "link", "set", port_of(host), "down")


def mend(switch: LabHost, host: LabHost) -> None:
    """Reconnect the cable. Raises LabError."""
    switch.run("ip", "link", "set", port_of(host), "up")


def part(switch: LabHost, hosts: Sequence[LabHost]) -> None:
    """Partition these hosts from all others: move their cables to a switch of their own. Raises LabError."""
    aside = _aside(hosts[0])
    switch.shell(f"ip link add {aside} type bridge forward_delay 0 stp_state 0; ip link set {aside} up")
    for host in hosts:
        switch.run("ip", "link", "set", port_of(host), "master", aside)


def join(switch: LabHost, hosts: Sequence[LabHost]) -> None:
    """Rejoin these hosts with all others. Raises LabError."""
    for host in hosts:
        switch.run("ip", "link", "set", port_of(host), "master", "br0")
    switch.shell(f"ip link del {_aside(hosts[0])} 2>/dev/null || :")


def _aside(host: LabHost) -> str:
    return f"br{port_of(host)}"
