"""The first sheet with rows of an .xlsx, .xls or .ods, into a Table."""

import io
from dataclasses import replace
from datetime import date, datetime
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.message import Message
from iosonde.core.table import Table
from iosonde.foreign.unpacking import count_unpacked_bytes

from .content import check_size
from .raw_rows import RawRows, build_table_from_rows


def read_spreadsheet(content: bytes, name: str) -> Table:
    """Return the table. Raises DataError."""
    import python_calamine as calamine

    check_size(count_unpacked_bytes(content), name)
    try:
        workbook = calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheets = {title: workbook.get_sheet_by_name(title).to_python() for title in workbook.sheet_names}
    except calamine.CalamineError as error:
        raise DataError(
            "unreadable-file",
            "cannot read {path}: {reason}",
            "check that it is a spreadsheet, or save it as .csv",
            path=name,
            reason=error,
        ) from error
    filled = {title: rows for title, sheet in sheets.items() if (rows := _number_rows(sheet))}
    if not filled:
        hint = "use a table with a header line and at least one row"
        raise DataError("empty-file", "{path} is empty", hint, path=name)
    title, rows = next(iter(filled.items()))
    table = build_table_from_rows(RawRows(name, list(rows.values()), list(rows)))
    if len(filled) == 1:
        return table
    others = "sheet '{sheet}' is read, the {n_others} others are not: save one as .csv to use it"
    message = Message("other-sheets", others, sheet=title, n_others=len(filled) - 1)
    return replace(table, warnings=(message, *table.warnings))


def _number_rows(sheet: list[list[Any]]) -> dict[int, list[str]]:
    """Return line → cells of each row that is not empty."""
    texts = {line: [_format_cell(cell) for cell in row] for line, row in enumerate(sheet, 1)}
    return {line: row for line, row in texts.items() if any(row)}


def _format_cell(cell: Any) -> str:
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return cell.isoformat() if isinstance(cell, (date, datetime)) else str(cell)
