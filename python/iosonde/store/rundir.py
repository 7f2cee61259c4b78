"""The directory of one run: write, read and check it.

``runs/<run-id>/`` holds ``run.json``, ``results.parquet``, ``operations.parquet`` if operations were recorded, and
``raw/`` if another tool's output was kept. run.json lists every other file with size and SHA-256. Sizes are checked at
every access to the run, a hash when its file is read.
"""

import hashlib
import os
import platform
import re
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core.errors import DataError, InputError, SchemaTooNewError
from iosonde.core.message import Message, restore_message
from iosonde.core.schema import OPERATION
from iosonde.core.types import Run
from iosonde.core.version import __version__

from . import files, tables
from .experiment_digest import ExperimentDigest
from .files import Disk, Writer, is_temporary, open_new_file, read_plain, write_copy, write_new
from .run_schema import RUN, check_types
from .runfile import build_run_document, decode_sealed, encode_sealed, from_plain

DOCUMENT = "run.json"
RESULTS = "results.parquet"
OPERATIONS = "operations.parquet"
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+=@-]{0,149}")
_READ_BYTES = 1 << 20
# Larger raw files are not read with their run.
RAW_BYTES = 16 << 20


def list_run_directories(path: Path) -> list[Path]:
    """Return the directories of the store at ``path`` that look like finished runs."""
    return [path / "runs" / name for name, _ in sorted(list_run_inodes(path))]


def list_run_inodes(path: Path) -> list[tuple[str, int]]:
    """Return each name of ``list_run_directories`` with the inode of its directory. The runs themselves are
    not accessed."""
    try:
        with os.scandir(path / "runs") as entries:
            return [
                (entry.name, entry.inode())
                for entry in entries
                if entry.is_dir(follow_symlinks=False) and not is_temporary(entry.name)
            ]
    except FileNotFoundError:
        return []


def is_run_directory(path: Path) -> bool:
    """Return whether this entry of ``runs/`` can be a run: links are not followed."""
    return path.is_dir() and not path.is_symlink() and not is_temporary(path.name)


def check_id(what: str, value: str) -> str:
    """Return ``value`` if it is a valid file name everywhere. Raises InputError."""
    if not _ID.fullmatch(value):
        raise InputError(
            "invalid-id",
            "'{id}' is not a valid id of {kind}",
            "use up to 150 of A-Z a-z 0-9 . _ + = @ -",
            id=value,
            kind=what,
        )
    return value


def check_run(run: Run) -> None:
    """Check that a directory can hold ``run``. Raises InputError."""
    check_id("a run", run.id)
    check_id("an experiment", run.experiment)
    for name in run.raw:
        if not is_flat_name(name):
            raise InputError(
                "invalid-file-name", "'{file}' is not a valid name of a raw file", "use a plain file name", file=name
            )
    if run.operations is not None and getattr(run.operations, "dtype", None) != OPERATION:
        raise InputError(
            "wrong-type",
            "the operations of run {run_id} do not have dtype OPERATION",
            "see iosonde.core.schema",
            run_id=run.id,
        )


def is_flat_name(name: str) -> bool:
    """Return whether ``name`` is valid inside a directory and does not lead out of it."""
    encoded = name.encode("utf-8", "surrogateescape") if name.isprintable() else b""
    return 0 < len(encoded) <= 255 and "/" not in name and name not in (".", "..")


def write_run(disk: Disk, directory: Path, run: Run, stored_at: str, experiment: ExperimentDigest | None) -> None:
    """Write every file of ``run`` into the existing empty ``directory``, each flushed; run.json is last. ``experiment``
    is the digest of its experiment, None if that is not stored."""
    files = {RESULTS: _write_table(disk, directory / RESULTS, tables.write_results, run.observations)}
    if run.operations is not None:
        files[OPERATIONS] = _write_table(disk, directory / OPERATIONS, tables.write_operations, run.operations)
    if run.raw:
        disk.make_directory(directory / "raw")
    for name, content in run.raw.items():
        path = directory / "raw" / name
        files[f"raw/{name}"] = (
            write_copy(disk, path, content) if isinstance(content, Path) else write_new(disk, path, content)
        )
    versions = {"iosonde": __version__, "python": platform.python_version(), "numpy": np.__version__}
    document = build_run_document(run, files, versions, stored_at, experiment)
    try:
        check_types(from_plain(document), RUN)
    except DataError as error:
        raise InputError(
            error.code,
            "cannot store run {run_id}: {reason}",
            "use the types in docs/store.md",
            **{**error.values, "run_id": run.id, "reason": error.message},
        ) from error
    write_new(disk, directory / DOCUMENT, encode_sealed(document))


def _write_table(disk: Disk, path: Path, write: Callable[[Any, Writer], None], rows: Any) -> dict[str, int | str]:
    with open_new_file(disk, path) as file:
        write(rows, file)
        return file.commit()


def read_run_state(directory: Path) -> tuple[int, int, int] | None:
    """Return a value that changes when run.json is replaced; None if it does not exist."""
    return files.read_file_state(f"{directory}/{DOCUMENT}")


def read_document(directory: Path) -> dict[str, Any]:
    """Return the content of run.json after a quick check: its own hash, and existence and size of every file.

    Raises DataError, naming the run, or SchemaTooNewError.
    """
    place = str(directory)  # text, as for 100,000 runs paths take a fifth of the time
    try:
        if os.path.islink(f"{place}/{DOCUMENT}") or os.path.islink(f"{place}/raw"):
            raise DataError("unexpected-link", "it has a link in place of its own files")
        document = decode_sealed(read_plain(directory / DOCUMENT))
        check_types(document, RUN)
        if document["id"] != directory.name:
            raise DataError("id-mismatch", "run.json belongs to run {run_id}", run_id=document["id"])
        for name, expected in document["files"].items():
            _check_size(place, name, expected["bytes"])
        if RESULTS not in document["files"]:
            raise DataError("missing-results", "it does not list {file}", file=RESULTS)
    except FileNotFoundError:
        raise build_damage_error(directory, Message("missing-file", "{file} is missing", file=DOCUMENT)) from None
    except OSError as error:
        raise build_damage_error(directory, _describe_unreadable(DOCUMENT, error)) from error
    except SchemaTooNewError as error:
        raise error.prefixed(f"run {directory.name}") from error
    except DataError as error:
        raise build_damage_error(directory, error.message) from error
    except (AttributeError, KeyError, TypeError) as error:
        raise build_damage_error(
            directory, Message("missing-key", "{file} lacks {name}", file=DOCUMENT, name=error)
        ) from error
    return document


def read_file(directory: Path, document: dict[str, Any], name: str) -> bytes:
    """Return the content of one file of the run. Raises DataError if it differs from the written one."""
    try:
        content = (directory / name).read_bytes()
    except OSError as error:
        raise build_damage_error(directory, _describe_unreadable(name, error)) from error
    if hashlib.sha256(content).hexdigest() != document["files"][name]["sha256"]:
        raise build_damage_error(directory, _describe_changed(name))
    return content


def read_raw(directory: Path, document: dict[str, Any]) -> dict[str, bytes | Path]:
    """Return the run's raw files by name: their content, or the path of a large file. Raises DataError."""
    return {
        name.removeprefix("raw/"): read_file(directory, document, name)
        if about["bytes"] <= RAW_BYTES
        else directory / name
        for name, about in document["files"].items()
        if name.startswith("raw/")
    }


def verify_file(directory: Path, document: dict[str, Any], name: str) -> None:
    """Check the hash of a file without keeping its content in memory. Raises DataError."""
    digest = hashlib.sha256()
    try:
        with (directory / name).open("rb") as file:
            while block := file.read(_READ_BYTES):
                digest.update(block)
    except OSError as error:
        raise build_damage_error(directory, _describe_unreadable(name, error)) from error
    if digest.hexdigest() != document["files"][name]["sha256"]:
        raise build_damage_error(directory, _describe_changed(name))


def build_damage_error(directory: Path, damage: Message) -> DataError:
    """Build the error of a damaged run. Its values are those of the damage, whose code is ``damage``."""
    error = DataError(
        "damaged-run",
        "run {run_id} is damaged: {reason}",
        "restore {directory} from a copy, or remove it",
        run_id=directory.name,
        reason=damage,
        directory=directory,
    )
    return error.with_words(
        restore_message(error.code, error.message, {**damage.values, **error.values, "damage": damage.code})
    )


def _describe_unreadable(name: str, error: OSError) -> Message:
    return Message("unreadable-file", "{file} cannot be read: {reason}", file=name, reason=error.strerror)


def _describe_changed(name: str) -> Message:
    return Message("checksum-mismatch", "the content of {file} differs from the written one", file=name)


def _check_size(directory: str, name: str, size: int) -> None:
    """Check one file of a run by name and size. A store may come from anywhere, so links and names that lead out of the
    run are refused. Raises DataError."""
    kind, _, rest = name.partition("/")
    if not (name in (RESULTS, OPERATIONS) or (kind == "raw" and is_flat_name(rest))):
        raise DataError("unexpected-file", "it lists the unexpected file '{file}'", file=name)
    try:
        status = os.lstat(f"{directory}/{name}")
    except OSError:
        raise DataError("missing-file", "{file} is missing", file=name) from None
    if not stat.S_ISREG(status.st_mode):
        raise DataError("not-a-regular-file", "{file} is not a file", file=name)
    if status.st_size != size:
        raise DataError(
            "size-mismatch",
            "{file} has {actual_bytes} bytes instead of {expected_bytes}",
            file=name,
            actual_bytes=status.st_size,
            expected_bytes=size,
        )
