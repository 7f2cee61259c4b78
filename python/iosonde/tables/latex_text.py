"""The table in a LaTeX document (``tabular``, ``longtable``) into rows of cells."""

import re

from iosonde.core.errors import DataError

from .raw_rows import RawRows

_TABLE = re.compile(r"\\begin\{(?P<kind>tabular[*xy]?|longtable|tabu|tblr)\}(?P<body>.*?)\\end\{(?P=kind)\}", re.DOTALL)
_RULES = re.compile(
    r"\\(?:hline|toprule|midrule|bottomrule|endhead|endfirsthead|endfoot|endlastfoot)\b(?:\[[^\]]*\])?"
    r"|\\(?:cline|cmidrule|caption|label)(?:\([^)]*\))?\{[^{}]*\}"
)
_SPECIFICATION = re.compile(r"\s*(?:\[[^\]]*\]|\{(?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*\})")
_ROW_END = re.compile(r"\\\\(?:\[[^\]]*\])?|\\tabularnewline")
_SPAN = re.compile(r"\\multicolumn\{(\d+)\}\{[^{}]*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_SPANNED_ROWS = re.compile(r"\\multirow\[?[^{\[\]]*\]?\{[^{}]*\}\{[^{}]*\}\{((?:[^{}]|\{[^{}]*\})*)\}")
_COMMAND = re.compile(r"\\[a-zA-Z]+\*?(?:\[[^\]]*\])?\{([^{}]*)\}")  # \textbf{…}, \num{…}
_WORDS = {r"\pm": "±", r"\times": "×", r"\mu": "µ", r"\approx": "≈", r"\sim": "~", r"\,": "", r"\;": "", "--": "–"}
_COMMENT = re.compile(r"(?<!\\)%.*")
_MOST_SPAN = 1000


def is_latex(text: str) -> bool:
    """Return whether a text holds a table of LaTeX."""
    return "\\begin{" in text and _TABLE.search(text) is not None


def parse_latex(text: str, name: str) -> RawRows:
    """Return the rows of the only table. Raises DataError for several."""
    text = _COMMENT.sub("", text)
    tables = list(_TABLE.finditer(text))
    if len(tables) != 1:
        raise DataError(
            "not-one-table",
            "{path} holds {n} tables, not one",
            "keep the one that holds the measurements",
            path=name,
            n=len(tables),
        )
    start, body = tables[0].start("body"), tables[0]["body"]
    while match := _SPECIFICATION.match(body):  # of the columns, and of the width
        start, body = start + match.end(), body[match.end() :]
    rows, lines = [], []
    for piece in _ROW_END.split(body):
        place = text.find(piece, start)
        start = place + len(piece)
        cells = [_clean(cell) for cell in re.split(r"(?<!\\)&", _spread_columns(_RULES.sub("", piece)))]
        if any(cells):
            rows.append(cells)
            lines.append(text.count("\n", 0, place + len(piece.rstrip())) + 1)
    return RawRows(name, rows, lines)


def _spread_columns(row: str) -> str:
    """Return a row with blank cells after one that spans several."""
    row = _SPANNED_ROWS.sub(r"\1", row)
    return _SPAN.sub(lambda match: match[2] + "&" * (min(int(match[1]), _MOST_SPAN) - 1), row)


def _clean(cell: str) -> str:
    for word, sign in _WORDS.items():
        cell = cell.replace(word, sign)
    while cell != (cell := _COMMAND.sub(r"\1", cell)):
        pass
    return (
        re.sub(r"\\([_%&#$])", r"\1", cell.replace("$", "")).replace("{", "").replace("}", "").replace("~", " ").strip()
    )
