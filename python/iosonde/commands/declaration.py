"""A declared command: its options, the function that answers, and what the terminal, Python and the docs know of it."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from iosonde.core.options import Option, iter_options
from iosonde.data.options import SHARED, DataOptions

_SECTION = re.compile(r"^(Returns|Raises|Examples|See Also)\n-+$", re.MULTILINE)


@dataclass(frozen=True)
class Command:
    """A declared command. ``name``: on the terminal, two words for one of a group, '' for none; ``function``: in
    Python, '' for none; ``answer``: takes an instance of ``options``; ``example``: as ``--help`` shows it."""

    name: str
    function: str
    options: type
    answer: Callable[[Any], Any]
    example: str

    @property
    def declarations(self) -> tuple[Option[Any, Any], ...]:
        """Its options: arguments first, then its own, then those that it shares with every analysis."""
        return tuple(
            sorted(iter_options(self.options), key=lambda option: (not option.is_argument, _is_shared(option)))
        )

    @property
    def description(self) -> str:
        """What it does: its docstring up to the first section."""
        text = inspect.getdoc(self.answer) or ""
        match = _SECTION.search(text)
        return text[: match.start() if match else None].strip()

    @property
    def sections(self) -> str:
        """The sections of its docstring, as numpydoc has them."""
        return (inspect.getdoc(self.answer) or "")[len(self.description) :].strip()

    @property
    def has_json(self) -> bool:
        """Whether it answers with something that has a stable JSON, and declares no option ``json`` of its own."""
        if any(option.flag == "json" for option in self.declarations):
            return False
        kind = inspect.signature(self.answer).return_annotation  # a class, or postponed: its name
        return kind not in (None, str, int, "None", "str", "int")


@dataclass(frozen=True)
class CommandGroup:
    """What ``--help`` says of commands of two words: ``GROUP`` in their folder's options. ``default``: the one that is
    meant where a path follows at once."""

    help: str
    example: str
    default: str = ""


COMMANDS: dict[str, Command] = {}
"""Module and name of a function → its command, of all that are loaded."""


def _is_shared(option: Option[Any, Any]) -> bool:
    """Return whether this is the option of every analysis, and no other of its name."""
    return option.name in SHARED and option is getattr(DataOptions, option.name)
