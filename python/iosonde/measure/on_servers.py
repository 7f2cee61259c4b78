"""A command on every server of the file system (``on: servers``): the first rank starts all of them at once by ssh.

Servers run no ranks: their commands set a state and measure nothing. The step ends when it has ended on all servers; it
fails if it fails on one, which is named. Each output line begins with its server's name.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence

from iosonde.core.types import FactorValue

from . import placeholders
from .items import Item
from .spec import SERVERS

SERVER = "IOSONDE_SERVER"
# Nobody can answer a prompt, and a host that is down must not take minutes.
_SSH = "ssh -n -o BatchMode=yes -o ConnectTimeout=15"
_SERVER_SCRIPT = """(
  output=$({ssh} {host} {command} 2>&1); code=$?
  [ -z "$output" ] || printf '%s\\n' "$output" | sed 's/^/{host}: /'
  [ $code -eq 0 ] || echo "{host}: the command ended with exit code $code" >&2
  exit $code
) & pids="$pids $!"
"""


def assign_servers(trial_items: Iterable[Item], servers: Sequence[str]) -> list[Item]:
    """Return the items of a trial; those that run on servers list them."""
    return [item | {"servers": list(servers)} if item.get("on") == SERVERS else item for item in trial_items]


def build_server_script(command: str, servers: Sequence[str], values: Mapping[str, FactorValue]) -> str:
    """Return the script for the shell of the first rank: ``command``, filled in, on each of the servers."""
    parts = ["pids=\n"]
    for host in servers:
        names = placeholders.values_to_environment(values) | {SERVER: host}
        exports = " ".join(f"{name}={shlex.quote(value)}" for name, value in names.items())
        parts.append(_SERVER_SCRIPT.format(ssh=_SSH, host=host, command=shlex.quote(f"export {exports}; {command}")))
    return "".join(parts) + "worst=0\nfor pid in $pids; do wait $pid || worst=$?; done\nexit $worst"
