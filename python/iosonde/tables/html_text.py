"""The table in an HTML page, or in a piece of one, into rows of cells."""

from html.parser import HTMLParser

from iosonde.core.errors import DataError

from .raw_rows import RawRows

_MOST_SPAN = 1000  # of one cell
_CELLS = ("td", "th")


class _TableReader(HTMLParser):
    """Collects ``tables``: rows of (line, cells), each cell with the number of columns and rows that it spans."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[list[tuple[int, list[tuple[list[str], int, int]]]]] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Begin a table, a row or a cell."""
        if tag == "table":
            self.tables.append([])
        elif tag == "tr" and self.tables:
            self.tables[-1].append((self.getpos()[0], []))
        elif tag in _CELLS and self.tables and self.tables[-1]:
            spans = [dict(attrs).get(name) or "1" for name in ("colspan", "rowspan")]
            columns, rows = (min(int(span), _MOST_SPAN) if span.isdecimal() else 1 for span in spans)
            self.tables[-1][-1][1].append(([], columns, rows))
        self._is_inside = tag in _CELLS or (self._is_inside and tag not in ("table", "tr"))

    def handle_endtag(self, tag: str) -> None:
        """End a cell."""
        self._is_inside = self._is_inside and tag not in (*_CELLS, "tr", "table")

    def handle_data(self, data: str) -> None:
        """Add text to the current cell."""
        if self._is_inside and self.tables and self.tables[-1] and self.tables[-1][-1][1]:
            self.tables[-1][-1][1][-1][0].append(data)


def is_html(text: str) -> bool:
    """Return whether a text is HTML with a table."""
    return text.lstrip()[:1] == "<" and "<table" in text.lower()


def parse_html(text: str, name: str) -> RawRows:
    """Return the rows of the only table with several rows. Raises DataError for none or several."""
    reader = _TableReader()
    reader.feed(text)
    reader.close()
    tables = [table for table in reader.tables if sum(bool(cells) for _, cells in table) > 1]
    if len(tables) != 1:
        raise DataError(
            "not-one-table",
            "{path} holds {n} tables, not one",
            "keep the <table> that holds the measurements",
            path=name,
            n=len(tables),
        )
    rows = [(line, cells) for line, cells in tables[0] if cells]
    return RawRows(name, _spread_cells([cells for _, cells in rows]), [line for line, _ in rows])


def _spread_cells(rows: list[list[tuple[list[str], int, int]]]) -> list[list[str]]:
    """Return rows of equal columns: a cell over several rows is repeated, one over several columns is followed by blank
    ones."""
    pending: dict[int, tuple[str, int]] = {}  # column → text of a cell from above, for as many more rows
    spread = []
    for cells in rows:
        row: list[str] = []
        remaining = list(cells)
        while remaining or len(row) in pending:
            column = len(row)
            if column in pending:
                text, n_rows = pending.pop(column)
                row.append(text)
                if n_rows > 1:
                    pending[column] = (text, n_rows - 1)
                continue
            parts, n_columns, n_rows = remaining.pop(0)
            texts = [" ".join("".join(parts).split()), *[""] * (n_columns - 1)]
            if n_rows > 1:
                pending |= {column + place: (text, n_rows - 1) for place, text in enumerate(texts)}
            row += texts
        spread.append(row)
    return spread
