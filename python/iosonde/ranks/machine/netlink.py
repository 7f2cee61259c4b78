"""Interfaces and routes of the current network name space, by rtnetlink(7).

This needs no installed tool, nor /sys, which may belong to another name space. Nothing here raises: without an answer
of the kernel the result is empty, or None.
"""

import ipaddress
import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

_HEADER = struct.Struct("=IHHII")  # nlmsghdr: length, type, flags, sequence, port
_ATTRIBUTE = struct.Struct("=HH")  # rtattr: length, type
_LINK = struct.Struct("=BxHiII")  # ifinfomsg: family, type, index, flags, change
_ROUTE = struct.Struct("=BBBBBBBBI")  # rtmsg: family, bits of destination, …; the type is number 7
_HOP = struct.Struct("=HBBi")  # rtnexthop: length, flags, hops, index
_DONE, _ERROR = 3, 2
_GET_LINK, _GET_ROUTE = 18, 26
_REQUEST, _DUMP = 0x1, 0x300
# linux/if_link.h, linux/rtnetlink.h
_IFNAME, _LOWER, _MASTER, _INFO, _NETNS = 3, 5, 10, 18, 37
_KIND = 1
_DST, _OIF, _MULTIPATH = 1, 4, 9
_UNICAST, _LOCAL = 1, 2
_ANSWER_BYTES = 1 << 18
_WAIT_S = 1.0

# linux/if_arp.h
LOOPBACK, INFINIBAND = 772, 32


@dataclass(frozen=True)
class Interface:
    """A network interface. ``type`` is its hardware (ARPHRD), ``kind`` its driver (``vlan``, ``bond``, ``veth``; empty
    for hardware). ``lower`` is the interface below it in this name space, ``master`` the one that it is part of."""

    index: int
    name: str
    type: int = 1
    kind: str = ""
    lower: int | None = None
    master: int | None = None


@dataclass(frozen=True)
class Way:
    """A route of packets to an address: through the interface ``index``, or to this node itself."""

    index: int
    local: bool = False


def list_interfaces() -> dict[int, Interface]:
    """Return all interfaces, by index."""
    interfaces = (
        _parse_link(body) for body in _query_kernel(_GET_LINK, _LINK.pack(socket.AF_UNSPEC, 0, 0, 0, 0), dump=True)
    )
    return {link.index: link for link in interfaces}


def list_routed_interfaces() -> set[int]:
    """Return the interfaces with routes to others, without those that have only their own and link-local addresses."""
    return {
        index
        for family in (socket.AF_INET, socket.AF_INET6)
        for body in _query_kernel(_GET_ROUTE, _ROUTE.pack(family, *[0] * 8), dump=True)
        for index in _list_reached(body)
    }


def find_route(address: str) -> Way | None:
    """Return the current route to an address; None if there is none, or the address is invalid."""
    try:
        plain = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return None
    family = socket.AF_INET if plain.version == 4 else socket.AF_INET6
    packed = plain.packed
    request = _ROUTE.pack(family, 8 * len(packed), *[0] * 7) + _ATTRIBUTE.pack(4 + len(packed), _DST) + packed
    for body in _query_kernel(_GET_ROUTE, request, dump=False):
        index = _parse_number(_parse_attributes(body[_ROUTE.size :]).get(_OIF))
        if index is not None:
            return Way(index, local=_ROUTE.unpack_from(body)[7] == _LOCAL)
    return None


def _query_kernel(kind: int, body: bytes, dump: bool) -> Iterator[bytes]:
    """Yield the bodies of all messages of an answer."""
    with suppress(OSError), socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as kernel:
        kernel.settimeout(_WAIT_S)
        kernel.send(_HEADER.pack(_HEADER.size + len(body), kind, _REQUEST | (_DUMP if dump else 0), 1, 0) + body)
        while True:
            for answered, content in split_messages(kernel.recv(_ANSWER_BYTES)):
                if answered in (_DONE, _ERROR):
                    return
                yield content
            if not dump:
                return


def split_messages(answer: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield (type, body) of each message in a buffer of netlink(7)."""
    return _iter_units(answer, _HEADER)


def _parse_attributes(content: bytes) -> dict[int, bytes]:
    return {kind & 0x3FFF: body for kind, body in _iter_units(content, _ATTRIBUTE)}


def _iter_units(content: bytes, header: struct.Struct) -> Iterator[tuple[int, bytes]]:
    """Yield (type, body) of units that begin with their length and type, and are aligned to four bytes."""
    at = 0
    while at + header.size <= len(content):
        length, kind, *_ = header.unpack_from(content, at)
        if length < header.size:
            return
        yield kind, content[at + header.size : at + length]
        at += (length + 3) & ~3


def _parse_link(body: bytes) -> Interface:
    _, type, index, *_ = _LINK.unpack_from(body)
    attributes = _parse_attributes(body[_LINK.size :])
    info = _parse_attributes(attributes.get(_INFO, b""))
    # The index of a lower interface in another name space (a container's veth) is not valid here.
    lower = None if _NETNS in attributes else _parse_number(attributes.get(_LOWER))
    return Interface(
        index,
        _parse_text(attributes.get(_IFNAME)),
        type,
        _parse_text(info.get(_KIND)),
        lower,
        _parse_number(attributes.get(_MASTER)),
    )


def _list_reached(body: bytes) -> set[int]:
    attributes = _parse_attributes(body[_ROUTE.size :])
    destination = attributes.get(_DST, b"")
    if _ROUTE.unpack_from(body)[7] != _UNICAST or (len(destination) == 16 and destination[0] >= 0xFE):
        return set()
    if (index := _parse_number(attributes.get(_OIF))) is not None:
        return {index}
    indexes, hops = set(), attributes.get(_MULTIPATH, b"")
    while len(hops) >= _HOP.size:
        length, _, _, index = _HOP.unpack_from(hops)
        indexes.add(index)
        hops = hops[max(length, _HOP.size) :]
    return indexes


def _parse_number(content: bytes | None) -> int | None:
    return struct.unpack("=I", content)[0] if content and len(content) == 4 else None


def _parse_text(content: bytes | None) -> str:
    return (content or b"").rstrip(b"\0").decode(errors="replace")
