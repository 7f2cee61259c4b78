"""``iosonde check``: can this data be trusted? Every finding with its evidence and its cure."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING

from iosonde.commands.command import command
from iosonde.commands.files import announce_analysis
from iosonde.commands.result import Result
from iosonde.core.options import Data, Flag, NameList, Names, Text
from iosonde.data.options import DataOptions

if TYPE_CHECKING:
    from iosonde.data.source import Source

    from .answer import Check, Noise


@dataclass
class NoiseOptions(DataOptions):
    """The rows, the response and the settings to examine."""

    data: Data = DataOptions.data
    response: Names[NameList] = Names("Y,…", "The measured columns.", (), default_text="what looks measured")
    by: Names[NameList] = Names(
        "X,…", "The settings.", (), default_text="those of a store; all other columns that do not count rows"
    )

    def open_examined(self) -> Source:
        """Open the rows, and announce what may take a while. Raises InputError, DataError."""
        source = self.open_last_experiment(alike=False)
        announce_analysis("check", len(source.table), len(source.table.columns))
        return source


@dataclass
class CheckOptions(NoiseOptions):
    """Options of ``iosonde.check``."""

    _: KW_ONLY
    bound: Text[str | None] = Text("RATE", "The hardware's rate: 117MB/s, 1Gbit/s, or in the response's unit.")


@dataclass
class ExaminationOptions(CheckOptions):
    """Options of ``iosonde check``."""

    noise: Flag[bool] = Flag("The noise passport: false alarms, variances, smallest differences.")


@command("", CheckOptions, "check runs.csv --response bandwidth --by fs,nodes --bound 117MB/s")
def check(options: CheckOptions) -> Result[Check]:
    """Report what is suspicious in DATA, before any analysis of it is believed.

    Returns
    -------
    Result[Check]
        One row a finding; ``.answer.problem`` is whether anything worse than a remark was found.
    """
    return _find_suspicious(options)


@command("", NoiseOptions, "noise runs.csv --response bandwidth --by fs")
def noise(options: NoiseOptions) -> Result[Noise]:
    """Measure how often a comparison of this very data gives a false alarm, and how small a difference it detects.

    It is ``iosonde check --noise``.

    Returns
    -------
    Result[Noise]
        One row a metric.
    """
    return _measure_noise(options)


@command(
    "check", ExaminationOptions, "check runs.csv --response write_MiB/s --by fs,nodes --bound 117MB/s", in_python=False
)
def examine(options: ExaminationOptions) -> Result[Check] | Result[Noise]:
    """Report what is suspicious in DATA, before any analysis of it is believed.

    DATA is a store, a table or a tool's output. Exit code 1 if a warning or an error was found, 0 if not.
    """
    return _measure_noise(options) if options.noise else _find_suspicious(options)


def _find_suspicious(options: CheckOptions) -> Result[Check]:
    from .answer import check as answer
    from .answer import parse_carried_rate
    from .text import lines

    capacity = (None, None) if options.bound is None else parse_carried_rate(options.bound)
    return Result(answer(options.open_examined(), options.query, options.by or (), *capacity), lines)


def _measure_noise(options: NoiseOptions) -> Result[Noise]:
    from .answer import noise as answer
    from .text import noise_lines

    return Result(answer(options.open_examined(), options.query, options.by or ()), noise_lines)
