"""The nodes of a cluster by name and role: what a file says of them, and what does not fit to where ranks ran.

::

    nodes:
      head: login
      n[01-35]: compute
      io[1-2]: {role: [server, metadata], disks: 4, memory: 64GB, address: 10.0.0.1}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import yaml_text
from .errors import InputError
from .file_sections import Sections
from .message import Message
from .nodelist import expand
from .problems import SpecError, nearest
from .units import parse_size
from .words import counted

KEY = "nodes"
CLUSTER = "cluster"  # in the facts of a run
# Where ranks may run: two words for one thing.
CLIENTS = ("client", "compute")
SERVERS = ("server", "metadata")
ROLES = ("login", *CLIENTS, *SERVERS, "tape", "other")
_KEYS = ("role", "disks", "memory", "address")
_MAX_NAMES = 3
_STAYS = "what is written there may stay there, and what is read come from its memory"


@dataclass(frozen=True)
class ClusterNode:
    """One node. ``disks`` of its file system, ``memory`` in bytes; None is not known. ``address``: another name of it,
    by which a mount may know it."""

    name: str
    roles: tuple[str, ...]
    disks: int | None = None
    memory: int | None = None
    address: str = ""

    def has_role(self, roles: Sequence[str]) -> bool:
        """Whether it has one of these roles."""
        return any(role in roles for role in self.roles)

    def is_called(self, host: str) -> bool:
        """Whether ``host`` means it: the same name or address, or both begin with the same name of a host."""
        return host in (self.name, self.address) or same_host(host, self.name)


@dataclass(frozen=True)
class ClusterNodes:
    """All nodes of a cluster, in the order of its ``file``."""

    nodes: tuple[ClusterNode, ...]
    file: str = "the cluster file"

    def list_names(self, roles: Sequence[str]) -> list[str]:
        """The names of those with one of these roles."""
        return [node.name for node in self.nodes if node.has_role(roles)]

    def by_role(self) -> dict[str, list[str]]:
        """Role → names, in the order of :data:`ROLES`."""
        return {role: names for role in ROLES if (names := self.list_names((role,)))}

    @property
    def both(self) -> list[str]:
        """Those that are clients and servers."""
        return [node.name for node in self.nodes if node.has_role(CLIENTS) and node.has_role(SERVERS)]

    def counts(self) -> dict[str, int]:
        """Fields of a system that follow: ``clients``, ``servers`` of data and their ``disks``, as far as known."""
        servers = [node for node in self.nodes if node.has_role(("server",))]
        disks = [server.disks for server in servers if server.disks is not None]
        counts = {
            "clients": len(self.list_names(CLIENTS)),
            "servers": len(servers),
            "disks": sum(disks) if len(disks) == len(servers) else 0,
        }
        return {name: count for name, count in counts.items() if count}

    def server_memory(self) -> int | None:
        """Bytes of memory of all servers of data; None where one does not say."""
        each = [node.memory for node in self.nodes if node.has_role(("server",))]
        sizes = [size for size in each if size is not None]
        return sum(sizes) if sizes and len(sizes) == len(each) else None

    def warnings(self) -> list[str]:
        """What one should know of the roles alone."""
        both = self.both
        if not both:
            return []
        verb = "is" if len(both) == 1 else "are"
        template = "{nodes} {verb} both client and server: {effect}"
        return [Message("client-and-server", template, nodes=some_of(both), verb=verb, effect=_STAYS)]

    def misplaced(self, hosts: Sequence[str]) -> list[Message]:
        """What does not fit where ranks run on ``hosts``: nodes that are not named, or have other roles."""
        node_by_host = {host: self._find_node(host) for host in dict.fromkeys(hosts)}
        unknown = [host for host, node in node_by_host.items() if node is None]
        messages: list[Message] = []
        if unknown:
            verb = "is" if len(unknown) == 1 else "are"
            template = "{nodes} {verb} not in {file}"
            messages.append(Message("unknown-node", template, nodes=some_of(unknown), verb=verb, file=self.file))
        at_servers = [host for host, node in node_by_host.items() if node and node.has_role(SERVERS)]
        if at_servers:
            messages.append(
                Message(
                    "client-on-server",
                    "{nodes} {verb} the file system, too, by {file}: {effect}",
                    nodes=some_of(at_servers),
                    verb="serves" if len(at_servers) == 1 else "serve",
                    file=self.file,
                    effect=_STAYS,
                )
            )
        for host, node in node_by_host.items():
            if node and not node.has_role((*CLIENTS, *SERVERS)):
                template = "{node} is {role} in {file}, and no client"
                messages.append(Message("not-a-client", template, node=host, role=_describe_role(node), file=self.file))
        return messages

    def absent(self, hosts: Sequence[str], roles: Sequence[str] = CLIENTS) -> list[str]:
        """The names of nodes of these roles that no host is."""
        return [node.name for node in self.nodes if node.has_role(roles) and not any(map(node.is_called, hosts))]

    def no_servers(self, hosts: Sequence[str]) -> list[str]:
        """Those of ``hosts``, which serve the file system, that are no servers in the file."""
        return [
            host for host in dict.fromkeys(hosts) if not ((node := self._find_node(host)) and node.has_role(SERVERS))
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """Plain data, for the facts of a run: :meth:`of_json` reads it."""
        return [
            {"name": node.name, "roles": list(node.roles)}
            | {key: value for key in _KEYS[1:] if (value := getattr(node, key))}
            for node in self.nodes
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> ClusterNodes:
        """What :meth:`to_json` made."""
        return cls(
            tuple(
                ClusterNode(
                    str(row["name"]),
                    tuple(map(str, row["roles"])),
                    row.get("disks"),
                    row.get("memory"),
                    str(row.get("address") or ""),
                )
                for row in rows
            )
        )

    def _find_node(self, host: str) -> ClusterNode | None:
        return next((node for node in self.nodes if node.is_called(host)), None)


def load(path: Path) -> ClusterNodes:
    """The nodes of a cluster file, whatever else it holds. Raises InputError; SpecError with all mistakes."""
    reader = Sections(yaml_text.load(path, "cluster file", "name its nodes: iosonde upgrade -h"))
    nodes = read(reader)
    if not nodes and not reader.problems:
        what = Message("no-nodes", "it names no nodes")
        reader.wrong((KEY,), what, "write nodes: with NAME: ROLE below it, as n[01-35]: compute")
    if reader.problems:
        raise SpecError(reader.document.name, reader.problems)
    return ClusterNodes(nodes, path.name)


def read(reader: Sections) -> tuple[ClusterNode, ...]:
    """The section ``nodes``; what is wrong with it is told to ``reader``."""
    node_by_name: dict[str, ClusterNode] = {}
    for key in reader.mapping((KEY,)):
        for node in _expand_nodes(reader, str(key)):
            if node.name in node_by_name:
                what = Message("duplicate-node", "{node} is named twice", node=node.name)
                reader.wrong((KEY, key), what, "give a node all its roles: [client, server]")
            node_by_name[node.name] = node
    return tuple(node_by_name.values())


def _expand_nodes(reader: Sections, key: str) -> Iterator[ClusterNode]:
    """The nodes that one entry means."""
    at = (KEY, key)
    value = reader.document.data[KEY][key]
    entry = value if isinstance(value, dict) else {"role": value}
    reader.check_names(entry, at, _KEYS)
    try:
        names = expand(key)
    except InputError:
        what = Message("invalid-node-list", "'{node_list}' is no name of nodes", node_list=key)
        reader.wrong(at, what, "write it like io1 or n[01-35]")
        return
    roles = _read_roles(reader, key, entry.get("role"))
    disks = reader.scalar((*at, "disks"), _parse_count) if "disks" in entry else None
    memory = reader.scalar((*at, "memory"), parse_size) if "memory" in entry else None
    address = str(entry.get("address") or "")
    if address and len(names) > 1:
        what = Message("shared-address", "one address for {n_nodes} nodes", n_nodes=len(names))
        reader.wrong((*at, "address"), what, "write each node by itself")
    for name in names:
        yield ClusterNode(
            name, roles, None if disks is None else int(disks), None if memory is None else int(memory), address
        )


def _read_roles(reader: Sections, key: str, value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    wrong = [role for role in several if role not in ROLES]
    if wrong or not several:
        if wrong and wrong[0] is not None:
            what = Message("unknown-role", "there is no role '{role}'", role=wrong[0])
        else:
            what = Message("missing-role", "it has no role")
        reader.wrong((KEY, key), what, nearest(str(wrong[0]) if wrong else "", ROLES))
    return tuple(role for role in several if role in ROLES)


def _parse_count(text: str) -> int:
    if not text.isdigit():
        raise InputError("not-an-integer", "'{count}' is not a whole number", "write how many there are", count=text)
    return int(text)


def same_host(host: str, other: str) -> bool:
    """Whether two names begin with the same name of a host; an address is only itself."""
    return _shorten_host(host) == _shorten_host(other)


def _shorten_host(host: str) -> str:
    """``n1`` of ``n1.example.org``; an address stays whole."""
    name = host.partition(".")[0]
    return host if name.isdigit() or ":" in host else name


def _describe_role(node: ClusterNode) -> str:
    return f"a {' and '.join(node.roles)} node"


def some_of(names: Sequence[str], max_names: int = _MAX_NAMES) -> str:
    """``n1, n2, n3 and 4 more``."""
    more = len(names) - max_names
    return ", ".join(names[:max_names]) + (f" and {more} more" if more > 0 else "")


def described(cluster: ClusterNodes) -> str:
    """``36 nodes: login 1, compute 35``."""
    roles = ", ".join(f"{role} {len(names)}" for role, names in cluster.by_role().items())
    return f"{counted(len(cluster.nodes), 'node')}: {roles}"
