"""Options as words of a command line."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any, TypeVar

from .errors import InputError
from .option_kinds import Setting
from .options import Option, format_written_level, iter_options


class RepeatableOptions:
    """Options that remember how they were given: for the command line that says the same."""

    @cached_property
    def raw_values(self) -> dict[str, Any]:
        """Name → value, as people wrote it."""
        return {}

    def words(self) -> tuple[str, ...]:
        """Return the words of a command line: arguments before options. Raises InputError for a value that has none."""
        declared = sorted(iter_options(type(self)), key=lambda option: not option.is_argument)
        return tuple(word for option in declared for word in _option_to_words(option, self.raw_values.get(option.name)))


OptionsT = TypeVar("OptionsT", bound=RepeatableOptions)


def replace_options(options: OptionsT, **changes: Any) -> OptionsT:
    """Return the same options with other values; what was not given stays so."""
    return type(options)(**{**options.raw_values, **changes})


def _option_to_words(option: Option[Any, Any], value: Any) -> Iterator[str]:
    flag = "--" + option.flag.replace("_", "-")
    if value is None:
        return
    if option.is_switch:
        if value or option.default is None:  # a plain one has no word for no
            yield flag if value else f"--no-{flag[2:]}"
        return
    texts = (
        [",".join(_value_to_texts(value))]
        if isinstance(option, Setting) and isinstance(value, Mapping)
        else _value_to_texts(value)
    )
    texts = texts if option.is_repeatable else [",".join(texts)]
    _check_meaning(option, value, texts)
    for text in texts:
        yield from (text,) if option.is_argument else (flag, text)


def _check_meaning(option: Option[Any, Any], value: Any, texts: list[str]) -> None:
    """Raise InputError if a terminal would take the texts for another value."""
    try:
        is_same = option.parse(option.read(texts if option.is_repeatable else texts[0])) == option.parse(value)
    except InputError:
        is_same = False
    if not is_same:
        raise option.error(
            "not-for-a-terminal",
            "{option} cannot be written on a command line, where commas separate names",
            "use names without commas",
            ",".join(texts),
        )


def _value_to_texts(value: Any) -> list[str]:
    if isinstance(value, Mapping):
        return [f"{format_written_level(name)}={','.join(_value_to_texts(several))}" for name, several in value.items()]
    several = value if (isinstance(value, Iterable) and not isinstance(value, str)) else [value]
    return [
        ",".join(_value_to_texts(level)) if isinstance(level, Mapping) else format_written_level(level)
        for level in several
    ]
