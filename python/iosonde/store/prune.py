"""Old experiments out of a store: each with all of its runs, tags and notes. What stays is not touched.

A run disappears as it came: its directory gets a temporary name first, in one step, so that nobody sees half of it.
What a killed process leaves is removed by the same command, and by the next one that writes. A marker among the locks
says which experiment was being removed: one without runs may also be one that is yet to be measured.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.foreign.removal import check_unmounted
from iosonde.foreign.walking import walk_files

from . import files
from .lock import LOCKS, lock_experiment
from .rundir import check_id
from .store import Store

_BEGUN = ".removing-"  # no id begins with a dot


def size_of(store: Store, run_id: str) -> int:
    """The bytes of a run's files."""
    paths = walk_files(store.path / "runs" / run_id, on_skip=lambda path, why: None)
    return sum(path.lstat().st_size for path in paths)


def finish_removals(store: Store) -> None:
    """Remove what killed processes left, of runs and of experiments. Raises SystemFaultError where the disk fails."""
    try:
        store.clean_leftovers()
    except OSError as error:
        template = "cannot remove what was left half-written in {store}"
        raise files.write_failure(error, template, store=store.path) from error
    for marker in sorted((store.path / LOCKS).glob(f"{_BEGUN}*")):
        experiment = marker.name.removeprefix(_BEGUN)
        if not store.run_ids(experiment):  # its runs were removed, and itself not
            with contextlib.suppress(InputError):  # it is being measured anew
                remove(store, experiment, [])


def remove(store: Store, experiment: str, run_ids: list[str]) -> None:
    """Remove these runs of an experiment, and itself. Raises InputError where it is being measured, or where another
    file system is mounted in a run; SystemFaultError where the disk fails. The same again goes on.

    An interrupt comes after what was begun is removed."""
    check_id("an experiment", experiment)
    runs = store.path / "runs"
    with lock_experiment(store.path, experiment):
        for run_id in run_ids:
            check_unmounted(runs / check_id("a run", run_id), "the same command again")
        hidden = {run_id: runs / files.temporary_name(run_id) for run_id in run_ids}
        try:
            try:
                _remove_begun(store, experiment, hidden)
            except KeyboardInterrupt:
                _remove_begun(store, experiment, hidden)
                raise
        except OSError as error:
            template = "cannot remove {experiment} from {store}"
            raise files.write_failure(error, template, experiment=experiment, store=store.path) from error


def _remove_begun(store: Store, experiment: str, hidden: Mapping[str, Path]) -> None:
    """Remove whatever is still there of an experiment, its runs by way of the names in ``hidden``. Raises OSError."""
    runs, marker = store.path / "runs", store.path / LOCKS / f"{_BEGUN}{experiment}"
    files.replace_file(store.disk, marker, b"")
    for run_id, name in hidden.items():
        with contextlib.suppress(FileNotFoundError):  # another process was faster
            store.disk.rename(runs / run_id, name)
            store.disk.sync_directory(runs)
        _remove_file(store, store.path / "notes" / f"{run_id}.json")
    _remove_file(store, store.path / "experiments" / f"{experiment}.json")
    for name in hidden.values():
        files.remove_tree(store.disk, name)
    _remove_file(store, marker)


def _remove_file(store: Store, path: Path) -> None:
    with contextlib.suppress(FileNotFoundError):
        store.disk.remove_file(path)
        store.disk.sync_directory(path.parent)
