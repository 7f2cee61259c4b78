"""A command on every server of the file system, ``on: servers``: the first rank starts it there by ssh, all at once.

Servers run no ranks: what they do is no measurement but brings them into a state. The command is over when it is over
on all of them; it failed if it failed on one, which is named. What a server printed has its name before each line.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence

from iosonde.core.types import FactorValue

from . import placeholders
from .items import Item
from .spec import SERVERS

SERVER = "IOSONDE_SERVER"
# No question can be answered, and a host that is down must not take minutes.
_SSH = "ssh -n -o BatchMode=yes -o ConnectTimeout=15"
_SERVER_SCRIPT = """(
  said=$({ssh} {host} {command} 2>&1); code=$?
  [ -z "$said" ] || printf '%s\\n' "$said" | sed 's/^/{host}: /'
  [ $code -eq 0 ] || echo "{host}: the command ended with exit code $code" >&2
  exit $code
) & pids="$pids $!"
"""


def prepared(trial_items: Iterable[Item], servers: Sequence[str]) -> list[Item]:
    """The items of a trial; those that run on servers say on which."""
    return [item | {"servers": list(servers)} if item.get("on") == SERVERS else item for item in trial_items]


def script(command: str, servers: Sequence[str], values: Mapping[str, FactorValue]) -> str:
    """What the shell of the first rank runs: ``command``, filled in, on each of the servers."""
    parts = ["pids=\n"]
    for host in servers:
        names = placeholders.as_environment(values) | {SERVER: host}
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in names.items())
        remote = shlex.quote(f"export {exports}; {command}")
        parts.append(_SERVER_SCRIPT.format(ssh=_SSH, host=host, command=remote))
    return "".join(parts) + "worst=0\nfor pid in $pids; do wait $pid || worst=$?; done\nexit $worst"
