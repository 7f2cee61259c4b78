"""The headline of a store's page: from where to where each metric goes, of which tool, and over which settings."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from iosonde.core.estimate_text import estimate_text
from iosonde.core.headlines import metric_words
from iosonde.core.stored import StoredRun
from iosonde.core.units import human_scale, significant
from iosonde.core.words import counted
from iosonde.stats.overview.types import Overview, OverviewRow

from .axis import Axis, place

_NOTHING = "No trial is complete: nothing can be said about the speed"
_NO_RATE = "The trials hold no rate: nothing can be said about the speed"
_VERBS = {"write_large": "writes", "read_1to1_large": "reads"}
# In an operation's name its kind of object; most readers came for files.
_LATER = ("directory_", "tree_")
_MOST = 3  # metrics
_MAX_FACTORS = 3  # factors
_LONG = 40  # characters of a command


def headline(target: str, tools: str, runs: Sequence[StoredRun], overview: Overview, axis: Axis) -> str:
    """One line about a target or store, and the tools that measured it ('' for our engine). Where only the size of the
    runs varied it is of the largest, with its interval."""
    rows = [row for row in overview.rows if row.mean.value is not None]
    if not rows:
        return _NO_RATE if any(run.counts for run in runs) else _NOTHING
    if set(overview.by) <= {axis.factor}:
        size = max(axis.size(row.by) for row in rows)
        rows = [row for row in rows if axis.size(row.by) == size]
        over = f" {'from' if axis.factor == 'nodes' else 'with'} {counted(size, axis.noun)}"
    else:
        names = overview.by
        over = f" over {' × '.join(names) if len(names) <= _MAX_FACTORS else counted(len(names), 'factor')}"
    verbs = [f"{verb} {_span(some)}" for name, verb in _VERBS.items() if (some := _of(rows, name))]
    if verbs:
        return f"{target} {' and '.join(verbs)}{over}"
    over = over.replace(" from ", " with ")
    of = f"{tools} " if tools else ""
    return f"{target}: {of}{', '.join(_metrics(rows, tools, _collect_commands(runs)))}{over}"


def _of(rows: Sequence[OverviewRow], operation: str) -> list[OverviewRow]:
    """Those of one operation, and of its first metric."""
    some = [row for row in rows if row.operation == operation]
    return [row for row in some if row.metric == some[0].metric]


def _is_redundant_rate(operation: str, metric: str, metric_keys: Collection[tuple[str, str]]) -> bool:
    """Whether a rate of our engine is only its bandwidth by the size of an operation."""
    return metric.startswith("rate_") and (operation, metric.replace("rate_", "bandwidth_", 1)) in metric_keys


def _metrics(rows: Sequence[OverviewRow], tools: str, commands: dict[str, str]) -> Iterator[str]:
    """The first metrics: ``write 366 to 799 MiB/s``; that one of them is a rate its unit says."""
    metric_keys = dict.fromkeys((row.operation, row.metric) for row in rows)
    selected = [key for key in metric_keys if tools or not _is_redundant_rate(*key, metric_keys)]
    keys = sorted(selected, key=lambda key: (key[0] in commands, *_build_sort_key(*key)))
    before = ""
    for operation, metric in keys[:_MOST]:
        some = [row for row in rows if (row.operation, row.metric) == (operation, metric)]
        words = metric_words(metric)
        if operation in commands and metric == "seconds":
            yield f"'{commands[operation]}' takes {_span(some)}"
            continue
        phrases = [] if operation == before else [operation]
        phrases += [] if words in ("bandwidth", "rate") and operation else [words]
        yield " ".join([*phrases, _span(some)])
        before = operation
    if len(keys) > _MOST:
        yield f"and {len(keys) - _MOST} more"


def _build_sort_key(operation: str, metric: str) -> tuple[bool, int, bool]:
    """As the page orders operations; of those that it has no order of, bandwidths first."""
    return operation.startswith(_LATER), place(operation)[0], not metric.startswith("bandwidth")


def _span(rows: Sequence[OverviewRow]) -> str:
    """The least and the greatest mean; of one setting its mean with its interval."""
    if len(rows) == 1:
        return estimate_text(rows[0].mean, rows[0].unit)
    values = [row.mean.value for row in rows if row.mean.value is not None]
    (least, first), (most, last) = (_parts(value, rows[0].unit) for value in (min(values), max(values)))
    if (least, first) == (most, last):
        return f"{most} {last}".rstrip()
    return f"{least} to {most} {last}".rstrip() if first == last else f"{least} {first} to {most} {last}"


def _parts(value: float, unit: str) -> tuple[str, str]:
    divisor, name = human_scale(value, unit)
    return significant(value / divisor), name


def shortened(command: str) -> str:
    """As much of a command as a sentence has room for."""
    return command if len(command) <= _LONG else f"{command[: _LONG - 1]}…"


def _collect_commands(runs: Sequence[StoredRun]) -> dict[str, str]:
    """The operation of a step that was given no name, only a command → the command."""
    commands = {}
    for phase in (phase for run in runs[-1:] for phase in run.phases if phase.is_command):
        if phase.name.startswith("step-") and phase.operation == phase.name:
            commands[phase.operation] = shortened(phase.command)
    return commands
