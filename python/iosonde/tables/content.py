"""The content of a file that is DATA: as it is, decompressed, or from standard input or a pipe."""

import io
import lzma
import re
import stat
import sys
import zlib
from functools import cache
from pathlib import Path
from typing import BinaryIO

from iosonde.core.errors import DataError, InputError
from iosonde.core.units import format_size
from iosonde.foreign.reading import MAX_BYTES, is_descriptor, open_pipe

STANDARD_INPUT = "-"
TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".dat", ".md", ".rst", ".org", ".html", ".htm", ".tex")
JSON_SUFFIXES = (".json", ".jsonl", ".ndjson")
YAML_SUFFIXES = (".yaml", ".yml")
TABLE_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".xlsx", ".xls", ".ods")
_SHEET = re.compile(r"(?P<path>.+\.(?:xlsx|xls|ods))(?:#(?P<sheet>.+))?", re.IGNORECASE)
_COMPRESSED = (".gz", ".bz2", ".xz", ".zst")


def split_sheet(name: str) -> tuple[str, str]:
    """Split ``runs.xlsx#Sheet 2`` into (path, sheet); '' without one."""
    match = _SHEET.fullmatch(name)
    return (match["path"], match["sheet"] or "") if match and not Path(name).exists() else (name, "")


def get_suffix(name: str) -> str:
    """Return the suffix of the content, in lower case: ``.csv`` of ``runs.csv.gz``, ``.xlsx`` of ``a.xlsx#B``."""
    path = Path(split_sheet(name)[0].lower())
    return (path.with_suffix("") if path.suffix in _COMPRESSED else path).suffix


def is_pipe(name: str) -> bool:
    """Return whether it is standard input, or another open file of this process: a shell's ``<(command)``."""
    return name == STANDARD_INPUT or is_descriptor(Path(name))


def read_content(name: str) -> bytes:
    """Return the content of a file; of a pipe or ``-``, which can be read only once, the same at each call.

    Raises DataError for a file that cannot be read or is damaged, InputError for one that is too large or no file.
    """
    if is_pipe(name):
        return _read_once(name)
    path = Path(name)
    try:
        if not path.exists():
            raise InputError(
                "no-such-file", "{path} does not exist", "name a store, a table or a tool's output", path=name
            )
        if not stat.S_ISREG(path.stat().st_mode):
            raise InputError(
                "not-a-regular-file",
                "{path} is a pipe or a device, not a file",
                "write the table to a file first, or read it from standard input: -",
                path=name,
            )
        with path.open("rb") as file:
            return _decompress(file, name)
    except OSError as error:
        raise _build_error(name, error.strerror or str(error)) from error


@cache
def _read_once(name: str) -> bytes:
    pipe = sys.stdin.buffer if name == STANDARD_INPUT else open_pipe(Path(name))
    if pipe is None:
        raise InputError("no-such-file", "{path} is no open pipe", "name a file, or - for standard input", path=name)
    return _decompress(io.BytesIO(pipe.read(MAX_BYTES + 1)), name)


def _decompress(file: BinaryIO, name: str) -> bytes:
    from iosonde.foreign.unpacking import decompress_blocks

    magic = file.read(6)
    file.seek(0)
    content = bytearray()
    try:
        for block in decompress_blocks(file, magic):
            content += block
            check_size(len(content), name)
    except (EOFError, zlib.error, lzma.LZMAError) as error:
        raise _build_error(name, f"the compressed data are damaged: {error}") from error
    return bytes(content)


def check_size(n_bytes: int, name: str) -> None:
    """Raise InputError for more bytes than a table may have."""
    if n_bytes > MAX_BYTES:
        raise InputError(
            "file-too-large",
            "{path} has more than {max_bytes}",
            "split it, or import it: see iosonde import -h",
            path=name,
            max_bytes=format_size(MAX_BYTES),
        )


def _build_error(name: str, reason: str) -> DataError:
    return DataError(
        "unreadable-file",
        "cannot read {path}: {reason}",
        "check the name, its permissions, and that it is complete",
        path=name,
        reason=reason,
    )
