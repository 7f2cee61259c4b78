"""``iosonde import``: other tools' results into a store; a file that is there already is left alone."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.parse.options import ReaderOptions
from iosonde.commands.result import Result
from iosonde.core.errors import InputError
from iosonde.core.option_kinds import Integer, Paths
from iosonde.core.options import Flag, NameList, Names, Text

if TYPE_CHECKING:
    from iosonde.ingest.import_outcomes import Imported
    from iosonde.ingest.import_plan import ImportPlan


@dataclass
class ImportOptions(ReaderOptions):
    """Options of ``iosonde import``."""

    files: Paths[NameList] = Paths("FILE...", "The files.", is_argument=True, is_required=True, is_repeatable=True)
    store: Text[str] = Text("DIR", "The store; made if it is not there.", is_required=True)
    _: KW_ONLY
    recursive: Flag[bool] = Flag("FILE may be a directory: everything in it is looked at.", short="-r")
    factors_from: Names[NameList] = Names(
        "PATTERN|CSV",
        "Factors from the path ('site={}/nodes={}/...') or from a manifest (.csv). Repeatable.",
        (),
        is_repeatable=True,
    )
    experiment: Text[str] = Text("ID", "What the runs belong to.", "imported")
    jobs: Integer[int | None] = Integer("N", "Processes that read; as many as there are CPUs.", least=1)

    def build_plan(self) -> ImportPlan:
        """Return the settings of the import, once they are checked. Raises InputError."""
        from iosonde.commands.parse.answer import read_columns_map
        from iosonde.ingest.import_plan import ImportPlan

        plan = ImportPlan(
            Path(self.store), self.experiment, self.format, self.factors_from or (), read_columns_map(self.columns)
        )
        plan.prepare()
        return plan


@command("import", ImportOptions, "import -r archive --store results --factors-from 'site={}/nodes={}/...'")
def import_files(options: ImportOptions) -> Result[Imported]:
    """Store what other tools' results in FILE say. The same content is never stored twice.

    Every result file keeps its own text, its warnings, and the line of each number. What is not understood is listed
    with the reason; runs that ended early are marked incomplete and left out of totals.

    Returns
    -------
    Result[Imported]
        One row a file. A file that was named and not understood is an ``IosondeWarning``, too.

    Raises
    ------
    DataError
        Nothing was imported.
    """
    from iosonde.ingest.candidate_files import iterate_file_groups
    from iosonde.ingest.import_files import import_all

    from .text import lines

    if not options.files:
        raise InputError("missing-file-name", "no file is named", "give a path, or a list of paths")
    plan = options.build_plan()
    with iterate_file_groups(options.files, options.recursive, plan.store) as candidates:
        imported = import_all(plan, candidates, options.jobs)
    error = imported.build_error(individually=not options.recursive)
    return Result(imported, lambda imported: lines(imported, options.store), error=error)
