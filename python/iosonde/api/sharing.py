"""Other tools' results: what they say, and into a store."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, BinaryIO, TypedDict, Unpack

from iosonde.core.errors import InputError
from iosonde.core.message import Message, restore

from .result import Result
from .words import Names, names, takes, warn

if TYPE_CHECKING:
    from iosonde.answers.parse import Parses
    from iosonde.campaign.import_files import Imported

File = str | Path | BinaryIO
Files = File | list[File] | tuple[File, ...]


def parse(
    files: Files,
    *,
    format: str | None = None,
    columns: str | Path | None = None,  # noqa: A002
) -> Result[Parses]:
    """What other tools' output says, in base units, with warnings; nothing is stored.

    Parameters
    ----------
    files : path, binary file, or list of these
        As ``"ior.txt"``, or ``io.BytesIO(done.stdout)``.
    format : str, optional
        Read as this tool's output, whatever it looks like.
    columns : path, optional
        Read CSVs by this file that says what their columns are.

    Returns
    -------
    Result[Parses]
        One row a number, with the line that it stands in.

    Raises
    ------
    DataError
        A file is no tool's output; the sentence says why. Several files: one is not.
    """
    from iosonde.answers.parse import Parse, Parses
    from iosonde.answers.parse import parse as answer
    from iosonde.report.text.parse import lines

    several = list(files) if isinstance(files, (list, tuple)) else [files]
    for file in several:
        if not isinstance(file, (str, Path)) and not (hasattr(file, "read") and isinstance(file.read(0), bytes)):
            raise InputError(
                "wrong-argument-type",
                "{type_name} is neither a path nor a file of bytes",
                "give a path, or a file of bytes: io.BytesIO(output)",
                argument="files",
                type_name=type(file).__name__,
            )
    parsed_files = [
        answer(str(source), format, columns=columns)
        if isinstance(source, (str, Path))
        else answer("-", format, source, columns)
        for source in several
    ]
    parses = Parses(tuple(parsed_files))
    if errors := parses.errors:
        first = errors[0]
        sentences = restore(first.code, "; ".join(error.message for error in errors), first.values)
        raise first if len(errors) == 1 else first.with_words(sentences)
    return Result(
        parses,
        lambda all_of: [
            line for parsed_file in all_of.files if isinstance(parsed_file, Parse) for line in lines(parsed_file)
        ],
    )


class ReadAs(TypedDict, total=False):
    """How a file is read that is not to be recognised: ``format``, as this tool's output; ``columns``, by this map."""

    format: Annotated[str | None, None]
    columns: Annotated[str | Path | None, None]


@takes(ReadAs)
def import_files(
    files: Names | Path | Sequence[Path],
    store: str | Path,
    *,
    recursive: bool = False,
    factors_from: Names = None,
    experiment: str = "imported",
    jobs: int | None = None,
    **options: Unpack[ReadAs],
) -> Result[Imported]:
    """Store what other tools' results say. The same content is never stored twice.

    It is ``iosonde import``, which is a keyword of Python.

    Parameters
    ----------
    files : path or sequence of paths
    store : path
        Made if it is not there.
    recursive : bool, optional
        A file may be a directory: everything in it is looked at.
    factors_from : str or sequence of str, optional
        Factors from the path (``"site={}/nodes={}/..."``) or from a manifest (``.csv``).
    experiment : str, optional
        What the runs belong to.
    jobs : int, optional
        Processes that read; as many as there are CPUs. Each starts Python anew.
    format : str, optional
        Read every file as this tool's output.
    columns : path, optional
        Read CSVs by this file that says what their columns are.

    Returns
    -------
    Result[Imported]
        One row a file. A file that was named and not understood is an ``IosondeWarning``, too.

    Raises
    ------
    DataError
        Nothing was imported.
    """
    from iosonde.answers.parse import map_of
    from iosonde.campaign.import_files import ImportPlan, import_all, iterate_file_groups
    from iosonde.report.text.import_ import lines

    place = Path(store)
    paths = [os.fspath(path) for path in ([files] if isinstance(files, (str, Path)) else files or ())]
    if not paths:
        raise InputError("missing-file-name", "no file is named", "give a path, or a list of paths")
    todo = ImportPlan(
        place, experiment, options["format"], names(factors_from, "factors_from"), map_of(options["columns"])
    )
    todo.prepare()
    with iterate_file_groups(paths, recursive, place) as candidates:
        imported = import_all(todo, candidates, jobs)
    imported.check()
    if imported.failed and not recursive:
        first = imported.failed[0]
        warn(
            Message(
                "files-not-imported",
                "{n_failed} of {n_files} files were not imported, the first: {file}: {reason}",
                n_failed=len(imported.failed),
                n_files=len(imported.outcomes),
                file=first.file,
                reason=first.reason,
            )
        )
    return Result(imported, lambda result: lines(result, str(store)))
