"""Read a table that is text, JSON or a spreadsheet, whatever its delimiter, encoding, compression or decoration."""

from iosonde.core.errors import InputError
from iosonde.core.table import Table

from .content import JSON_SUFFIXES, TEXT_SUFFIXES, YAML_SUFFIXES, get_suffix, is_pipe, read_content, split_sheet
from .number_texts import convert_number_texts
from .similar_levels import warn_similar_levels

_SPREADSHEETS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # .xlsx, .ods; .xls


def read_table(name: str) -> Table:
    """Read the table in a file, by its first bytes and its suffix; ``-`` is standard input, ``runs.xlsx#Sheet 2`` one
    sheet. Raises InputError, DataError."""
    path, sheet = split_sheet(name)
    return warn_similar_levels(convert_number_texts(_parse(read_content(path), path, sheet)))


def _parse(content: bytes, path: str, sheet: str) -> Table:
    suffix = get_suffix(path)
    if suffix == ".zip":
        from .zipped import unpack_single

        return _parse(*unpack_single(content, path), "")
    if content.startswith(_SPREADSHEETS):
        from .spreadsheet import read_spreadsheet

        return read_spreadsheet(content, path, sheet)
    if suffix in JSON_SUFFIXES or (is_pipe(path) and content.lstrip()[:2] in (b"[{", b'{"')):
        from .json_text import parse_json

        table = parse_json(content, path)
        if table is not None:
            return table
    elif suffix in YAML_SUFFIXES:
        from .json_text import parse_yaml

        table = parse_yaml(content, path)
        if table is not None:
            return table
    elif suffix in TEXT_SUFFIXES or is_pipe(path):
        from .csv_text import parse_csv

        return parse_csv(content, path)
    raise InputError(
        "unknown-format",
        "{path} is neither a store nor a table nor the output of a known tool",
        "use a .csv, .json, .parquet or .xlsx file; iosonde import -h lists the tools",
        path=path,
    )
