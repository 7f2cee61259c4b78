"""Create a redacted copy of a store for sharing: names, addresses and secrets are replaced by pseudonyms.

Every run is read, rewritten and stored again. Files, metadata and names enter the copy only through ``hide``. The
original is only read. A run whose experiment was changed is reported in the copy too, and an uncheckable one stays
uncheckable.
"""

import contextlib
import dataclasses
import getpass
import socket
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from iosonde.core.errors import InputError, IosondeError
from iosonde.core.message import Message
from iosonde.core.types import Finding, Observation, Run, Severity

from . import files
from .experiment_digest import read_run_digest
from .hide import Names
from .remains import Remains
from .runfile import decode, decode_experiment, encode, encode_experiment
from .store import Store


@dataclass(frozen=True)
class Redacted:
    """The result: runs copied, names replaced (kind → count), parts left out with the reason, and remaining names."""

    runs: int
    replaced: dict[str, int]
    problems: list[Finding]
    remains: Remains


def redact(source: Store, target: str | Path, also: Iterable[str] = ()) -> Redacted:
    """Write a redacted copy of ``source`` to ``target`` atomically. ``also``: more words to hide.

    Damaged runs and binary raw files are left out, and named in the result. Raises InputError if ``target`` exists,
    SystemFaultError if the disk fails.
    """
    place, disk = _resolve_copy_path(Path(target)), source.disk
    try:
        with contextlib.suppress(FileNotFoundError):  # the parent directory may not exist yet
            files.clean_leftovers(disk, place.parent, place.name)
        files.make_directories(disk, place.parent)
        with files.create_directory(disk, place) as directory, _rename_path_in_errors(directory, target):
            return _write_copy(source, Store.create(directory, disk), also)
    except OSError as error:
        raise files.build_write_error(error, "cannot make the copy {path}", path=target) from error


def _resolve_copy_path(target: Path) -> Path:
    """Return the place of the copy. Raises InputError."""
    Store.check_place(target)
    if target.is_dir() and any(target.iterdir()):
        raise InputError("directory-not-empty", "{path} is not empty", "name a new directory for the copy", path=target)
    if target.is_mount():
        raise InputError(
            "mount-point",
            "{path} is a mount point",
            "name a new directory in it, such as {suggestion}",
            path=target,
            suggestion=target / "copy",
        )
    return target.resolve()


@contextlib.contextmanager
def _rename_path_in_errors(directory: Path, target: str | Path) -> Iterator[None]:
    """Make errors about ``directory`` name its final path."""
    try:
        yield
    except IosondeError as error:
        raise error.with_words(error.message.replaced(str(directory), str(target))) from error


def _write_copy(source: Store, copy: Store, also: Iterable[str]) -> Redacted:
    names = Names(also)
    names.learn(_describe_host())
    problems = source.problems()
    damaged = {problem.evidence["path"].removeprefix("runs/") for problem in problems}
    ids = [run_id for run_id in source.run_ids() if run_id not in damaged]
    neutral_names = set(ids)  # and the names of metrics and operations
    for run_id in ids:
        run = source.run(run_id)
        neutral_names.update(name for row in run.observations for name in (row.operation, row.metric))
        names.learn({**_collect_fields(run), "notes": source.notes.read_notes(run_id)})
        for content in run.raw.values():
            names.learn(_decode_text(content))
    experiments = source.experiments()
    for experiment in experiments:
        names.learn(dataclasses.asdict(experiment))
        neutral_names.add(experiment.id)
    remains = Remains(frozenset(map(names.hide_text, neutral_names)))
    for experiment in experiments:
        document = names.hide(decode(encode_experiment(experiment)))
        copy.save_experiment(hidden := decode_experiment(encode(document), document["id"]))
        remains.read(document)
        remains.read_names([hidden.name])
    changed = {problem.evidence["path"] for problem in problems if problem.code == "D107"}
    for run_id in ids:
        run = _hide_run(source.run(run_id, operations=True), names)
        digest = read_run_digest(source.document(run_id))
        if digest and f"experiments/{source.document(run_id)['experiment']}.json" not in changed:
            digest = copy.experiment_digest(run.experiment)
        copy.append_with_digest(run, digest)
        notes = names.hide(source.notes.read_notes(run_id))
        copy.notes.add(run.id, notes)
        _scan_run_text(run, notes, remains)
    return Redacted(len(ids), names.replaced, problems, remains)


def _scan_run_text(run: Run, notes: dict[str, list[Any]], remains: Remains) -> None:
    """Pass all text in the copy of a run to ``remains``."""
    remains.read(_collect_fields(run))
    remains.read_sentence(run.source)
    levels = {f"{factor}: {level}" for factor, level in run.factors.items() if isinstance(level, str)}
    remains.read_names([*notes["tags"], *sorted(levels), *run.raw])
    for note in notes["notes"]:
        remains.read_sentence(str(note.get("text", "")))
    for content in run.raw.values():
        remains.read_sentence(_decode_text(content) or "")


def _describe_host() -> dict[str, str]:
    """Return this host and user, whose names are also hidden."""
    names = {"host": socket.gethostname()}
    with contextlib.suppress(KeyError, OSError):  # a user without a name
        names["user"] = getpass.getuser()
    return names


def _collect_fields(run: Run) -> dict[str, Any]:
    """Return all text fields of a run as plain data."""
    return {
        field.name: _to_plain(getattr(run, field.name))
        for field in dataclasses.fields(run)
        if field.name not in ("operations", "raw")
    }


def _to_plain(value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return [dataclasses.asdict(item) if isinstance(item, (Observation, Finding)) else item for item in value]


def _hide_run(run: Run, names: Names) -> Run:
    raw, skipped = {}, []
    for name, content in run.raw.items():
        text = _decode_text(content)
        if text is None:
            skipped.append(names.hide(name))
        else:
            raw[names.hide(name)] = names.hide(text).encode("utf-8")
    findings = [
        replace(finding, **{key: names.hide(getattr(finding, key)) for key in ("sentence", "action", "evidence")})
        for finding in run.findings
    ]
    if skipped:
        findings.append(
            Finding(
                "D106",
                Severity.INFO,
                Message(
                    "not-text",
                    "left out of this redacted copy because they are not text: {files}",
                    files=", ".join(skipped),
                ),
            )
        )
    observations = [
        replace(row, **{key: names.hide(getattr(row, key)) for key in ("operation", "metric", "unit", "includes")})
        for row in run.observations
    ]
    plain = {
        key: names.hide(getattr(run, key))
        for key in ("id", "experiment", "source", "started_at", "factors", "facts", "phases", "missing", "headlines")
    }
    return replace(run, **plain, observations=observations, findings=findings, raw=raw)


def _decode_text(content: bytes | Path) -> str | None:
    """Return the text in a raw file; None if it is binary (packed data could hide anything)."""
    try:
        text = (content.read_bytes() if isinstance(content, Path) else content).decode("utf-8")
    except UnicodeDecodeError:
        return None
    return None if "\0" in text else text
