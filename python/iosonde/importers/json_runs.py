"""JSON files in which each document is a separate execution, or broken."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.core.message import Message

from .parsed import Parsed
from .reading import JsonDocument, Lines, json_documents
from .text import Text


def runs_of(text: Text, read: Callable[[Parsed, JsonDocument, Lines], None]) -> list[Parsed]:
    """Return one Parsed for each document; ``read`` fills it from an object. Anything else is left out, with a
    message."""
    lines, runs = Lines(text), list[Parsed]()
    for document in json_documents(text.content):
        run = Parsed()
        runs.append(run)
        if isinstance(document.value, dict):
            read(run, document, lines)
        else:
            run.lacks(
                lines.at(document.begin), Message("damaged-lines", "the JSON is broken or ends early here: left out")
            )
    return runs


def broken_run(text: Text, document: JsonDocument) -> Parsed:
    """Return the Parsed of an unreadable document, with the place where it breaks."""
    run = Parsed()
    run.lacks(
        Lines(text).at(document.error_at),
        Message("damaged-lines", "the JSON is broken or ends early here: nothing of it is read"),
    )
    return run
