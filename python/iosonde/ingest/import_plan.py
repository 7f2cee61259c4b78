"""Settings of an import: its store, and how every file is read."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.types import Experiment
from iosonde.importers.columns_map import ColumnsMap
from iosonde.importers.registry import check_importer
from iosonde.store import Store
from iosonde.store.added_factors import AddedFactors
from iosonde.store.files import Disk

from .candidate_files import CandidateFile
from .paths import Factors, factors_from_manifest, factors_from_pattern, join_factors


@dataclass(frozen=True)
class ImportPlan:
    """Settings of the import for every process. ``columns``: the map by which every file is read."""

    store: Path
    experiment: str
    form: str | None
    sources: tuple[str, ...]
    columns: ColumnsMap | None = None

    def prepare(self) -> None:
        """Check the options and the place of the store before any file is read. Raises InputError; DataError if the
        added factors of the store are damaged."""
        self.factors()
        if self.form is not None:
            check_importer(self.form)
        if self.form is not None and self.columns is not None:
            raise InputError(
                "conflicting-options",
                "a column map and a tool's format exclude each other",
                "leave {spell.format} out",
            )
        Store.check_place(self.store)
        AddedFactors(self.store, Disk()).read()
        Store.check_name(self.experiment)

    def opened(self) -> Store:
        """Open the store, creating it for the first runs: unknown files leave nothing behind. The experiment has no
        date, so that stores of several imports can be merged."""
        store = Store.create(self.store)
        store.save_new_experiment(Experiment(self.experiment, "results of other tools", [], {}, [], 0, ""))
        return store

    def factors(self) -> Factors:
        """Return the factors from paths and manifests."""
        return join_factors(*map(_parse_source, self.sources))

    def silent(self, files: Sequence[CandidateFile]) -> Iterator[str]:
        """Yield a sentence for each source of factors that matches none of the files."""
        for name in self.sources:
            of = _parse_source(name)
            if files and not any(of(file.relative, file.root) for file in files):
                yield Message(
                    "unmatched-pattern",
                    "{spell.factors_from:'{pattern}'} matches none of the {n_files} paths, as '{path}': "
                    "it is read from the end of a path, and '/...' at its end stands for what follows",
                    pattern=name,
                    n_files=len(files),
                    path=files[0].relative,
                )


def _parse_source(name: str) -> Factors:
    return factors_from_manifest(Path(name)) if name.endswith(".csv") else factors_from_pattern(name)
