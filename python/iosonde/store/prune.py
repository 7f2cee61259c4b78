"""Old experiments out of a store: each with all of its runs, tags and notes. What stays is not touched.

A run disappears as it came: its directory gets a temporary name first, in one step, so that nobody sees half of it.
What a killed process leaves is removed by the same command, and by the next one that writes.
"""

from __future__ import annotations

import contextlib
from pathlib import Path

from iosonde.foreign.removal import check_unmounted
from iosonde.foreign.walking import walk_files

from . import files
from .lock import only_one
from .rundir import check_id
from .store import Store


def size_of(store: Store, run_id: str) -> int:
    """The bytes of a run's files."""
    found = walk_files(store.path / "runs" / run_id, on_skip=lambda path, why: None)
    return sum(path.lstat().st_size for path in found)


def clean_leftovers(store: Store) -> None:
    """Remove what killed processes left of runs. Raises SystemFaultError where the disk fails."""
    try:
        files.clean_leftovers(store.disk, store.path / "runs")
    except FileNotFoundError:
        return
    except OSError as error:
        raise files.write_failure(f"cannot remove what was left half-written in {store.path}", error) from error


def remove(store: Store, experiment: str, run_ids: list[str]) -> None:
    """Remove these runs of an experiment, and itself. Raises InputError where it is being measured, or where another
    file system is mounted in a run; SystemFaultError where the disk fails. The same again goes on."""
    check_id("an experiment", experiment)
    with only_one(store.path, experiment):
        try:
            hidden = [_hide_run(store, check_id("a run", run_id)) for run_id in run_ids]
            _unlink(store, "experiments", experiment)
            for directory in hidden:
                files.remove_tree(store.disk, directory)
        except OSError as error:
            raise files.write_failure(f"cannot remove {experiment} from {store.path}", error) from error


def _hide_run(store: Store, run_id: str) -> Path:
    """Give a run the name of one that is half-written, in one step. Raises MountedError, OSError."""
    runs = store.path / "runs"
    check_unmounted(runs / run_id, "the same command again")
    hidden = runs / files.temporary_name(run_id)
    with contextlib.suppress(FileNotFoundError):  # another process was faster
        store.disk.rename(runs / run_id, hidden)
        store.disk.sync_directory(runs)
    _unlink(store, "notes", run_id)
    return hidden


def _unlink(store: Store, part: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        store.disk.remove_file(store.path / part / f"{name}.json")
        store.disk.sync_directory(store.path / part)
