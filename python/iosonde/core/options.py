"""Options, declared once: the command line, the keywords in Python, their help and the docs' tables follow from them.

The options of a command are the fields of a dataclass. A field's type says what the code reads, its value how people
write it::

    @dataclass(kw_only=True)
    class RankOptions(DataOptions):
        fixed: Names[NameList] = Names("X,…", "Factors that one cannot choose: rank the others within them, too.")
        depth: Integer[int] = Integer("N", "Questions of the tree, at most.", 5, least=0, most=12)

``RankOptions(data, fixed="a")``, ``RankOptions(data, fixed=["a", "b"])`` and ``--fixed a,b`` set the same value, a
tuple of texts. Type checkers know both types: that of ``__set__`` is taken, that of ``__get__`` is read. A field is set
once: options never change (``frozen=True`` would say so, but makes mypy take one type for the other).
"""

import datetime
import numbers
import os
import re
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields
from pathlib import PurePath
from typing import Any, Generic, Self, TypeVar, overload

from .errors import InputError
from .message import current_spelling, spell_for_terminal

_LITERAL = re.compile(r"\d+(\.\d*)?|[A-Z_]+")  # a number, or a placeholder as FILE
NameList = tuple[str, ...]
GivenNames = str | Sequence[str] | None
V = TypeVar("V")
"""What an option's field holds: ``int``, or ``int | None`` where nothing stands for a choice of our own."""
G = TypeVar("G", contravariant=True)


class Option(Generic[V, G]):
    """One option: ``metavar`` and ``help`` as ``--help`` has them, and the default as its user would write it.

    ``flag``: its name on a terminal where that is not the field's (``for`` of ``workload``); ``short``: as ``-o``;
    ``is_argument``: given by its place there; ``is_required``: and it has to be; ``is_repeatable``: several are;
    ``without_value``: what it stands for where no value follows; ``variable``: of the environment, asked before the
    default; ``default_text``: what ``--help`` says of the default, '' to say nothing.
    """

    is_switch = False
    kind = "str"
    """What ``help`` says of its type."""

    def __init__(
        self,
        metavar: str = "",
        help: str = "",
        default: Any = None,
        *,
        flag: str = "",
        short: str = "",  # noqa: A002
        is_argument: bool = False,
        is_required: bool = False,
        is_repeatable: bool = False,
        without_value: str = "",
        variable: str = "",
        default_text: str | None = None,
    ) -> None:
        self.name, self.metavar, self.help, self.default = "", metavar, help, default
        self.flag, self.short, self.variable, self.without_value = flag, short, variable, without_value
        self.is_argument, self.is_required, self.is_repeatable = is_argument, is_required, is_repeatable
        self._default_text = default_text

    def __set_name__(self, owner: type, name: str) -> None:
        self.name, self.flag = name, self.flag or name.strip("_")

    @overload
    def __get__(self, instance: None, owner: Any) -> Self: ...
    @overload
    def __get__(self, instance: object, owner: Any) -> V: ...
    def __get__(self, instance: Any, owner: Any) -> Any:
        """The value; of the class the declaration, which dataclasses take for the default."""
        return self if instance is None else vars(instance)[self.name]

    def __set__(self, instance: object, value: G) -> None:
        if self.name in vars(instance):
            raise AttributeError(f"{type(instance).__name__}.{self.name} is set already")
        raw: Any = value
        if raw is None and self.is_required:
            raise self.type_error(raw, "give a value: it has no default")
        if raw is None or raw is self:  # nobody chose, and dataclasses take the declaration for the default
            raw = self.default
        elif (raw_values := getattr(instance, "raw_values", None)) is not None:
            raw_values[self.name] = raw
        self._check_text(raw)
        vars(instance)[self.name] = None if raw is None else self.parse(raw)

    def _check_text(self, value: object) -> None:
        """Raise InputError for a text that no command line, path or file can hold."""
        for text in _iter_texts(value) if not isinstance(self, Data) else (value,):  # a table may be large
            if isinstance(text, str | PurePath) and not is_writable(str(text)):
                raise self.error(
                    "not-text",
                    "{option} holds a character that no name can have",
                    "leave out NUL and lone surrogates",
                    ascii(str(text)),
                )

    def parse(self, value: Any) -> Any:
        """Return what the field holds for a value that is not None. Raises InputError."""
        return value

    def read(self, text: Any) -> Any:
        """Return the value that a terminal's text stands for: of a repeatable option all of them."""
        return text

    def write(self, value: str) -> str:
        """Return a value of the command line as Python writes it."""
        return value if _LITERAL.fullmatch(value) else repr(value)

    @property
    def default_text(self) -> str:
        """What ``--help`` and the docs say of the default; '' where it is nothing, or the help says it."""
        if self._default_text is not None:
            return self._default_text
        return "" if self.default in (None, (), False, "", {}) else format_written_level(self.default)

    def error(self, code: str, template: str, hint: str, value: object = "", **values: object) -> InputError:
        """Return the error of a value that this option cannot take; ``{option}`` in the template is both of them."""
        spelling, text = current_spelling(), format_written_level(value)
        if self.is_argument and spelling is spell_for_terminal:
            option = f"{self.name.upper().replace('_', '-')} {text}".strip()
        else:
            option = spelling(self.flag, text)
        return InputError(code, template, hint, option=option, argument=self.name, **values)

    def type_error(self, value: object, hint: str) -> InputError:
        """Return the error of a value that is no text, number or whatever this option takes."""
        return self.error(
            "wrong-argument-type", "{option} is given as {type_name}", hint, type_name=type(value).__name__
        )


class Data(Option[Any, Any]):
    """A path, a table in memory, or a Source that is open; a repeatable one also the paths of several files."""

    kind = "path, table or Source"

    def read(self, text: Any) -> Any:
        """Return the path, or the list of several."""
        return list(text) if isinstance(text, tuple) and len(text) > 1 else text[0] if isinstance(text, tuple) else text


class Value(Option[Any, Any]):
    """Whatever Python gives, and a text from a terminal: the command itself looks at it."""

    kind = "object"


class Text(Option[V, str | float | PurePath | None]):
    """A text, a path, a number as people write it."""

    kind = "str"

    def parse(self, value: Any) -> str:
        """Return the text of it. Raises InputError for what is none of these, nor a date."""
        if isinstance(value, bool) or not isinstance(value, str | os.PathLike | numbers.Number | datetime.date):
            raise self.type_error(value, "give a text, in quotes")
        return format_written_level(value)


class Flag(Option[V, bool | None]):
    """Yes or no; ``bool | None`` is also ``--no-NAME``, and None where nobody said."""

    is_switch = True
    kind = "bool"

    def __init__(
        self,
        help: str,  # noqa: A002
        default: bool | None = False,
        *,
        flag: str = "",
        short: str = "",
        default_text: str = "",
    ) -> None:
        super().__init__("", help, default, flag=flag, short=short, default_text=default_text)

    def parse(self, value: Any) -> bool:
        """Return it. Raises InputError for what is neither True nor False."""
        if not is_truth(value):
            raise self.type_error(value, "give True or False")
        return bool(value)

    def write(self, value: str) -> str:
        """``True`` of a flag that is given."""
        return value or "True"


class Names(Option[V, GivenNames]):
    """Names: ``a,b`` on a terminal, such a text or a sequence of names in Python. One that holds a comma can only be
    given in a sequence."""

    kind = "str or sequence of str"

    def read(self, text: Any) -> Any:
        """``a, b`` → ["a", "b"]; of a repeatable option each text is a name."""
        return list(text) if self.is_repeatable else split_names(text)

    def parse(self, value: Any) -> NameList:
        """The names. Raises InputError for what is no text."""
        is_joined = isinstance(value, str) and "," in value and not self.is_repeatable
        values = (
            tuple(split_names(value)) if is_joined else (value,) if isinstance(value, str) else list_to_members(value)
        )
        if values is None:
            raise self.type_error(value, "give a name, or a list of names")
        if wrong := [name for name in values if not isinstance(name, str)]:
            raise self.error("not-text", "{option} is not text", "give names as texts, in quotes", wrong[0])
        return values

    def write(self, value: str) -> str:
        """A name, or a list of them."""
        parts = split_names(value)
        is_list = not self.is_repeatable and len(parts) > 1 and all(map(str.isidentifier, parts))
        return repr(parts) if is_list else super().write(value)


class Levels(Names[V]):
    """Levels of a factor: ``2``, ``2.0`` and ``"2"`` are one."""

    kind = "level or sequence of levels"

    def parse(self, value: Any) -> NameList:
        """Return their texts. Raises InputError for what is no level."""
        levels = (value,) if is_level(value) else list_to_members(value)
        if levels is None or not all(map(is_level, levels)):
            raise self.type_error(value, "give a level, or a list of levels")
        return tuple(map(format_written_level, levels))


class Rest(Option[tuple[str, ...], Sequence[str]]):
    """Every word that is left on a terminal, as it is: a command for another program."""

    kind = "sequence of str"

    def __init__(self, metavar: str, help: str) -> None:  # noqa: A002
        super().__init__(metavar, help, (), is_argument=True, is_repeatable=True)

    def parse(self, value: Any) -> tuple[str, ...]:
        """Return the words. Raises InputError for what is no list of texts."""
        words = list_to_members(value)
        if words is None or not all(isinstance(word, str) for word in words):
            raise self.type_error(value, "give a list of words")
        return words


class Choice(Text[V]):
    """One of a few words."""

    def __init__(self, choices: Sequence[str], help: str, default: str | None = None, **more: Any) -> None:  # noqa: A002
        super().__init__(more.pop("metavar", "|".join(choices)), help, default, **more)
        self.choices = tuple(choices)
        self.kind = "{" + ", ".join(f'"{choice}"' for choice in choices) + "}"

    def parse(self, value: Any) -> str:
        """The word. Raises InputError for another."""
        if not isinstance(value, str) or value not in self.choices:
            raise self.error(
                "unknown-option-value",
                "{option} is not known",
                "take {choices}",
                value,
                choices=", ".join(self.choices),
            )
        return str(value)


def iter_options(declaration: type) -> Iterator[Option[Any, Any]]:
    """Options of a dataclass, in the order of its fields."""
    for field in fields(declaration):
        option = getattr(declaration, field.name, None)
        if isinstance(option, Option):
            yield option


def split_names(text: str | None) -> list[str]:
    """``a, b`` → ["a", "b"]; a name that holds a comma cannot be given."""
    return [name.strip() for name in (text or "").split(",") if name.strip()]


def _iter_texts(value: object) -> Iterator[object]:
    if isinstance(value, Mapping):
        value = [*value.keys(), *value.values()]
    if isinstance(value, list | tuple):
        for member in value:
            yield from _iter_texts(member)
    else:
        yield value


def is_writable(text: str) -> bool:
    """Return whether a command line, a path or a file can hold the text."""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:
        return False


def is_truth(value: object) -> bool:
    """Return whether it is True or False, also numpy's."""
    return isinstance(value, bool) or (type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"))


def is_level(value: object) -> bool:
    """Return whether it may be a level: a text, a number, a date, a yes or no."""
    scalars = (str, os.PathLike, numbers.Number, datetime.date)
    is_array_scalar = (
        getattr(value, "shape", None) == () and isinstance(value, Hashable) and not isinstance(value, bytes)
    )
    return isinstance(value, scalars) or is_truth(value) or is_array_scalar


def list_to_members(value: object) -> tuple[Any, ...] | None:
    """Return the members of a list in their order. None for what is no list: a text, bytes, a dict, a set, an array
    without dimensions."""
    if not isinstance(value, Iterable) or isinstance(value, str | bytes | bytearray | Mapping | set | frozenset):
        return None
    try:
        return tuple(value)
    except TypeError:
        return None


def format_written_level(level: Any) -> str:
    """A level, or another value of a setting, as people write it."""
    if not isinstance(level, numbers.Real) or isinstance(level, bool):
        return str(level)
    if isinstance(level, numbers.Integral):
        try:
            return str(int(level))
        except ValueError as error:  # Python's limit of digits
            raise InputError("too-many-digits", "a number has too many digits", "give a shorter one") from error
    try:
        number = float(level)
    except OverflowError:
        return str(level)
    return str(int(number) if number.is_integer() and abs(number) < 2**53 else number)
