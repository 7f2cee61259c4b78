"""Whether all nodes see the target, and if not, what lies there instead: the mount tables of the nodes compared.

Twice: in the roll call, before anything is written, by what is mounted there (`others`); and in every trial by whether
its directory is to be seen (`sentences`).
"""

from __future__ import annotations

import os
import re
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core.filesystems import is_network, servers
from iosonde.core.message import Message
from iosonde.foreign.child import Child, NoAnswerError
from iosonde.ranks.machine import command, mount
from iosonde.ranks.mpi import Ranks

LOOK_S = 10.0  # for a mount that does not answer
_BEFORE_THE_PATH = re.compile(r"^(?:[\w+.-]*:?//[^/]*|[^/]*(?=/))")


@dataclass(frozen=True)
class TargetView:
    """One node's view of a directory: whether it is there, and the type and source of the mount below it. ``fault``:
    why it cannot be seen whether it is there. ``serves``: the node itself is whom the other nodes' mounts name.
    """

    visible: bool
    type: str
    source: str
    fault: str = ""
    serves: bool = False

    def other_than(self, first: TargetView) -> tuple[str, str]:
        """This mount and the ``first`` one in words that tell them apart; the same words if nothing does."""
        if self.type != first.type:
            return self.type, first.type
        return f"{self.type} of {self.source}", f"{first.type} of {first.source}"

    @property
    def network(self) -> bool:
        """Whether the data lies behind a server."""
        return is_network(self.type, self.source)

    @property
    def kind(self) -> tuple[str, str]:
        """What two nodes have alike that mounted the same: the type, and what a server exports, whichever of several
        servers each took. A local source is named alike on nodes whose disks are their own: it says nothing."""
        if not self.network:
            return self.type, ""
        below = self.source if "/" in self.source else self.source.rpartition(":")[2]
        return self.type, _BEFORE_THE_PATH.sub("", below).strip("/")


def look(directory: Path) -> TargetView:
    """As this node sees it. Hangs where the target does."""
    visible, fault = False, ""
    try:
        visible = directory.is_dir()  # first: it is what makes an automounter mount it
    except OSError as error:  # the daemon or the server behind it is gone
        fault = os.strerror(error.errno or 0)
    return TargetView(visible, *_describe_mount(mount.at(os.path.realpath(directory))), fault)


def look_within(directory: Path) -> TargetView:
    """The same by a helper, which is left behind if the target does not answer."""
    child = Child(__name__, LOOK_S)
    try:
        return TargetView(**child.call("look", str(directory), f"looking at {directory}", path=str(directory)))
    except NoAnswerError:
        fault = Message("no-response", "does not answer for {limit_s:.0f} s", limit_s=LOOK_S)
        return TargetView(False, *_describe_mount(mount.at(str(directory))), fault)
    finally:
        child.close()


def compare(ranks: Ranks, directory: Path) -> tuple[list[str], list[dict[str, str]]]:
    """In a trial: one sentence for each node that does not see its ``directory``, and what is mounted on each node
    ({"host", "type", "source"}); all ranks call it, and get the same answer."""
    views = ranks.all_gather(look(directory) if ranks.local_rank == 0 else None)
    host_views = [(ranks.hosts[rank].name, view) for rank, view in enumerate(views) if view]
    return list[str](sentences(dict(host_views), directory)), [
        {"host": host, "type": view.type, "source": view.source} for host, view in host_views
    ]


def sentences(views: dict[str, TargetView], directory: Path) -> list[Message]:
    """For hosts in the order of their ranks."""
    first = next((host for host, view in views.items() if view.visible), None)
    messages = []
    for host, view in views.items():
        if view.visible:
            continue
        if view.fault:
            messages.append(_unusable(host, directory, view))
            continue
        if first is None:
            messages.append(Message("target-missing", "{host}: {path} is not visible", host=host, path=directory))
            continue
        here, there = view.other_than(views[first])
        messages.append(
            Message(
                "target-missing",
                (
                    "{host}: the target is {mount}, on {other_host} it is {other_mount}; "
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


def _unusable(host: str, directory: Path, view: TargetView) -> Message:
    return Message(
        "target-unavailable",
        "{host}: {path} on {type} of {source}: {reason}",
        host=host,
        path=directory,
        type=view.type,
        source=view.source,
        reason=view.fault,
    )


def before(ranks: Ranks, targets: Sequence[Path]) -> list[str]:
    """In a roll call, of one rank a node: what ``others`` says of each target. All ranks call it, and get the same."""
    messages: list[str] = []
    for target in targets:
        views = ranks.all_gather(look_within(target))
        server_names = {server for view in views for server in servers(view.type, view.source)}
        odd = len({view.network for view in views}) > 1  # only then a name has to be looked up
        serving = ranks.all_gather(odd and any(map(is_this_node, sorted(server_names))))
        target_views = [replace(view, serves=serves) for view, serves in zip(views, serving, strict=True)]
        messages += others([host.name for host in ranks.hosts], target_views, target)
    return messages


def others(hosts: Sequence[str], views: Sequence[TargetView], target: Path) -> list[Message]:
    """One sentence for each node on which ``target`` is not there, does not answer, or is something else than on most
    nodes (of equally many, on the first). The server itself may see its disk where its clients see its export."""
    kinds = Counter(view.kind for view in views if view.visible)
    usual = kinds.most_common(1)[0][0] if kinds else None
    first = next((at for at, view in enumerate(views) if view.visible and view.kind == usual), None)
    messages = []
    for host, view in zip(hosts, views, strict=True):
        if view.fault:
            messages.append(_unusable(host, target, view))
        elif first is None:
            messages.append(Message("target-missing", "{host}: there is no {path}", host=host, path=target))
        elif not view.visible:
            here, there = view.other_than(views[first])
            messages.append(
                Message(
                    "target-missing",
                    "{host}: there is no {path} (its place is on {mount}, on {other_host} it is {other_mount})"
                    if here != there
                    else "{host}: there is no {path}",
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
                    "{host}: {path} is {mount}, on {other_host} it is {other_mount}",
                    host=host,
                    path=target,
                    mount=here,
                    other_host=hosts[first],
                    other_mount=there,
                )
            )
    return messages


def is_this_node(server: str) -> bool:
    """Whether an address of this node has that name."""
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
    """Whether one of two nodes has the disk that the other's server exports."""
    return (view.serves and not view.network and other.network) or (other.serves and not other.network and view.network)


def _describe_mount(mount_entry: mount.Mount | None) -> tuple[str, str]:
    return (mount_entry.type, command.redact(mount_entry.source)) if mount_entry else ("unknown", "")


def _read_view(path: str) -> dict[str, Any]:
    return asdict(look(Path(os.path.abspath(path))))


OPERATIONS = {"look": _read_view}
