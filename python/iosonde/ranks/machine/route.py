"""The path from this node to the servers of a mount: the interfaces and ports that carry it, each byte counted once.

A missing interface would make network traffic look like a cache hit. So if the servers are not known individually, all
interfaces with routes are counted, and unrelated traffic has to be subtracted.
"""

import ipaddress
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.filesystems import is_surely_network, parse_servers
from iosonde.core.message import Message

from . import netlink, traffic
from .mount import Mount
from .netlink import Interface, Way

# Clients that talk only to the server in their source.
_SINGLE_SERVER = frozenset({"nfs", "cifs", "smb3", "smbfs", "fuse.sshfs", "fuse.fuse-nfs"})
# Their data bypasses the kernel's network interfaces.
_PAST_THE_NETWORK = {
    "virtiofs": "it uses memory shared between the virtual machine and its host",
    "vboxsf": "it uses memory shared between the virtual machine and its host",
    "prl_fs": "it uses memory shared between the virtual machine and its host",
    "wekafs": "its client drives the network card itself (DPDK)",
    "dvs": "its client bypasses the kernel to use the interconnect",
}
# Interfaces without a card: their bytes leave through another interface, or stay on this node.
_TUNNELS = frozenset({"tun", "wireguard", "vxlan", "geneve", "gre", "gretap", "ip6gre", "ipip", "sit", "ip6tnl", "vti"})
RESOLVE_S = 2.0


@dataclass(frozen=True)
class NodeNetwork:
    """The network of a node: interfaces by index, those with routes, InfiniBand and RoCE ports with counters, and a
    lookup of the route to an address."""

    links: Mapping[int, Interface]
    routed: frozenset[int]
    ports: tuple[str, ...]
    way_to: Callable[[str], Way | None]


@dataclass(frozen=True)
class Route:
    """The ``interfaces`` and ``ports`` whose counters are summed; ``why`` is the reason if they are unusable, else ''.
    ``assumed``: neither type nor address proves that there is a server. ``own_server``: a server on this node."""

    interfaces: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    why: str = ""
    assumed: bool = False
    own_server: str = ""


def read_node_network() -> NodeNetwork:
    """Return the network of this process's name space."""
    return NodeNetwork(
        netlink.list_interfaces(),
        frozenset(netlink.list_routed_interfaces()),
        tuple(traffic.read_port_counts()),
        netlink.find_route,
    )


def find_route_to_servers(mount: Mount, network: NodeNetwork, also: Sequence[str] = ()) -> Route:
    """Return the route to the servers of a network mount; ``also`` are those known to hold its data."""
    if why := _PAST_THE_NETWORK.get(mount.type) or _explain_virtual(mount):
        return Route(why=why)
    hosts = _list_hosts(mount, also)
    ways = {host: [way for address in resolve_addresses(host) if (way := network.way_to(address))] for host in hosts}
    ours = [host for host, several in ways.items() if any(_is_here(way, network) for way in several)]
    if ours:
        why = Message("own-server", "a server runs on this node ({host})", host=ours[0])
        return Route(why=why, own_server=_find_own_address(ours))
    reached = {way.index for several in ways.values() for way in several}
    if _is_mounted_by_rdma(mount):
        why = "" if network.ports else Message("rdma-not-counted", "RDMA bypasses the kernel, and no port counts it")
        return Route(ports=network.ports, why=why)
    exact = all(ways.values()) and bool(also or (ways and mount.type in _SINGLE_SERVER))
    indexes = remove_double_counted(reached if exact else reached | network.routed, network.links)
    ports = () if exact else network.ports
    if ports:  # IP over InfiniBand is in the ports' counters
        indexes = {index for index in indexes if network.links[index].type != netlink.INFINIBAND}
    assumed = not reached and not is_surely_network(mount.type, mount.source)
    if not indexes and not ports:
        return Route(why=Message("no-route", "no interface of this node has a route to others"))
    return Route(tuple(sorted(network.links[index].name for index in indexes)), ports, assumed=assumed)


def is_this_node(host: str, network: NodeNetwork) -> bool:
    """Return whether a host is this node by an address other than loopback."""
    external = [address for address in resolve_addresses(host) if not _is_loopback(address)]
    return any((way := network.way_to(address)) is not None and _is_here(way, network) for address in external)


def remove_double_counted(indexes: Iterable[int], links: Mapping[int, Interface]) -> set[int]:
    """Remove interfaces whose bytes another one counts as well. A bond replaces its parts, hardware its VLANs; tunnels
    and bridges of virtual ports are removed if other interfaces remain."""
    counted = {index for index in indexes if index in links and links[index].type != netlink.LOOPBACK}
    parts = {index for index in counted if links[index].master in counted}
    upper = {index for index in counted if _is_layered_on(links[index], counted, links)}
    remaining = counted - parts - upper
    return {index for index in remaining if not _is_inside(links[index], links)} or remaining


def _is_layered_on(link: Interface, others: set[int], links: Mapping[int, Interface]) -> bool:
    """Return whether an interface is a VLAN (or similar) on one of the others, directly or indirectly; a veth's other
    end does not count."""
    visited = set()
    while link.kind != "veth" and link.lower is not None and link.lower not in visited:
        if link.lower in others:
            return True
        visited.add(link.lower)
        if link.lower not in links:
            return False
        link = links[link.lower]
    return False


def _is_inside(link: Interface, links: Mapping[int, Interface]) -> bool:
    if link.kind == "bridge":
        return all(part.kind for part in links.values() if part.master == link.index)
    return link.kind in _TUNNELS


def _find_own_address(ours: Sequence[str]) -> str:
    """Return the first host that is this node by an external address. A loopback address may be the client's gateway
    (HDFS), which is not a data server."""
    return next((host for host in ours if not all(map(_is_loopback, resolve_addresses(host)))), "")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.split("%")[0]).is_loopback
    except ValueError:
        return False


def _is_here(way: Way, network: NodeNetwork) -> bool:
    link = network.links.get(way.index)
    return way.local or (link is not None and link.type == netlink.LOOPBACK)


def _list_hosts(mount: Mount, also: Sequence[str]) -> list[str]:
    """Return hosts or addresses; the address that the mount resolved itself comes first, as it needs no name server."""
    resolved = _parse_options(mount).get("addr")
    hosts = [resolved] if resolved else parse_servers(mount.type, mount.source, mount.super_options)
    return list(dict.fromkeys(host.partition("@")[0] for host in [*hosts, *also]))


def _parse_options(mount: Mount) -> dict[str, str]:
    words = f"{mount.options},{mount.super_options}".split(",")
    return dict(word.partition("=")[::2] for word in words)


def _explain_virtual(mount: Mount) -> str:
    if mount.type == "9p" and _parse_options(mount).get("trans") == "virtio":
        return _PAST_THE_NETWORK["virtiofs"]
    if any(
        name.startswith("compress") and value not in ("no", "none", "0")
        for name, value in _parse_options(mount).items()
    ):
        return Message("compressing-client", "its client compresses what it sends")
    return ""


def _is_mounted_by_rdma(mount: Mount) -> bool:
    options = _parse_options(mount)
    return "@o2ib" in mount.source or "rdma" in (options.get("proto"), options.get("transport"), options.get("trans"))


def resolve_addresses(host: str) -> list[str]:
    """Return the addresses of a host. The wait for a name server is limited."""
    try:
        return [str(ipaddress.ip_address(host))]
    except ValueError:
        pass
    results: list[str] = []

    def look_up() -> None:
        try:
            results.extend(str(entry[4][0]) for entry in socket.getaddrinfo(host, None, type=socket.SOCK_STREAM))
        except OSError:
            return

    asking = threading.Thread(target=look_up, daemon=True)
    asking.start()
    asking.join(RESOLVE_S)
    return list(dict.fromkeys(results))
