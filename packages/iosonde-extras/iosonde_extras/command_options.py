"""Options of a tool, as the registry knows them: whether they are supported, change nothing here, or cannot be done."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.vocabulary import Vocabulary


@dataclass(frozen=True)
class Support:
    """``names`` are the supported options, by their names in the registry, separated by blanks. ``ignored``: option →
    why it changes nothing here. ``cannot``: option → why it cannot be done, a template of a Message."""

    names: str
    ignored: Mapping[str, str]
    cannot: Mapping[str, str]


@dataclass
class ParsedOptions:
    """Options of the command line, by name; flags have an empty text for each time they were given."""

    tool: str
    values: dict[str, list[str]] = field(default_factory=dict)
    ignored: dict[str, str] = field(default_factory=dict)
    cannot: dict[str, str] = field(default_factory=dict)

    def has(self, name: str) -> bool:
        """Return whether the option was given."""
        return name in self.values

    def times(self, name: str) -> int:
        """Return how often it was given."""
        return len(self.values.get(name, ()))

    def text(self, name: str, default: str = "") -> str:
        """Return its last argument."""
        return self.values[name][-1] if name in self.values else default

    def number(self, name: str, default: int) -> int:
        """Return its argument as a whole number. Raises InputError."""
        text = self.text(name)
        if not text:
            return default
        if not re.fullmatch(r"\d{1,15}", text):
            raise InputError(
                "not-an-integer",
                "{tool} {option} {setting}: not a whole number",
                "write it like {option} 4",
                tool=self.tool,
                option=name,
                setting=text,
            )
        return int(text)

    def size(self, name: str, default: int, unit: int = 1) -> int:
        """Return its argument in bytes: ``8``, ``4k``, ``2m``, ``1g`` (1024-based); a bare number counts ``unit``
        bytes."""
        text = self.text(name)
        if not text:
            return default
        match = re.fullmatch(r"(\d{1,15})([kmgt]?)", text.lower())
        if not match:
            raise InputError(
                "invalid-size",
                "{tool} {option} {setting}: not a size",
                "write it like {option} 4k, 1m or 2g",
                tool=self.tool,
                option=name,
                setting=text,
            )
        factor = {"": unit, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}[match.group(2)]
        return int(match.group(1)) * factor

    def refuse(self, name: str, why: str, /, **values: object) -> None:
        """Note that this option cannot be done; ``why`` is a template of a Message."""
        self.cannot[name] = Message("unsupported-option", why, **values)

    def check(self) -> None:
        """Raise InputError that names every unsupported option, with one reason each."""
        if self.cannot:
            reasons = "; ".join(f"{name}: {why}" for name, why in self.cannot.items())
            raise InputError(
                "unsupported-option",
                "{tool} cannot be run natively like this: {reasons}",
                "leave these out, or run {tool} itself (without {spell.native})",
                tool=self.tool,
                options=", ".join(self.cannot),
                reasons=reasons,
            )


def read(tool: Vocabulary, words: Sequence[str], support: Support) -> ParsedOptions:
    """Read the words of a command line. Raises InputError for words that belong to no option."""
    options, supported = ParsedOptions(tool.name), support.names.split()
    for word in tool.split(words):
        if not word.name:
            raise InputError(
                "unexpected-argument",
                "{tool}: '{argument}' belongs to no option",
                "is it a value that '{tool} -h' explains?",
                tool=tool.name,
                argument=word.value,
            )
        name = word.option.names[0] if word.option else ""
        if name not in (*supported, *support.ignored, *support.cannot):
            options.refuse(word.name, "unknown here")
        elif word.option and word.option.takes_value and word.value is None:
            raise InputError(
                "missing-option-value",
                "{tool} {option}: its value is missing",
                "write it like {option} VALUE",
                tool=tool.name,
                option=word.name,
            )
        elif name in support.cannot:
            options.refuse(word.name, support.cannot[name])
        elif name in support.ignored:
            options.ignored[word.name] = support.ignored[name]
        else:
            options.values.setdefault(word.name, []).append(word.value or "")
    return options
