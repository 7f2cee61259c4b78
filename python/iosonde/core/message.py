"""Messages as data: a stable code, the values, and the text.

Code below the front ends names an option by ``spell``, and each front end spells it: ``--where`` on a terminal,
``where=`` in Python::

    raise InputError("unknown-run", "there is no run {name}", "choose it with {spell.where}", name=name)
    Message("one-trial", "{response} has one trial: use {spell.repetitions:3}", response="write")
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

Spelling = Callable[[str, str], str]
"""Spelling of an option in a front end, from its name with underscores and its value ('' for none)."""


def spell_for_terminal(name: str, value: str) -> str:
    """Spell ``where`` with ``fs=nfs`` as ``--where fs=nfs``."""
    flag = "--" + name.strip("_").replace("_", "-")
    return f"{flag} {value}" if value else flag


_spelling: ContextVar[Spelling | None] = ContextVar("spelling", default=None)
_default_spelling: Spelling = spell_for_terminal


def set_default_spelling(spelling: Spelling) -> None:
    """Set the spelling of options for all threads of this process, outside ``use_spelling`` blocks."""
    global _default_spelling
    _default_spelling = spelling


DEFERRED = rb"\ue000"
"""What JSON with an option that ``mark_deferred_option`` marked contains."""
_DEFERRED_OPTION = re.compile("\ue000(\\w*)\ue001([^\ue002]*)\ue002")


def mark_deferred_option(name: str, value: str) -> str:
    """Mark an option in a text of a helper process, which does not know its front end (``spell_deferred``)."""
    return f"\ue000{name}\ue001{value}\ue002"


def spell_deferred(texts: dict[str, Any]) -> dict[str, Any]:
    """Spell the options in the texts of a helper process as in this context."""
    return {name: _spell_option(text) if isinstance(text, str) else text for name, text in texts.items()}


def _spell_option(text: str) -> str:
    return _DEFERRED_OPTION.sub(lambda option: current_spelling()(option[1], option[2]), text)


def current_spelling() -> Spelling:
    """Return the spelling of options in this context."""
    return _spelling.get() or _default_spelling


@contextmanager
def use_spelling(spelling: Spelling, *, is_default: bool = False) -> Iterator[None]:
    """Spell options this way in messages created in the block; ``is_default`` yields to a spelling already chosen."""
    if is_default and _spelling.get() is not None:
        yield
        return
    token = _spelling.set(spelling)
    try:
        yield
    finally:
        _spelling.reset(token)


class _Option:
    def __init__(self, name: str) -> None:
        self._name = name

    def __str__(self) -> str:
        return format(self)

    def __format__(self, value: str) -> str:
        return current_spelling()(self._name, value)


class _Options:
    def __getattr__(self, name: str) -> _Option:
        return _Option(name)


spell = _Options()
"""Options in an f-string or template: ``{spell.where}``, with a value ``{spell.where:'fs=nfs'}``. An option within a
whole command line (``iosonde probe --json``) is written literally, as it is not an option of the caller."""


_PAGE_OPTION = re.compile(r"\{spell\.(\w+)(?::([^}]*))?\}")


def spell_page(page: str) -> str:
    """Spell the options of a page, which is a docstring and holds no other values: ``{spell.cache:cold}``."""
    return _PAGE_OPTION.sub(lambda option: current_spelling()(option[1], option[2] or ""), page)


class Message(str):
    """A ``str`` with a code and values.

    ``template`` is the text, with ``{name}`` for values, as ``str.format`` takes them.
    """

    code: str
    values: Mapping[str, object]

    def __new__(cls, code: str, template: str, /, **values: object) -> Message:
        """Fill in the template. Raises KeyError if one of its values is missing."""
        return restore_message(code, template.format(spell=spell, **values), values)

    def prefixed(self, place: str) -> Message:
        """Return the same message with ``place`` prepended; a place within a place keeps both."""
        inner = self.values.get("place")
        return self.with_text(f"{place}: {self}", place=place if inner is None else f"{place}: {inner}")

    def without_prefix(self, prefix: str) -> Message:
        """Return the same message without a prefix that the reader has already seen."""
        return self.with_text(self.removeprefix(prefix))

    def with_text(self, text: str, **values: object) -> Message:
        """Return the same message with another text and further values."""
        return restore_message(self.code, text, {**self.values, **values})

    def replaced(self, old: str, new: str) -> Message:
        """Return the same message with one name replaced by another that the user knows."""
        values = {name: str(value).replace(old, new) for name, value in self.values.items()}
        return restore_message(self.code, self.replace(old, new), values)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore_message, (self.code, str(self), {name: str(value) for name, value in self.values.items()})


def prepend_place(sentence: str, place: str) -> str:
    """Return a sentence with ``place`` prepended; a Message stays one."""
    return sentence.prefixed(place) if isinstance(sentence, Message) else f"{place}: {sentence}"


def restore_message(code: str, text: str, values: Mapping[str, object]) -> Message:
    """Create a message from a filled-in text."""
    message = str.__new__(Message, text)
    message.code, message.values = code, values
    return message
