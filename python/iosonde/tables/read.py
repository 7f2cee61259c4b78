"""Read a table that is text or a spreadsheet, whatever its delimiter, encoding, compression or decoration."""

from iosonde.core.errors import InputError
from iosonde.core.table import Table

from .content import TEXT_SUFFIXES, get_suffix, is_pipe, read_content, split_sheet
from .raw_rows import convert_decimal_commas

_SPREADSHEETS = (b"PK\3\4", b"\xd0\xcf\x11\xe0")  # .xlsx, .ods; .xls


def read_table(name: str) -> Table:
    """Read the table in a file, by its first bytes and its suffix; ``-`` is standard input, ``runs.xlsx#Sheet 2`` one
    sheet. Raises InputError, DataError."""
    path, sheet = split_sheet(name)
    content = read_content(path)
    if content.startswith(_SPREADSHEETS):
        from .spreadsheet import read_spreadsheet

        return convert_decimal_commas(read_spreadsheet(content, path, sheet))
    if get_suffix(name) in TEXT_SUFFIXES or is_pipe(name):
        from .csv_text import parse_csv

        return convert_decimal_commas(parse_csv(content, name))
    raise InputError(
        "unknown-format",
        "{path} is neither a store nor a table nor the output of a known tool",
        "use a .csv, .parquet or .xlsx file; iosonde import -h lists the tools",
        path=name,
    )
