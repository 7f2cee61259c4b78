"""A file that another tool wrote as DATA: read as by ``iosonde import``, into a store that ends with the process."""

import atexit
import io
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

from iosonde.core.errors import InputError, SystemFaultError, UnknownFormatError
from iosonde.core.timestamps import format_now
from iosonde.core.types import Experiment
from iosonde.foreign.guarded import begin_of, open_checked
from iosonde.foreign.mounts import find_waiting_mount
from iosonde.foreign.removal import locked_scratch_directory
from iosonde.importers import CERTAIN, Text, fio_version, read, understand
from iosonde.importers.registry import build_no_result_error
from iosonde.importers.runs import build_runs
from iosonde.store import Store
from iosonde.tables.content import STANDARD_INPUT, TABLE_SUFFIXES, TEXT_SUFFIXES, get_suffix, is_pipe, read_content

_EXPERIMENT = "imported"
_stores: dict[bytes, Store] = {}  # by the content of the file
_until_exit = ExitStack()
atexit.register(_until_exit.close)


def read_text(name: str, stdin: BinaryIO | None = None) -> Text:
    """Return the text of a file (``-``: of ``stdin``). Raises InputError, DataError."""
    if name == STANDARD_INPUT and stdin is not None:
        return read(stdin, name)
    if not find_waiting_mount(Path(name)) and Path(name).is_dir():
        raise InputError(
            "is-a-directory",
            "{name} is a directory",
            "iosonde import -r {name} --store DIR reads all in it",
            name=name,
        )
    with open_checked(Path(name)) as file:
        text = read(file, name)
    if fio_version.is_latency_log(Path(name)):
        text.adjacent_version = fio_version.find_sibling_version(
            Path(name), lambda place: begin_of(Path(place), fio_version.HEAD_BYTES)
        )
    return text


def store_tool_output(name: str) -> Store | None:
    """Return the runs of a file, or of a pipe, as a store; None if no tool wrote it. Raises InputError, DataError."""
    text = read(io.BytesIO(read_content(name)), name) if is_pipe(name) else read_text(name)
    if text.raw in _stores:
        return _stores[text.raw]
    try:
        understood = understand(text)
    except UnknownFormatError:
        return None
    runs = build_runs(understood, text, _EXPERIMENT)
    suffix = get_suffix(name)
    if not runs and understood.claim.score >= CERTAIN and suffix not in TABLE_SUFFIXES:
        error = build_no_result_error(name, understood)
        if error is not None:
            raise error
    if not runs and understood.warnings and suffix not in TEXT_SUFFIXES:  # it may be a table of that name
        raise InputError(
            "no-result",
            "{name}: {reason}",
            "'iosonde parse {name}' says more",
            name=name,
            reason=understood.warnings[0].sentence,
        )
    if not runs:
        return None
    try:
        store = Store.create(_until_exit.enter_context(locked_scratch_directory("iosonde-data-")) / "store")
        store.save_new_experiment(Experiment(_EXPERIMENT, f"results in {name}", [], {}, [], 0, format_now()))
        store.append_many(runs)
    except SystemFaultError as error:
        raise error.with_words(error.message, "set TMPDIR to a directory with more space") from error
    _stores[text.raw] = store
    return store
