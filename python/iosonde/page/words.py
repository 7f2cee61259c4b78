"""Warnings and errors as sentences of a page, in which a message keeps its code and values."""

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message, restore_message


def warning_to_sentence(warning: str) -> str:
    """Return the warning with a capital letter and a full stop."""
    text = f"{warning[:1].upper()}{warning[1:]}."
    return restore_message(warning.code, text, warning.values) if isinstance(warning, Message) else text


def describe_missing_part(part: str, error: IosondeError) -> Message:
    """Return the sentence that says why a part of the page is missing."""
    return restore_message(error.code, f"{part}: {error.message}.", {**error.values, "part": part})
