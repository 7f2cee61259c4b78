"""COSBench, of object stores: the CSV of a workload (a row for each operation of a stage) and of a stage (samples).

    Stage,Op-Name,Op-Type,Op-Count,Byte-Count,Avg-ResTime,Avg-ProcTime,60%-ResTime,…,Throughput,Bandwidth,Succ-Ratio,Status,…
    s3-main,read,read,44660,178640000,2.75,2.25,10,…,74.45,297797.86,100%,completed,running @ 2026-11-20 17:26:04,…

becomes, for each stage (an execution of its own; factor ``stage``), ``read rate_sum_of_ranks`` and
``bandwidth_sum_of_ranks`` (each worker's rate over its own time, added up), ``latency_mean``, ``processing_time_mean``
(without the transfer), and percentiles, which are upper edges of bins of 10 ms. Rows of one stage and operation are
works of their own (factor ``part``). Operations that failed, and a stage that did not complete, are incomplete. Source:
``CSVWorkloadExporter.java``, ``CSVStageExporter.java``, ``WorkAgent.java``, ``Aggregator.java``.
"""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, GLUED, PART, Claim, Parsed, Row
from .reading import date_to_iso, parse_number
from .text import Text

NAME = "cosbench"
HEADLINE = ("bandwidth", "rate", "latency_mean", "latency_p99", "bandwidth_sample", "rate_sample")

_WORKLOAD = re.compile(r"Stage,(?:Op-Name,)?Op-Type,Op-Count,Byte-Count,")
_STAGE = re.compile(r"Timestamp,Op-Count,")
_STATE = re.compile(r"([a-z]+) @ (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)$")
_CLOCK = re.compile(r"\d\d:\d\d:\d\d")
_LONGEST_MS = 500_000  # the last bin has no upper edge
# Column → metric, unit, units per base unit.
_COLUMNS = {
    "Op-Count": ("operations", "operations", 1.0),
    "Byte-Count": ("bytes", "bytes", 1.0),
    "Avg-ResTime": ("latency_mean", "s", 1e3),
    "Avg-ProcTime": ("processing_time_mean", "s", 1e3),
    "60%-ResTime": ("latency_p60", "s", 1e3),
    "80%-ResTime": ("latency_p80", "s", 1e3),
    "90%-ResTime": ("latency_p90", "s", 1e3),
    "95%-ResTime": ("latency_p95", "s", 1e3),
    "99%-ResTime": ("latency_p99", "s", 1e3),
    "100%-ResTime": ("latency_max", "s", 1e3),
    "Throughput": ("rate_sum_of_ranks", "operations/s", 1.0),
    "Bandwidth": ("bandwidth_sum_of_ranks", "bytes/s", 1.0),
}
_SAMPLES = {
    "Avg-ResTime": "latency_sample_mean",
    "Throughput": "rate_sample",
    "Bandwidth": "bandwidth_sample",
}
# An interval in which no operation completed.
_IDLE = ["0", "0", "N/A", "N/A", "0", "0", "N/A"]
_VERSIONS = ["Min-Version", "Version", "Max-Version"]
_NAME = re.compile(r"[A-Za-z][\w-]{0,59}")
_CUT = Message("damaged-lines", "the row is cut or damaged: left out")


def claims(text: Text) -> Claim | None:
    """Recognise the header of a workload's table, or of a stage's samples."""
    return Claim.from_match(CERTAIN, text.search(_WORKLOAD, "\nStage,") or text.search(_STAGE, "\nTimestamp,Op-Count,"))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each stage of a workload; one for the samples of a stage."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line.strip())
    return reader.end()


class _Reader:
    def __init__(self) -> None:
        self._runs: list[Parsed] = []
        self._columns: list[str] = []
        self._stages: dict[str, Parsed] = {}
        self._works: dict[tuple[str, str], list[Row]] = {}
        self._samples: _Samples | None = None
        self._header_line = 1
        self._stages_left_out = 0

    def read_line(self, at: int, line: str) -> None:
        if _WORKLOAD.match(line):
            self._end_table()
            self._columns, self._samples, self._header_line = line.split(","), None, at
        elif _STAGE.match(line):
            self._end_table()
            self._columns, self._samples = [], _Samples(at, line)
            self._runs.append(self._samples.run)
        elif self._columns:
            self._read_operation(at, line)
        elif self._samples is not None:
            self._samples.read_line(at, line)

    def _read_operation(self, at: int, line: str) -> None:
        cells = line.split(",")
        width = len(self._columns) - 1  # the last column holds all further cells
        row = dict(zip(self._columns, cells, strict=False))
        stage = row["Stage"][:120]
        states = [_STATE.match(cell) for cell in cells[width:]] if self._columns[-1] == "Detailed Status" else []
        run = self._stages.get(stage) or self._add_stage(stage)
        if len(cells) < width or None in states or (not states and len(cells) != len(self._columns)):
            is_glued = len(cells) >= width and not all(states)
            run.lacks(at, GLUED if is_glued else _CUT)
            if not is_glued or None in states[:-1]:
                return
        self._set_states(run, at, row.get("Status", ""), [state for state in states if state])
        name = row.get("Op-Name", row["Op-Type"])
        if name == "N/A":
            return
        if not _NAME.fullmatch(name):
            run.lacks(at, _CUT)
            return
        self._add_rows(run, at, row, name.lower().replace("-", "_"), stage)

    def _add_stage(self, stage: str) -> Parsed:
        run = self._stages[stage] = Parsed(factors={"stage": stage})
        self._runs.append(run)
        return run

    def _set_states(self, run: Parsed, at: int, status: str, states: list[re.Match[str]]) -> None:
        times = {state.group(1): date_to_iso(state.group(2)) for state in states}
        run.started_at = run.started_at or times.get("running", "")
        if status and status != "completed":
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=f"the stage is {status[:40]}"))
        elif "failed" in times or "aborted" in times:
            run.warn(at, Message("tool-warning", "{quote}", quote="the stage had failed before it completed"))

    def _add_rows(self, run: Parsed, at: int, row: dict[str, str], operation: str, stage: str) -> None:
        rows: list[Row] = []
        for column, (metric, unit, per_base) in _COLUMNS.items():
            cell = row.get(column, "N/A")
            if cell == "N/A":
                continue
            value = parse_number(cell)
            if value is None:
                run.lacks(at, _describe_damage(cell, column))
            elif unit == "s" and value > _LONGEST_MS:
                run.warn(at, Message("last-bin", "{column} is above 500 s, where its bins end", column=column))
            elif value or metric == "operations":
                rows.append(Row(operation, metric, value / per_base, unit, at))
        run.warn(at, Message("histogram-edges", "percentiles and the maximum are upper edges of bins of 10 ms"))
        works = self._works.setdefault((stage, operation), [])
        if works:
            n_works = len({other.line for other in works})
            for other in works:
                other.factors = other.factors or {PART: "work 1"}
            for other in rows:
                other.factors = {PART: f"work {n_works + 1}"}
        works += rows
        run.rows += rows
        _check_successes(run, at, operation, row.get("Succ-Ratio", ""))

    def _end_table(self) -> None:
        self._stages, self._works = {}, {}

    def end(self) -> list[Parsed]:
        """Return the runs; stages without operations (a delay, the creation of buckets) are left out."""
        runs = [run for run in self._runs if run.rows or run.missing]
        if not runs:
            runs = [Parsed()]
            runs[0].lacks(self._header_line, Message("no-results", "the table has no rows"))
        return runs


class _Samples:
    """Samples of a stage: groups of columns, one for each operation."""

    def __init__(self, at: int, line: str) -> None:
        self.run = Parsed()
        self._at = at
        self._groups = line.split(",")
        self._names: list[str] | None = None
        self._iteration = 0

    def read_line(self, at: int, line: str) -> None:
        cells = line.split(",")
        if self._names is None:
            self._begin(at, cells)
        elif cells[1:8] == _IDLE and len(cells) == len(_FIELDS) + 4:
            self._iteration += 1
        elif not self._names or len(cells) != len(self._names) or not _CLOCK.fullmatch(cells[0]):
            self.run.lacks(at, _CUT)
        else:
            self._add_sample(at, cells)

    def _begin(self, at: int, cells: list[str]) -> None:
        """Read the second line of the header: the operation of each column."""
        is_complete = cells[0] == "" and cells[-3:] == _VERSIONS and len(cells) == len(self._groups)
        self._names = cells if is_complete else []
        self.run.warn(
            self._at, Message("samples-only", "samples of a running stage: the totals are in the workload's CSV")
        )
        if not is_complete:
            self.run.lacks(at, Message("damaged-lines", "the header is cut or damaged: no row is read"))

    def _add_sample(self, at: int, cells: list[str]) -> None:
        group, counts = "", dict[str, int]()
        names = self._names or []
        for column, name, cell in zip(self._groups, names, cells, strict=True):
            if column:
                group, counts = column, {}
            counts[name] = counts.get(name, 0) + 1
            metric = _SAMPLES.get(group)
            if metric is None or cell == "N/A" or not _NAME.fullmatch(name):
                continue
            value = parse_number(cell)
            if value is None:
                self.run.lacks(at, _describe_damage(cell, group))
                continue
            factors: dict[str, FactorValue] | None = None
            if names.count(name) > len(_FIELDS):
                factors = {PART: f"work {counts[name]}"}
            unit, per_base = _COLUMNS[group][1:]
            operation = name.lower().replace("-", "_")
            row = Row(operation, metric, value / per_base, unit, at, None, self._iteration, factors=factors)
            self.run.rows.append(row)
        self._iteration += 1


# Groups of a sample's columns, each with one column for each operation.
_FIELDS = ("Op-Count", "Byte-Count", "Avg-ResTime", "Avg-ProcTime", "Throughput", "Bandwidth", "Succ-Ratio")


def _describe_damage(cell: str, column: str) -> Message:
    text = "'{cell}' of {column} is not a number: left out"
    return Message("invalid-number", text, cell=cell[:40], column=column)


def _check_successes(run: Parsed, at: int, operation: str, ratio: str) -> None:
    percent = parse_number(ratio.removesuffix("%")) if ratio.endswith("%") else None
    if ratio != "N/A" and percent is None:
        run.lacks(at, _describe_damage(ratio, "Succ-Ratio"))
    elif percent is None or percent < 100:
        text = "only {percent}% of the operations of {operation} succeeded"
        run.lacks(at, Message("operations-failed", text, percent=f"{percent or 0:g}", operation=operation))
