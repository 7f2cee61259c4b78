"""Headline of a store's page: the range of each metric, the tool, and the settings."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence

from iosonde.core.estimate_text import format_estimate
from iosonde.core.headlines import SCORE_TOTAL, format_metric
from iosonde.core.stored import StoredRun
from iosonde.core.units import choose_human_scale, format_significant
from iosonde.core.verdict import Verdict, VerdictState
from iosonde.core.words import format_count
from iosonde.stats.overview.types import Overview, OverviewRow

from .axis import Axis, get_operation_sort_key

_NOTHING = "No trial is complete: the speed is unknown"
_NO_RATE = "The trials hold no rate: the speed is unknown"
_VERBS = {"write_large": "writes", "read_1to1_large": "reads"}
# Kinds of object in operation names; files matter most.
_LATER = ("directory_", "tree_")
_MOST = 3  # metrics
_MAX_FACTORS = 3  # factors
_LONG = 40  # characters of a command


def format_headline(target: str, tools: str, runs: Sequence[StoredRun], overview: Overview, axis: Axis) -> str:
    """Return one line about a target or store, and the tools that measured it ('' for our engine). If only the size
    varied, it reports the largest size, with its interval."""
    rows = [row for row in overview.rows if row.mean.value is not None]
    if not rows:
        return _NO_RATE if any(run.counts for run in runs) else _NOTHING
    if set(overview.by) <= {axis.factor}:
        size = max(axis.size(row.by) for row in rows)
        rows = [row for row in rows if axis.size(row.by) == size]
        # Another tool's output need not say on how many nodes it ran.
        is_stated = axis.factor in overview.by or any(axis.factor in run.factors for run in runs)
        over = f" {'from' if axis.factor == 'nodes' else 'with'} {format_count(size, axis.noun)}" if is_stated else ""
    else:
        names = overview.by
        over = f" over {' × '.join(names) if len(names) <= _MAX_FACTORS else format_count(len(names), 'factor')}"
    verbs = [
        f"{verb} {_format_mean_range(some)}"
        for name, verb in _VERBS.items()
        if (some := _select_operation_rows(rows, name))
    ]
    if verbs:
        return f"{target} {' and '.join(verbs)}{over}"
    over = over.replace(" from ", " with ")
    of = f"{tools} " if tools else ""
    if len({(row.operation, row.metric) for row in rows}) > _MOST and (effects := count_effects(overview.verdicts)):
        return f"{', '.join(dict.fromkeys(filter(None, (target, tools))))}: {effects}"
    return f"{target}: {of}{', '.join(_format_first_metrics(rows, tools, _collect_commands(runs)))}{over}"


def count_effects(verdicts: Sequence[Verdict]) -> str:
    """Count the metrics on which each factor has an effect: ``n matters for 7 of 10 metrics, w for 2``."""
    effects = [verdict for verdict in verdicts if verdict.question == "effect"]
    tested = [verdict for verdict in effects if verdict.state is not VerdictState.NOT_TESTED]
    if effects and not tested:
        reasons = dict.fromkeys(verdict.why for verdict in effects if verdict.why)
        return f"effects are not tested{f': {next(iter(reasons))}' if len(reasons) == 1 else ''}"
    effects = tested
    n_metrics = len({verdict.response for verdict in effects})
    counts = Counter(verdict.subject for verdict in effects if verdict.state is VerdictState.DIFFERENT)
    if not counts:
        names = dict.fromkeys(name for verdict in effects for name in verdict.subject)
        factors = " or ".join(names) if len(names) <= _MAX_FACTORS else f"any of {len(names)} factors"
        return f"no significant effect of {factors} on {format_count(n_metrics, 'metric')}" if effects else ""
    (first, count), *others = counts.most_common(_MAX_FACTORS)
    rest = "".join(f", {_name_block(subject)} for {count}" for subject, count in others)
    verb = "matters" if len(first) == 1 else "matter"
    return f"{_name_block(first)} {verb} for {count} of {format_count(n_metrics, 'metric')}{rest}"


def _name_block(factors: Sequence[str]) -> str:
    return "+".join(factors) if len(factors) <= _MAX_FACTORS else f"{len(factors)} factors together"


def _select_operation_rows(rows: Sequence[OverviewRow], operation: str) -> list[OverviewRow]:
    """Return the rows of one operation and its first metric."""
    some = [row for row in rows if row.operation == operation]
    return [row for row in some if row.metric == some[0].metric]


def _is_redundant_rate(operation: str, metric: str, metric_keys: Collection[tuple[str, str]]) -> bool:
    """Return whether a rate of our engine is only its bandwidth by the size of an operation."""
    return metric.startswith("rate_") and (operation, metric.replace("rate_", "bandwidth_", 1)) in metric_keys


def _format_first_metrics(rows: Sequence[OverviewRow], tools: str, commands: dict[str, str]) -> Iterator[str]:
    """Yield the first metrics: ``write 366 to 799 MiB/s``; the unit marks a rate."""
    metric_keys = dict.fromkeys((row.operation, row.metric) for row in rows)
    selected = [key for key in metric_keys if tools or not _is_redundant_rate(*key, metric_keys)]
    keys = sorted(selected, key=lambda key: (key[0] in commands, *get_headline_sort_key(*key)))
    before = ""
    for operation, metric in keys[:_MOST]:
        some = [row for row in rows if (row.operation, row.metric) == (operation, metric)]
        words = format_metric(metric, operation, [name for of, name in keys if of == operation])
        if operation in commands and metric == "seconds":
            yield f"'{commands[operation]}' takes {_format_mean_range(some)}"
            continue
        phrases = [] if operation == before else [operation]
        phrases += [] if words in ("bandwidth", "rate") and operation else [words]
        yield " ".join([*phrases, _format_mean_range(some)])
        before = operation
    if len(keys) > _MOST:
        yield f"and {len(keys) - _MOST} more"


def get_headline_sort_key(operation: str, metric: str) -> tuple[int, bool, int, bool]:
    """Return the sort key of metrics by how well they stand for what was measured: those of a headline first, then in
    the page's order; operations outside it have scores and bandwidths first."""
    is_first = metric == SCORE_TOTAL or metric.startswith("bandwidth")
    verbs = [*_VERBS]
    place = verbs.index(operation) if operation in verbs else len(verbs)
    return place, operation.startswith(_LATER), get_operation_sort_key(operation)[0], not is_first


def _format_mean_range(rows: Sequence[OverviewRow]) -> str:
    """Return the smallest and the largest mean; for one setting its mean with its interval."""
    if len(rows) == 1:
        return format_estimate(rows[0].mean, rows[0].unit)
    values = [row.mean.value for row in rows if row.mean.value is not None]
    (least, first), (most, last) = (_format_value_and_unit(value, rows[0].unit) for value in (min(values), max(values)))
    if (least, first) == (most, last):
        return f"{most} {last}".rstrip()
    return f"{least} to {most} {last}".rstrip() if first == last else f"{least} {first} to {most} {last}"


def _format_value_and_unit(value: float, unit: str) -> tuple[str, str]:
    divisor, name = choose_human_scale(value, unit)
    return format_significant(value / divisor), name


def shorten_command(command: str) -> str:
    """Shorten a command to fit a sentence."""
    return command if len(command) <= _LONG else f"{command[: _LONG - 1]}…"


def _collect_commands(runs: Sequence[StoredRun]) -> dict[str, str]:
    """Map operations of unnamed steps to their commands."""
    return {
        phase.operation: shorten_command(phase.command)
        for run in runs[-1:]
        for phase in run.phases
        if phase.is_command and phase.name.startswith("step-") and phase.operation == phase.name
    }
