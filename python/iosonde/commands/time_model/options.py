"""``iosonde time-model``: where the time of one operation goes, and the condition of an observed time."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.result import Result
from iosonde.commands.system_options import QuantityTexts
from iosonde.core.errors import InputError
from iosonde.core.front_end import get_front_end
from iosonde.core.option_kinds import Duration, FigureFile, Quantities, Size
from iosonde.core.options import Choice, Data, Flag, NameList, Names, Value
from iosonde.core.units import parse_rate, parse_seconds
from iosonde.data.options import OPTIONAL_DATA, DataOptions

if TYPE_CHECKING:
    from iosonde.commands.path_study import PathStudy
    from iosonde.model.time_model import TimePart

    from .answer import TimeModel

Texts = QuantityTexts[NameList]


def _declare_times(help_text: str) -> Texts:
    return QuantityTexts("[WHERE=]TIME", help_text, parse_seconds, default=(), is_repeatable=True)


def _declare_rates(help_text: str) -> Texts:
    return QuantityTexts("[WHERE=]RATE", help_text, parse_rate, default=(), is_repeatable=True)


@dataclass
class TimeModelOptions(DataOptions):
    """Options of ``iosonde time-model``."""

    data: Data = OPTIONAL_DATA
    response: Names[NameList] = Names(
        "Y,…", "DATA: the times: a column whose name says the unit, as time_us; of a store a metric.", ()
    )
    on: Names[NameList] = Names("X,…", "DATA: the column of sizes, bytes.", ())
    by: Names[NameList] = Names(
        "X,…", "DATA: the columns of conditions: one line is fitted for each. A store's factors without it.", ()
    )
    _: KW_ONLY
    size: Quantities[tuple[int, ...]] = Quantities("SIZE,…", "Of the operation.", Size)
    observed: Quantities[tuple[float, ...]] = Quantities(
        "TIME,…", "What operations of `size` took: name their condition.", Duration
    )
    mode_switch: Texts = _declare_times("m: into the kernel and back, as 0.3us.")
    copy: Texts = _declare_rates("p: user space ↔ page cache; numa=5GB/s for a place.")
    network: Texts = _declare_rates("n: client ↔ server.")
    network_latency: Texts = _declare_times("n: what each message takes besides.")
    device_copy: Texts = _declare_rates("c: page cache ↔ device cache.")
    device: Texts = _declare_rates("d: the device, sequentially.")
    prepare: Texts = _declare_times("d: seek, or flush of an erase block.")
    parts: Value = Value("FILE", "All of these as YAML or JSON; in Python also as a dict.")
    state: Choice[str] = Choice(("prepared", "sequential"), "Whether the device has to prepare.", "prepared")
    only: Names[NameList] = Names("CONDITION,…", "Only these: discard, client_cached, server_cached, uncached.", ())
    mixture: Flag[bool] = Flag("Also say of which two conditions an observed time may be a mixture.")
    plot: FigureFile[str | None] = FigureFile("FILE", "Of a path study: time against size, with the lines.")

    def read_parts(self) -> list[TimePart]:
        """Return the parts of the file or dict, then those of options. Raises InputError."""
        from .parts import OPTIONS, parts_from_document, parts_from_file, parts_from_options

        parts: list[TimePart] = []
        if self.parts is not None:
            parts += (
                parts_from_document(self.parts) if isinstance(self.parts, Mapping) else parts_from_file(str(self.parts))
            )
        return parts + parts_from_options({name: vars(self)[name] for name in OPTIONS})


@command("time-model", TimeModelOptions, "time-model --size 256KiB --copy 10GB/s --network 125MB/s --observed 2.5ms")
def time_model(options: TimeModelOptions) -> Result[TimeModel] | Result[PathStudy]:
    """Compute the parts of t(size) = m + p + n + c + d, and the nearest condition of an observed time.

    The parts come from options or a file, or are fitted to DATA: a line c + f(size) for each condition, with intervals.
    With parts and DATA every row, or every read and write of a store, gets its nearest condition. A store with a path
    study (iosonde run path-study) needs nothing else: its conditions are fitted, and its patterns put to them.

    Returns
    -------
    Result[TimeModel] or Result[PathStudy]
        One row a condition at a size, or of a group; of a path study one a pattern.

    Examples
    --------
    >>> iosonde.time_model(size="256KiB", copy="10GB/s", network="125MB/s", observed="2.5ms")
    """
    from iosonde.commands.files import build_figure_writer
    from iosonde.commands.path_study import analyse_path_study, is_path_study_request
    from iosonde.model.time_model import build_conditions

    from .answer import time_model as answer

    parts = options.read_parts()
    source = None if options.data is None else options.open_last_experiment()
    if source is not None and is_path_study_request(source, options.response, parts):
        study = analyse_path_study(source, options.level)
        writer = build_figure_writer(options.plot, study.figure)
        return Result(study, lambda study: study.lines(), lambda study: study.figure(), writer)
    if options.plot is not None:
        raise InputError(
            "not-a-path-study",
            "{spell.plot} draws a study of paths, and this is none",
            "measure one: iosonde run path-study --target DIR",
        )
    conditions = build_conditions(parts, options.state, options.only) if parts else ()
    model = answer(source, options.query, conditions, options.size, options.observed, options.by)
    for warning in model.warnings:
        get_front_end().warn(warning)
    return Result(model, _format_lines_with_mixtures if options.mixture else _format_lines)


def _format_lines(model: TimeModel) -> Iterator[str]:
    from .text import lines

    yield from lines(model)


def _format_lines_with_mixtures(model: TimeModel) -> Iterator[str]:
    from .text import format_mixtures

    yield from _format_lines(model)
    yield from format_mixtures(model)
