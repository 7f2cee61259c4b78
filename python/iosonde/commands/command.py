"""``@command``: declares the options of a command and the function that answers them."""

import difflib
import errno
import functools
import inspect
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

from iosonde.core.errors import InputError
from iosonde.core.front_end import use_front_end
from iosonde.core.message import set_default_spelling, use_spelling

from . import python
from .declaration import COMMANDS, Command

P = ParamSpec("P")
OptionsT = TypeVar("OptionsT")
ResultT = TypeVar("ResultT")


def command(
    name: str, options: Callable[P, OptionsT], example: str = "", *, in_python: bool = True
) -> Callable[[Callable[[OptionsT], ResultT]], Callable[P, ResultT]]:
    """Declare a command: the decorated function answers ``options``; what it becomes takes their values.

    ``example``: what follows ``iosonde`` in ``--help``; of a command of Python alone the same words after its function,
    for its docstring. One with ``name=""`` is of Python alone, one without ``in_python`` of the terminal alone.
    """

    def declare(answer: Callable[[OptionsT], ResultT]) -> Callable[P, ResultT]:
        assert isinstance(options, type)
        declared = Command(name, answer.__name__ if in_python else "", options, answer, example)
        signature, key = python.build_signature(declared), f"{answer.__module__}.{answer.__name__}"

        @functools.wraps(answer)
        def call(*args: P.args, **values: P.kwargs) -> ResultT:
            set_default_spelling(python.PythonSpelling())  # of threads, and of what an answer computes later
            with use_spelling(python.PythonSpelling(key), is_default=True), use_front_end(python.PythonFrontEnd()):
                try:
                    bound = signature.bind(*args, **values)
                except TypeError as error:
                    raise TypeError(
                        f"iosonde.{answer.__name__}(): {error}{_suggest_keyword(signature, values)}"
                    ) from None
                with _refusing_long_names():
                    result = answer(options(*bound.args, **bound.kwargs))
                    python.finish(result)
                return result

        call.__doc__ = python.build_docstring(declared)
        vars(call)["__signature__"] = signature
        if in_python:
            call.__module__ = "iosonde"  # where pickle and readers find it
        COMMANDS[key] = declared
        return call

    return declare


def _suggest_keyword(signature: inspect.Signature, given: Iterable[str]) -> str:
    """Return the keyword that an unknown one resembles, as a question; '' without one."""
    unknown = [name for name in given if name not in signature.parameters]
    near = difflib.get_close_matches(unknown[0], signature.parameters, 1) if unknown else []
    return f"; did you mean {near[0]}=?" if near else ""


@contextmanager
def _refusing_long_names() -> Iterator[None]:
    """Raise InputError where the file system refuses the length of a name, as the command line does."""
    try:
        yield
    except OSError as error:
        if error.errno != errno.ENAMETOOLONG:
            raise
        raise InputError("name-too-long", "a name is too long for this file system", "give a shorter one") from error
