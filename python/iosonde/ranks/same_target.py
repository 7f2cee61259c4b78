"""Check that all nodes see the same target, by comparing their mount tables.

In the roll call, before anything is written, the mounts are compared (`others`). In every trial the visibility of its
directory is checked (`sentences`).
"""

import os
import re
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Self

from iosonde.core.filesystems import is_network, parse_servers
from iosonde.core.message import Message
from iosonde.foreign.child import Child, NoAnswerError
from iosonde.ranks.machine import command, mount
from iosonde.ranks.mpi import Ranks

LOOK_S = 10.0  # for a mount that does not answer
_BEFORE_THE_PATH = re.compile(r"^(?:[\w+.-]*:?//[^/]*|[^/]*(?=/))")


@dataclass(frozen=True)
class TargetView:
    """The view of a directory from one node: whether it is visible, and the type and source of its mount.

    ``fault`` is the reason if that is unknown. ``serves``: the node itself is the server in the other nodes' mounts.
    """

    visible: bool
    type: str
    source: str
    fault: str = ""
    serves: bool = False

    def other_than(self, first: Self) -> tuple[str, str]:
        """Describe this mount and the ``first`` one by their difference; the descriptions are equal if there
        is none."""
        if self.type != first.type:
            return self.type, first.type
        return f"{self.type} of {self.source}", f"{first.type} of {first.source}"

    @property
    def network(self) -> bool:
        """Return whether the data is behind a server."""
        return is_network(self.type, self.source)

    @property
    def kind(self) -> tuple[str, str]:
        """Key that is equal on nodes with the same mount: the type, and the server's export, regardless of which server
        was used. Local sources have equal names on different disks, so they are left out."""
        if not self.network:
            return self.type, ""
        below = self.source if "/" in self.source else self.source.rpartition(":")[2]
        return self.type, _BEFORE_THE_PATH.sub("", below).strip("/")


def view_target(directory: Path) -> TargetView:
    """Return the view of this node. Hangs if the target hangs."""
    visible, fault = False, ""
    try:
        visible = directory.is_dir()  # first: this triggers an automounter
    except OSError as error:  # the daemon or server behind it is gone
        fault = os.strerror(error.errno or 0)
    return TargetView(visible, *_describe_mount(mount.find_mount_entry(os.path.realpath(directory))), fault)


def look_within(directory: Path) -> TargetView:
    """Return the view of this node by a helper, which is left behind if the target hangs."""
    child = Child(__name__, LOOK_S)
    try:
        return TargetView(**child.call("look", str(directory), f"looking at {directory}", path=str(directory)))
    except NoAnswerError:
        fault = Message("no-response", "no answer for {limit_s:.0f} s", limit_s=LOOK_S)
        return TargetView(False, *_describe_mount(mount.find_mount_entry(str(directory))), fault)
    finally:
        child.close()


def compare_nodes(ranks: Ranks, directory: Path) -> tuple[list[str], list[dict[str, str]]]:
    """Compare the nodes in a trial: one sentence for each node that does not see its ``directory``, and the mount on
    each node ({"host", "type", "source"}). All ranks call it and get the same answer."""
    views = ranks.all_gather(view_target(directory) if ranks.local_rank == 0 else None)
    host_views = [(ranks.hosts[rank].name, view) for rank, view in enumerate(views) if view]
    return list[str](describe_differing_nodes(dict(host_views), directory)), [
        {"host": host, "type": view.type, "source": view.source} for host, view in host_views
    ]


def describe_differing_nodes(views: dict[str, TargetView], directory: Path) -> list[Message]:
    """Describe the nodes that do not see the directory, in the order of their ranks."""
    first = next((host for host, view in views.items() if view.visible), None)
    messages = []
    for host, view in views.items():
        if view.visible:
            continue
        if view.fault:
            messages.append(_describe_unusable_target(host, directory, view))
        elif first is None:
            messages.append(Message("target-missing", "{host}: {path} is not visible", host=host, path=directory))
        else:
            here, there = view.other_than(views[first])
            messages.append(
                Message(
                    "target-missing",
                    (
                        "{host}: the target is {mount}, but on {other_host} {other_mount}; "
                        if here != there
                        else "{host}: the mount is the same; "
                    )
                    + "{path} is not visible there, mount the target at the same path on every node",
                    host=host,
                    path=directory,
                    mount=here,
                    other_host=first,
                    other_mount=there,
                )
            )
    return messages


def _describe_unusable_target(host: str, directory: Path, view: TargetView) -> Message:
    return Message(
        "target-unavailable",
        "{host}: {path} on {type} of {source}: {reason}",
        host=host,
        path=directory,
        type=view.type,
        source=view.source,
        reason=view.fault,
    )


def check_targets(ranks: Ranks, targets: Sequence[Path]) -> list[str]:
    """Check each target in a roll call, with one rank per node, by ``others``. All ranks call it and get the same
    answer."""
    messages: list[str] = []
    for target in targets:
        views = ranks.all_gather(look_within(target))
        server_names = {server for view in views for server in parse_servers(view.type, view.source)}
        odd = len({view.network for view in views}) > 1  # only then names have to be resolved
        serving = ranks.all_gather(odd and any(map(is_this_node, sorted(server_names))))
        target_views = [replace(view, serves=serves) for view, serves in zip(views, serving, strict=True)]
        messages += describe_other_nodes([host.name for host in ranks.hosts], target_views, target)
    return messages


def describe_other_nodes(hosts: Sequence[str], views: Sequence[TargetView], target: Path) -> list[Message]:
    """Describe each node on which ``target`` is missing, does not answer, or differs from most nodes (in a tie, from
    the first). The server itself may see its disk where its clients see its export."""
    kinds = Counter(view.kind for view in views if view.visible)
    usual = kinds.most_common(1)[0][0] if kinds else None
    first = next((at for at, view in enumerate(views) if view.visible and view.kind == usual), None)
    messages = []
    for host, view in zip(hosts, views, strict=True):
        if view.fault:
            messages.append(_describe_unusable_target(host, target, view))
        elif first is None:
            messages.append(Message("target-missing", "{host}: {path} is missing", host=host, path=target))
        elif not view.visible:
            here, there = view.other_than(views[first])
            messages.append(
                Message(
                    "target-missing",
                    "{host}: {path} is missing (its parent is on {mount}, on {other_host} it is {other_mount})"
                    if here != there
                    else "{host}: {path} is missing",
                    host=host,
                    path=target,
                    mount=here,
                    other_host=hosts[first],
                    other_mount=there,
                )
            )
        elif view.kind != usual and not _is_exported(view, views[first]):
            here, there = view.other_than(views[first])
            messages.append(
                Message(
                    "target-differs",
                    "{host}: {path} is {mount}, but on {other_host} {other_mount}",
                    host=host,
                    path=target,
                    mount=here,
                    other_host=hosts[first],
                    other_mount=there,
                )
            )
    return messages


def is_this_node(server: str) -> bool:
    """Return whether a name resolves to an address of this node."""
    try:
        addresses = socket.getaddrinfo(server.partition("@")[0], None, type=socket.SOCK_DGRAM)
    except (OSError, UnicodeError):
        return False
    for family, kind, protocol, _, address in addresses:
        try:
            with socket.socket(family, kind, protocol) as probe:
                probe.bind(address)
                return True
        except OSError:
            continue
    return False


def _is_exported(view: TargetView, other: TargetView) -> bool:
    """Return whether one of two nodes has the disk that the other's server exports."""
    return (view.serves and not view.network and other.network) or (other.serves and not other.network and view.network)


def _describe_mount(mount_entry: mount.Mount | None) -> tuple[str, str]:
    return (mount_entry.type, command.redact(mount_entry.source)) if mount_entry else ("unknown", "")


def _read_view(path: str) -> dict[str, Any]:
    return asdict(view_target(Path(os.path.abspath(path))))


OPERATIONS = {"look": _read_view}
