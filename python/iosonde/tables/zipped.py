"""A .zip that holds one table."""

from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.foreign.unpacking import count_unpacked_bytes, list_zip_names, read_zip_file

from .content import JSON_SUFFIXES, TABLE_SUFFIXES, TEXT_SUFFIXES, check_size, get_suffix

_SUFFIXES = (*TABLE_SUFFIXES, *TEXT_SUFFIXES, *JSON_SUFFIXES)
_MOST_NAMES = 5


def unpack_single(content: bytes, path: str) -> tuple[bytes, str]:
    """Return the content and the name of the only table in a .zip. Raises InputError for several, DataError."""
    check_size(count_unpacked_bytes(content), path)
    names = [name for name in list_zip_names(content, Path(path)) if not name.startswith("__MACOSX/")]
    tables = [name for name in names if get_suffix(name) in _SUFFIXES]
    if len(tables) == 1:
        return read_zip_file(content, Path(path), tables[0]), f"{path}/{tables[0]}"
    raise InputError(
        "not-one-table",
        "{path} holds {n} tables, not one: {names}",
        "unpack it and name one table; iosonde import reads the outputs of tools in it",
        path=path,
        n=len(tables),
        names=", ".join((tables or names)[:_MOST_NAMES]),
    )
