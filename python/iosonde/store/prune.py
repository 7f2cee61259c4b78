"""Remove old experiments from a store, each with all its runs, tags and notes. The rest is not touched.

The directory of a run is first renamed to a temporary name, so that no reader sees half a run. Leftovers of a killed
process are removed by the same command, and by the next one that writes. A marker among the locks names the experiment
being removed; without it, one without runs may still be waiting for its measurement.
"""

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


def compute_run_size(store: Store, run_id: str) -> int:
    """Return the total size of a run's files in bytes."""
    paths = walk_files(store.path / "runs" / run_id, on_skip=lambda path, why: None)
    return sum(path.lstat().st_size for path in paths)


def finish_removals(store: Store) -> None:
    """Remove leftovers of killed processes, of runs and of experiments. Raises SystemFaultError if the disk fails."""
    try:
        store.clean_leftovers()
    except OSError as error:
        raise files.build_write_error(error, "cannot remove half-written files in {store}", store=store.path) from error
    for marker in sorted((store.path / LOCKS).glob(f"{_BEGUN}*")):
        experiment = marker.name.removeprefix(_BEGUN)
        if not store.run_ids(experiment):  # its runs were removed, but not the experiment
            with contextlib.suppress(InputError):  # it is being measured again
                remove_experiment(store, experiment, [])


def remove_experiment(store: Store, experiment: str, run_ids: list[str]) -> None:
    """Remove these runs of an experiment, and the experiment itself. An interrupt takes effect after the removal;
    repeating the call continues it. Raises InputError if it is being measured, or if another file system is mounted in
    a run; SystemFaultError if the disk fails."""
    check_id("an experiment", experiment)
    runs = store.path / "runs"
    with lock_experiment(store.path, experiment):
        for run_id in run_ids:
            check_unmounted(runs / check_id("a run", run_id), "repeat the command")
        hidden = {run_id: runs / files.build_temporary_file_name(run_id) for run_id in run_ids}
        try:
            try:
                _finish_removal(store, experiment, hidden)
            except KeyboardInterrupt:
                _finish_removal(store, experiment, hidden)
                raise
        except OSError as error:
            raise files.build_write_error(
                error, "cannot remove {experiment} from {store}", experiment=experiment, store=store.path
            ) from error


def _finish_removal(store: Store, experiment: str, hidden: Mapping[str, Path]) -> None:
    """Remove the remaining parts of an experiment, its runs through the names in ``hidden``. Raises OSError."""
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
