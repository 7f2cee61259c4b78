"""The way from this node to the servers of a mount: which interfaces and ports carry it, each byte counted once.

Too few would take what came another way for what a cache served; so where the servers are not known one by one, all
interfaces that reach anybody are counted, and what is not ours has to be deducted.
"""

from __future__ import annotations

import ipaddress
import socket
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from iosonde.core.filesystems import is_surely_network, servers
from iosonde.core.message import Message

from . import netlink, traffic
from .mount import Mount
from .netlink import Interface, Way

# A client that talks to the one server which its source names, and to no other.
_SINGLE_SERVER = frozenset({"nfs", "cifs", "smb3", "smbfs", "fuse.sshfs", "fuse.fuse-nfs"})
# Their data takes no interface of the kernel's network.
_PAST_THE_NETWORK = {
    "virtiofs": "it is memory that the virtual machine shares with its host",
    "vboxsf": "it is memory that the virtual machine shares with its host",
    "prl_fs": "it is memory that the virtual machine shares with its host",
    "wekafs": "its client drives the network card itself (DPDK)",
    "dvs": "its client uses the interconnect past the kernel",
}
# What has no card of its own: its bytes leave by another interface, or do not leave this node.
_TUNNELS = frozenset({"tun", "wireguard", "vxlan", "geneve", "gre", "gretap", "ip6gre", "ipip", "sit", "ip6tnl", "vti"})
RESOLVE_S = 2.0


@dataclass(frozen=True)
class NodeNetwork:
    """What is there: interfaces by index, those that reach others, InfiniBand and RoCE ports with counters, and over
    which interface an address is reached."""

    links: Mapping[int, Interface]
    routed: frozenset[int]
    ports: tuple[str, ...]
    way_to: Callable[[str], Way | None]


@dataclass(frozen=True)
class Route:
    """``interfaces`` and ``ports`` whose counters are summed; ``why`` nothing can be told from them, '' if it can.

    ``assumed``: neither its kind nor an address tells that it has a server; ``own_server``: a server that is this node.
    """

    interfaces: tuple[str, ...] = ()
    ports: tuple[str, ...] = ()
    why: str = ""
    assumed: bool = False
    own_server: str = ""


def here() -> NodeNetwork:
    """The network of this process's name space."""
    return NodeNetwork(netlink.links(), frozenset(netlink.routed()), tuple(traffic.ports()), netlink.way_to)


def to_servers(mount: Mount, network: NodeNetwork, also: Sequence[str] = ()) -> Route:
    """The route to the servers of a network mount; ``also`` are those that hold its data, as far as it told them."""
    if why := _PAST_THE_NETWORK.get(mount.type) or _explain_virtual(mount):
        return Route(why=why)
    hosts = _list_hosts(mount, also)
    ways = {host: [way for address in addresses(host) if (way := network.way_to(address))] for host in hosts}
    ours = [host for host, several in ways.items() if any(_is_here(way, network) for way in several)]
    if ours:
        why = Message("own-server", "a server runs on this node ({host})", host=ours[0])
        return Route(why=why, own_server=_by_its_address(ours))
    reached = {way.index for several in ways.values() for way in several}
    if _by_rdma(mount):
        why = "" if network.ports else Message("rdma-not-counted", "RDMA passes the kernel, and no port counts it")
        return Route(ports=network.ports, why=why)
    exact = all(ways.values()) and bool(also or (ways and mount.type in _SINGLE_SERVER))
    indexes = once(reached if exact else reached | network.routed, network.links)
    ports = () if exact else network.ports
    if ports:  # IP over InfiniBand is in the ports' counters
        indexes = {index for index in indexes if network.links[index].type != netlink.INFINIBAND}
    assumed = not reached and not is_surely_network(mount.type, mount.source)
    if not indexes and not ports:
        return Route(why=Message("no-route", "no interface of this node has a route to others"))
    return Route(tuple(sorted(network.links[index].name for index in indexes)), ports, assumed=assumed)


def is_this_node(host: str, network: NodeNetwork) -> bool:
    """Whether a host is this node by an address that others know, too."""
    external = [address for address in addresses(host) if not _is_loopback(address)]
    return any((way := network.way_to(address)) is not None and _is_here(way, network) for address in external)


def once(indexes: Iterable[int], links: Mapping[int, Interface]) -> set[int]:
    """The interfaces without those whose bytes another one of them counts, too: a bond and not its parts, the hardware
    and not its VLANs, no tunnel and no bridge of virtual ports beside what leaves the node."""
    counted = {index for index in indexes if index in links and links[index].type != netlink.LOOPBACK}
    parts = {index for index in counted if links[index].master in counted}
    upper = {index for index in counted if _lies_on(links[index], counted, links)}
    remaining = counted - parts - upper
    strong = {index for index in remaining if not _is_inside(links[index], links)}
    return strong or remaining


def _lies_on(link: Interface, others: set[int], links: Mapping[int, Interface]) -> bool:
    """Whether it is a VLAN (or the like) on one of the others, or on what lies on one. A veth's other end is none."""
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


def _by_its_address(ours: Sequence[str]) -> str:
    """The first that is this node by an address that others know; at a loopback address a gateway of the client may
    be (HDFS), which is no server of the data."""
    return next((host for host in ours if not all(map(_is_loopback, addresses(host)))), "")


def _is_loopback(address: str) -> bool:
    try:
        return ipaddress.ip_address(address.split("%")[0]).is_loopback
    except ValueError:
        return False


def _is_here(way: Way, network: NodeNetwork) -> bool:
    link = network.links.get(way.index)
    return way.local or (link is not None and link.type == netlink.LOOPBACK)


def _list_hosts(mount: Mount, also: Sequence[str]) -> list[str]:
    """Hosts or addresses; what the mount resolved itself comes first, and needs no name server."""
    resolved = _parse_options(mount).get("addr")
    hosts = [resolved] if resolved else servers(mount.type, mount.source, mount.super_options)
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


def _by_rdma(mount: Mount) -> bool:
    options = _parse_options(mount)
    return "@o2ib" in mount.source or "rdma" in (options.get("proto"), options.get("transport"), options.get("trans"))


def addresses(host: str) -> list[str]:
    """The addresses of a host. A name server that does not answer is not waited for."""
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
