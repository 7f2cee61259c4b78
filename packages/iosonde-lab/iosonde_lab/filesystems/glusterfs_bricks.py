"""State of Gluster's servers, from their own processes and files: never from a daemon that may hang."""

import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab
from iosonde_lab.tools import LabError

from .glusterfs_cli import VOLUME
from .recipe import ServerState

DAEMON, BRICK, HELPER = "glusterd", "glusterfsd", "glusterfs"
_ANSWERS_S = 10.0
# Run on the server; prints the file's gfid ('' if absent), and its bytes with shards (0 for a link to another brick).
_LOOK = """\
import glob, json, os, sys, uuid
brick, below, number = sys.argv[1:]
file = os.path.join(brick, below)
try:
    found, size = str(uuid.UUID(bytes=os.getxattr(file, "trusted.gfid"))), os.path.getsize(file)
except OSError:
    found, size = "", 0
pieces = glob.glob(os.path.join(glob.escape(brick), ".shard", number + ".*")) if number else []
print(json.dumps([found, size + sum(map(os.path.getsize, pieces))]))
"""
# The same for every file below a directory: name → [gfid, size], and the bytes of shards by gfid.
_LOOK_BELOW = """\
import json, os, stat, sys, uuid
from pathlib import Path
from iosonde.foreign.walking import walk_files
brick, below = sys.argv[1:]
files, pieces = {}, {}
top = Path(brick, below)
own = [Path(brick, name) for name in (".glusterfs", ".shard", ".trashcan")]
for file in walk_files(top, lambda *_: None, own.__contains__):
    told = os.lstat(file)
    if not (told.st_mode & stat.S_ISVTX and not told.st_size):
        found = str(uuid.UUID(bytes=os.getxattr(file, "trusted.gfid")))
        files[str(file.relative_to(top))] = [found, told.st_size]
shards = os.path.join(brick, ".shard")
for entry in os.scandir(shards) if os.path.isdir(shards) else ():
    if entry.is_file(follow_symlinks=False):
        number = entry.name.rpartition(".")[0]
        pieces[number] = pieces.get(number, 0) + entry.stat().st_size
print(json.dumps([files, pieces]))
"""
# Files with pending heals, as recorded by a brick: gfid → numbers of the bricks that it considers stale.
_LOOK_ACCUSED = """\
import json, os, sys
brick, volume = sys.argv[1:]
index, found = os.path.join(brick, ".glusterfs", "indices", "xattrop"), {}
for number in os.listdir(index) if os.path.isdir(index) else ():
    file = os.path.join(brick, ".glusterfs", number[:2], number[2:4], number)
    if number.startswith("xattrop-") or not os.path.isfile(file):
        continue
    mark = "trusted.afr." + volume + "-client-"
    found[number] = [int(name[len(mark):]) for name in os.listxattr(file) if name.startswith(mark)
                     and any(os.getxattr(file, name)[:4])]
print(json.dumps(found))
"""
_CONNECTED = re.compile(rf"{VOLUME}-client-(\d+)/private:\s*connected = (\d)")


def brick_of(server: LabHost) -> Path:
    """Return the path of a server's brick."""
    return server.disk / "brick"


def health(lab: Lab, heals: bool, has_native_clients: bool = True) -> list[str]:
    """Return complaints: daemons that are down, clients without a brick, copies that differ.
    ``heals``: there are copies. ``has_native_clients``: clients use the volume itself.
    """
    host_messages = [
        *lab.each(lab.servers, lambda server: _check_server(server, heals)),
        *lab.each(lab.clients if has_native_clients else (), lambda client: _check_client(lab, client)),
    ]
    split = _split(lab) if heals and any(host_messages) else 0  # a split brain always causes other complaints
    template = (
        "split brain: {files} "
        + ("file was" if split == 1 else "files were")
        + " changed on both sides, and the right copy is unknown"
    )
    split_messages: list[str] = [Message("split-brain", template, files=split)] if split else []
    return [complaint for messages in (*host_messages, split_messages) for complaint in messages]


def _split(lab: Lab) -> int:
    """Return the number of files of which two bricks consider each other's data stale."""
    accusations = lab.each(lab.servers, _accused)
    files = set()
    for number, of in enumerate(accusations):
        for file, others in of.items():
            files |= {file for other in others if other != number and number in accusations[other].get(file, ())}
    return len(files)


def _accused(server: LabHost) -> dict[str, list[int]]:
    try:
        words = (sys.executable, "-c", _LOOK_ACCUSED, str(brick_of(server)), VOLUME)
        return server.ask(lambda text: dict(json.loads(text)), *words, limit_s=_ANSWERS_S)
    except LabError:  # a server without an answer is reported separately
        return {}


def state(server: LabHost, heals: bool) -> ServerState:
    """Return the state of the server processes."""
    try:
        there = server.all_processes()
    except LabError:
        return ServerState("no answer", False)
    for daemon, what in ((DAEMON, "glusterd"), (BRICK, "brick"), (HELPER, "self-heal")):
        if (daemon != HELPER or heals) and daemon not in there:
            return ServerState(f"{what} down", False)
    return ServerState("brick up", True)


def placement(lab: Lab, file: Path) -> dict[str, int]:
    """Return the bytes of a file on each server. Raises InputError if no brick has it."""
    below = file.relative_to(lab.mount_point)
    number = next(
        (candidate for candidate, _ in lab.each(lab.servers, lambda server: _looked(server, below)) if candidate), ""
    )
    if not number:
        raise InputError(
            "no-such-file",
            "{path}: no brick has such a file",
            "use a path below {mount_point}",
            path=below,
            mount_point=lab.mount_point,
        )
    n_bytes = [of for _, of in lab.each(lab.servers, lambda server: _looked(server, below, number))]
    return dict(zip((server.name for server in lab.servers), n_bytes, strict=True))


def placements(lab: Lab, directory: Path) -> dict[str, dict[str, int]]:
    """Return the bytes of every file below a directory on each server."""
    below = str(directory.relative_to(lab.mount_point))
    looked = lab.each(
        lab.servers,
        lambda brick_server: brick_server.ask(
            _two_mappings, sys.executable, "-c", _LOOK_BELOW, str(brick_of(brick_server)), below
        ),
    )
    numbers = {name: number for files, _ in looked for name, (number, _) in files.items()}
    return {
        name: {
            server.name: files.get(name, (number, 0))[1] + pieces.get(number, 0)
            for server, (files, pieces) in zip(lab.servers, looked, strict=True)
        }
        for name, number in sorted(numbers.items())
    }


def _check_server(server: LabHost, heals: bool) -> list[str]:
    try:
        there = server.all_processes()
        if DAEMON not in there:
            return [Message("server-down", "{host}: {daemon} is down", host=server.name, daemon="glusterd")]
        messages: list[str] = [] if BRICK in there else [_down(server, "brick")]
        if heals and HELPER not in there:
            messages.append(_down(server, "self-heal daemon"))
        if heals and (pending := _pending(server)):
            messages.append(
                Message(
                    "copies-differ",
                    "{host}: {files} files have copies that differ, according to its brick",
                    host=server.name,
                    files=pending,
                )
            )
        return messages
    except LabError as error:
        return [error.message]


def _down(server: LabHost, daemon: str) -> Message:
    return Message("server-down", "{host}: its {daemon} is down", host=server.name, daemon=daemon)


def _pending(server: LabHost) -> int:
    """Return the number of pending heals of the brick, as `gluster volume heal … info` counts them."""
    index = brick_of(server) / ".glusterfs" / "indices" / "xattrop"
    listing = server.shell(f"ls {shlex.quote(str(index))} 2>/dev/null || :", limit_s=_ANSWERS_S)
    return sum(not name.startswith("xattrop-") for name in listing.split())


def _check_client(lab: Lab, client: LabHost) -> list[str]:
    active = lab.mount_point / ".meta" / "graphs" / "active"
    look = f'cd "{active}" 2>/dev/null && grep -H "^connected" {VOLUME}-client-*/private'
    try:
        output = client.shell(f"{look} || :", limit_s=_ANSWERS_S)
    except LabError:
        return [Message("no-response", "{host}: its mount does not answer", host=client.name)]
    missed = [lab.servers[int(n)].name for n, there in _CONNECTED.findall(output) if there == "0"]
    if not output:
        return [Message("not-mounted", "{host}: the volume is not mounted", host=client.name)]
    if not missed:
        return []
    return [Message("not-connected", "{host}: not connected to {servers}", host=client.name, servers=", ".join(missed))]


def _looked(server: LabHost, below: Path, number: str = "") -> tuple[str, int]:
    """Return (gfid, bytes) of a file on a brick, with the shards named after ``number``."""
    words = (sys.executable, "-c", _LOOK, str(brick_of(server)), str(below), number)
    return server.ask(_number_and_bytes, *words)


def _number_and_bytes(text: str) -> tuple[str, int]:
    number, n_bytes = json.loads(text)
    return str(number), int(n_bytes)


def _two_mappings(text: str) -> tuple[dict[str, list[Any]], dict[str, int]]:
    files, pieces = json.loads(text)
    return dict(files), dict(pieces)
