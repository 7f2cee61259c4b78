"""A command of the user's for each regression that was opened or closed since the last look."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, SystemFaultError
from iosonde.core.front_end import get_front_end
from iosonde.core.whole_file import replace_file

from .answer import Watch
from .change import OPEN, WORSE, SeriesChange, describe_series

OPENED, CLOSED = "opened", "closed"
WITHDRAWN = "withdrawn"  # state of a change that was announced and is not found any more
_LIMIT_S = 60.0  # for one command
_SCHEMA = 1
_STDERR = 2  # stdout is for the answer


@dataclass(frozen=True)
class ChangeEvent:
    """What happened last to a regression: OPENED; or CLOSED: fixed, accepted, before a baseline, or not found any more,
    as its level is back or it was none. ``ids``: all that it had within its bounds; ``change``: its JSON."""

    event: str
    ids: tuple[str, ...]
    change: Mapping[str, Any]

    def concerns(self, change: SeriesChange) -> bool:
        """Return whether the bounds of a change overlap those that it had."""
        return not set(self.ids).isdisjoint(change.earlier_ids)


def locate_announced(decisions: Path) -> Path:
    """Return the file that names the regressions that were announced, next to the directory of decisions."""
    return decisions.with_name(f"{decisions.name.removesuffix('decisions')}announced.json")


def announce_changes(watch: Watch, command: str, path: Path) -> None:
    """Run a command of the user's once for each event, which it reads on its input, and keep that in the file ``path``.
    Raises SystemFaultError if it fails: what it was not told is announced by the next look; DataError for a damaged
    file."""
    earlier = _read_events(path)
    for event in find_events(watch, earlier):
        get_front_end().remark(f"{event.change['id']} {event.event}: running {command}")
        _run(command, event, watch.name)
        earlier = (*(item for item in earlier if set(item.ids).isdisjoint(event.ids)), event)
        content = {"schema": _SCHEMA, "announced": [asdict(item) for item in earlier]}
        replace_file(path, json.dumps(content, indent=1).encode() + b"\n")


def find_events(watch: Watch, earlier: Sequence[ChangeEvent]) -> list[ChangeEvent]:
    """Return what happened since the ``earlier`` events, the oldest first. A change that was closed before anybody was
    told is no event, and neither is one of a series that this look has left out."""
    events = []
    worse = [change for change in reversed(watch.changes) if change.verdict == WORSE]
    for change in worse:
        kind = OPENED if change.state == OPEN else CLOSED
        if kind != next((item.event for item in earlier if item.concerns(change)), CLOSED):
            events.append(ChangeEvent(kind, change.earlier_ids, change.to_json()))
    series = [describe_series(item) for item in watch.series]
    for item in earlier:
        is_watched = any(item.change.items() >= names.items() for names in series)
        if item.event == OPENED and is_watched and not any(map(item.concerns, worse)):
            events.append(replace(item, event=CLOSED, change={**item.change, "state": WITHDRAWN}))
    return events


def _run(command: str, event: ChangeEvent, data: str) -> None:
    document = {"schema": _SCHEMA, "event": event.event, "data": data, "change": event.change}
    is_late = False
    with subprocess.Popen(
        ["/bin/sh", "-c", command], stdin=subprocess.PIPE, stdout=_STDERR, start_new_session=True, text=True
    ) as process:
        try:
            process.communicate(json.dumps(document) + "\n", _LIMIT_S)
        except BaseException as error:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            is_late = isinstance(error, subprocess.TimeoutExpired)
            if not is_late:
                raise
    if process.returncode:
        reason = f"signal {-process.returncode}" if process.returncode < 0 else f"exit code {process.returncode}"
        reason = f"not done in {_LIMIT_S:g} s" if is_late else reason
        raise SystemFaultError(
            "announcement-failed",
            "the command of {spell.on_change} failed for {kind} change {id}: {reason}",
            "try it with the JSON of docs/commands/watch.md on its input; the next look runs it again",
            kind=event.event,
            id=event.change["id"],
            reason=reason,
        )


def _read_events(path: Path) -> tuple[ChangeEvent, ...]:
    try:
        content = json.loads(path.read_bytes())
        if content["schema"] != _SCHEMA:
            raise ValueError("another version")
        return tuple(_build_event(**item) for item in content["announced"])
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise DataError(
            "damaged-file",
            "{path} cannot be read: it names the regressions that were announced",
            "restore it, or remove it: then all open ones are announced again",
            path=path,
        ) from error


def _build_event(event: str, ids: Sequence[str], change: Mapping[str, Any]) -> ChangeEvent:
    if event not in (OPENED, CLOSED) or not isinstance(change, dict):
        raise ValueError("no event")
    return ChangeEvent(event, tuple(ids), change)
