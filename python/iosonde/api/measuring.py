"""Measure: run a campaign, plan it first, probe the hardware."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, Unpack

from iosonde.core.errors import InputError
from iosonde.core.units import parse_seconds, parse_size

from .again import levels, run_command, target_words
from .believe import compare, summary
from .result import Result
from .words import Names, checked, names, takes, warn

if TYPE_CHECKING:
    import pandas as pd

    from iosonde.answers.against import PairVerdicts
    from iosonde.answers.compare.answer import Comparisons
    from iosonde.answers.summary import Summary
    from iosonde.campaign.request import Request
    from iosonde.campaign.run import CampaignOutcome

Counts = int | Sequence[int] | None
Size = str | int | None
Targets = str | Path | Sequence[str | Path] | Mapping[str, str | Path] | None
Time = str | float | None
# Word → what reads it; the others are taken as they are.
_SIZES = ("small_size", "large_size", "transfer_size", "max_bytes")
_TIMES = ("budget", "max_seconds", "trial_timeout", "idle_timeout", "wait")
_COUNTS = ("nodes", "ranks_per_node")
_PATHS = ("hosts", "store", "spool")


class RunOptions(TypedDict, total=False):
    """The words of ``iosonde run``. One that is None is left to the experiment file, or its default. Sizes are texts
    (``"64MiB"``) or bytes, times texts (``"30min"``) or seconds; ``set`` is a dict of a factor's levels."""

    file: Annotated[str | Path | None, None]
    native: Annotated[bool, False]
    on: Annotated[str | None, None]
    parse: Annotated[str | None, None]
    set: Annotated[Mapping[str, Any] | Names, None]
    target: Annotated[Targets, None]
    nodes: Annotated[Counts, None]
    ranks_per_node: Annotated[Counts, None]
    repetitions: Annotated[int | None, None]
    until: Annotated[str | None, None]
    against: Annotated[str | None, None]
    a_name: Annotated[str | None, None]
    b_name: Annotated[str | None, None]
    margin: Annotated[str | float | None, None]
    metric: Annotated[str | None, None]
    fail_if: Annotated[Names, None]
    budget: Annotated[Time, None]
    quick: Annotated[bool, False]
    full: Annotated[bool, False]
    launcher: Annotated[str | None, None]
    hosts: Annotated[str | Path | None, None]
    reserve: Annotated[str | None, None]
    store: Annotated[str | Path | None, None]
    name: Annotated[str | None, None]
    seed: Annotated[int | None, None]
    subject_commit: Annotated[str | None, None]
    small_files: Annotated[int | None, None]
    small_size: Annotated[Size, None]
    large_files: Annotated[int | None, None]
    large_size: Annotated[Size, None]
    transfer_size: Annotated[Size, None]
    cache: Annotated[str | None, None]
    before_reads: Annotated[str | None, None]
    between_trials: Annotated[str | None, None]
    direct: Annotated[bool | None, None]
    verify: Annotated[bool | None, None]
    shared_writes: Annotated[bool | None, None]
    max_bytes: Annotated[Size, None]
    max_files: Annotated[int | None, None]
    max_seconds: Annotated[Time, None]
    max_operations: Annotated[int | None, None]
    trial_timeout: Annotated[Time, None]
    idle_timeout: Annotated[Time, None]
    pace: Annotated[Time, None]
    abort_if: Annotated[str | None, None]
    fake: Annotated[str | None, None]
    wait: Annotated[Time, None]
    alongside: Annotated[bool, False]
    spool: Annotated[str | Path | None, None]


@dataclass(frozen=True)
class Measured:
    """What was measured: it shows itself as its summary, two sides as their comparison. ``outcome`` says how the
    campaign ended, and has its experiment."""

    outcome: CampaignOutcome
    level: float

    @property
    def store(self) -> str:
        """Where the runs are."""
        return self.outcome.store

    @cached_property
    def summary(self) -> Result[Summary]:
        """Of this experiment alone."""
        only = self.outcome.experiment.id if self.outcome.experiment else None
        return summary(self.store, experiment=only, level=self.level)

    @cached_property
    def comparison(self) -> Result[Comparisons | PairVerdicts]:
        """What the pairs of ``against`` say."""
        only = self.outcome.experiment.id if self.outcome.experiment else None
        return compare(
            self.store, experiment=only, level=self.outcome.pairs.level if self.outcome.pairs else self.level
        )

    @property
    def _result(self) -> Result[Any]:
        return self.comparison if self.outcome.pairs else self.summary

    def __str__(self) -> str:
        """What the terminal shows."""
        return str(self._result)

    __repr__ = __str__

    def to_dict(self) -> dict[str, Any]:
        """What ``--json`` prints."""
        return self._result.to_dict()

    def to_frame(self) -> pd.DataFrame:
        """One row a cell. Needs pandas."""
        return self._result.to_frame()


@takes(RunOptions)
def run(what: str | Path | None = None, *, level: float = 0.95, **options: Unpack[RunOptions]) -> Measured:
    """Measure: an experiment file, a command, a benchmark, or the MTC envelope; every trial is stored.

    Writes only below ``TARGET/iosonde-<id>/`` and removes it afterwards. The same call again resumes what was
    interrupted.

    Parameters
    ----------
    what : str or path, optional
        An experiment file, a command for the shell, or the name of a benchmark. Without it the envelope is measured.
    level : float, optional
        The confidence of the summary's intervals.
    **options
        The words of ``iosonde run --help``: ``file``, ``native``, ``on``, ``parse``, ``set`` (``{"n": [1, 2]}``),
        ``target`` (several as a list, or as ``{"nfs": "/mnt/n"}``, are levels of a factor), ``nodes``
        (``[1, 2, 4]``), ``ranks_per_node``, ``repetitions``, ``until`` (``"ci<5%"``), ``against``, ``a_name``,
        ``b_name``, ``margin`` (``"5%"``), ``metric``, ``fail_if`` (``"slower>5%"``: ``.comparison.answer.problem`` says
        whether it is so), ``budget`` (``"30min"``), ``quick``, ``full``, ``launcher``,
        ``hosts``, ``reserve``, ``store``, ``name``, ``seed``, ``small_files``, ``small_size``, ``large_files``,
        ``large_size`` (``"64MiB"``), ``transfer_size``, ``cache``,
        ``before_reads``, ``between_trials``, ``direct``, ``verify``, ``shared_writes``, ``max_bytes``, ``max_files``,
        ``max_seconds``, ``max_operations``, ``trial_timeout``, ``idle_timeout``, ``pace`` (``"10min"``,
        ``"50%"``), ``abort_if``, ``wait`` (for another measurement on this machine), ``alongside``, ``spool``,
        ``subject_commit`` (the version of what is measured, or ``"auto"``); of the path study ``fake``, a scripted
        machine instead of the target.

    Returns
    -------
    Measured
        Its summary (with ``against`` the comparison), and ``.store``, where the runs are.

    Raises
    ------
    InputError
        What was asked for cannot be measured. Nothing was started.
    IncompleteError
        Trials are incomplete. They are in the store, and left out of totals.

    Examples
    --------
    >>> iosonde.run("sweep.yaml", target="/mnt/x", store="results")
    """
    from iosonde.campaign.caller import Caller
    from iosonde.campaign.run import run as campaign

    outcome = campaign(_build_request(what, options), checked(level), Caller(run_command(what, options)))
    outcome.check()
    for remark in outcome.remarks()[1:]:  # the first says where the runs are
        warn(remark)
    return Measured(outcome, level)


def _build_request(what: str | Path | None, options: RunOptions) -> Request:
    """The words as the campaign takes them. Raises InputError."""
    from iosonde.campaign.request import Request

    arguments: dict[str, Any] = {name: value for name, value in options.items() if value is not None}
    words = {name: _read(name, value) for name, value in arguments.items() if name not in ("set", "file")}
    return Request(
        what=_text(what), file=_text(arguments.get("file")), set=tuple(levels(arguments.get("set"))), **words
    )


def _read(word: str, value: Any) -> Any:
    if word in _SIZES:
        return parse_size(value)
    if word in _TIMES:
        return parse_seconds(value)
    if word in _PATHS:
        return str(value)
    if word == "fail_if":
        return names(value, word)
    if word == "target":
        return tuple(target_words(value))
    return _counts(word, value) if word in _COUNTS else value


def _counts(word: str, value: Any) -> tuple[int, ...]:
    counts = (value,) if isinstance(value, int) else tuple(value) if isinstance(value, Sequence) else ()
    if not counts or not all(isinstance(count, int) and count >= 1 for count in counts):
        raise InputError(
            "not-a-count-list",
            "{argument}={counts!r} is not a list of counts",
            "give it like [1, 2, 4]",
            argument=word,
            counts=value,
        )
    return tuple(dict.fromkeys(counts))


def _text(path: str | Path | None) -> str | None:
    return None if path is None else str(path)
