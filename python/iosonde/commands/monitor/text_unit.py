"""A systemd service and timer, and a line for cron, that look when a look is due."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from iosonde.core.errors import InputError
from iosonde.core.message import spell
from iosonde.layout.text import escape

if TYPE_CHECKING:
    from iosonde.campaign.monitor.request import MonitorRequest

_MINUTE_S, _HOUR_S = 60, 3600
_SERVICE = """\
# /etc/systemd/system/iosonde-monitor.service
[Unit]
Description=A look of iosonde at {path}

[Service]
Type=oneshot
ExecStart={command}
Nice=10
SuccessExitStatus=1
TimeoutStopSec={timeout}

# /etc/systemd/system/iosonde-monitor.timer
[Unit]
Description=Looks of iosonde at {path}

[Timer]
OnBootSec=2min
OnUnitActiveSec={every}s
AccuracySec=1s

[Install]
WantedBy=timers.target

# systemctl enable --now iosonde-monitor.timer
# or, in place of both, with crontab -e:
{cron} {cron_command}"""


def unit_lines(request: MonitorRequest) -> Iterator[str]:
    """Yield the text of the files, and the line for cron; nothing is installed. Raises InputError for an interval that
    cron does not have."""
    words = _build_command(request)
    if not all(word.isprintable() for word in words):
        raise InputError("unprintable-path", "a path has characters that a unit cannot hold", "give another path")
    text = _SERVICE.format(
        path=_escape_specifiers(os.path.abspath(request.path)),
        command=" ".join(map(_quote_for_systemd, words)),
        timeout=round(4 * request.idle_timeout),
        every=round(request.every),
        cron=_format_cron(request.every),
        cron_command=shlex.join(words).replace("%", "\\%"),
    )
    yield from map(escape, text.splitlines())


def _build_command(request: MonitorRequest) -> list[str]:
    program = shutil.which("iosonde")
    start = [program] if program else [sys.executable, "-m", "iosonde.cli.main"]
    values = {
        spell.every: f"{request.every:g}s",
        spell.budget: f"{100 * request.budget:g}%",
        spell.space: str(request.space),
        spell.idle_timeout: f"{request.idle_timeout:g}s",
        spell.store: os.path.abspath(request.store),
    }
    options = [word for option, value in values.items() for word in (str(option), value)]
    return [*start, "monitor", os.path.abspath(request.path), str(spell.once), *options]


def _quote_for_systemd(word: str) -> str:
    """Quote a word for ExecStart (systemd.service(5)): specifiers, variables, quotes and blanks lose their meaning."""
    escaped = _escape_specifiers(word).replace("$", "$$").replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"' if any(char in word for char in " \t\"'\\;") else escaped


def _escape_specifiers(text: str) -> str:
    return text.replace("%", "%%")


def _format_cron(every_s: float) -> str:
    """Return the times of cron that are nearest to an interval, at least a minute."""
    minutes = max(1, round(every_s / _MINUTE_S))
    if minutes < _HOUR_S // _MINUTE_S:
        return f"*/{minutes} * * * *"
    hours = round(every_s / _HOUR_S)
    return f"0 */{hours} * * *" if hours < 24 else "0 4 * * *"
