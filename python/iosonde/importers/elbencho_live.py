"""elbencho's result table with the samples of ``--livecsv stdout`` between its head and its rows."""

import re

from iosonde.core.message import Message

from .elbencho_csv import parse_live
from .elbencho_text import parse_text
from .parsed import Parsed
from .text import Text

_HEAD = "Label,Phase,RuntimeMS,Rank,MixType,"
_DATED = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+(?:[+-]\d{4}|Z)?,")


def parse_live_table(text: Text) -> list[Parsed]:
    """Return the executions of the table, each with the samples before its rows."""
    n_commas = next(line for line in text.lines if _HEAD in line).count(",")
    is_live = [_is_live(line, n_commas) for line in text.lines]
    runs = parse_text(_select_lines(text, [not live for live in is_live]))
    samples = parse_live(_select_lines(text, is_live), is_live.index(True) + 1)[0]
    ends = [max([row.line for row in run.rows], default=0) for run in runs]
    for row in samples.rows:
        place = next((place for place, end in enumerate(ends) if end > row.line), len(runs) - 1)
        runs[place].rows.append(row)
    for note in [*samples.warnings, *samples.missing]:
        if not (isinstance(note.sentence, Message) and note.sentence.code in ("samples-only", "no-results")):
            runs[-1].warn(*note)
    return runs


def _is_live(line: str, n_commas: int) -> bool:
    """Return whether a line is one of samples. The last columns of older versions may be absent."""
    return _HEAD in line or _DATED.match(line) is not None or (line.count(",") >= n_commas - 2 and ": " not in line)


def _select_lines(text: Text, chosen: list[bool]) -> Text:
    lines = [line if is_chosen else "" for line, is_chosen in zip(text.lines, chosen, strict=True)]
    return Text("\n".join(lines).encode(), text.name, decimal_commas=False)
