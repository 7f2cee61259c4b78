"""Old experiments out of a store: each with all of its runs, tags and notes. What stays is not touched.

A run disappears as it came: its directory gets a temporary name first, in one step, so that nobody sees half of it;
what a killed process leaves is removed by the next one that writes.
"""

from __future__ import annotations

import contextlib

from iosonde.core.errors import SystemFaultError

from . import files
from .lock import only_one
from .rundir import check_id
from .store import Store


def size_of(store: Store, run_id: str) -> int:
    """The bytes of a run's files."""
    directory = store.path / "runs" / run_id
    return sum(one.lstat().st_size for one in directory.rglob("*") if not one.is_dir())


def remove(store: Store, experiment: str, run_ids: list[str]) -> None:
    """Remove these runs of an experiment, and itself. Raises InputError where it is being measured, SystemFaultError
    where the disk fails; the same again goes on."""
    check_id("an experiment", experiment)
    with only_one(store.path, experiment):
        try:
            for run_id in run_ids:
                _remove_run(store, check_id("a run", run_id))
            _unlink(store, "experiments", experiment)
        except OSError as error:
            raise SystemFaultError(f"cannot remove {experiment} from {store.path}: {error.strerror}",
                                   "look at the permissions of the store") from error  # fmt: skip


def _remove_run(store: Store, run_id: str) -> None:
    runs = store.path / "runs"
    hidden = runs / files.temporary_name(run_id)
    with contextlib.suppress(FileNotFoundError):  # another process was faster
        store.disk.rename(runs / run_id, hidden)
        store.disk.sync_directory(runs)
        files.remove_tree(store.disk, hidden)
    _unlink(store, "notes", run_id)


def _unlink(store: Store, part: str, name: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        store.disk.remove_file(store.path / part / f"{name}.json")
        store.disk.sync_directory(store.path / part)
