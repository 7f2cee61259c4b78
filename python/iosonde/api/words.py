"""What the functions take: DATA, names, and the words that many of them share."""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Annotated, Any, ParamSpec, TypedDict, TypeVar, get_args, get_type_hints

from iosonde.core import levels
from iosonde.core.errors import InputError, IosondeWarning
from iosonde.core.table import tidy
from iosonde.core.where import ALSO_INCOMPLETE
from iosonde.data.asked import LAST_DONE, ResponseQuery
from iosonde.data.source import Source, by_itself, narrowed, open_data

Names = str | Sequence[str] | None
Setting = Mapping[str, Any]
_P = ParamSpec("_P")
_T = TypeVar("_T")


class DataOptions(TypedDict, total=False):
    """What every function about DATA takes besides its own words.

    ``where``: conditions as ``"fs=nfs"``; ``incomplete``: with the incomplete runs of a store; ``metric``: only these
    metrics of a store, or ``"all"``; ``clock``: until when its rates count; ``experiment``: only this one of a store
    (``"last"``, ``"all"``); ``level``: the confidence of every interval.
    """

    where: Annotated[Names, ()]
    incomplete: Annotated[bool, False]
    metric: Annotated[Names, None]
    clock: Annotated[str, LAST_DONE]
    experiment: Annotated[str | None, None]
    level: Annotated[float, 0.95]


def takes(words: type[Any]) -> Callable[[Callable[_P, _T]], Callable[_P, _T]]:
    """A function whose ``**options`` are these words: their defaults are filled in, an unknown one is the TypeError
    that Python raises, and its signature, which ``help`` and editors show, has them all."""
    hints = get_type_hints(words, include_extras=True)
    option_parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=kind, default=default)
        for name, hint in hints.items()
        for kind, default in [get_args(hint)]
    ]

    def decorate(function: Callable[_P, _T]) -> Callable[_P, _T]:
        own = inspect.signature(function)
        own_parameters = [
            parameter for parameter in own.parameters.values() if parameter.kind is not inspect.Parameter.VAR_KEYWORD
        ]
        signature = own.replace(parameters=[*own_parameters, *option_parameters])

        @functools.wraps(function)
        def called(*args: _P.args, **arguments: _P.kwargs) -> _T:
            try:
                signature.bind(*args, **arguments)
            except TypeError as error:
                raise TypeError(f"iosonde.{function.__name__}(): {error}") from None
            for option in option_parameters:
                arguments.setdefault(option.name, option.default)
            return function(*args, **arguments)

        vars(called)["__signature__"] = signature
        return called

    return decorate


def open(data: Any, where: Names = (), experiment: str | None = None) -> Source:  # noqa: A001
    """DATA, opened once for several questions.

    Parameters
    ----------
    data : path, table or Source
        A store, a ``.csv``, a ``.parquet``, or a table in memory that speaks Arrow (pandas, polars, DuckDB).
    where : str or sequence of str, optional
        Conditions that the rows fulfil, as ``"fs=nfs"`` or ``"nodes>=2"``.
    experiment : str, optional
        Only this experiment of a store.

    Returns
    -------
    Source
        Its rows and, of a store, its runs and experiments. A damaged store is an ``IosondeWarning``.

    Raises
    ------
    InputError, DataError
        What is wrong with it, and where.
    """
    chosen = names(where, "where")
    if isinstance(data, Source):
        return narrowed(data, chosen, experiment)
    source = open_data(data, chosen, experiment)
    for problem in source.problems:
        warn(problem)
    return source


def open_query(data: Any, response: Names, on: Names, options: DataOptions) -> tuple[Source, ResponseQuery]:
    """DATA opened, and what the answers take of the words that all functions share."""
    level = checked(options["level"])
    source = open(data, conditions(options), options["experiment"])
    metric = names(options["metric"], "metric")
    return source, ResponseQuery(names(response, "response"), names(on, "on"), options["clock"], level, metric)


def open_last_experiment(
    data: Any, response: Names, on: Names, options: DataOptions, cells: Names = None, alike: bool = True
) -> tuple[Source, ResponseQuery]:
    """As ``open_query``; of a store the last experiment alone, which is said, where several would be in one cell of
    ``on`` and ``cells``; as ``by_itself``."""
    opened, query = open_query(data, response, on, options)
    source, note = by_itself(opened, (*query.on, *names(cells, "by")), alike)
    if note:
        warn(note)
    return source, query


def conditions(options: Mapping[str, Any]) -> tuple[str, ...]:
    """``where``, with what ``incomplete`` stands for. Raises InputError."""
    return (*names(options["where"], "where"), *([ALSO_INCOMPLETE] if options["incomplete"] else []))


def nothing(options: DataOptions) -> tuple[None, ResponseQuery]:
    """In the place of DATA where none is needed."""
    return None, ResponseQuery(clock=options["clock"], level=checked(options["level"]))


def names(raw_names: Names, word: str) -> tuple[str, ...]:
    """One name or several as a tuple. Raises InputError, naming the ``word``, for anything else."""
    several = (raw_names,) if isinstance(raw_names, str) else () if raw_names is None else raw_names
    if not isinstance(several, Iterable) or isinstance(several, Mapping):
        raise InputError(
            "wrong-argument-type",
            "{argument} is given as {type_name}",
            "give a name, or a list of names",
            argument=word,
            type_name=type(raw_names).__name__,
        )
    values = tuple(several)
    if wrong := [value for value in values if not isinstance(value, str)]:
        raise InputError(
            "not-text",
            "{argument} has {name!r}, which is not text",
            "give names as texts, in quotes",
            argument=word,
            name=wrong[0],
        )
    return values


def levels_of(raw_levels: Any, word: str) -> tuple[str, ...]:
    """Levels as the command line has them: ``2``, ``2.0`` and ``"2"`` are one. Raises InputError."""
    several = raw_levels if isinstance(raw_levels, Iterable) and not isinstance(raw_levels, str) else [raw_levels]
    return names(None if raw_levels is None else [level_text(level) for level in several], word)


def level_text(level: Any) -> str:
    """A level, or another value of a setting, as people write it."""
    is_number = isinstance(level, numbers.Real) and not isinstance(level, bool) and math.isfinite(level)
    return str(tidy(float(level)) if is_number else level)


def texts(setting: Setting, word: str) -> dict[str, str]:
    """A setting as the command line has it: name → text. Raises InputError where it is none."""
    if not hasattr(setting, "items"):  # a dict, or a row of a frame
        raise InputError(
            "wrong-argument-type",
            "{argument} is given as {type_name}",
            "give {argument} as a dict: {{'size': 4096}}",
            argument=word,
            type_name=type(setting).__name__,
        )
    return {str(name): level_text(value) for name, value in setting.items()}


def check_choice(value: str, choices: Sequence[str], word: str) -> str:
    """``value`` if it is one of the known. Raises InputError, naming the ``word``."""
    if value not in choices:
        raise InputError(
            "unknown-option-value",
            "{argument}={argument_value!r} is not known",
            "take {allowed}",
            argument=word,
            argument_value=value,
            allowed=", ".join(choices),
        )
    return value


def within(value: Any, low: float, high: float, word: str) -> None:
    """Raises InputError, naming the ``word``, unless ``value`` is a number from ``low`` to ``high``."""
    if not isinstance(value, numbers.Real) or isinstance(value, bool) or not low <= float(value) <= high:
        raise InputError(
            "out-of-range",
            "{argument}={argument_value!r} is not possible",
            "give a number from {minimum:.10g} to {maximum:.10g}",
            argument=word,
            argument_value=value,
            minimum=low,
            maximum=high,
        )


def checked(level: float) -> float:
    """The confidence level; one that is unusually low is a warning. Raises InputError."""
    if isinstance(level, bool) or not isinstance(level, numbers.Real):
        raise InputError(
            "wrong-argument-type",
            "the confidence level is given as {type_name}",
            "use a number such as 0.95",
            argument="level",
            type_name=type(level).__name__,
        )
    levels.check_level(level)
    if low := levels.warning(level):
        warn(low)
    return level


def warn(text: str) -> None:
    """An IosondeWarning that points at the line that called us."""
    depth, frame = 1, sys._getframe(0)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "iosonde":
        depth, frame = depth + 1, frame.f_back
    warnings.warn(text, IosondeWarning, stacklevel=depth)
