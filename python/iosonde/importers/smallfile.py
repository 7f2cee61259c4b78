"""smallfile 3.x: the file of ``--output-json``.

    "results": {"elapsed": 0.02, "files": 398, "filesPerSec": 20339.8, "IOPS": …, "MiBps": …, "thread": {"00": {…}}}

becomes ``create rate_sum_of_ranks`` (files/s), ``access_rate_sum_of_ranks`` (records/s) and ``bandwidth_sum_of_ranks``:
each thread's own rate, added. With ``stonewall`` (the default, a factor) each thread counts its work until the first
thread was done. A file is opened, read or written and closed inside the clock, with fsync if ``fsync_after_modify`` is
set. Rows of threads are ``…_own``. smallfile itself calls a test invalid if less than 70 % of the files were done when
the first thread ended; it is marked incomplete. Source: ``output_results.py``, ``smallfile.py``.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from iosonde.core.message import Message

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import JsonDocument, Lines, date_to_iso, get_json_object, number_from_json, read_json_runs
from .text import Text

NAME = "smallfile"
HEADLINE = ("rate", "bandwidth")

_LEAST_DONE = 70.0  # percent
_NEVER = 1e8  # placeholder for the seconds of a thread that never ended
_RATES = {
    "filesPerSec": ("rate", 1.0, "operations/s"),
    "IOPS": ("access_rate", 1.0, "operations/s"),
    "MiBps": ("bandwidth", 2.0**20, "bytes/s"),
}
_COUNTS = {"elapsed": ("time", "s"), "files": ("operations", "operations"), "records": ("accesses", "operations")}
_NUMBERS = {
    "files_per_thread": "files_per_thread",
    "threads": "threads",
    "files_per_dir": "files_per_directory",
    "dirs_per_dir": "directories_per_directory",
    "xattr_size": "xattr_size",
    "xattr_count": "xattr_count",
}
_SWITCHES = {
    "share_dir": "shared_directory",
    "hash_to_dir": "hashed_directories",
    "fsync_after_modify": "fsync",
    "finish_all_requests": "finish_all_requests",
    "stonewall": "stonewall",
}
_MOVES_DATA = ("create", "append", "overwrite", "read", "cleanup", "swift-put", "swift-get", "truncate-overwrite")


def claims(text: Text) -> Claim | None:
    """Recognise the rate of files, by smallfile's unique key, and its parameters."""
    if text.first_line[:1] != "{":
        return None
    return Claim.from_match(CERTAIN, text.find('"filesPerSec"', '"pctFilesDone"'))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each document of the file."""
    return read_json_runs(text, _read_document)


def _read_document(run: Parsed, document: JsonDocument, lines: Lines) -> None:
    params = get_json_object(document.value, "params")
    _read_settings(run, params)
    begin = lines.locate_needle('"results"', document.begin, document.end)[1]
    operation = str(params.get("operation", "file"))[:40]
    _Reader(run, operation, lines, document.end).read_results(get_json_object(document.value, "results"), begin)


def _read_settings(run: Parsed, params: dict[str, Any]) -> None:
    run.version = str(params.get("version", ""))[:40]
    for key, factor in _NUMBERS.items():
        if (value := number_from_json(params.get(key))) is not None:
            run.factors[factor] = int(value)
    for key, factor in _SWITCHES.items():
        if params.get(key) in ("Y", "N"):
            run.factors[factor] = params[key] == "Y"
    if (size := number_from_json(params.get("file_size"))) is not None:
        run.factors["file_size"] = int(size * 1024)
    if (hosts := number_from_json(params.get("total_hosts"))) is not None:
        run.factors["nodes"] = int(hosts)
    for key in ("top", "host_set"):
        if params.get(key):
            run.facts[key] = str(params[key])[:1000]


@dataclass(frozen=True)
class _Reader:
    """The results of an execution; ``end``: the end of its document."""

    run: Parsed
    operation: str
    lines: Lines
    end: int

    def read_results(self, results: dict[str, Any], begin: int) -> None:
        """Read all results, which begin at ``begin``."""
        run, at = self.run, self.lines.at(begin)
        if not results:
            run.lacks(at, Message("no-results", "no results"))
            return
        started_at = date_to_iso(str(results.get("date", ""))[:19])
        run.started_at = f"{started_at}Z" if started_at else ""
        if (seconds := number_from_json(results.get("elapsed"))) is not None and seconds < _NEVER:
            run.seconds = seconds
        self._add_rows(results, None, begin)
        place = begin
        for rank, (name, thread) in enumerate(_iterate_threads(results)):
            _, place = self.lines.locate_needle(f'"{name}": {{', place + 1, self.end)
            self._add_rows(thread, rank, place)
        self._check_valid(results, begin)

    def _check_valid(self, results: dict[str, Any], begin: int) -> None:
        """Check whether smallfile itself accepts the result."""
        run, status, at = self.run, results.get("status"), self.lines.at(begin)
        if status not in (None, "Success", "ok"):
            run.lacks(
                self._find_line("status", begin),
                Message("tool-failed", "it failed: {quote}", quote=str(status)[:160]),
            )
        done = number_from_json(results.get("pctFilesDone"))
        place = self._find_line("pctFilesDone", begin)
        if done is None:
            run.lacks(at, Message("ended-early", "the share of finished files is missing: it ended early"))
        elif done < _LEAST_DONE:
            run.lacks(
                place,
                Message(
                    "too-few-files",
                    "{percent:.0f} % of the files were done when the first thread ended; smallfile requires 70 %",
                    percent=done,
                ),
            )
        elif done < 100 and run.factors.get("stonewall"):
            run.warn(
                place,
                Message(
                    "too-few-files",
                    "{percent:.0f} % of the files were done when the first thread ended: only they are counted",
                    percent=done,
                ),
            )
        if "filesPerSec" not in results:
            run.lacks(at, Message("no-results", "no rate: it was shorter than a millisecond, or did nothing"))

    def _add_rows(self, values: dict[str, Any], rank: int | None, begin: int) -> None:
        run, operation, clock = self.run, self.operation, "sum_of_ranks" if rank is None else "own"
        inside = _join_included(run, operation)
        for key, (name, factor, unit) in _RATES.items():
            if (value := number_from_json(values.get(key))) is not None and value > 0:
                run.rows.append(
                    Row(
                        operation,
                        f"{name}_{clock}",
                        value * factor,
                        unit,
                        self._find_line(key, begin),
                        rank,
                        includes=inside,
                    )
                )
        for key, (name, unit) in _COUNTS.items():
            value = number_from_json(values.get(key))
            if key == "elapsed" and value is not None and value >= _NEVER:
                run.lacks(self._find_line(key, begin), Message("ended-early", "a thread never ended"))
            elif value is not None and (value or key != "records"):
                run.rows.append(Row(operation, name, value, unit, self._find_line(key, begin), rank))
        if rank is not None and values.get("status"):
            run.lacks(
                self.lines.at(begin),
                Message("tool-failed", "thread {rank} failed: {quote}", rank=rank, quote=str(values["status"])[:120]),
            )

    def _find_line(self, key: str, begin: int) -> int:
        return self.lines.find_line(f'"{key}"', begin, self.end)


def _join_included(run: Parsed, operation: str) -> str:
    inside = "open,fsync,close" if run.factors.get("fsync") else "open,close"
    return inside if operation in _MOVES_DATA else ""


def _iterate_threads(results: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield every thread with its name, of one host or host by host."""
    for host in [*get_json_object(results, "host").values()] or [results]:
        if isinstance(host, dict):
            yield from (
                (name, thread) for name, thread in get_json_object(host, "thread").items() if isinstance(thread, dict)
            )
