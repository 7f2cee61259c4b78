"""IOR's two tables, by the names in their headers: one row for each iteration, and the summary of all tests."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from iosonde.core.message import Message

from .ior_settings import read_command_settings
from .parsed import Parsed, Row
from .reading import parse_integer, parse_number

MIB = 1024.0**2
# Column → metric, unit, factor. All times are of the slowest rank, in s.
_COLUMNS = {
    "bw(MiB/s)": ("bandwidth_last_done", "bytes/s", MIB),
    "IOPS": ("rate_last_done", "operations/s", 1.0),
    "Latency(s)": ("latency_mean", "s", 1.0),
    "open(s)": ("open_time", "s", 1.0),
    "wr/rd(s)": ("access_time", "s", 1.0),
    "close(s)": ("close_time", "s", 1.0),
    "total(s)": ("total_time", "s", 1.0),
}
_STATISTICS = ("max", "min", "mean", "sd")


def list_included_calls(run: Parsed, operation: str) -> str:
    """Return the calls inside IOR's bandwidth: open and close always, fsync with ``-e``."""
    fsync = operation == "write" and (run.facts.get("fsync") or "fsync" in read_command_settings(run))
    return "open,fsync,close" if fsync else "open,close"


def count_iterations(run: Parsed) -> Counter[str]:
    """Return operation → the number of its iterations."""
    return Counter(row.operation for row in run.rows if row.metric == "bandwidth_last_done")


def check_iterations(
    run: Parsed, last: int, counts: Mapping[str, int], operations: Iterable[str], n_expected: int
) -> None:
    """Note the operations with fewer iterations than expected."""
    for operation in operations:
        if counts.get(operation, 0) < n_expected:
            run.lacks(
                last,
                Message(
                    "missing-rows",
                    "{operation}: {n_present} of {n_expected} iterations are present",
                    operation=operation,
                    n_present=counts.get(operation, 0),
                    n_expected=n_expected,
                ),
            )


class IorTable:
    """The table of iterations; rows in other shapes are noted and left out."""

    def __init__(self, run: Parsed, names: Sequence[str]) -> None:
        self._run, self.names = run, list(names)
        self._includes: dict[str, str] = {}
        self._columns = [_COLUMNS.get(name) for name in names]
        self._iteration = names.index("iter") if "iter" in names else -1
        self._transfer = names.index("xfer(KiB)") if "xfer(KiB)" in names else -1

    def add(self, at: int, words: list[str]) -> None:
        """Read a line that begins with ``write``, ``read`` or ``remove``."""
        run, operation = self._run, words[0]
        iteration = parse_integer(words[self._iteration]) if len(words) == len(self.names) else None
        if iteration is None or iteration < 0:
            run.warn(
                at,
                Message(
                    "unreadable-lines", "not a row of the table above: '{row}' was left out", row=" ".join(words)[:60]
                ),
            )
            return
        if operation not in self._includes:
            self._includes[operation] = list_included_calls(run, operation)
        includes = self._includes[operation]
        for column, word in zip(self._columns, words, strict=True):
            if column is None or word in ("-", "NA"):
                continue
            metric, unit, factor = column
            value = parse_number(word)
            if value is None or value < 0 or (value == 0 and unit != "s"):
                run.lacks(
                    at,
                    Message(
                        "invalid-number",
                        "{operation}, iteration {iteration}: '{cell}' is not a valid {metric}",
                        operation=operation,
                        iteration=iteration,
                        cell=word[:40],
                        metric=metric,
                    ),
                )
            elif metric == "latency_mean" and self._latency_is_total(value):
                run.warn(
                    at,
                    Message(
                        "stonewalling",
                        "Latency(s) is left out: under stonewalling this IOR prints the whole time there (hpc/ior#508)",
                    ),
                )
            else:
                inside = includes if metric == "bandwidth_last_done" else ""
                run.rows.append(Row(operation, metric, value * factor, unit, at, None, iteration, None, inside))

    def _latency_is_total(self, seconds: float) -> bool:
        stonewall = self._run.factors.get("stonewall_seconds")
        return isinstance(stonewall, int) and 0 < stonewall <= seconds


class IorSummary:
    """The summary of a session; each row goes to the test that it names."""

    def __init__(self, session: list[Parsed], names: Sequence[str]) -> None:
        self._session, self._names = session, list(names)

    def add(self, at: int, words: list[str]) -> None:
        """Read a row of the summary. Every statistic has four columns after its first."""
        names, operation = self._names, words[0]
        run = self._find_test(words)
        if len(words) < len(names):
            run.warn(
                at,
                Message(
                    "damaged-lines",
                    "a row of the summary is shorter than its header: '{row}' was left out",
                    row=" ".join(words)[:60],
                ),
            )
            return
        self._add_statistics(run, at, operation, words, "Max(MiB)", ("bandwidth", "bytes/s", MIB))
        self._add_statistics(run, at, operation, words, "Max(OPs)", ("transfers", "operations/s", 1.0))
        for name, metric, unit, factor in (
            ("Mean(s)", "total_time_mean", "s", 1.0),
            ("Stonewall(s)", "stonewall_time", "s", 1.0),
            ("Stonewall(MiB)", "bandwidth_first_done", "bytes/s", MIB),
        ):
            if name in names and (value := parse_number(words[names.index(name)])) is not None:
                run.rows.append(Row(operation, metric, value * factor, unit, at))
        self._set_settings(run, words)

    def _add_statistics(
        self, run: Parsed, at: int, operation: str, words: list[str], first: str, unit: tuple[str, str, float]
    ) -> None:
        if first not in self._names:
            return
        place = self._names.index(first)
        values = [parse_number(word) for word in words[place : place + 4]]
        high, low, mean = values[:3]
        if None in values or high is None or low is None or mean is None or not 0 < low <= mean * 1.001 <= high * 1.002:
            run.lacks(
                at,
                Message(
                    "damaged-lines",
                    "the summary of {operation} is damaged: {row}",
                    operation=operation,
                    row=" ".join(words[place : place + 4])[:60],
                ),
            )
            return
        includes = list_included_calls(run, operation) if unit[0] == "bandwidth" else ""
        is_single = run.factors.get("iterations") == 1
        for name, value in zip(_STATISTICS[:3] if is_single else _STATISTICS, values, strict=False):
            run.rows.append(
                Row(operation, f"{unit[0]}_{name}", (value or 0.0) * unit[2], unit[1], at, includes=includes)
            )

    def _find_test(self, words: list[str]) -> Parsed:
        place = self._names.index("Test#") if "Test#" in self._names else -1
        test_id = parse_integer(words[place]) if 0 <= place < len(words) else None
        return next((run for run in self._session if run.factors.get("test_id") == test_id), self._session[-1])

    def _set_settings(self, run: Parsed, words: list[str]) -> None:
        """Set what the options' block lacks, as in an excerpt that holds the summary only."""
        for name, factor in (
            ("#Tasks", "ranks"),
            ("tPN", "ranks_per_node"),
            ("reps", "iterations"),
            ("blksiz", "block_size"),
            ("xsize", "transfer_size"),
            ("segcnt", "segments"),
        ):
            if name in self._names and (value := parse_integer(words[self._names.index(name)])) is not None:
                run.factors.setdefault(factor, value)
