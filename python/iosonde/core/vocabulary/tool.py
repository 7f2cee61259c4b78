"""Options of a tool: how they are spelled, which setting each one sets, and how a command line is read."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from iosonde.core.types import FactorValue

from .sizes import parse_size


class ValueKind(StrEnum):
    """What the value of an option is. A flag has none; a switch may have one behind an equals sign."""

    SIZE = "size"
    COUNT = "count"
    WORD = "word"
    PATH = "path"
    FLAG = "flag"
    SWITCH = "switch"


class Style(StrEnum):
    """How a tool reads its words: ``-wr -b 1m --size=1g``, or ``-name value --name=value`` without single letters, or
    ``name=value`` alone."""

    LETTERS = "letters"
    NAMES = "names"
    OPERANDS = "operands"


@dataclass(frozen=True)
class ToolOption:
    """An option of a tool. ``names`` have no dashes: ``t`` is ``-t``, ``threads`` is ``--threads``, ``+m`` is ``-+m``.

    ``setting`` is its name in runs, empty if runs do not keep it. ``is_read``: importers take the setting from the
    command line. ``unit``: bytes of a size without a letter. ``has_list``: all words up to the next option are values.
    ``default``: the setting of a command line without the option; None if it depends on something else.
    """

    names: tuple[str, ...]
    kind: ValueKind
    setting: str = ""
    is_read: bool = False
    unit: int = 1
    has_list: bool = False
    default: FactorValue = None

    @property
    def takes_value(self) -> bool:
        """Return whether the next word is its value, unless one is attached."""
        return self.kind not in (ValueKind.FLAG, ValueKind.SWITCH)

    def parse_value(self, text: str) -> FactorValue:
        """Return the value as a run keeps it; None if it is not of this kind."""
        if self.kind == ValueKind.SIZE:
            size = parse_size(text)
            return size * self.unit if size is not None and text.strip().isdigit() else size
        if self.kind == ValueKind.COUNT:
            return int(text[:18]) if text.isascii() and text.isdigit() else None
        return True if self.kind == ValueKind.FLAG else text[:200]


@dataclass(frozen=True)
class Word:
    """An option of a command line, as spelled, with its value; an argument without an option has no name.

    ``value`` is None for an option without one, also if it is missing. ``option`` is None for an unknown name.
    """

    name: str
    value: str | None
    option: ToolOption | None = None


@dataclass(frozen=True)
class Vocabulary:
    """A tool and its options. ``option_files``: names of options that read further ones from a file."""

    name: str
    options: tuple[ToolOption, ...]
    style: Style = Style.LETTERS
    option_files: tuple[str, ...] = ()

    @cached_property
    def by_name(self) -> Mapping[str, ToolOption]:
        """The options by each of their names."""
        return {name: option for option in self.options for name in option.names}

    @cached_property
    def by_setting(self) -> Mapping[str, ToolOption]:
        """The first option of each setting."""
        return {option.setting: option for option in reversed(self.options) if option.setting}

    @cached_property
    def defaults(self) -> Mapping[str, FactorValue]:
        """Each setting that importers read with its value where no option sets it, as far as the tool decides it."""
        options = [option for option in self.options if option.is_read and option.default is not None]
        return {option.setting: option.default for option in options}

    def states_all(self, words: Sequence[str]) -> bool:
        """Return whether a command line has all options: what it does not set has its default."""
        return bool(words) and not any(word.name.lstrip("-") in self.option_files for word in self.split(words))

    def split(self, words: Sequence[str]) -> Iterator[Word]:
        """Yield the options among the words after the tool's name."""
        remaining = list(reversed(words))
        while remaining:
            word = remaining.pop()
            name, equals, value = word.partition("=")
            if self.style == Style.OPERANDS:
                yield Word(name, value, self.by_name.get(name)) if equals else Word("", word)
            elif not word.startswith("-") or word == "-":
                yield Word("", word)
            elif self.style == Style.NAMES or word.startswith(("--", "-+")):
                yield self._take_option(name, value if equals else None, remaining)
            else:
                yield from self._split_letters(word[1:], remaining)

    def _split_letters(self, letters: str, remaining: list[str]) -> Iterator[Word]:
        while letters:
            letter, letters = letters[0], letters[1:]
            option = self.by_name.get(letter)
            attached = letters.removeprefix("=") if letters and option is not None and option.takes_value else None
            yield self._take_option(f"-{letter}", attached, remaining)
            letters = "" if attached is not None else letters

    def _take_option(self, name: str, attached: str | None, remaining: list[str]) -> Word:
        option = self.by_name.get(name.lstrip("-"))
        if option is None or not option.takes_value or attached is not None:
            return Word(name, attached, option)
        values = [remaining.pop()] if remaining else []
        while option.has_list and remaining and not remaining[-1].startswith("-"):
            values.append(remaining.pop())
        return Word(name, " ".join(values) if values else None, option)

    def find_value(self, words: Sequence[str], setting: str) -> str | None:
        """Return the last value of a setting in a command line, None if it is absent."""
        values = [word.value for word in self.split(words) if word.option and word.option.setting == setting]
        return values[-1] if values else None

    def read_settings(self, words: Sequence[str]) -> dict[str, FactorValue]:
        """Return the settings that importers take from a command line, in the order of the registry. A size is None if
        it is unclear; a count is left out."""
        settings: dict[str, FactorValue] = {}
        for word in self.split(words):
            option = word.option
            if option is None or not option.is_read or (option.takes_value and word.value is None):
                continue
            value = option.parse_value(word.value or "")
            if value is not None or option.kind == ValueKind.SIZE:
                settings[option.setting] = value
        return {option.setting: settings[option.setting] for option in self.options if option.setting in settings}


def size(setting: str, *names: str, is_read: bool = False, unit: int = 1, default: FactorValue = None) -> ToolOption:
    """Declare an option whose value is a size."""
    return ToolOption(names, ValueKind.SIZE, setting, is_read, unit, default=default)


def count(setting: str, *names: str, is_read: bool = False, default: FactorValue = None) -> ToolOption:
    """Declare an option whose value is a whole number."""
    return ToolOption(names, ValueKind.COUNT, setting, is_read, default=default)


def word(setting: str, *names: str, is_read: bool = False) -> ToolOption:
    """Declare an option whose value is a word."""
    return ToolOption(names, ValueKind.WORD, setting, is_read)


def path(*names: str, has_list: bool = False) -> ToolOption:
    """Declare an option that names what the tool writes."""
    return ToolOption(names, ValueKind.PATH, has_list=has_list)


def flag(setting: str, *names: str, is_read: bool = False, default: FactorValue = False) -> ToolOption:
    """Declare an option without a value."""
    return ToolOption(names, ValueKind.FLAG, setting, is_read, default=default)


def declare_others(names: str, kind: ValueKind = ValueKind.WORD) -> Iterator[ToolOption]:
    """Declare options whose settings runs do not keep, separated by blanks; the spellings of one by ``/``."""
    return (ToolOption(tuple(spellings.split("/")), kind) for spellings in names.split())
