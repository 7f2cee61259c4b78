"""What the hardware allows, computed from its numbers: the time of one operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Unpack

from iosonde.core.units import parse_per_byte, parse_rate, parse_seconds, parse_size

from .result import Result
from .words import (
    DataOptions,
    Names,
    check_choice,
    level_text,
    names,
    nothing,
    open_last_experiment,
    takes,
    warn,
    within,
)

if TYPE_CHECKING:
    from iosonde.answers.path_study import PathStudy
    from iosonde.answers.time_model import TimeModel
    from iosonde.model.time_model import TimePart

Word = str | float | None
# A number without a unit is in base units: bytes/s, s, s/byte.
_BASE_UNITS: dict[Callable[..., Any], str] = {parse_rate: "B/s", parse_seconds: "s", parse_per_byte: "s/B"}


def in_base_units(value: str | float, read: Callable[..., Any], word: str) -> str:
    """A text as it is; a number as a text that ``read`` takes."""
    if isinstance(value, str):
        return value
    within(value, 0, 1e18, word)
    return f"{Decimal(level_text(value)):f}{_BASE_UNITS.get(read, '')}"  # without an exponent


class TimeOptions(DataOptions, total=False):
    """One operation, and the parts of its time: texts with a unit (``"10GB/s"``, ``"50us"``), ``"numa=5GB/s"`` for a
    place, numbers in base units, or several."""

    mode_switch: Annotated[Word | Sequence[Word], None]
    copy: Annotated[Word | Sequence[Word], None]
    network: Annotated[Word | Sequence[Word], None]
    network_latency: Annotated[Word | Sequence[Word], None]
    device_copy: Annotated[Word | Sequence[Word], None]
    device: Annotated[Word | Sequence[Word], None]
    prepare: Annotated[Word | Sequence[Word], None]
    parts: Annotated[str | Path | Mapping[str, Any] | None, None]
    size: Annotated[Word | Sequence[Word], None]
    observed: Annotated[Word | Sequence[Word], None]
    state: Annotated[str, "prepared"]
    only: Annotated[Names, None]


@takes(TimeOptions)
def time_model(
    data: Any = None,
    response: Names = None,
    on: Names = None,
    by: Names = None,
    *,
    mixture: bool = False,
    **options: Unpack[TimeOptions],
) -> Result[TimeModel] | Result[PathStudy]:
    """Where the time of one operation goes, t(size) = m + p + n + c + d, and which condition an observed time tells of.

    Parameters
    ----------
    data : path, table or Source, optional
        Times and sizes, to which the parts are fitted; with parts, what is put to the nearest condition; a store of
        ``iosonde run path-study`` alone, whose conditions are fitted and whose patterns are put to them.
    response : str, optional
        The column of times, whose name says the unit, as ``"time_us"``; of a store a metric.
    on : str, optional
        The column of sizes in bytes.
    by : str or sequence of str, optional
        The columns of conditions: one line is fitted for each.
    mixture : bool, optional
        The text also says of which two conditions an observed time may be a mixture.
    **options
        The parts: ``mode_switch`` (into the kernel and back), ``copy`` (to the page cache), ``network``,
        ``network_latency``, ``device_copy`` (to the device's cache), ``device``, ``prepare`` (seek, or flush of an
        erase block): ``"10GB/s"``, ``"0.3us"``, a number in base units, several as ``["5GB/s", "numa=3GB/s"]``; or all
        as ``parts``, a file or a dict. ``size``: of the operation; ``observed``: what operations of that size took;
        ``state``: whether the device has to prepare (``"prepared"``, ``"sequential"``); ``only``: these conditions. And
        ``where``, ``incomplete``, ``metric``, ``clock``, ``experiment``, ``level``.

    Returns
    -------
    Result[TimeModel] | Result[PathStudy]
        One row a condition at a size, or of a group; of a path study one a pattern.

    Examples
    --------
    >>> iosonde.time_model(size="256KiB", copy="10GB/s", network="125MB/s", observed="2.5ms")
    """
    from iosonde.answers import path_study
    from iosonde.answers.time_model import SingleOperation
    from iosonde.answers.time_model import time_model as answer
    from iosonde.report.text import path_study as study_text
    from iosonde.report.text import time_model as text

    source, query = open_last_experiment(data, response, on, options, by) if data is not None else nothing(options)
    state = check_choice(options["state"], ("prepared", "sequential"), "state")
    operation = SingleOperation(
        _parts(dict(options)),
        state,
        names(options["only"], "only"),
        [parse_size(level_text(size)) for size in _to_sequence(options["size"])],
        [parse_seconds(duration) for duration in _to_sequence(options["observed"])],
    )
    if source is not None and path_study.is_path_study_request(source, query.response, operation.parts):
        return Result(path_study.path_study(source, query.level), study_text.lines)
    model = answer(source, query, operation, names(by, "by"))
    for warning in model.warnings:
        warn(warning)
    return Result(model, lambda result: [*text.lines(result), *(text.mixtures(result) if mixture else ())])


def _parts(arguments: Mapping[str, Any]) -> list[TimePart]:
    """Those of a file or dict, then those of words."""
    from iosonde.answers.time_parts import OPTIONS, parts_from_document, parts_from_file, parts_from_options

    document = arguments["parts"]
    document_parts = (
        []
        if document is None
        else parts_from_document(document)
        if isinstance(document, Mapping)
        else parts_from_file(document)
    )
    words = {}
    for word, (_, is_rate) in OPTIONS.items():
        read = parse_rate if is_rate else parse_seconds
        words[word] = [in_base_units(value, read, word) for value in _to_sequence(arguments[word])]
    return [*document_parts, *parts_from_options(words)]


def _to_sequence(value: Any) -> Sequence[Any]:
    return () if value is None else [value] if isinstance(value, (str, int, float)) else list(value)
