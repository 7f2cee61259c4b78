"""fio's normal output, 2.x and 3.x: three or four digits only, so the JSON is read where both were printed.

j: (groupid=0, jobs=2): err= 0: pid=4141: Sat Nov 21 09:32:21 2026
  read: IOPS=570k, BW=2227MiB/s (2335MB/s)(15.6MiB/7msec)
    clat (nsec): min=851, max=28722, avg=1226.29, stdev=506.30
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from iosonde.core.message import Message

from .damage import note_reported_failure
from .fio_commands import FioCommands
from .fio_jobs import FSYNC, LAST_DONE, FioJob, Settings, assign_settings, exceeds_parts, group_parts, sum_rates
from .parsed import GLUED, Parsed, Row
from .reading import BINARY, DECIMAL, PER_SECOND, date_to_iso, parse_number
from .text import Text

JOB = re.compile(r"\s*(\S.*?): \(groupid=(\d+), jobs=(\d+)\): err=\s*(\d+).*?: pid=\d+(?:: (.*))?$")
_NEW = re.compile(
    r"\s*(?P<direction>read|write|trim)\s*: IOPS=(?P<rate>\S+), BW=(?P<value>[\d.]+)(?P<unit>\w+)(?:/s)?"
    r".*\((?P<amount>\S+?)(?P<amount_unit>[KMGTP]?i?B)/(?P<runtime>\d+)msec\)"
)
_OLD = re.compile(
    r"\s*(?P<direction>read|write|trim)\s*: io=(?P<amount>[\d.]+)\s*(?P<amount_unit>\w+), bw=(?P<value>[\d.]+)"
    r"\s*(?P<unit>\w+)/s, iops=(?P<rate>\S+), run(?:t|time)=\s*(?P<runtime>\d+)\s*msec"
)
_LATENCY = re.compile(
    r"\s*(clat|slat|lat|sync) \((\wsec)\)\s*: min=\s*(\S+), max=\s*(\S+), avg=\s*(\S+), stdev=\s*(\S+)"
)
# `bw (  KiB/s): min=…`, `iops        : min=…`, over fio's own samples.
_SAMPLES = re.compile(
    r"\s*(?:bw \(\s*(\w+)\s*/s\s*\)|iops)\s*: *min=.{1,80}, avg=\s*(\d[\d.]*), stdev=\s*[\d.]+(?:, samples=\s*\d+)?\s*$"
)
# Before version 3.8 a line of several threads has the mean of one of them.
_LEAST_OF_TOTAL = 0.6
_PERCENTILES = re.compile(r"\s*(clat|slat|lat|sync) percentiles \((\wsec)\)")
_SYNC = "fsync/fdatasync/sync_file_range:"
_ISSUED = re.compile(r"\s*issued rwts: total=\d+,\d+,\d+,(\d{1,15})\b")
_PERCENTILE = re.compile(r"(?<![\d.])([\d.]++)th=\[\s*(\d+)\]")
# Begins of the lines with numbers.
_NUMBERED = (
    *("read", "write", "trim", "clat", "slat", "lat ", "bw (", "iops "),
    *("sync (", "sync percentiles", "issued rwts"),
)
_UNIT = re.compile(r"([kmgtp]?)(i?)b$", re.IGNORECASE)
# In fio's printing order, each once for each direction.
_NAMES = {"slat": "submission_latency", "clat": "completion_latency", "lat": "latency", "sync": "latency"}
_ORDER = {block: place for place, block in enumerate(_NAMES)}
NOT_STEADY = Message(
    "not-steady",
    "the requested steady state was not reached: the system was still changing",
)
_LOW_RESOLUTION = Message("low-resolution", "normal output has three or four digits: --output-format=json has all")
# Line that announces a job, after the host's name if it is a client's.
_OPEN = re.compile(r"(?:<[^>]*> )?(\S.*?): \(g=(\d+)\): rw=(\w+), bs=(.*), ioengine=(\w+), iodepth=(\d+)")
_SIZES = re.compile(r"([\d.]+\w*)-([\d.]+\w*)")


def parse_text(text: Text) -> list[Parsed]:
    """Return one Parsed for each fio; its rows have the settings that differ between jobs."""
    reader = _Reader(FioCommands(text))
    for at, line in text.numbered():
        reader.feed(at, line)
    reader.end()
    return reader.runs


@dataclass
class _Part:
    """What fio reports under one line of a job: a thread, a server, or all threads of a group (group_reporting)."""

    line: int
    name: str
    group: int
    threads: int
    rows: list[Row] = field(default_factory=list)


class _Reader:
    def __init__(self, commands: FioCommands) -> None:
        self.runs: list[Parsed] = []
        self._commands = commands
        self._done, self._last, self._is_client = False, 0, False
        self._parts: list[_Part] = []
        self._announced: dict[tuple[int, str], Settings] = {}
        # Announced after the results of such jobs: by the next fio, or late, as its standard output was buffered.
        self._late: dict[tuple[int, str], Settings] = {}
        self._announced_before: dict[tuple[int, str], Settings] = {}  # by the run before
        self._direction, self._in_percentiles, self._latency = "", 0.0, ""
        self._latency_blocks: list[str] = []  # for this direction

    def _get_run(self, new: bool = False) -> Parsed:
        if not self.runs or (self._done and not self._is_client) or new:
            announced, self._late = self._late, {}  # those of the run that begins here
            self.end()
            self._announced_before = self._announced
            self.runs.append(Parsed(form="text"))
            self._done, self._parts, self._announced, self._direction = False, [], announced, ""
        return self.runs[-1]

    def feed(self, at: int, line: str) -> None:
        stripped = line.strip()
        if not stripped:
            return
        self._last = at
        if stripped[0] == "|":
            self._add_percentiles(at, stripped)
            if ": IOPS=" in stripped:
                self._get_run().lacks(at, GLUED)
        elif stripped.startswith("fio-") and " " not in stripped:
            self._get_run(new=bool(self.runs and self.runs[-1].version)).version = stripped[4:64]
        elif "groupid=" in stripped and (match := JOB.match(line)):
            self._begin_job(at, match)
        elif self._parts and stripped.startswith(_NUMBERED) and self._read_numbers(at, line):
            return
        elif self._parts and stripped == _SYNC:
            self._direction, self._in_percentiles, self._latency_blocks = FSYNC, 0.0, []
        elif stripped.startswith("Run status group"):
            self._done = bool(self.runs)
        elif stripped.startswith(("fio: terminating on signal", "fio: pid=", "fio: io_u error")):
            self._get_run().lacks(at, Message("tool-failed", "fio reports: {quote}", quote=stripped[:160]))
        elif stripped.startswith("steadystate") and "attained=no" in stripped:
            self._get_run().warn(at, NOT_STEADY)
        elif "verify" in stripped and "failed" in stripped:
            self._get_run().lacks(
                at, Message("verification-failed", "verification failed: {quote}", quote=stripped[:160])
            )
        elif ": (g=" in stripped and (match := _OPEN.match(stripped)):
            self._read_setting(match)
        elif stripped.startswith("hostname=") and ", be=" in stripped:
            self._is_client = True
        elif self.runs:
            note_reported_failure(self.runs[-1], at, line)

    def _read_setting(self, match: re.Match[str]) -> None:
        key = int(match.group(2)[:9]), match.group(1)
        settings: Settings = {"rw": match.group(3), "engine": match.group(5), "io_depth": int(match.group(6)[:9])}
        if (size := _read_block_size(match.group(4))) is not None:
            settings["block_size"] = size
        if key not in self._announced and any((part.group, part.name) == key for part in self._parts):
            self._late[key] = settings
        else:
            self._get_run()
            self._announced[key] = settings

    def _begin_job(self, at: int, match: re.Match[str]) -> None:
        name, group, threads, error, date = match.groups()
        run = self._get_run()
        run.started_at = run.started_at or date_to_iso(date or "")
        self._parts.append(_Part(at, name, int(group[:9]), int(threads[:9])))
        self._direction = ""
        if error != "0":
            run.lacks(at, Message("tool-failed", "job {job} ended with error {status}", job=name[:60], status=error))

    def _read_numbers(self, at: int, line: str) -> bool:
        has_rate = ": IOPS=" in line
        if match := (has_rate and _NEW.match(line)) or (" iops=" in line and _OLD.match(line)) or None:
            self._add_rates(at, match)
        elif has_rate:
            self._get_run().lacks(at, GLUED)
            self._direction = ""
        elif (match := _LATENCY.match(line)) and self._direction:
            self._add_latencies(at, match)
        elif (match := _SAMPLES.match(line)) and self._direction:
            self._add_samples(at, *match.groups())
        elif match := _PERCENTILES.match(line):
            self._latency, self._in_percentiles = _NAMES[match.group(1)], PER_SECOND[match.group(2)]
        elif match := _ISSUED.match(line):
            for row in self._parts[-1].rows:
                if row.operation == FSYNC:
                    row.count = int(match.group(1)) or None  # with group_reporting 0 is printed
        else:
            return False
        return True

    def _add_latencies(self, at: int, match: re.Match[str]) -> None:
        block, unit, *words = match.groups()
        if self._latency_blocks and _ORDER[block] <= _ORDER[self._latency_blocks[-1]]:
            # The line that begins the next direction was lost.
            self._get_run().lacks(
                at,
                Message(
                    "damaged-lines",
                    "a line is missing before line {before_line}: {direction} has a second {block}",
                    before_line=at,
                    direction=self._direction,
                    block=block,
                ),
            )
            self._direction = ""
            return
        self._latency_blocks.append(block)
        for statistic, word in zip(("min", "max", "mean", "sd"), words, strict=True):
            self._add_row(at, f"{_NAMES[block]}_{statistic}", _parse_count(word), "s", PER_SECOND[unit])

    def _add_samples(self, at: int, unit: str | None, word: str) -> None:
        kind = "bandwidth" if unit else "rate"
        mean = _parse_amount(word, _add_byte(unit)) if unit else parse_number(word)
        total = next((row.value for row in self._parts[-1].rows if _is_total(row, self._direction, kind)), 0.0)
        if mean is not None and (self._parts[-1].threads == 1 or mean >= _LEAST_OF_TOTAL * total):
            self._add_row(at, f"{kind}_sample_mean", mean, "bytes/s" if unit else "operations/s", 1.0)

    def _add_percentiles(self, at: int, line: str) -> None:
        direction, per_second = self._direction, self._in_percentiles
        if not per_second or not direction:
            return
        rows = None if self._done else self._parts[-1].rows
        for level, word in _PERCENTILE.findall(line):
            name, value = _build_percentile_name(self._latency, level), parse_number(word)
            if name and value is not None and rows is not None:  # most numbers of a file are these
                rows.append(Row(direction, name, value / per_second, "s", at))
            elif name:
                self._add_row(at, name, value, "s", per_second)

    def _add_rates(self, at: int, match: re.Match[str]) -> None:
        self._direction, self._in_percentiles, self._latency_blocks = match["direction"], 0.0, []
        run = self._get_run()
        if "i" not in match["unit"]:
            run.warn(
                at, Message("assumed-unit", "{unit}/s was read in units of 1024, as fio 2 counts", unit=match["unit"])
            )
        run.warn(at, _LOW_RESOLUTION)
        self._add_row(
            at, "bandwidth_last_done", _parse_amount(match["value"], _add_byte(match["unit"])), "bytes/s", 1.0
        )
        self._add_row(at, "rate_last_done", _parse_count(match["rate"]), "operations/s", 1.0)
        self._add_row(at, "bytes", _parse_amount(match["amount"], match["amount_unit"]), "bytes", 1.0)
        self._add_row(at, "time", parse_number(match["runtime"]), "s", 1e3)

    def _add_row(self, at: int, metric: str, value: float | None, unit: str, per_base: float) -> None:
        run = self._get_run() if self._done else self.runs[-1]  # for every number of every file
        if self._direction and value is not None:
            self._parts[-1].rows.append(Row(self._direction, metric, value / per_base, unit, at))
        elif not self._direction:
            run.warn(
                at,
                Message(
                    "unreadable-lines",
                    "numbers before the line that shows whether they are reads or writes: left out",
                ),
            )
        else:
            run.warn(
                at,
                Message(
                    "invalid-number",
                    "{metric} of {direction} is not a number: left out",
                    metric=metric,
                    direction=self._direction,
                ),
            )

    def end(self) -> None:
        if not self.runs:
            return
        run = self.runs[-1]
        self._announced |= self._late
        # A process that fio made has written what was buffered of its standard output a second time.
        is_repeated = not (run.version or run.rows or self._parts) and self._announced == self._announced_before
        if len(self.runs) > 1 and is_repeated:
            self.runs.pop()
            return
        self._add_jobs(run)
        if not run.rows:
            run.lacks(self._last, Message("ended-early", "no result: fio was interrupted or failed"))
        elif not self._done:
            run.lacks(self._last, Message("ended-early", "the output ends here, before 'Run status group'"))

    def _add_jobs(self, run: Parsed) -> None:
        """Add the rows of every job, with its own settings; each thread or server is a rank of its job."""
        parts = [part for part in self._parts if not _is_client_total(part)]
        self._add_commands(run, parts)
        jobs = group_parts((*self._describe_part(part), part) for part in parts)
        if not jobs:
            run.factors |= next(iter(self._announced.values()), {})
            return
        for job in jobs:
            job.settings["ranks"] = sum(part.threads for part in job.parts)
        assign_settings(run, jobs, parts[0].line)
        totals = [part for part in self._parts if _is_client_total(part)] if len(jobs) == 1 else []
        total_rows = [row for part in totals for row in part.rows]
        for job in jobs:
            rows = _list_job_rows(job)
            sums = sum_rates(rows, job.factors) if job.has_ranks else []
            run.rows += rows + (sums if not totals or exceeds_parts(total_rows, sums) else [])
        run.rows += total_rows

    def _add_commands(self, run: Parsed, parts: Sequence[_Part]) -> None:
        """Add the options that only the command line or the job file above the output has."""
        if not parts:
            return
        keys = {*self._announced, *((part.group, part.name) for part in parts)}
        printed = {name: self._announced.get((group, name), {}) for group, name in keys}
        settings, command, run.is_unflushed = self._commands.find_settings(parts[0].line, printed)
        if command:
            run.facts["command"] = command
        for group, name in keys if settings else ():
            self._announced[group, name] = {**settings[name], **printed[name]}

    def _describe_part(self, part: _Part) -> tuple[str, int, Settings]:
        """Return (name, group, settings). group_reporting merges the jobs of a group: what differs is not theirs."""
        announced = {name: settings for (group, name), settings in self._announced.items() if group == part.group}
        is_merged = len(announced) > 1 and part.name in announced and part.threads > 1
        if not is_merged or any(other.name != part.name and other.group == part.group for other in self._parts):
            return part.name, part.group, dict(announced.get(part.name, {}))
        shared = [
            items for items in announced[part.name].items() if all(items in s.items() for s in announced.values())
        ]
        return " + ".join(announced), part.group, dict(shared)


def _is_total(row: Row, direction: str, kind: str) -> bool:
    return row.operation == direction and row.metric == f"{kind}_{LAST_DONE}"


def _is_client_total(part: _Part) -> bool:
    """Return whether this is fio's total over its servers. It also adds up jobs that did not run together."""
    return part.name == "All clients"


def _list_job_rows(job: FioJob) -> list[Row]:
    """Return the rows of a job's parts, with its settings, ranks and clock."""
    factors, iteration, has_ranks = job.factors, job.iteration, job.has_ranks
    clock = "own" if has_ranks else job.clock
    if not has_ranks and factors is None and iteration is None and clock == LAST_DONE:
        return list(job.parts[0].rows)  # the only job of its output: nothing to add
    renamed = {f"{kind}_{LAST_DONE}": f"{kind}_{clock}" for kind in ("bandwidth", "rate") if clock != LAST_DONE}
    for rank, part in enumerate(job.parts):
        for row in part.rows:
            row.factors, row.iteration = factors, iteration
            if has_ranks:
                row.rank = rank
            if row.metric in renamed:
                row.metric = renamed[row.metric]
    return [row for part in job.parts for row in part.rows]


@lru_cache(maxsize=256)
def _build_percentile_name(latency: str, level: str) -> str:
    """Convert ``99.90`` to ``completion_latency_p99.9``, '' if it is not a number. fio prints twenty of them at
    most."""
    return f"{latency}_p{float(level):g}" if parse_number(level) else ""


def _parse_amount(value: str, unit: str) -> float | None:
    """Convert ``2227``, ``MiB`` to bytes. fio 2 writes KB and means 1024."""
    match, amount = _UNIT.match(unit), parse_number(value)
    return None if not match or amount is None else amount * BINARY[match.group(1).lower()]


def _parse_bytes(text: str) -> float | None:
    match = re.match(r"([\d.]+)(\w*)$", text)
    if not match:
        return None
    return _parse_amount(match.group(1), _add_byte(match.group(2)))


def _read_block_size(text: str) -> int | str | None:
    """Return the size of blocks of ``(R) 4096B-4096B, (W) 64.0KiB-64.0KiB``, as in fio's JSON: one, or ``4k,64k`` of
    reads, writes and trims; None for a range, and for a size that was rounded."""
    ranges = [(_parse_bytes(lowest), _parse_bytes(highest)) for lowest, highest in _SIZES.findall(text)]
    sizes = [int(lowest) for lowest, highest in ranges if lowest and lowest == highest and lowest.is_integer()]
    if not sizes or len(sizes) < len(ranges):
        return None
    while len(sizes) > 1 and sizes[-1] == sizes[-2]:  # fio takes the last one for the rest
        sizes.pop()
    return sizes[0] if len(sizes) == 1 else ",".join(_shorten_size(size) for size in sizes)


def _shorten_size(size: int) -> str:
    for unit, scale in (("m", 1 << 20), ("k", 1 << 10)):
        if size % scale == 0:
            return f"{size // scale}{unit}"
    return str(size)


def _add_byte(unit: str) -> str:
    """Return ``KB`` for fio 2's ``4K``, ``MiB`` for the ``267Mi`` of its total over servers."""
    return unit if unit[-1:] in ("B", "b") else f"{unit}B"


def _parse_count(word: str) -> float | None:
    """Convert ``570k`` to 570000: fio shortens counts and µs in steps of 1000."""
    word = word.rstrip(",")
    if word[-1:].lower() in ("k", "m", "g") and (value := parse_number(word[:-1])) is not None:
        return value * DECIMAL[word[-1].lower()]
    return parse_number(word)
