"""JSON in which each document is an execution of its own, or broken."""

from __future__ import annotations

from collections.abc import Callable

from iosonde.core.message import Message

from .parsed import Parsed
from .reading import JsonDocument, Lines, json_documents
from .text import Text


def runs_of(text: Text, read: Callable[[Parsed, JsonDocument, Lines], None]) -> list[Parsed]:
    """One Parsed for each document, an object that ``read`` puts into it. Anything else is left out, and said."""
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
    """One of a document that cannot be read: it says where it breaks."""
    run = Parsed()
    run.lacks(
        Lines(text).at(document.error_at),
        Message("damaged-lines", "the JSON is broken or ends early here: nothing of it is read"),
    )
    return run
