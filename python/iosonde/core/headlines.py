"""A tool's headline: the kinds of metric that its users look at first, and the one number that stands for each.

A *kind* is a metric without its clock: ``bandwidth`` stands for ``bandwidth_last_done`` as for
``bandwidth_sum_of_ranks``. Who reads a tool's output names its kinds; a run keeps them for each of its operations.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

# Of what has several metrics: the first of these that it has; how fast it is, else how long it takes.
SPEEDS = ("bandwidth", "rate")
USUAL = (*SPEEDS, "real", "seconds", "time", "latency_mean")
# The numbers of one kind, the best first: as the tool's own clock says, of all ranks, over its own iterations.
_ENDS = ("_last_done", "", "_sum_of_ranks", "_mean_of_ranks", "_mean")
# What a clock includes besides the tool's own work: starting the command. The tool's own number comes first.
COMMAND = "command"
# What is computed of a tool's own iterations, and the metric that they are of by another name.
_SUMMARIES = ("_max", "_min", "_mean", "_sd")
_ITERATED = {"transfers": "rate"}


def metric_words(metric: str) -> str:
    """``completion latency p99``; of the usual clock its name is left out. The mean of a speed over a tool's own
    iterations stands for the trial: it is the ``rate``."""
    base = metric.removesuffix(_ENDS[0])
    kind = base.removesuffix(_ENDS[-1])
    return (kind if kind in SPEEDS else base).replace("_", " ")


def without_usual_clock(sentence: str) -> str:
    """``write bandwidth`` for ``write bandwidth_last_done`` in a sentence: of the usual clock its name is left out."""
    return re.sub(rf"(?<=\w){_ENDS[0]}\b", "", sentence)


def headlines(metrics: Iterable[tuple[str, str]], kinds: Sequence[str]) -> dict[str, list[str]]:
    """Operation → those of ``kinds`` that it has; without kinds, or where a run has none of them, the usual one.

    ``metrics``: (operation, metric) of every number. An operation that has none, beside one that has some, gets none.
    """
    of: dict[str, set[str]] = {}
    for operation, metric in metrics:
        of.setdefault(operation, set()).add(metric)
    kinds_by_operation = {name: [kind for kind in kinds if number_of(kind, there)] for name, there in of.items()}
    if any(kinds_by_operation.values()):
        return kinds_by_operation
    return {name: [kind for kind in USUAL if number_of(kind, there)][:1] for name, there in of.items()}


def number_of(kind: str, metrics: Collection[str], clock: str = "") -> str | None:
    """The metric that stands for a kind among those of an operation; of a ``clock`` that is asked for only its own."""
    ends = _ENDS if not clock else (f"_{clock}",) if any(f"{kind}{end}" in metrics for end in _ENDS[:1]) else _ENDS
    return next((f"{kind}{end}" for end in ends if f"{kind}{end}" in metrics), None)


def standing_for(kind: str, includes: Mapping[str, str], clock: str = "") -> str | None:
    """As ``number_of``, of metrics with what is inside the clock of each: one with the start of a command inside only
    where there is no other."""
    own = [metric for metric, inside in includes.items() if inside != COMMAND]
    return number_of(kind, own, clock) or number_of(kind, includes, clock)


def computed(metric: str, metrics: Collection[str]) -> bool:
    """Whether a metric only sums up a tool's own iterations, which are there themselves."""
    for end in _SUMMARIES:
        base = metric.removesuffix(end)
        if base != metric:
            kind = _ITERATED.get(base, base)
            return any(f"{kind}{clock}" in metrics for clock in ("_last_done", ""))
    return False


def merged(several: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """The headlines of several steps of one run."""
    kinds_by_operation: dict[str, list[str]] = {}
    for step in several:
        for operation, kinds in step.items():
            kinds_by_operation[operation] = list(dict.fromkeys([*kinds_by_operation.get(operation, ()), *kinds]))
    return kinds_by_operation
