"""fileop, of the IOzone package: rates of operations on a tree of files.

     .       mkdir   chdir   rmdir  create    open    read   write   close    stat …  Total_files
    A    4  276548  615947  341397  207928  700876  846800  268973 1579032  962134 …     64

becomes ``mkdir rate_mean`` and so on in operations/s (A average, B best: ``rate_max``, W worst: ``rate_min``).
"""

import re

from iosonde.core.message import Message

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_integer, parse_number
from .text import Note, Text

NAME = "fileop"
HEADLINE = ("rate",)

_HEAD = re.compile(r"\s*\.\s+mkdir\s+\S+")
_ROW = re.compile(r"([ABW])\s+\d+\s+\d")
_METRICS = {"A": "rate_mean", "B": "rate_max", "W": "rate_min"}


def claims(text: Text) -> Claim | None:
    """Recognise its first line, or the header of its table."""
    return Claim.from_match(CERTAIN, text.find("Fileop:  Working in")) or Claim.from_match(
        LIKELY, text.search(_HEAD, "  mkdir")
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each size of the tree."""
    runs, names, sizes = list[Parsed](), list[str](), dict[str, Parsed]()
    for at, line in text.numbered():
        if line.startswith("Fileop:"):
            sizes, names = {}, []
        elif _HEAD.match(line):
            names = line.split()[1:]
        elif names and (match := _ROW.match(line.strip())):
            words = line.split()
            if words[1] not in sizes:
                runs.append(Parsed())
                sizes[words[1]] = runs[-1]
            _add_row(sizes[words[1]], at, match.group(1), words[2:], names)
    return runs or [Parsed(missing=[Note(text.last_line, Message("no-results", "no row of results"))])]


def _add_row(run: Parsed, at: int, which: str, words: list[str], names: list[str]) -> None:
    if len(words) != len(names):
        run.lacks(at, Message("damaged-lines", "the row is cut: left out"))
        return
    for name, word in zip(names, words, strict=True):
        value = parse_number(word)
        if name == "Total_files":
            run.factors["files"] = parse_integer(word)
        elif value is None or value <= 0:
            run.lacks(
                at, Message("invalid-number", "'{cell}' of {operation} is not a rate", cell=word[:40], operation=name)
            )
        else:
            run.rows.append(Row(name, _METRICS[which], value, "operations/s", at))
