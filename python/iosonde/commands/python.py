"""Commands as functions of Python: their signature, their docstring, how their messages name options."""

import inspect
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

from iosonde.core.errors import IncompleteError, IosondeWarning, PartialInputError
from iosonde.core.front_end import FrontEnd, get_front_end
from iosonde.core.options import Option

from .declaration import COMMANDS, Command

# Options of a terminal that are no keyword: methods of results, and functions of their own.
_METHODS = {"json": ".to_dict()", "output": ".save()", "export": "iosonde.export()"}
_OPTION = re.compile(r"(?<!`)`([a-z][a-z_]*)`(?!`)")


class PythonFrontEnd(FrontEnd):
    """A program listens: what it has to know is an IosondeWarning at the line that called us."""

    def warn(self, text: str) -> None:
        """An IosondeWarning."""
        depth, frame = 1, sys._getframe(0)
        while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "iosonde":
            depth, frame = depth + 1, frame.f_back
        warnings.warn(text, IosondeWarning, stacklevel=depth)

    remark = warn


def finish(result: Any) -> None:
    """Write the files that a result comes with. Raise what its command ends with, unless the answer says the same;
    warn of a part of the input that could not be used."""
    if write := getattr(result, "write", None):
        write()
    error = getattr(result, "error", None)
    if isinstance(error, PartialInputError):
        get_front_end().warn(error.message)
    elif error is not None and not isinstance(error, IncompleteError):
        raise error


def build_signature(command: Command) -> inspect.Signature:
    """Return the signature of the function: a keyword for every option, with the default as people write it."""
    parameters = []
    for field in fields(command.options):
        option = getattr(command.options, field.name)
        if not isinstance(option, Option):
            continue
        kind = inspect.Parameter.KEYWORD_ONLY if field.kw_only else inspect.Parameter.POSITIONAL_OR_KEYWORD
        default = inspect.Parameter.empty if option.is_required else option.default
        parameters.append(inspect.Parameter(field.name, kind, default=default, annotation=option.kind))
    parameters.sort(key=lambda parameter: parameter.kind)
    return inspect.Signature(parameters, return_annotation=inspect.signature(command.answer).return_annotation)


def build_docstring(command: Command) -> str:
    """Return the docstring of the function: what it does, its keywords, its further sections."""
    parameters = "\n".join(line for option in command.declarations for line in _describe_option(option))
    text = f"{command.description}\n\nParameters\n----------\n{parameters}\n\n{command.sections}".strip()
    if command.example and "Examples\n---" not in command.sections:
        text += f"\n\nExamples\n--------\n>>> {derive_call(command)}"
    return _OPTION.sub(lambda match: f"``{match[1]}``", text)


def derive_call(command: Command) -> str:
    """Return the call of the function that does what the first example of the command does."""
    name_length = len(command.name.split()) or 1
    words = shlex.split(command.example.split("; iosonde ")[0])[name_length:]
    options = {flag: option for option in command.declarations for flag in _list_flags(option)}
    by_place = [
        getattr(command.options, field.name)
        for field in fields(command.options)
        if not field.kw_only and isinstance(getattr(command.options, field.name, None), Option)
    ]
    arguments = sorted(by_place, key=lambda option: not option.is_argument)
    places: dict[str, list[str]] = {}
    keywords: dict[str, str] = {}
    while words:
        word = words.pop(0)
        option = options.get(word)
        if option is None:
            option = arguments[0] if arguments[0].is_repeatable else arguments.pop(0)
            places.setdefault(option.name, []).append(word)
        else:
            keywords[option.name] = option.write("" if option.is_switch else words.pop(0))
    values = [", ".join(f"'{word}'" for word in given) for given in places.values()]
    values = [f"[{value}]" if len(given) > 1 else value for value, given in zip(values, places.values(), strict=True)]
    call = ", ".join([*values, *(f"{name}={value}" for name, value in keywords.items())])
    return f"iosonde.{command.function}({call})".replace("'", '"')


def _list_flags(option: Option[Any, Any]) -> list[str]:
    return (
        [] if option.is_argument else [f"--{option.flag.replace('_', '-')}", *([option.short] if option.short else [])]
    )


def _describe_option(option: Option[Any, Any]) -> Iterator[str]:
    yield f"{option.name} : {option.kind}{_describe_default(option)}"
    yield from textwrap.wrap(
        option.help.replace(" Repeatable.", ""), 110, initial_indent="    ", subsequent_indent="    "
    )


def _describe_default(option: Option[Any, Any]) -> str:
    if option.is_required:
        return ""
    if option.default in (None, (), {}):
        return f", default: {option.default_text}" if option.default_text else ", optional"
    return f", default {option.default!r}"


@dataclass(frozen=True)
class PythonSpelling:
    """How a function names options: ``where='fs=nfs'``. ``command``: its key in COMMANDS, '' for none in particular:
    then any that is loaded and has the option."""

    command: str = ""

    def __call__(self, option: str, value: str) -> str:
        """Return an option as a keyword with its value."""
        flag, text = option.strip("_"), value.strip("'\"")
        commands = [COMMANDS[self.command]] if self.command in COMMANDS else list(COMMANDS.values())
        declarations = (option for command in commands for option in command.declarations)
        for declared in sorted(declarations, key=lambda option: option.is_argument):  # DATA, and `--data 3GB`
            if flag in (declared.flag, declared.name):
                return f"{declared.name}=" + (declared.write(text) if text or declared.is_switch else "")
        if flag in _METHODS:
            return _METHODS[flag]
        return f"{flag}=" + (Option().write(text) if text else "")
