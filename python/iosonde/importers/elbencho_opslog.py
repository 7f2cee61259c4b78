"""elbencho's ``--opslog``: a line of JSON when an operation begins, another when it ends, with times in whole ms.

    { "date": "2026-11-21T09:35:31.430+0000", "worker_rank": 0, "op_name": "pread", "entry_name": "3", "offset": 0,
      "length": 65536, "is_finished": false, "is_error": false }      (one line)

Operations and bytes of each worker are counted. If some took a ms or more, all become recorded operations too, and
shorter ones have no duration.
"""

import re
from collections import defaultdict
from datetime import datetime
from functools import lru_cache

from iosonde.core.message import Message

from .parsed import Parsed, Row
from .text import Text
from .trace import Gathered, keep_names

_LINE = re.compile(
    r'\{ *"date": *"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{3})([+-]\d{4}|Z)", *"worker_rank": *(-?\d{1,9}), '
    r'*"op_name": *"(\w{1,40})", *"entry_name": *"([^"]*)", *"offset": *(\d{1,18}), *"length": *(\d{1,18}), '
    r'*"is_finished": *(true|false), *"is_error": *(true|false) *\}\s*'
)
_KINDS = {
    "pread": "read",
    "aioread": "read",
    "cuFileRead": "read",
    "hdfsPread": "read",
    "pwrite": "write",
    "aiowrite": "write",
    "cuFileWrite": "write",
    "hdfsWrite": "write",
    "open": "open",
    "openat": "open",
    "close": "close",
    "fstat": "stat",
    "mkdirat": "mkdir",
    "unlinkat": "unlink",
}


def parse_log(text: Text) -> Parsed:
    """Read the log of all workers of one command."""
    run, pairs = Parsed(), _Pairs()
    for at, line in text.numbered():
        if not line.strip():
            continue
        match = _LINE.fullmatch(line)
        second = _parse_second_to_ms(match.group(1), match.group(3)) if match else None
        if match is None or second is None:
            run.lacks(
                at, Message("unreadable-lines", "not a line of the log, or two in one: left out, and others like it")
            )
        elif match.group(10) == "true":
            run.lacks(at, Message("operations-failed", "{name} failed", name=match.group(5)))
        else:
            pairs.add(at, match, second + int(match.group(2)))
    pairs.into(run, text)
    return run


@lru_cache(maxsize=64)
def _parse_second_to_ms(date: str, zone: str) -> int | None:
    try:
        return int(datetime.fromisoformat(date + zone).timestamp() * 1000)
    except ValueError:
        return None


class _Pairs:
    """Begins that wait for their ends."""

    def __init__(self) -> None:
        self._begun: defaultdict[tuple[str, ...], list[int]] = defaultdict(list)
        self._finished: dict[tuple[str, int], list[int]] = {}
        self._gathered = Gathered()
        self._unbegun, self._last = 0, 0

    def add(self, at: int, line: re.Match[str], now_ms: int) -> None:
        """Read one line."""
        rank, name, entry, offset, size = line.group(4, 5, 6, 7, 8)
        begun, self._last = self._begun[rank, name, entry, offset, size], at
        if line.group(9) == "false":
            begun.append(now_ms)
            return
        count = self._finished.setdefault((name, int(rank)), [at, 0, 0])
        count[1] += 1
        count[2] += int(size)
        if not begun:
            self._unbegun += 1
            return
        began = begun.pop(0)
        if name in _KINDS and now_ms >= began >= 0:
            gathered = self._gathered
            gathered.rows.extend(
                (
                    max(int(rank), 0),
                    gathered.names.get_number(name),
                    0,
                    int(size),
                    gathered.files.get_number(f"{entry} of worker {rank}"),
                    int(offset),
                    began * 10**6,
                    (now_ms - began) * 10**6,
                    at,
                )
            )

    def into(self, run: Parsed, text: Text) -> None:
        """Add counts, and operations if any took a ms."""
        for (operation, rank), (at, count, size) in sorted(self._finished.items()):
            run.rows.append(Row(operation, "operations", count, "operations", at, rank, None, count))
            run.rows.append(Row(operation, "bytes", size, "bytes", at, rank, None, count))
        if open_ones := sum(map(len, self._begun.values())):
            run.lacks(
                self._last,
                Message("end-not-traced", "{n_open} operations began but did not end in the log", n_open=open_ones),
            )
        if self._unbegun:
            run.lacks(
                self._last,
                Message(
                    "begin-not-traced",
                    "{n_operations} operations ended but did not begin in the log",
                    n_operations=self._unbegun,
                ),
            )
        if not run.rows:
            run.lacks(1, Message("no-results", "the log holds no operation"))
        if not self._gathered.columns()["duration_ns"].any():
            run.warn(
                1,
                Message("low-resolution", "times are in whole ms: this log gives no duration of an operation"),
            )
        else:
            self._gathered.into(run, _KINDS, text, shared=False)
            keep_names(run, "files", self._gathered.files.numbers)
            run.cannot_tell(
                Message(
                    "low-resolution",
                    "times are in whole ms: operations shorter than 1 ms have no duration, others ± 1 ms",
                )
            )
