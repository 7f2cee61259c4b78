"""Kinds of options that are numbers, quantities with units, values by name, files of figures."""

import math
import numbers
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from .errors import InputError
from .levels import check_level
from .message import current_spelling
from .options import (
    GivenNames,
    NameList,
    Names,
    Option,
    Text,
    V,
    format_written_level,
    is_level,
    list_to_members,
    split_names,
)
from .pairs import parse_pairs
from .units import parse_rate, parse_seconds, parse_share, parse_size

FIGURE_FORMATS = ("png", "svg", "pdf")
_MOST_WHOLE = 2**63 - 1  # files and other languages hold no larger ones


class Number(Option[V, float | str | None]):
    """A number from ``least`` to ``most``."""

    kind = "float"
    _words = "a number"

    def __init__(
        self,
        metavar: str,
        help: str,
        default: float | None = None,
        *,
        least: float = float("-inf"),  # noqa: A002
        most: float = float("inf"),
        **more: Any,
    ) -> None:
        super().__init__(metavar, help, default, **more)
        self.least, self.most = least, most

    def parse(self, value: Any) -> Any:
        """The number. Raises InputError for one out of its bounds."""
        try:
            if isinstance(value, bool) or not isinstance(value, numbers.Real | str):
                raise ValueError
            number = self._convert(value)
            if not self.least <= number <= self.most:
                raise ValueError
        except (ValueError, OverflowError):
            raise self.error(
                "out-of-range", "{option} is not possible", "give {bounds}", value, bounds=self._describe_bounds()
            ) from None
        return number

    def _convert(self, value: Any) -> float:
        """Convert a text or a number. Raises ValueError, OverflowError for one that is not finite."""
        if not math.isfinite(number := float(value)):
            raise ValueError
        return number

    def _describe_bounds(self) -> str:
        low, high = (
            format_written_level(int(bound) if abs(bound) < 1e15 and bound == int(bound) else bound)
            if abs(bound) != float("inf")
            else ""
            for bound in (self.least, self.most)
        )
        return f"{self._words}{f' of {low} or more' if low and not high else f' from {low} to {high}' if high else ''}"


class Integer(Number[V]):
    """A whole number from ``least`` to ``most``."""

    kind = "int"
    _words = "a whole number"

    def _convert(self, value: Any) -> int:
        return integer_from(value)


class Choices(Names[V]):
    """Several of a few words, each once, in their own order; ``all`` stands for every one."""

    def __init__(self, choices: Sequence[str], help: str, **more: Any) -> None:  # noqa: A002
        super().__init__(more.pop("metavar", ",".join(choices)), help, (), **more)
        self.choices = tuple(choices)

    def parse(self, value: Any) -> NameList:
        """The words. Raises InputError for another."""
        words = super().parse(value)
        if unknown := [word for word in words if word not in (*self.choices, "all")]:
            choices = ", ".join((*self.choices, "all"))
            raise self.error(
                "unknown-option-value", "{option} is not known", "take {choices}", unknown[0], choices=choices
            )
        return tuple(choice for choice in self.choices if choice in words or "all" in words)


class Level(Number[V]):
    """A confidence level."""

    def parse(self, value: Any) -> Any:
        """Return the level. Raises InputError for one that cannot be."""
        return check_level(super().parse(value))

    def _describe_bounds(self) -> str:
        return "a fraction such as 0.95"


class Counts(Option[V, int | Sequence[int] | str | None]):
    """Counts such as ``1,2,4``, each once; none only where that is the default."""

    kind = "int or sequence of int"

    def __init__(
        self,
        metavar: str,
        help: str,
        default: Any = None,
        *,
        least: int = 1,  # noqa: A002
        most: int = 2**63,
        **more: Any,
    ) -> None:
        super().__init__(metavar, help, default, **more)
        self.least, self.most = least, most

    def parse(self, value: Any) -> tuple[int, ...]:
        """The counts. Raises InputError."""
        several = value.split(",") if isinstance(value, str) else list_to_members(value)
        try:
            counts = tuple(map(integer_from, (value,) if several is None else several))
            is_valid = bool(counts or self.default == ()) and all(self.least <= count <= self.most for count in counts)
        except (ValueError, OverflowError):
            counts, is_valid = (), False
        if not is_valid:
            example = "1,2,4" if self.least else "0,1,2"
            text = value if isinstance(value, str) else ",".join(map(format_written_level, several or [value]))
            raise self.error(
                "not-a-count-list", "{option} is not a list of counts", "write it like {example}", text, example=example
            )
        return tuple(dict.fromkeys(counts))

    def write(self, value: str) -> str:
        """A number, or a list of them."""
        return f"[{', '.join(split_names(value))}]" if "," in value else value


class _Quantity(Option[V, str | float | None], ABC):
    """A number with a unit: a text with it, or a number in base units."""

    kind = "str or float"

    def parse(self, value: Any) -> Any:
        """The number in base units. Raises InputError."""
        if isinstance(value, bool) or not isinstance(value, str | numbers.Real):
            raise self.type_error(value, "give a text with its unit, or a number in base units")
        if not isinstance(value, str) and not _is_amount(value):
            raise self.error("out-of-range", "{option} is not possible", "give a number of 0 or more", value)
        try:
            return self._parse(value)
        except InputError as error:
            raise self.error(
                error.code, "{option} is not possible: {reason}", "{cure}", value, reason=error.message, cure=error.hint
            ) from error

    @abstractmethod
    def _parse(self, value: Any) -> float:
        """Return the number in base units. Raises InputError."""


class Size(_Quantity[V]):
    """A size such as ``4KiB`` or ``1M``, in bytes."""

    kind = "str or int"

    def _parse(self, value: Any) -> int:
        return parse_size(str(value) if isinstance(value, str) or value != int(value) else int(value))


class Duration(_Quantity[V]):
    """A duration such as ``30min``, in seconds."""

    def _parse(self, value: Any) -> float:
        return parse_seconds(value if isinstance(value, str) else float(value))


class Rate(_Quantity[V]):
    """A rate such as ``1GiB/s``, in bytes/s."""

    def _parse(self, value: Any) -> float:
        return parse_rate(value) if isinstance(value, str) else float(value)


class Quantities(Option[V, str | float | Sequence[str | float] | None]):
    """Several quantities: ``4KiB,1MiB``, or a list of them; ``member`` is the kind of each."""

    kind = "str, float or sequence of them"

    def __init__(self, metavar: str, help: str, member: type[_Quantity[Any]], **more: Any) -> None:  # noqa: A002
        super().__init__(metavar, help, (), **more)
        self._member = member(metavar, help)

    def __set_name__(self, owner: type, name: str) -> None:
        super().__set_name__(owner, name)
        self._member.name, self._member.flag = self.name, self.flag

    def parse(self, value: Any) -> tuple[Any, ...]:
        """The quantities in base units. Raises InputError."""
        several = split_names(value) if isinstance(value, str) else list_to_members(value)
        return tuple(map(self._member.parse, (value,) if several is None else several))


class Share(_Quantity[V]):
    """A share: ``2%`` or ``0.02``."""

    def _parse(self, value: Any) -> float:
        return parse_share(value if isinstance(value, str) else str(float(value)))


class Setting(Option[V, Mapping[str, Any] | str | None]):
    """Values by name: ``a=9,b=nfs`` on a terminal, a dict in Python; read as texts."""

    kind = "dict"

    def __init__(self, metavar: str, help: str, *, hint: str = "write it as stripe_count=2", **more: Any) -> None:  # noqa: A002
        super().__init__(metavar, help, **more)
        self._hint = hint

    def parse(self, value: Any) -> dict[str, str]:
        """Name → text. Raises InputError for what has no names."""
        if isinstance(value, list | tuple) and (wrong := [text for text in value if not isinstance(text, str)]):
            raise self.error("not-text", "{option} is not text", self._hint, wrong[0])
        if isinstance(value, str | list | tuple):
            return parse_pairs(value, "" if self.is_argument else current_spelling()(self.flag, ""), self._hint)
        if not hasattr(value, "items"):  # a dict, or a row of a frame
            raise self.type_error(value, "give a dict: {{'size': 4096}}")
        levels = dict(value.items())
        if wrong := [level for level in levels.values() if not is_level(level)]:
            raise self.type_error(wrong[0], "give a text or a number for each name: {{'size': 4096}}")
        return {str(name): format_written_level(level) for name, level in levels.items()}

    def write(self, value: str) -> str:
        """``a=1,b=x`` as ``{'a': 1, 'b': 'x'}``; ``n=1,2`` as ``{'n': [1, 2]}``."""
        levels: dict[str, list[str]] = {}
        for part in value.split(","):
            name, _, level = part.rpartition("=") if "=" in part else (list(levels or [""])[-1], "", part)
            levels.setdefault(name, []).append(super().write(level))
        items = (
            f"{name!r}: {several[0] if len(several) == 1 else '[' + ', '.join(several) + ']'}"
            for name, several in levels.items()
        )
        return f"{{{', '.join(items)}}}"


class SettingList(Setting[V]):
    """Several settings: ``a=9,b=nfs``, repeated, or a dict or a list of dicts in Python."""

    kind = "dict or sequence of dict"

    def __init__(self, metavar: str, help: str, **more: Any) -> None:  # noqa: A002
        super().__init__(metavar, help, default=(), is_repeatable=True, **more)

    def parse(self, value: Any) -> Any:
        """Return a dict of texts for each setting. Raises InputError for what has no names."""
        several = (value,) if isinstance(value, str | Mapping) else list_to_members(value)
        if several is None:
            raise self.type_error(value, "give a dict, or a list of them: {{'size': 4096}}")
        parse = super().parse
        return tuple(parse(setting) for setting in several)


class NamedLists(Option[V, Mapping[str, GivenNames] | GivenNames]):
    """Lists by name: ``hardware=network,disk``, repeated, or a dict of lists in Python."""

    kind = "dict of sequence"

    def __init__(self, metavar: str, help: str, example: str, **more: Any) -> None:  # noqa: A002
        super().__init__(metavar, help, {}, is_repeatable=True, **more)
        self._example = example

    def parse(self, value: Any) -> dict[str, NameList]:
        """Name → texts. Raises InputError for a list without a name or without a member, and for a name given twice."""
        if isinstance(value, Mapping):
            items = [(str(name), self._texts(name, several)) for name, several in value.items()]
        else:
            items = [self._parse_text(text) for text in self._members((value,) if isinstance(value, str) else value)]
        lists: dict[str, NameList] = {}
        for name, texts in items:
            if name in lists:
                raise self.error(
                    "duplicate-name",
                    "{option} is given twice",
                    "give {name} once, with all its members",
                    f"{name}=…",
                    name=name,
                )
            lists[name] = texts
        return lists

    def _members(self, value: Any) -> tuple[Any, ...]:
        if (members := list_to_members(value)) is None:
            raise self.type_error(value, "give a dict of lists")
        return members

    def _parse_text(self, text: Any) -> tuple[str, NameList]:
        if not isinstance(text, str):
            raise self.type_error(text, "give a dict of lists")
        name, equals, members = (part.strip() for part in text.partition("="))
        if not name or not equals or not split_names(members):
            raise self._missing_members(text)
        return name, tuple(split_names(members))

    def _texts(self, name: object, several: Any) -> NameList:
        levels = (several,) if is_level(several) else self._members(several)
        if not levels or levels == ("",):
            raise self._missing_members(f"{name}=")
        if wrong := [level for level in levels if not is_level(level)]:
            raise self.type_error(wrong[0], "give a dict of lists of names")
        return tuple(map(format_written_level, levels))

    def _missing_members(self, text: str) -> InputError:
        return self.error(
            "missing-members", "{option} names no members", "write it as {example}", text, example=self._example
        )

    def write(self, value: str) -> str:
        """``hw=net,disk`` as ``{'hw': ['net', 'disk']}``."""
        return Setting("", "").write(value) if "=" in value else super().write(value)


class Paths(Option[V, str | PurePath | Sequence[str | PurePath]]):
    """Paths: one or several."""

    kind = "path or sequence of paths"

    def parse(self, value: Any) -> NameList:
        """Return their texts. Raises InputError for what is no path."""
        paths = (value,) if isinstance(value, str | PurePath) else list_to_members(value)
        if paths is None:
            raise self.type_error(value, "give a path, or a list of paths")
        if wrong := [path for path in paths if not isinstance(path, str | PurePath)]:
            raise self.error("not-text", "{option} is not a path", "give paths as texts, in quotes", wrong[0])
        return tuple(map(str, paths))


class FigureFile(Text[V]):
    """The file of a figure: its name is looked at before anything is computed."""

    def parse(self, value: Any) -> str:
        """The path. Raises InputError for one that ends in no format of figures."""
        if not isinstance(value, str | os.PathLike):
            raise self.type_error(value, "give the path of a file")
        parse_figure_format(str(value))
        return str(value)


def integer_from(value: Any) -> int:
    """Convert a text or a whole number. Raises ValueError, OverflowError for anything else."""
    if isinstance(value, bool) or not isinstance(value, numbers.Real | str):
        raise ValueError
    number = int(value)  # type: ignore[arg-type]  # of any real number
    if abs(number) > _MOST_WHOLE or not (isinstance(value, str) or number == value):
        raise ValueError
    return number


def _is_amount(number: Any) -> bool:
    try:
        return math.isfinite(number) and number >= 0
    except OverflowError:
        return False


def parse_figure_format(path: str | Path) -> str:
    """Return the format that a figure's name ends with. Raises InputError for a name that ends otherwise."""
    form = Path(path).suffix.lower().lstrip(".")
    if form not in FIGURE_FORMATS:
        raise InputError(
            "unknown-file-format",
            "cannot write a figure to {path}: unknown format",
            "end it in .{formats} or .{last_format}",
            path=path,
            formats=", .".join(FIGURE_FORMATS[:-1]),
            last_format=FIGURE_FORMATS[-1],
        )
    return form
