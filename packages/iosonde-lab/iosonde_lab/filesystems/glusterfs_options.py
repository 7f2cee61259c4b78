"""Options of a Gluster volume: changed live, read back, and awaited until every client has them.
`gluster volume set` returns when the servers know; clients fetch the new volume file a moment later.
"""

import re
from collections.abc import Collection, Mapping

from iosonde.core.errors import InputError
from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab

from .glusterfs_cli import VOLUME, RefusedError, gluster

# Options that studies of Gluster vary; all other volume options are accepted too.
OPTIONS = {
    "performance.write-behind": "on, off: the client buffers writes and acknowledges them before sending",
    "performance.write-behind-window-size": "size of this buffer per file",
    "performance.flush-behind": "on, off: close returns before its data is sent",
    "performance.read-ahead": "on, off: the client prefetches sequential reads",
    "performance.read-ahead-page-count": "pages of 128 KiB to prefetch",
    "performance.io-cache": "on, off: the client caches reads",
    "performance.cache-size": "size of the caches of io-cache and quick-read",
    "performance.quick-read": "on, off: lookups return the content of small files",
    "performance.open-behind": "on, off: open returns before the server is contacted",
    "performance.stat-prefetch": "on, off: md-cache, the client caches attributes",
    "performance.md-cache-timeout": "seconds for which attributes are cached",
    "performance.io-thread-count": "I/O threads of each brick",
    "performance.client-io-threads": "on, off: I/O threads in the client",
}
# Option that enables a translator of the client → the translator.
_PARTS = {"performance.stat-prefetch": "md-cache", "performance.client-io-threads": "io-threads"} | {
    f"performance.{name}": name
    for name in ("write-behind", "read-ahead", "readdir-ahead", "io-cache", "quick-read", "open-behind", "nl-cache")
}
# Lines of a client's log: a new volume file was fetched. With a single server: a notice, followed by its handling.
_FETCHED, _NOTICE = "Received list of available volfile servers", "Volume file changed"
_TAKEN_S = 10.0
_WHICH = "iosonde lab list shows the usual ones"
_ON = ("on", "yes", "true", "enable", "1")


def read(server: LabHost, option: str) -> str:
    """Return the value in force, or the default. Raises InputError for an unknown option."""
    try:
        answer = gluster(server, "volume", "get", VOLUME, option)
    except RefusedError as error:
        raise InputError(
            "unknown-option",
            "{option}: not an option of a Gluster volume: {reason}",
            _WHICH,
            option=option,
            reason=error.message,
        ) from error
    values = [(element.findtext("Value") or "").removesuffix(" (DEFAULT)") for element in answer.iter("Opt")]
    return ", ".join(dict.fromkeys(values))


def put(server: LabHost, options: Mapping[str, str]) -> None:
    """Set options of the volume at once; clients have them a moment later. Raises InputError if Gluster refuses one."""
    if not options:
        return
    try:
        gluster(server, "volume", "set", VOLUME, *(word for pair in options.items() for word in pair))
    except RefusedError as error:
        text = ", ".join(f"{option}={value}" for option, value in options.items())
        raise InputError(
            "option-rejected",
            "{options}: refused by Gluster: {reason}",
            _WHICH,
            options=text,
            reason=error.message,
        ) from error


def read_all(server: LabHost, options: Collection[str]) -> dict[str, str]:
    """Return several values by one query. Raises InputError for an unknown option."""
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
    """Change options, and wait until every client with a mount has them. Raises InputError, LabError."""
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
        f"the clients are notified of {text}",
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
    """Return the current translators of the client's mount, without the prefix of the volume."""
    # The mount applies a new volume file at its next operation, such as `stat`.
    output = client.shell(
        f'stat "{lab.mount_point}" >/dev/null; ls "{lab.mount_point}/.meta/graphs/active"', limit_s=10
    )
    return sorted(line.removeprefix(f"{VOLUME}-") for line in output.split() if line.startswith(f"{VOLUME}-"))


def _fetched(lab: Lab, client: LabHost) -> int:
    """Return how often the client has fetched the volume file."""
    log = client.directory / "own" / "var-log-glusterfs" / f"{re.sub('/', '-', str(lab.mount_point).strip('/'))}.log"
    log_text = log.read_text(errors="replace")
    if len(lab.servers) > 1:
        return log_text.count(_FETCHED)
    *notices, last = log_text.split(_NOTICE)
    return len(notices) - (bool(notices) and last.count("\n") < 2)  # the last notice may not have been handled yet
