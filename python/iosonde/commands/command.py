"""``@command``: declares the options of a command and the function that answers them."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from iosonde.core.front_end import listening
from iosonde.core.message import set_default_spelling, spelled

from . import python
from .declaration import COMMANDS, Command

P = ParamSpec("P")
OptionsT = TypeVar("OptionsT")
ResultT = TypeVar("ResultT")


def command(
    name: str, options: Callable[P, OptionsT], example: str = "", *, in_python: bool = True
) -> Callable[[Callable[[OptionsT], ResultT]], Callable[P, ResultT]]:
    """Declare a command: the decorated function answers ``options``; what it becomes takes their values.

    ``example``: what follows ``iosonde`` in ``--help``. One with ``name=""`` is of Python alone, one without
    ``in_python`` of the terminal alone.
    """

    def declare(answer: Callable[[OptionsT], ResultT]) -> Callable[P, ResultT]:
        assert isinstance(options, type)
        declared = Command(name, answer.__name__ if in_python else "", options, answer, example)
        signature, key = python.signature_of(declared), f"{answer.__module__}.{answer.__name__}"

        @functools.wraps(answer)
        def call(*args: P.args, **values: P.kwargs) -> ResultT:
            set_default_spelling(python.PythonSpelling())  # of threads, and of what an answer computes later
            with spelled(python.PythonSpelling(key), is_default=True), listening(python.PythonFrontEnd()):
                try:
                    bound = signature.bind(*args, **values)
                except TypeError as error:
                    raise TypeError(f"iosonde.{answer.__name__}(): {error}") from None
                result = answer(options(*bound.args, **bound.kwargs))
                python.finish(result)
                return result

        call.__doc__ = python.docstring_of(declared)
        vars(call)["__signature__"] = signature
        if in_python:
            call.__module__ = "iosonde"  # where pickle and readers find it
        COMMANDS[key] = declared
        return call

    return declare
