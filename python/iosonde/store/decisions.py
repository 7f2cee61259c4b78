"""What people decided about changes over a history: one small dated file for each decision, never rewritten.

``decisions/`` of a store, or ``FILE.decisions/`` next to a table. Who may write there may decide. Removing a file
withdraws its decision.
"""

from __future__ import annotations

import getpass
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.timestamps import format_now

from .files import (
    MARKER,
    Disk,
    build_temporary_file_name,
    build_write_error,
    clean_leftovers,
    is_temporary,
    make_directories,
    read_plain,
    write_new,
)
from .runfile import SELF_SHA256, decode, encode_sealed, is_sealed

ACCEPTED, BASELINE = "accepted", "baseline"
DIRECTORY = "decisions"
_SCHEMA = 1
_TEXTS = ("kind", "at", "by", "because", "id", "operation", "metric", "direction", "start")


@dataclass(frozen=True)
class ChangeDecision:
    """``kind``: ACCEPTED, of a change that is intended or tolerated, or BASELINE, of a new one. ``at``: UTC time;
    ``by``: who; ``because``: why.

    Of an accepted change: its ``id``, ``operation``, ``metric``, ``direction`` (``worse``), ``levels`` of the series,
    and ``places``: the runs that may be the first after it. Of a baseline: its ``start``, an ISO date or time."""

    kind: str
    at: str
    by: str
    because: str
    id: str = ""
    operation: str = ""
    metric: str = ""
    direction: str = ""
    start: str = ""
    levels: Mapping[str, Any] | None = field(default=None, hash=False)
    places: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return what a file holds, and answers show."""
        return {name: value for name, value in asdict(self).items() if value not in ("", None, ())}


def locate_decisions(data: str | Path) -> Path:
    """Return the directory with the decisions about DATA at this path."""
    path = Path(data)
    return path / DIRECTORY if (path / MARKER).exists() else path.parent / f"{path.name}.{DIRECTORY}"


def read_decisions(directory: Path) -> tuple[ChangeDecision, ...]:
    """Return the decisions in a directory, oldest first; none if it does not exist. Raises DataError for a file that is
    damaged, or of another version: no decision is ignored."""
    try:
        names = sorted(name for name in os.listdir(directory) if not is_temporary(name))
    except (FileNotFoundError, NotADirectoryError):
        return ()
    except OSError as error:
        raise _build_damage_error(directory, error.strerror or "it cannot be read") from error
    return tuple(sorted((_read_decision(directory / name) for name in names), key=lambda decision: decision.at))


def write_decision(directory: Path, decision: ChangeDecision) -> Path:
    """Write a decision to a file of its own; return its path. Concurrent writers each keep theirs. Raises
    SystemFaultError."""
    disk = Disk()
    name = f"{decision.at.replace(':', '')}-{decision.kind}" + (f"-{decision.id}" if decision.id else "")
    content = encode_sealed({"schema": _SCHEMA, **decision.to_json(), "places": list(decision.places)})
    temporary = directory / build_temporary_file_name(f"{name}.json")
    try:
        make_directories(disk, directory)
        clean_leftovers(disk, directory)
        write_new(disk, temporary, content)
        path = _publish(temporary, directory / name)
        disk.remove_file(temporary)
        disk.sync_directory(directory)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise build_write_error(error, "cannot write a decision in {path}", path=directory) from error
    return path


def copy_decisions(source: Path, target: Path) -> None:
    """Write the decisions that ``target`` lacks. Raises DataError, SystemFaultError."""
    existing = read_decisions(target)
    for decision in read_decisions(source):
        if decision not in existing:
            write_decision(target, decision)


def build_decision(kind: str, because: str, by: str | None, **values: Any) -> ChangeDecision:
    """Return a decision of now, by the user of this process unless another name is given."""
    return ChangeDecision(kind, format_now(), by or _get_user_name(), because, **values)


def _publish(temporary: Path, stem: Path) -> Path:
    """Give a finished file its name, or the next free one: a link never replaces another decision."""
    number = 1
    while True:
        path = stem.with_name(f"{stem.name}.json" if number == 1 else f"{stem.name}-{number}.json")
        try:
            os.link(temporary, path)
        except FileExistsError:
            number += 1
        else:
            return path


def _read_decision(path: Path) -> ChangeDecision:
    try:
        text = read_plain(path)
        content = decode(text)
        if not isinstance(content, dict) or (SELF_SHA256 in content and not is_sealed(text, content)):
            raise _build_damage_error(path, "it was changed after it was written, or written in part")
        if content.get("schema") != _SCHEMA:
            raise DataError(
                "schema-too-new",
                "{path} has schema {schema}; this iosonde reads {schema_read}",
                "install the iosonde that wrote it, or move the file away to withdraw its decision",
                path=path,
                schema=content.get("schema"),
                schema_read=_SCHEMA,
            )
        return _build_decision(content)
    except DataError as error:
        raise error if "path" in error.values else _build_damage_error(path, error.message) from error
    except OSError as error:
        raise _build_damage_error(path, error.strerror or "it cannot be read") from error
    except (KeyError, TypeError, ValueError) as error:
        raise _build_damage_error(path, "it lacks a key, or a value has another type") from error


def _build_decision(content: Mapping[str, Any]) -> ChangeDecision:
    texts = {name: content[name] if name in _TEXTS[:4] else content.get(name, "") for name in _TEXTS}
    places: Sequence[str] = content["places"]
    levels = content.get("levels")
    is_valid = all(isinstance(text, str) for text in (*texts.values(), *places)) and isinstance(places, list)
    if not is_valid or texts["kind"] not in (ACCEPTED, BASELINE) or not isinstance(levels, (dict, type(None))):
        raise TypeError("a value has another type")
    if not (places if texts["kind"] == ACCEPTED else texts["start"]):
        raise ValueError("it does not say what was decided")
    return ChangeDecision(**texts, levels=levels, places=tuple(places))


def _build_damage_error(path: Path, reason: str) -> DataError:
    return DataError(
        "damaged-file",
        "the decision in {path} cannot be read: {reason}",
        "restore it from a copy, or remove it to withdraw the decision, and decide again",
        path=path,
        reason=reason,
    )


def _get_user_name() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # no entry in the password database
        return f"user {os.getuid()}"
