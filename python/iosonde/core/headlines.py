"""A tool's headline: the kinds of metric that its users read first, and the metric that represents each.

A *kind* is a metric without its clock: ``bandwidth`` represents ``bandwidth_last_done`` and ``bandwidth_sum_of_ranks``.
The reader of a tool's output names its kinds; a run keeps them for each operation.
"""

import difflib
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from .derived_numbers import list_sources

# The preferred kind of an operation with several metrics: its speed, else its duration.
SPEEDS = ("bandwidth", "rate")
USUAL = (*SPEEDS, "real", "seconds", "time", "latency_mean")
# The metrics of one kind in order of preference: by the tool's own clock, over all ranks, over its own iterations.
_ENDS = ("_last_done", "", "_sum_of_ranks", "_mean_of_ranks", "_mean")
# Clocks that describe_clocks explains: not part of a metric's name, unless another clock has the same kind.
_COMBINED = _ENDS[2:4]
_UNNAMED = (_ENDS[0], *_COMBINED)
# A statistic of the durations of one kind, as ``completion_latency_p99.9``.
_LATENCY = r"(?:completion|submission)_latency_(?:mean|min|max|sd|p\d+(?:\.\d+)?)"
# A number of an operation in a sentence.
_TITLE = re.compile(
    r"(?P<before>(?P<operation>\b[\w.+-]+) |\b)"
    rf"(?P<metric>(?<![\w./-])(?:[a-z]\w*?(?:{'|'.join(_UNNAMED)})|{_LATENCY}))(?![\w./-]\w)"
)
# A rate of these operations is called IOPS; elbencho has a rate of files besides that of accesses.
_TRANSFERS = ("read", "write", "trim", "randread", "randwrite", "reread", "rewrite")
_ACCESS_RATE = "access_rate"
# The clock includes the start of the command; the tool's own number is preferred.
COMMAND = "command"
# Kind of a score that covers all operations.
SCORE_TOTAL = "total"
_OTHER_PERCENTILE = re.compile(r"_p(?!99$)[\d.]+$")
_MOST_SUGGESTIONS, _MIN_LIKENESS = 30, 0.5
# Common names of kinds.
_COMMON_NAMES = {"bw": ("bandwidth",), "throughput": ("bandwidth",), "iops": (_ACCESS_RATE, "rate")}
# Summaries of a tool's own iterations, and their metric if it has another name.
_SUMMARIES = ("_max", "_min", "_mean", "_sd")
_ITERATED = {"transfers": "rate"}


def format_metric(metric: str, operation: str = "", metrics: Collection[str] = ()) -> str:
    """Return the name that people read, such as ``bandwidth``, ``IOPS`` or ``completion latency p99``. The clock is not
    part of it, nor is the mean of a tool's iterations, unless ``metrics``, those of the operation, have one of the same
    name by a preferred clock."""
    name = _get_name(metric, operation, metrics)
    clock = next((end for end in _ENDS[2:] if metric.endswith(end)), "")
    if not clock or name.endswith(clock.replace("_", " ")):
        return name
    kind = metric.removesuffix(clock)
    preferred = (f"{kind}{end}" for end in _ENDS[: _ENDS.index(clock)])
    return f"{name} ({clock[1:].replace('_', ' ')})" if any(other in metrics for other in preferred) else name


def _get_name(metric: str, operation: str, metrics: Collection[str]) -> str:
    base = next((metric.removesuffix(end) for end in _UNNAMED if metric.endswith(end)), metric)
    kind = base.removesuffix(_ENDS[-1])
    base = kind if kind in (*SPEEDS, _ACCESS_RATE) else base
    has_accesses = any(other.startswith(_ACCESS_RATE) for other in metrics)  # then the rate is that of files
    is_transfer = operation.partition(" ")[0].rpartition(".")[2] in _TRANSFERS
    if base == _ACCESS_RATE or (base == SPEEDS[1] and is_transfer and not has_accesses):
        return "IOPS"
    return base.replace("_", " ")


def drop_usual_clock(sentence: str) -> str:
    """Shorten ``write bandwidth_last_done`` in a sentence to ``write bandwidth``, without the name of the
    usual clock."""
    return re.sub(rf"(?<=\w){_ENDS[0]}\b", "", sentence)


def build_name_writer(titles: Iterable[str]) -> Callable[[str], str] | None:
    """Return a function that writes ``read rate_last_done`` in a text as people read it: ``read IOPS``. ``titles`` are
    the responses that the text is about; of operations that have one kind by two clocks, the clock remains. None if no
    title is that of a number of an operation."""
    metrics: dict[str, set[str]] = {}
    for title in titles:
        operation, _, metric = title.rpartition(" ")
        metrics.setdefault(operation, set()).add(metric)
    if not any(operation and _TITLE.fullmatch(metric) for operation, some in metrics.items() for metric in some):
        return None

    def write(match: re.Match[str]) -> str:
        operation, metric = match["operation"] or "", match["metric"]
        return f"{match['before']}{format_metric(metric, operation, metrics.get(operation, ()))}"

    return lambda text: _TITLE.sub(write, text) if "_" in text else text


def write_metric_names(text: str) -> str:
    """Write ``read rate_last_done`` in a text about unknown responses as people read it: ``read IOPS``. Of operations
    that it names by two clocks, the clock remains."""
    write = build_name_writer(match[0] for match in _TITLE.finditer(text)) if "_" in text else None
    return text if write is None else write(text)


def list_headline_kinds(metrics: Iterable[tuple[str, str]], kinds: Sequence[str]) -> dict[str, list[str]]:
    """Return the headline kinds of each operation, from (operation, metric) of every number.

    They are those of ``kinds`` that the operation has. The usual kind replaces them without ``kinds``, or if no
    operation has one of them.
    """
    of: dict[str, set[str]] = {}
    for operation, metric in metrics:
        of.setdefault(operation, set()).add(metric)
    kinds_by_operation = {
        name: [kind for kind in kinds if choose_metric_of_kind(kind, there)] for name, there in of.items()
    }
    if not any(kinds_by_operation.values()):
        kinds_by_operation = {
            name: [kind for kind in USUAL if choose_metric_of_kind(kind, there)][:1] for name, there in of.items()
        }
    return _drop_derived_kinds(kinds_by_operation)


def _drop_derived_kinds(kinds_by_operation: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Drop the kinds that are computed from others that remain. A score is kept: it is what its users read first."""
    numbers = [(operation, kind) for operation, kinds in kinds_by_operation.items() for kind in kinds]
    derived = {number for number in numbers if number[1] != SCORE_TOTAL and list_sources(number, numbers)}
    return {
        operation: [kind for kind in kinds if (operation, kind) not in derived]
        for operation, kinds in kinds_by_operation.items()
    }


def list_kinds(text: str) -> tuple[str, ...]:
    """Return the kinds that a user's words name, the preferred one first: ``IOPS`` are the rate of accesses, or the
    ``rate`` where a tool has no other; ``latency p99`` is ``latency_p99``."""
    return _COMMON_NAMES.get(text.lower(), (text.replace(" ", "_"),))


def suggest_kinds(text: str, metrics: Iterable[str]) -> list[str]:
    """Return what a query may ask for instead of an unknown name, in the words of tables: near names first, then the
    kinds of these metrics, with one percentile of each latency."""
    every = set(map(find_kind, metrics))
    kinds = sorted(kind for kind in every if not _OTHER_PERCENTILE.search(kind))
    near = difflib.get_close_matches(text.replace(" ", "_"), every, 3, _MIN_LIKENESS)
    of_transfers = _TRANSFERS[0] if SPEEDS[0] in every else ""  # beside a bandwidth, the rate is that of accesses
    names = (format_metric(kind, of_transfers, every) for kind in (*near, *kinds))
    return list(dict.fromkeys(names))[:_MOST_SUGGESTIONS]


def find_kind(metric: str) -> str:
    """Return a metric without its clock."""
    return next((metric.removesuffix(end) for end in _ENDS if end and metric.endswith(end)), metric)


def choose_metric_of_kind(kind: str, metrics: Collection[str], clock: str = "") -> str | None:
    """Return the metric that represents a kind, None if there is none. If the kind is measured by the usual clock,
    ``clock`` selects the metric of that clock alone."""
    ends = _ENDS if not clock else (f"_{clock}",) if any(f"{kind}{end}" in metrics for end in _ENDS[:1]) else _ENDS
    return next((f"{kind}{end}" for end in ends if f"{kind}{end}" in metrics), None)


def choose_metric_by_clock(kind: str, includes: Mapping[str, str], clock: str = "") -> str | None:
    """Return ``choose_metric_of_kind`` for metrics with the contents of their clock; one that includes the start of a
    command comes last."""
    own = [metric for metric, inside in includes.items() if inside != COMMAND]
    return choose_metric_of_kind(kind, own, clock) or choose_metric_of_kind(kind, includes, clock)


def is_iteration_summary(metric: str, metrics: Collection[str]) -> bool:
    """Return whether a metric only summarises a tool's own iterations, which ``metrics`` has."""
    for end in _SUMMARIES:
        base = metric.removesuffix(end)
        if base != metric:
            kind = _ITERATED.get(base, base)
            return any(f"{kind}{clock}" in metrics for clock in ("_last_done", ""))
    return False


def merge_headlines(several: Iterable[Mapping[str, Sequence[str]]]) -> dict[str, list[str]]:
    """Merge the headlines of several steps of one run."""
    kinds_by_operation: dict[str, list[str]] = {}
    for step in several:
        for operation, kinds in step.items():
            kinds_by_operation[operation] = list(dict.fromkeys([*kinds_by_operation.get(operation, ()), *kinds]))
    return kinds_by_operation
