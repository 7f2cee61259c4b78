"""fio's logs: ``--write_lat_log`` (lat, clat, slat), ``--write_bw_log``, ``--write_iops_log``.

    0, 9995, 0, 4096, 0

Time in ms, value, direction (0 read, 1 write, 2 trim), block size in bytes, then offset or priority. All logs look
alike: only the file's name shows what the value is (``j_clat.1.log``), so without it no value is read. Latencies are in
ns in fio 3, in µs in fio 2. The version comes from the job's output next to the log (``fio_version``); without it, a
note says which unit is plausible. Latency logs become recorded operations; a log of bandwidths (KiB/s) or rates becomes
the count, mean and extremes of its samples.
"""

import re
from pathlib import PurePath
from typing import Any

from iosonde.core.message import Message
from iosonde.core.schema import OPERATION

from .fio_logs import AVERAGES, KIND, LATENCIES
from .fio_version import AdjacentVersion
from .operation_log import add_summary_rows, read_number_rows
from .parsed import LIKELY, PART, WEAK, Claim, Parsed, Row
from .text import Text

NAME = "fio-log"
HEADLINE = ("bandwidth_sample", "rate_sample", "latency_p99")

_LINE = re.compile(r"\d+, \d+, [012], \d+(?:, \d+){0,3}\s*$")
_SAMPLES = {"bw": ("bandwidth", "bytes/s", 1024.0), "iops": ("rate", "operations/s", 1.0)}
_DIRECTIONS = ("read", "write", "trim")
_EPOCH_MS = 1e11  # times since 1970 (log_unix_epoch), not since the job began
_LONGEST_STEP = 1.5  # intervals: a longer one holds another, without I/O
_FASTEST_NS = 400.0  # half of all completed reads or writes of a file cannot be faster


def claims(text: Text) -> Claim | None:
    """Recognise the shape of the first lines, and more certainly the file's name."""
    head = [line for line in text.lines[:40] if line.strip()]
    kind = KIND.search(PurePath(text.name).name)
    if not head or sum(bool(_LINE.match(line)) for line in head) < max(1, 0.6 * len(head)):
        return Claim(LIKELY, 1, "the name of a histogram log") if kind and kind.group(1) == "clat_hist" else None
    return Claim(LIKELY if kind else WEAK, 1, head[0].strip()[:60])


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed: a log covers one job."""
    import numpy as np

    run = Parsed()
    kind = KIND.search(PurePath(text.name).name)
    name = kind.group(1).lower() if kind else ""
    if name == "clat_hist":
        run.lacks(
            1,
            Message(
                "unsupported-log", "histogram logs are not read: import the JSON of json+, which holds the same buckets"
            ),
        )
        return [run]
    if kind:
        job = f" of job {kind.group(2)}" if kind.group(2) else ""
        run.factors[PART] = f"{LATENCIES.get(name, _SAMPLES.get(name, (name,))[0])}{job}"
    table, lines = read_number_rows(text, 1, max(text.content[: text.content.find("\n")].count(",") + 1, 4), run)
    table, lines = _select_complete_rows(run, table, lines)
    averages = _are_averages(table)
    run.form = AVERAGES if averages else ""
    run.last_entry_s = (
        float(table[-1, 0] - (table[0, 0] if table[0, 0] >= _EPOCH_MS else 0)) / 1e3 if len(table) else 0.0
    )
    run.interval_s = _find_interval(table) if averages else 0.0
    if name in LATENCIES and len(table):
        table = _values_to_ns(run, name, table, text.adjacent_version)
    values = table[:, 1] if len(table) else np.zeros(0)
    for code, direction in enumerate(_DIRECTIONS):
        chosen = table[:, 2] == code if len(table) else np.zeros(0, bool)
        if chosen.any():
            _add_values(run, name, direction, values[chosen], lines[chosen], averages)
    if not run.rows:
        run.lacks(1, Message("no-results", "the log holds no line that can be read"))
    if name in LATENCIES and _are_averages(table):
        run.warn(
            1,
            Message(
                "averages-only",
                "averages of intervals (log_avg_msec), not single operations: log_avg_msec=0 logs these",
            ),
        )
    elif name in LATENCIES:
        run.facts["latency"] = LATENCIES[name]
        run.cannot_tell(
            Message(
                "low-resolution", "times are in whole ms: operations within one ms are only in the order of the log"
            )
        )
        _record_operations(run, table)
    return [run]


def _select_complete_rows(run: Parsed, table: Any, lines: Any) -> tuple[Any, Any]:
    import numpy as np

    if not len(table):
        return table, lines
    direction = table[:, 2]
    if table.min() >= 0 and table.max() < 2**53 and direction.max() <= 2 and not (direction % 1).any():
        return table, lines
    good = (table[:, :4] >= 0).all(axis=1) & np.isin(direction, (0, 1, 2)) & (table[:, :4] < 2**53).all(axis=1)
    if not good.all():
        run.lacks(
            int(lines[~good][0]),
            Message(
                "unreadable-lines",
                "{n_lines} lines are not time, value, direction, size: left out",
                n_lines=int((~good).sum()),
            ),
        )
    return table[good], lines[good]


def _values_to_ns(run: Parsed, name: str, table: Any, sibling_version: AdjacentVersion | None) -> Any:
    """Return the table with values in ns, by the version in the same directory, else by plausible latencies; the run
    notes which."""
    import numpy as np

    if sibling_version is not None:
        run.version = sibling_version.version
        in_micros = sibling_version.major < 3
        why = Message(
            "version-in-output",
            "{file} in the same directory is of fio-{version}",
            file=sibling_version.file,
            version=sibling_version.version,
        )
    else:
        in_micros, why = _guess_unit_by_latency(name, table)
    unit = "µs, as fio 2" if in_micros else "ns, as fio 3"
    run.warn(
        1,
        Message(
            "assumed-unit",
            "values were read as {reading} in {unit} writes them: {reason}",
            reading=LATENCIES[name],
            unit=unit,
            reason=why,
        ),
    )
    return table * np.where(np.arange(table.shape[1]) == 1, 1000, 1) if in_micros else table


def _guess_unit_by_latency(name: str, table: Any) -> tuple[bool, Message]:
    """Return (whether values are in µs, why) if the version is unknown."""
    import numpy as np

    unknown = "no output of fio near the log gives its version, and "
    if name != "slat" and float(np.median(table[:, 1])) < _FASTEST_NS:
        return True, Message(
            "impossible-in-ns",
            unknown + "in ns half of the operations would take less than {limit_ns:g} ns",
            limit_ns=_FASTEST_NS,
        )
    if (table[:, 1] * 1e3 > (table[:, 0] + 1) * 1e6).any():
        return False, Message("impossible-in-us", unknown + "in µs an operation would have begun before the log does")
    return False, Message(
        "ambiguous-unit",
        unknown + "they could be in µs, too: if fio 2 wrote them, all latencies are 1000 times as long; put the job's "
        "output in the log's directory",
    )


def _are_averages(table: Any) -> bool:
    """Return whether the lines are averages of intervals, which have no block size."""
    return bool(len(table) and not table[:, 3].any())


def _find_interval(table: Any) -> float:
    """Return the time between two averages in s, 0 if one is missing: fio writes none of an interval without I/O."""
    import numpy as np

    steps = [np.diff(table[table[:, 2] == code, 0], prepend=0.0) for code in np.unique(table[:, 2])]
    medians = [float(np.median(step)) for step in steps]
    has_no_gap = all(step.max() <= _LONGEST_STEP * median for step, median in zip(steps, medians, strict=True))
    return max(medians) / 1e3 if has_no_gap else 0.0


def _add_values(run: Parsed, name: str, direction: str, values: Any, lines: Any, averages: bool) -> None:
    if name in LATENCIES and not averages:
        add_summary_rows(run, direction, values / 1e9, lines)
        return
    first, count = int(lines[0]), len(values)
    run.rows.append(Row(direction, "samples", count, "samples", first, count=count))
    if name not in _SAMPLES and name not in LATENCIES:
        run.warn(
            0,
            Message(
                "unknown-quantity",
                "the file's name does not show what the values are (lat, clat, slat, bw, iops): they are not read",
            ),
        )
        return
    quantity, unit, factor = _SAMPLES.get(name, ("latency", "s", 1e-9))
    if name == "bw":
        run.warn(first, Message("assumed-unit", "bandwidths were read as KiB/s (1024 bytes), as fio logs them"))
    low, high = int(values.argmin()), int(values.argmax())
    run.rows += [
        Row(direction, f"{quantity}_sample_mean", float(values.mean()) * factor, unit, first, count=count),
        Row(direction, f"{quantity}_sample_min", float(values[low]) * factor, unit, int(lines[low]), count=count),
        Row(direction, f"{quantity}_sample_max", float(values[high]) * factor, unit, int(lines[high]), count=count),
    ]


def _record_operations(run: Parsed, table: Any) -> None:
    """Record reads and writes as operations, one phase for each; fio logs when an operation was done."""
    import numpy as np

    from iosonde.engine._native import KINDS

    if table[:, 2].max(initial=0) > 1:
        table = table[table[:, 2] < 2]
    writes = table[:, 2] == 1
    records = np.zeros(len(table), OPERATION)
    records["phase"] = writes
    records["kind"] = np.where(writes, KINDS.index("write"), KINDS.index("read"))
    records["duration_ns"] = table[:, 1]
    records["start_ns"] = np.maximum(table[:, 0] * 1e6 - table[:, 1], 0)
    records["size"] = np.minimum(table[:, 3], 2**32 - 1)
    run.operations, run.operation_names = records, _DIRECTIONS[:2]
    if table.shape[1] >= 6:
        records["offset"] = table[:, 4]
    else:
        run.unplaced = run.operation_names
        run.cannot_tell(Message("offsets-not-traced", "this log lacks the offset in the file: log_offset=1 adds it"))
