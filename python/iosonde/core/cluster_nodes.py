"""The nodes of a cluster by name and role, as declared in a file, and checks against the hosts of the ranks.
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
from .nodelist import expand_node_list
from .problems import SpecError, suggest_replacement
from .units import parse_size
from .words import format_count

KEY = "nodes"
CLUSTER = "cluster"  # in the facts of a run
# Where ranks may run: both names mean the same.
CLIENTS = ("client", "compute")
SERVERS = ("server", "metadata")
ROLES = ("login", *CLIENTS, *SERVERS, "tape", "other")
_KEYS = ("role", "disks", "memory", "address")
_MAX_NAMES = 3
_STAYS = "writes may stay on the node, and reads may come from its memory"


@dataclass(frozen=True)
class ClusterNode:
    """A node of the cluster file. ``disks`` counts those of the file system, ``memory`` is in bytes; None is unknown.
    ``address`` is another name, as a mount may have it."""

    name: str
    roles: tuple[str, ...]
    disks: int | None = None
    memory: int | None = None
    address: str = ""

    def has_role(self, roles: Sequence[str]) -> bool:
        """Return whether the node has one of these roles."""
        return any(role in roles for role in self.roles)

    def is_called(self, host: str) -> bool:
        """Return whether ``host`` is this node: the same name or address, or the same short host name."""
        return host in (self.name, self.address) or is_same_host(host, self.name)


@dataclass(frozen=True)
class ClusterNodes:
    """All nodes of a cluster, in the order of its ``file``."""

    nodes: tuple[ClusterNode, ...]
    file: str = "the cluster file"

    def list_names(self, roles: Sequence[str]) -> list[str]:
        """Return the names of the nodes with one of these roles."""
        return [node.name for node in self.nodes if node.has_role(roles)]

    def by_role(self) -> dict[str, list[str]]:
        """Role → names, in the order of :data:`ROLES`."""
        return {role: names for role in ROLES if (names := self.list_names((role,)))}

    @property
    def both(self) -> list[str]:
        """Names of the nodes that are both client and server."""
        return [node.name for node in self.nodes if node.has_role(CLIENTS) and node.has_role(SERVERS)]

    def counts(self) -> dict[str, int]:
        """Count ``clients``, data ``servers`` and their ``disks``, as fields of a system; unknown counts are
        left out."""
        servers = [node for node in self.nodes if node.has_role(("server",))]
        disks = [server.disks for server in servers if server.disks is not None]
        counts = {
            "clients": len(self.list_names(CLIENTS)),
            "servers": len(servers),
            "disks": sum(disks) if len(disks) == len(servers) else 0,
        }
        return {name: count for name, count in counts.items() if count}

    def server_memory(self) -> int | None:
        """Return the total memory of the data servers in bytes; None if that of one is unknown."""
        each = [node.memory for node in self.nodes if node.has_role(("server",))]
        sizes = [size for size in each if size is not None]
        return sum(sizes) if sizes and len(sizes) == len(each) else None

    def warnings(self) -> list[str]:
        """Return warnings about the declared roles themselves."""
        both = self.both
        if not both:
            return []
        return [
            Message(
                "client-and-server",
                "{nodes} {verb} both client and server: {effect}",
                nodes=format_some_names(both),
                verb="is" if len(both) == 1 else "are",
                effect=_STAYS,
            )
        ]

    def misplaced(self, hosts: Sequence[str]) -> list[Message]:
        """Return messages for ``hosts`` with ranks that are not in the file or have another role than client."""
        node_by_host = {host: self._find_node(host) for host in dict.fromkeys(hosts)}
        unknown = [host for host, node in node_by_host.items() if node is None]
        messages: list[Message] = []
        if unknown:
            messages.append(
                Message(
                    "unknown-node",
                    "{nodes} {verb} not in {file}",
                    nodes=format_some_names(unknown),
                    verb="is" if len(unknown) == 1 else "are",
                    file=self.file,
                )
            )
        if at_servers := [host for host, node in node_by_host.items() if node and node.has_role(SERVERS)]:
            messages.append(
                Message(
                    "client-on-server",
                    "{nodes} {verb} the file system as well, according to {file}: {effect}",
                    nodes=format_some_names(at_servers),
                    verb="serves" if len(at_servers) == 1 else "serve",
                    file=self.file,
                    effect=_STAYS,
                )
            )
        for host, node in node_by_host.items():
            if node and not node.has_role((*CLIENTS, *SERVERS)):
                messages.append(
                    Message(
                        "not-a-client",
                        "{node} is {role} in {file}, not a client",
                        node=host,
                        role=f"a {' and '.join(node.roles)} node",
                        file=self.file,
                    )
                )
        return messages

    def absent(self, hosts: Sequence[str], roles: Sequence[str] = CLIENTS) -> list[str]:
        """Return the names of the nodes with these roles that are none of ``hosts``."""
        return [node.name for node in self.nodes if node.has_role(roles) and not any(map(node.is_called, hosts))]

    def no_servers(self, hosts: Sequence[str]) -> list[str]:
        """Return those of ``hosts``, which serve the file system, that the file does not list as servers."""
        return [
            host for host in dict.fromkeys(hosts) if not ((node := self._find_node(host)) and node.has_role(SERVERS))
        ]

    def to_json(self) -> list[dict[str, Any]]:
        """Return plain data for the facts of a run; ``from_json`` is the inverse."""
        return [
            {"name": node.name, "roles": list(node.roles)}
            | {key: value for key in _KEYS[1:] if (value := getattr(node, key))}
            for node in self.nodes
        ]

    @classmethod
    def from_json(cls, rows: Sequence[Mapping[str, Any]]) -> ClusterNodes:
        """Rebuild the nodes from the result of ``to_json``."""
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


def load_cluster_nodes(path: Path) -> ClusterNodes:
    """Load the nodes of a cluster file and ignore its other sections. Raises InputError; SpecError with
    all mistakes."""
    reader = Sections(yaml_text.load(path, "cluster file", "name its nodes: iosonde upgrade -h"))
    nodes = read_nodes_section(reader)
    if not nodes and not reader.problems:
        reader.wrong(
            (KEY,),
            Message("no-nodes", "it has no nodes"),
            "add nodes: with NAME: ROLE below it, such as n[01-35]: compute",
        )
    if reader.problems:
        raise SpecError(reader.document.name, reader.problems)
    return ClusterNodes(nodes, path.name)


def read_nodes_section(reader: Sections) -> tuple[ClusterNode, ...]:
    """Read the section ``nodes``; report its mistakes to ``reader``."""
    node_by_name: dict[str, ClusterNode] = {}
    for key in reader.mapping((KEY,)):
        for node in _expand_nodes(reader, str(key)):
            if node.name in node_by_name:
                reader.wrong(
                    (KEY, key),
                    Message("duplicate-node", "duplicate node {node}", node=node.name),
                    "give a node all its roles: [client, server]",
                )
            node_by_name[node.name] = node
    return tuple(node_by_name.values())


def _expand_nodes(reader: Sections, key: str) -> Iterator[ClusterNode]:
    at = (KEY, key)
    value = reader.document.data[KEY][key]
    entry = value if isinstance(value, dict) else {"role": value}
    reader.check_names(entry, at, _KEYS)
    try:
        names = expand_node_list(key)
    except InputError:
        what = Message("invalid-node-list", "'{node_list}' is not a node name or list", node_list=key)
        reader.wrong(at, what, "write it like io1 or n[01-35]")
        return
    roles = _read_roles(reader, key, entry.get("role"))
    disks = reader.scalar((*at, "disks"), _parse_count) if "disks" in entry else None
    memory = reader.scalar((*at, "memory"), parse_size) if "memory" in entry else None
    address = str(entry.get("address") or "")
    if address and len(names) > 1:
        what = Message("shared-address", "{n_nodes} nodes share one address", n_nodes=len(names))
        reader.wrong((*at, "address"), what, "write one entry per node")
    for name in names:
        yield ClusterNode(
            name, roles, None if disks is None else int(disks), None if memory is None else int(memory), address
        )


def _read_roles(reader: Sections, key: str, value: Any) -> tuple[str, ...]:
    several = value if isinstance(value, list) else [value]
    wrong = [role for role in several if role not in ROLES]
    if wrong or not several:
        if wrong and wrong[0] is not None:
            what = Message("unknown-role", "unknown role '{role}'", role=wrong[0])
        else:
            what = Message("missing-role", "it has no role")
        reader.wrong((KEY, key), what, suggest_replacement(str(wrong[0]) if wrong else "", ROLES))
    return tuple(role for role in several if role in ROLES)


def _parse_count(text: str) -> int:
    if not text.isdigit():
        raise InputError("not-an-integer", "'{count}' is not a whole number", "write a count", count=text)
    return int(text)


def is_same_host(host: str, other: str) -> bool:
    """Return whether two names have the same short host name; an IP address matches only itself."""
    return _shorten_host(host) == _shorten_host(other)


def _shorten_host(host: str) -> str:
    """Shorten ``n1.example.org`` to ``n1``; leave an IP address as it is."""
    name = host.partition(".")[0]
    return host if name.isdigit() or ":" in host else name


def format_some_names(names: Sequence[str], max_names: int = _MAX_NAMES) -> str:
    """``n1, n2, n3 and 4 more``."""
    more = len(names) - max_names
    return ", ".join(names[:max_names]) + (f" and {more} more" if more > 0 else "")


def format_node_counts(cluster: ClusterNodes) -> str:
    """``36 nodes: login 1, compute 35``."""
    roles = ", ".join(f"{role} {len(names)}" for role, names in cluster.by_role().items())
    return f"{format_count(len(cluster.nodes), 'node')}: {roles}"
