"""Tags and notes on runs: ``notes/<run-id>.json``, separate from the runs, which never change."""

import contextlib
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError

from .files import (
    Disk,
    build_write_error,
    clean_leftovers,
    lock_directory,
    read_plain,
    recreate_store_part,
    replace_file,
)
from .runfile import SELF_SHA256, decode, encode_sealed, is_sealed


class Notes:
    """Tags and notes of a store's runs: for each ``{"tags": [...], "notes": [{"at": ..., "text": ...}]}``."""

    def __init__(self, directory: Path, disk: Disk) -> None:
        self._directory = directory
        self._disk = disk

    def read_notes(self, run_id: str) -> dict[str, list[Any]]:
        """Return tags (sorted) and notes (in order) of a run; empty if there are none. Raises DataError."""
        path = self._get_path(run_id)
        try:
            text = read_plain(path)
            content = decode(text)
            if SELF_SHA256 in content and not is_sealed(text, content):
                raise DataError("checksum-mismatch", "it was changed after it was written")
            return {
                "tags": sorted(map(str, content["tags"])),
                "notes": [dict(item) for item in content["notes"]],
            }
        except FileNotFoundError:
            return {"tags": [], "notes": []}
        except (DataError, OSError, KeyError, TypeError, ValueError) as error:
            raise DataError(
                "damaged-file",
                "the notes of run {run_id} are damaged",
                "correct or remove {path}",
                run_id=run_id,
                path=path,
            ) from error

    def tags(self, run_id: str) -> list[str]:
        """Return the tags of a run; empty if its notes are damaged."""
        try:
            return self.read_notes(run_id)["tags"]
        except DataError:
            return []

    def change(
        self, run_id: str, add: list[str] | None = None, remove: list[str] | None = None, note: str = ""
    ) -> None:
        """Add and remove tags; add a note with the current time."""
        notes = [{"at": datetime.now(UTC).isoformat(timespec="seconds"), "text": note}] if note else []
        self.add(run_id, {"tags": add or [], "notes": notes}, set(remove or ()))

    def add(self, run_id: str, content: dict[str, list[Any]], remove: set[str] | None = None) -> None:
        """Merge ``content`` with the existing notes; an equal note is not repeated."""
        with self._lock_directory():
            clean_leftovers(self._disk, self._directory)
            old = self.read_notes(run_id)
            tags = sorted({*old["tags"], *content["tags"]} - (remove or set()))
            notes = old["notes"] + [item for item in content["notes"] if item not in old["notes"]]
            if {"tags": tags, "notes": notes} == old:
                return
            try:
                replace_file(self._disk, self._get_path(run_id), encode_sealed({"tags": tags, "notes": notes}))
            except OSError as error:
                raise build_write_error(error, "cannot write {path}", path=self._get_path(run_id)) from error

    def _get_path(self, run_id: str) -> Path:
        return self._directory / f"{run_id}.json"

    @contextlib.contextmanager
    def _lock_directory(self) -> Iterator[None]:
        """Serialise concurrent changes, so that both survive."""
        with contextlib.ExitStack() as stack:
            try:
                recreate_store_part(self._disk, self._directory)
                stack.enter_context(lock_directory(self._directory))
            except OSError as error:
                raise build_write_error(error, "cannot write in {path}", path=self._directory) from error
            yield
