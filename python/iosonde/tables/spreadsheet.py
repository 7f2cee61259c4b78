"""A sheet of an .xlsx, .xls or .ods, into a Table: the one asked for, else the first with a table."""

import io
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.foreign.unpacking import count_unpacked_bytes

from .content import check_size
from .number_texts import convert_number_texts
from .raw_rows import RawRows, build_table_from_rows


def read_spreadsheet(content: bytes, name: str, title: str = "") -> Table:
    """Return the table on the sheet ``title``, else the first that is no less than half of the largest. Raises
    DataError."""
    sheets = _read_sheets(content, name)
    if title and title not in sheets:
        raise DataError(
            "unknown-sheet",
            "{path} has no sheet '{sheet}' with rows",
            "known: {sheets}",
            path=name,
            sheet=title,
            sheets=", ".join(sheets),
        )
    if title or len(sheets) == 1:
        return _build_table(sheets[title or next(iter(sheets))], name)
    tables = {title: table for title, rows in sheets.items() if (table := _find_table(rows, name))}
    if not tables:
        return _build_table(next(iter(sheets.values())), name)  # raises, or has what can be read
    sizes = {title: len(table) * len(table.columns) for title, table in tables.items()}
    title = next(title for title, size in sizes.items() if 2 * size >= max(sizes.values()))
    others = [other for other in tables if other != title]
    template = "sheet '{sheet}' is read"
    template += "; another table: {name}#{other}" if others else "; the others hold no table"
    more = {"name": name, "other": f" or {name}#".join(others)}
    message = Message("other-sheets", template, sheet=title, **more)
    return replace(tables[title], warnings=(message, *tables[title].warnings))


def _read_sheets(content: bytes, name: str) -> dict[str, dict[int, list[str]]]:
    """Return title → line → cells of the sheets that have rows. Raises DataError."""
    import python_calamine as calamine

    check_size(count_unpacked_bytes(content), name)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = {title: _number_rows(workbook.get_sheet_by_name(title).to_python()) for title in workbook.sheet_names}
    except calamine.CalamineError as error:
        raise DataError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "check that it is a spreadsheet, or save it as .csv",
            path=name,
            reason=error,
        ) from error
    if not any(sheets.values()):
        hint = "use a table with a header line and at least one row"
        raise DataError("empty-file", "{path} is empty", hint, path=name)
    return {title: rows for title, rows in sheets.items() if rows}


def _build_table(rows: dict[int, list[str]], name: str) -> Table:
    return build_table_from_rows(RawRows(name, list(rows.values()), list(rows)))


def _find_table(rows: dict[int, list[str]], name: str) -> Table | None:
    """Return the table on a sheet; None if it has no rows below a header, or no numbers."""
    try:
        table = _build_table(rows, name)
    except DataError:
        return None
    return table if any(column.numeric for column in convert_number_texts(table).columns.values()) else None


def _number_rows(sheet: list[list[Any]]) -> dict[int, list[str]]:
    """Return line → cells of each row that is not empty."""
    texts = {line: [_format_cell(cell) for cell in row] for line, row in enumerate(sheet, 1)}
    return {line: row for line, row in texts.items() if any(row)}


def _format_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)
