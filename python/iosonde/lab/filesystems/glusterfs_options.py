"""Options of a Gluster volume: changed live, read back, and waited for until every client has them.

`gluster volume set` answers when the servers know; clients fetch the new description a moment later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from iosonde.core.errors import InputError
from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab

from .glusterfs_cli import VOLUME, RefusedError, gluster

# Those that studies of Gluster vary; every other volume option can be given, too.
OPTIONS = {
    "performance.write-behind": "on, off: the client gathers writes and answers before they are sent",
    "performance.write-behind-window-size": "how much of a file it holds back so",
    "performance.flush-behind": "on, off: close answers before its data is sent",
    "performance.read-ahead": "on, off: the client fetches what is likely read next",
    "performance.read-ahead-page-count": "pieces of 128 KiB that it fetches so",
    "performance.io-cache": "on, off: the client keeps what was read",
    "performance.cache-size": "how much io-cache and quick-read keep",
    "performance.quick-read": "on, off: a small file comes with the answer to its look-up",
    "performance.open-behind": "on, off: open answers before the server is asked",
    "performance.stat-prefetch": "on, off: md-cache, the client keeps attributes",
    "performance.md-cache-timeout": "seconds that it keeps them",
    "performance.io-thread-count": "threads of each brick",
    "performance.client-io-threads": "on, off: threads of the client's own",
}
# Option that puts a part into the client → the part.
_PARTS = {"performance.stat-prefetch": "md-cache", "performance.client-io-threads": "io-threads"} | {
    f"performance.{name}": name
    for name in ("write-behind", "read-ahead", "readdir-ahead", "io-cache", "quick-read", "open-behind", "nl-cache")
}
# In a client's log: it has a new description. Where there is one server: there is one, and then what it does with it.
_FETCHED, _NOTICE = "Received list of available volfile servers", "Volume file changed"
_TAKEN_S = 10.0
_WHICH = "iosonde lab list shows the usual ones"
_ON = ("on", "yes", "true", "enable", "1")


def read(server: LabHost, option: str) -> str:
    """What is in force, a default too. Raises InputError where there is no such option."""
    try:
        answer = gluster(server, "volume", "get", VOLUME, option)
    except RefusedError as error:
        raise InputError(
            "unknown-option",
            "{option}: no option of a Gluster volume: {reason}",
            _WHICH,
            option=option,
            reason=error.message,
        ) from error
    values = [(element.findtext("Value") or "").removesuffix(" (DEFAULT)") for element in answer.iter("Opt")]
    return ", ".join(dict.fromkeys(values))


def put(server: LabHost, options: Mapping[str, str]) -> None:
    """Of the volume, several at once; clients have them a moment later. Raises InputError where Gluster refuses one."""
    if not options:
        return
    try:
        gluster(server, "volume", "set", VOLUME, *(word for pair in options.items() for word in pair))
    except RefusedError as error:
        text = ", ".join(f"{option}={value}" for option, value in options.items())
        raise InputError(
            "option-rejected",
            "{options}: Gluster refuses it: {reason}",
            _WHICH,
            options=text,
            reason=error.message,
        ) from error


def read_all(server: LabHost, options: Collection[str]) -> dict[str, str]:
    """Several, by one question. Raises InputError where one is no option."""
    if len(options) == 1:
        return {option: read(server, option) for option in options}
    values = {
        element.findtext("Option"): element.findtext("Value") or ""
        for element in gluster(server, "volume", "get", VOLUME, "all").iter("Opt")
    }
    return {
        option: values[option].removesuffix(" (DEFAULT)") if option in values else read(server, option)
        for option in options
    }


def change(lab: Lab, options: Mapping[str, str]) -> None:
    """Change them, and wait until every client that has the volume mounted has them. Raises InputError, LabError."""
    server, mounted = lab.servers[0], [client for client in lab.clients if lab.is_mounted(client)]
    before = {client.name: _fetched(lab, client) for client in mounted}
    was = read_all(server, options)
    put(server, options)
    now = read_all(server, options)
    changed = {option: value for option, value in now.items() if value != was[option]}
    if not changed:
        return
    text = ", ".join(f"{option}={options[option]}" for option in changed)
    lab.wait(
        f"the clients are told of {text}",
        lambda: all(_fetched(lab, client) > before[client.name] for client in mounted),
        _TAKEN_S,
    )
    expected_parts = {_PARTS[option]: value in _ON for option, value in changed.items() if option in _PARTS}
    lab.wait(
        f"the clients have {text}",
        lambda: all(_has(lab, client, expected_parts) for client in mounted if expected_parts),
        _TAKEN_S,
    )


def _has(lab: Lab, client: LabHost, expected_parts: Mapping[str, bool]) -> bool:
    there = parts(lab, client)
    return all((part in there) is here for part, here in expected_parts.items())


def parts(lab: Lab, client: LabHost) -> list[str]:
    """The translators that the client's mount is made of now, those of the volume itself by their own name."""
    # The mount takes up a changed description with the next operation: `stat` is one.
    output = client.shell(
        f'stat "{lab.mount_point}" >/dev/null; ls "{lab.mount_point}/.meta/graphs/active"', limit_s=10
    )
    return sorted(line.removeprefix(f"{VOLUME}-") for line in output.split() if line.startswith(f"{VOLUME}-"))


def _fetched(lab: Lab, client: LabHost) -> int:
    """How often the client has been given a description of the volume."""
    log = client.directory / "own" / "var-log-glusterfs" / f"{re.sub('/', '-', str(lab.mount_point).strip('/'))}.log"
    log_text = log.read_text(errors="replace")
    if len(lab.servers) > 1:
        return log_text.count(_FETCHED)
    *notices, last = log_text.split(_NOTICE)
    return len(notices) - (bool(notices) and last.count("\n") < 2)  # the last one may not have been followed yet
