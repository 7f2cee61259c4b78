"""The slowest operations, one by one: ``iosonde show STORE --slowest``."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from heapq import nlargest
from typing import Any

from iosonde.answers.answer import Answer
from iosonde.core.errors import DataError, InputError
from iosonde.core.message import Message
from iosonde.core.units import format_rate
from iosonde.core.words import format_count
from iosonde.engine import _native
from iosonde.stats.overview.slowest import SlowOperation, count_unseen_operations, select_slowest_operations

from .answer import ChosenRuns

USUAL = 20
MOST = 10_000


@dataclass(frozen=True)
class Slowest(Answer):
    """The longest first, out of ``recorded`` operations in ``runs`` runs. ``notes`` say which may be missing."""

    operations: tuple[SlowOperation, ...]
    recorded: int
    runs: int
    notes: tuple[str, ...]

    def content(self) -> dict[str, Any]:
        """As ``iosonde show STORE --slowest --json``."""
        return {"runs": self.runs, "recorded": self.recorded, "operations": self.records(), "notes": list(self.notes)}

    def records(self) -> list[dict[str, Any]]:
        """Return one row per operation."""
        return [asdict(operation) for operation in self.operations]


def find_slowest_operations(chosen: ChosenRuns, count: int = USUAL) -> Slowest:
    """Return the ``count`` longest operations of these runs. Raises InputError, DataError if none was recorded."""
    if not 1 <= count <= MOST:
        raise InputError(
            "out-of-range",
            "{count} operations cannot be listed",
            "name 1 to {max_count:,}; {spell.export} {spell.operations} has all",
            count=count,
            max_count=MOST,
        )
    runs = [run for run in chosen.runs if run.n_operations]
    if not runs:
        raise DataError(
            "no-recorded-operations",
            "{path} holds no recorded operations",
            "iosonde run records those of its own engine; of other tools import a log of operations, "
            "as of fio's --write_lat_log",
            path=chosen.store.path,
        )
    operations = (
        operation
        for run in runs
        for operation in select_slowest_operations(run, chosen.store.operations(run.id), _native.KINDS, count)
    )
    longest = tuple(nlargest(count, operations, key=lambda operation: operation.duration_s))
    recorded = sum(run.n_operations or 0 for run in runs)
    return Slowest(longest, recorded, len(runs), tuple(_describe_missing_operations(chosen, longest[-1].duration_s)))


def _describe_missing_operations(chosen: ChosenRuns, least: float) -> Iterator[str]:
    """Describe operations that may be missing: those kept only as a sample or a histogram."""
    edges = _native.bucket_edges_ns()
    gone = [(run, *count_unseen_operations(run, edges)) for run in chosen.runs]
    some = [(run, missing, end) for run, missing, end in gone if missing]
    if some:
        lost = format_count(sum(missing for _, missing, _ in some), "operation")
        template = "{operations} of {runs} beyond a sample are in histograms alone: longer ones may be missing"
        yield Message("histogram-only", template, operations=lost, runs=format_count(len(some), "run"))
    beyond = [(end, run.id) for run, _, end in some if end > least]
    if beyond:
        end, run_id = max(beyond)
        template = "the histogram of run {run} has operations of up to {duration}"
        yield Message("longer-in-histogram", template, run=run_id, duration=format_rate(end, "s"))
