"""``juicefs bench`` and ``juicefs objbench``: the tables of a file system, and of an object store without one.

    BlockSize: 1.0 MiB, BigFileSize: 1.0 GiB, SmallFileSize: 128 KiB, SmallFileCount: 100, NumThreads: 4
    |   Write big file |    512.50 MiB/s |  7.99 s/file |
    |        Stat file |  2500.0 files/s | 1.60 ms/file |
    |   FUSE operation | 900 operations |   2.25 ms/op |

becomes ``write_big_file bandwidth_last_done``, ``stat_file rate_last_done`` (until the last thread is done), and
``time_per_file``: threads ÷ rate, as the tool computes it, and no measured latency. What the client counted
(``fuse_operation operations``, ``latency_mean``) is of the whole benchmark. A test that
failed is incomplete; one that the store does not support is not. Source: ``cmd/bench.go``, ``cmd/objbench.go``.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import parse_number, parse_size, split_command
from .text import Text

NAME = "juicefs"
HEADLINE = ("bandwidth", "rate")

_OPEN = "open,close"
# Item in small letters → operation, what its clock includes.
_ITEMS = {
    "write big file": ("write_big_file", _OPEN),
    "read big file": ("read_big_file", _OPEN),
    "write small file": ("write_small_file", _OPEN),
    "read small file": ("read_small_file", _OPEN),
    "stat file": ("stat_file", ""),
    "upload objects": ("put", ""),
    "download objects": ("get", ""),
    "put small objects": ("put_small", ""),
    "get small objects": ("get_small", ""),
    "multi-upload": ("multi_upload", ""),
    "list objects": ("list", ""),
    "head objects": ("head", ""),
    "delete objects": ("delete", ""),
    "change permissions": ("chmod", ""),
    "change owner/group": ("chown", ""),
    "update mtime": ("utime", ""),
    "fuse operation": ("fuse_operation", ""),
    "update meta": ("update_meta", ""),
    "put object": ("put_object", ""),
    "get object": ("get_object", ""),
    "get object first byte": ("get_object_first_byte", ""),
    "delete object": ("delete_object", ""),
    "write into cache": ("write_into_cache", ""),
    "read from cache": ("read_from_cache", ""),
}
_VALUES = {
    "MiB/s": ("bandwidth_last_done", "bytes/s", 2.0**20),
    "files/s": ("rate_last_done", "operations/s", 1.0),
    "objects/s": ("rate_last_done", "operations/s", 1.0),
    "operations": ("operations", "operations", 1.0),
}
_COSTS = {
    "s/file": ("time_per_file", 1.0),
    "ms/file": ("time_per_file", 1e3),
    "s/object": ("time_per_object", 1.0),
    "ms/object": ("time_per_object", 1e3),
    "ms/op": ("latency_mean", 1e3),
}
_ROW = re.compile(r"\s*\|\s*([A-Za-z][A-Za-z/ -]{2,30}?)\s*\|\s*([^|]{1,40}?)\s*\|\s*([^|]{1,40}?)\s*\|\s*$")
_HEADER = re.compile(r"\s*\|\s*ITEM\s*\|\s*VALUE\s*\|\s*COST\s*\|\s*$")
_TESTS = re.compile(r"\s*\|\s*CATEGORY\s*\|\s*TEST\s*\|\s*RESULT\s*\|")
_DIVIDER = re.compile(r"\s*\+(?:-+\+){3}\s*$")
_NUMBER = re.compile(r"(\d+(?:\.\d+)?(?:e[+-]?\d+)?) ([A-Za-z/]+)$")
_SETTING = re.compile(
    r"(BlockSize|BigFileSize|SmallFileSize|SmallFileCount|NumThreads"
    r"|block-size|big-object-size|small-object-size|small-objects): (\d+(?:\.\d+)?(?: [KMGT]?i?B)?)(?=,|\s|$)"
)
_SETTINGS = {
    "numthreads": "threads",
    "blocksize": "transfer_size",
    "bigfilesize": "big_file_size",
    "smallfilesize": "small_file_size",
    "smallfilecount": "files_per_thread",
    "block-size": "object_size",
    "big-object-size": "data_size",
    "small-object-size": "small_object_size",
    "small-objects": "small_objects",
}
_COMMAND = re.compile(r".{0,80}?(?:^|[\s/])juicefs(?:\.\w+)? (bench|objbench) (.*)$")
_SECRET = re.compile(r"(--(?:access-key|secret-key|session-token)[= ])\S+")
_LOGGED = re.compile(r".{0,60}<(FATAL|ERROR|WARNING)>: (.*)$")
_NO_CACHE_DROP = ("Clear cache operation has been skipped", "Failed to clean kernel caches")
_TIME = re.compile(r"Time used: ([\d.]+) s, CPU: ")
_UNSUPPORTED = ("not support", "skipped")


def claims(text: Text) -> Claim | None:
    """Recognise the line of settings, the table's header, or a test that is in progress."""
    if hit := text.find("BigFileSize: ", "big-object-size: "):
        return Claim.from_match(CERTAIN, hit)
    if text.search(_HEADER, "ITEM"):
        rows = (match for line in text.lines if (match := _ROW.match(line)))
        if any(match.group(1).lower() in _ITEMS for match in rows):
            return Claim.from_match(LIKELY, text.search(_HEADER, "ITEM"))
    return Claim.from_match(LIKELY, text.search(_COMMAND, "juicefs")) if "Write big blocks" in text.content else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each benchmark."""
    reader = _Reader()
    for at, line in text.numbered():
        if line and not line.isspace():
            reader.read_line(at, line)
    reader.end_benchmark(text.last_line)
    return reader.runs


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._begin_benchmark()

    def _begin_benchmark(self) -> None:
        self._run = Parsed()
        self._sizes: dict[str, str] = {}

        self._items: set[str] = set()
        self._is_in_table = self._is_closed = self._has_begun = False
        self._failed_tests = 0

    def read_line(self, at: int, line: str) -> None:
        stripped = line.strip()
        if match := _COMMAND.match(stripped):
            self.end_benchmark(at)
            self._set_command(match.group(1), match.group(2))
        elif _HEADER.match(line):
            self._end_before(at, bool(self._items))
            self._is_in_table = self._has_begun = True
        elif _TESTS.match(line):
            self._end_before(at, bool(self._items))
            self._has_begun = True
        elif stripped.startswith("|"):
            self._read_row(at, stripped)
        elif stripped.startswith("+-"):
            self._read_divider(at, stripped)
        elif "Size: " in line or "-size: " in line or "NumThreads: " in line:
            self._read_settings(at, stripped)
        else:
            self._is_in_table = self._is_in_table and not self._items
            self._read_message(at, stripped)

    def _read_divider(self, at: int, line: str) -> None:
        if not _DIVIDER.match(line):
            if self._is_in_table:
                self._run.lacks(at, GLUED)
        elif self._items:
            self._is_closed, self._is_in_table = True, False

    def _end_before(self, at: int, is_next: bool) -> None:
        if is_next:
            self.end_benchmark(at)

    def _set_command(self, name: str, words: str) -> None:
        self._has_begun = True
        self._run.factors["benchmark"] = name
        self._run.facts["command"] = _SECRET.sub(r"\1…", f"juicefs {name} {words}")[:4000]
        arguments = split_command(words)
        for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
            if word == "--storage" and following:
                self._run.factors["storage"] = following[:40]

    def _read_settings(self, at: int, line: str) -> None:
        settings = dict(_SETTING.findall(line))
        self._end_before(at, bool(self._items and settings))
        self._has_begun = self._has_begun or bool(settings)
        self._sizes |= {name.lower(): word for name, word in settings.items()}

    def _read_message(self, at: int, line: str) -> None:
        run = self._run
        if match := _LOGGED.match(line):
            level, words = match.groups()
            if level == "FATAL":
                run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=words[:160]))
            elif words.startswith(_NO_CACHE_DROP):
                message = "the page cache was not dropped before reads: {quote}"
                run.warn(at, Message("cache-not-dropped", message, quote=words[:160]))
            elif level == "ERROR":
                run.warn(at, Message("tool-warning", "{quote}", quote=words[:160]))
        elif match := _TIME.match(line):
            run.seconds = parse_number(match.group(1)) or 0.0
        elif self._has_begun:
            note_reported_failure(run, at, line)

    def _read_row(self, at: int, line: str) -> None:
        match = _ROW.match(line)
        if match is None:
            if self._is_in_table and not set(line) <= set("|-: "):
                is_glued = line.count("|") > 4
                damaged = Message("damaged-lines", "the row is cut or damaged: left out")
                self._run.lacks(at, GLUED if is_glued else damaged)
            return
        item, value, cost = match.groups()
        if not self._is_in_table:
            self._failed_tests += cost.startswith("failed")
        elif item.lower() in _ITEMS:
            self._add_item(at, item.lower(), value, cost)

    def _add_item(self, at: int, item: str, value: str, cost: str) -> None:
        if item in self._items:
            self.end_benchmark(at)
            self._is_in_table = self._has_begun = True
        run = self._run
        self._items.add(item)
        operation, includes = _ITEMS[item]
        if value.startswith(_UNSUPPORTED):
            return
        if value.startswith("failed"):
            run.lacks(at, Message("tool-failed", "it failed: {quote}", quote=item))
            return
        numbers = [_read_number(word) for word in (value, cost)]
        first = _VALUES.get(numbers[0][1])
        if first is None or numbers[0][0] is None:
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        rows = [Row(operation, first[0], numbers[0][0] * first[2], first[1], at, includes=includes)]
        second = _COSTS.get(numbers[1][1])
        if second is not None and rows[0].metric == "operations" and not rows[0].value:
            pass  # nothing took its 0.00 ms
        elif second is not None and numbers[1][0] is not None:
            is_measured = rows[0].metric == "operations"  # else it is computed from the rate
            metric = second[0] if is_measured or second[0] != "latency_mean" else "time_per_operation"
            rows.append(Row(operation, metric, numbers[1][0] / second[1], "s", at, includes=includes))
        elif " objects" not in cost:  # the cost of a list
            run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        run.rows += rows

    def end_benchmark(self, at: int) -> None:
        """Close the benchmark; one whose table is not closed, or lacks its last item, is incomplete."""
        run, is_last = self._run, not self._items.isdisjoint(("stat file", "update mtime", "delete objects"))
        if self._has_begun or run.missing:
            self._set_settings(run)
            if not (self._is_closed or is_last) and not run.missing:
                run.lacks(at, Message("ended-early", "the output ends before the end of the table"))
            if self._failed_tests:
                message = "{n_tests} functional tests of the object store failed"
                run.warn(at, Message("tool-warning", message, n_tests=self._failed_tests))
            self.runs.append(run)
        self._begin_benchmark()

    def _set_settings(self, run: Parsed) -> None:
        for name, setting in _SETTINGS.items():
            if value := parse_size(self._sizes.get(name, "")):
                run.factors[setting] = value


def _read_number(cell: str) -> tuple[float | None, str]:
    match = _NUMBER.match(cell)
    return (parse_number(match.group(1)), match.group(2)) if match else (None, "")
