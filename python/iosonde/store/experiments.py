"""The experiments of a store: one JSON file per question, replaced atomically."""

from collections.abc import Collection
from pathlib import Path

from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Experiment

from . import files, rundir
from .experiment_digest import ExperimentDigest, digest_experiment, digest_first_trials
from .runfile import decode, decode_experiment, encode_experiment


class Experiments:
    """The experiments in a store's ``directory``."""

    def __init__(self, directory: Path, disk: files.Disk) -> None:
        self._directory = directory
        self._disk = disk
        self._read: dict[str, tuple[tuple[int, int, int], Experiment]] = {}
        self._digests: dict[str, tuple[tuple[int, int, int], ExperimentDigest]] = {}

    def save(self, experiment: Experiment) -> None:
        """Save ``experiment``, replacing an earlier one with its id. Raises SystemFaultError if the disk fails."""
        name = rundir.check_id("an experiment", experiment.id)
        try:
            files.recreate_store_part(self._disk, self._directory)
            files.replace_file(self._disk, self.path(name), encode_experiment(experiment))
        except OSError as error:
            raise files.build_write_error(
                error,
                "cannot store experiment {experiment_id} in {store}",
                experiment_id=name,
                store=self._directory.parent,
            ) from error

    def save_new(self, experiment: Experiment) -> None:
        """Save ``experiment`` unless one with its id exists; of concurrent processes the first wins. Raises
        SystemFaultError if the disk fails."""
        try:
            files.recreate_store_part(self._disk, self._directory)
            with files.lock_directory(self._directory):
                if experiment.id not in {item.id for item in self.all()}:
                    self.save(experiment)
        except OSError as error:
            raise files.build_write_error(error, "cannot write in {path}", path=self._directory) from error

    def digest(self, experiment_id: str) -> ExperimentDigest | None:
        """Return the digest for a run that is stored now; None if the experiment is missing or unreadable."""
        state, before = files.read_file_state(self.path(experiment_id)), self._digests.get(experiment_id)
        if state is None:
            return None
        if before is None or before[0] != state:
            try:
                self.get(experiment_id)
                digest = digest_experiment(decode(files.read_plain(self.path(experiment_id))))
            except (DataError, OSError):
                return None
            before = self._digests[experiment_id] = state, digest
        return before[1]

    def digests(self, experiment_id: str, trials: Collection[int]) -> dict[int, str]:
        """Return the digest for each number of first trials. Raises FileNotFoundError, DataError."""
        if files.read_file_state(self.path(experiment_id)) is None:
            raise FileNotFoundError(experiment_id)
        self.get(experiment_id)
        return digest_first_trials(decode(files.read_plain(self.path(experiment_id))), trials)

    def get(self, experiment_id: str) -> Experiment:
        """Return an experiment, read again only if its file was replaced. Raises InputError if there is none with this
        id, DataError if it is damaged."""
        path = self.path(rundir.check_id("an experiment", experiment_id))
        before, state = self._read.get(experiment_id), files.read_file_state(path)
        if before is not None and before[0] == state:
            return before[1]
        try:
            experiment = decode_experiment(files.read_plain(path), experiment_id)
        except FileNotFoundError:
            raise InputError(
                "unknown-experiment",
                "unknown experiment {experiment_id} in {store}",
                "known: {known}",
                experiment_id=experiment_id,
                store=self._directory.parent,
                known=", ".join(self._list_ids()) or "none",
            ) from None
        except OSError as error:
            raise DataError(
                "unreadable-file",
                "experiment {experiment_id} cannot be read: {reason}",
                "restore {path} from a copy, or remove it",
                experiment_id=experiment_id,
                reason=error.strerror,
                path=path,
            ) from error
        if state is not None:
            self._read[experiment_id] = state, experiment
        return experiment

    def all(self, only: Collection[str] | None = None) -> list[Experiment]:
        """Return all readable experiments, oldest first; ``only`` restricts the ids."""
        experiments = []
        for name in self._list_ids() if only is None else sorted(only):
            try:
                experiments.append(self.get(name))
            except (DataError, InputError):
                continue  # `Store.problems` reports it
        return sorted(experiments, key=lambda item: (item.created_at, item.id))

    def path(self, experiment_id: str) -> Path:
        """Return the path of an experiment's file."""
        return self._directory / f"{experiment_id}.json"

    def _list_ids(self) -> list[str]:
        return sorted(path.stem for path in self._directory.glob("*.json") if not files.is_temporary(path.name))
