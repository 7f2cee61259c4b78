"""Recorder's traces as text: ``recorder2text DIR`` writes ``DIR/_text/0.txt``, a file for each rank.

    0.0124060 0.0124210 pwrite 1 0 ( /tmp/file 0x55d0 4096 8192 )

Begin and end in seconds, the function, its call depth, its type, its arguments (files by their names). POSIX functions
become recorded operations. The text has no results. So failed calls, calls that moved less, and the offset of a
``read`` or ``write`` without one are unknown.
"""

import re
from pathlib import PurePath

from iosonde.core.message import Message

from .parsed import CERTAIN, PART, Claim, Parsed
from .text import Text
from .trace import Gathered, keep_names

NAME = "recorder"
HEADLINE = ("latency_p99", "bytes")

_CALL = re.compile(r"(\d{1,9})\.(\d{1,9}) (\d{1,9})\.(\d{1,9}) (\w+) (\d{1,4}) (-?\d{1,3}) \((.*) \)")
_RANK = re.compile(r"(?:^|[^\d])(\d{1,9})\.txt(?:\.gz)?$")
_FLAG_CREATE = 0o100
# Function → operation, position of its size and its offset among the arguments.
_DATA = {
    "read": ("read_unplaced", 2, None),
    "write": ("write_unplaced", 2, None),
    "pread": ("read", 2, 3),
    "pread64": ("read", 2, 3),
    "pwrite": ("write", 2, 3),
    "pwrite64": ("write", 2, 3),
}
_OTHERS = {
    "open": "open",
    "open64": "open",
    "creat": "create",
    "creat64": "create",
    "close": "close",
    "fsync": "fsync",
    "fdatasync": "fdatasync",
    "unlink": "unlink",
    "mkdir": "mkdir",
    "rmdir": "rmdir",
    "rename": "rename",
    "truncate": "truncate",
    "ftruncate": "truncate",
    "stat": "stat",
    "lstat": "stat",
    "fstat": "fstat",
    "__xstat": "stat",
    "__xstat64": "stat",
    "__lxstat": "stat",
    "__lxstat64": "stat",
    "__fxstat": "fstat",
    "__fxstat64": "fstat",
    "readdir": "readdir",
}
_KINDS = {"read_unplaced": "read", "write_unplaced": "write", "fstat": "stat"}


def claims(text: Text) -> Claim | None:
    """Recognise the shape of its first lines."""
    head = [line for line in text.lines[:40] if line.strip()]
    fitting = sum(bool(_CALL.fullmatch(line)) for line in head)
    return Claim(CERTAIN, 1, head[0].strip()[:60]) if head and fitting >= max(2, 0.7 * len(head)) else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed: a file covers one rank."""
    run, gathered = Parsed(), Gathered()
    if match := _RANK.search(PurePath(text.name).name):
        run.factors[PART] = f"rank {int(match.group(1))}"
    rank, nested = int(match.group(1)) if match else 0, 0
    for at, line in enumerate(text.lines, 1):
        if not line:
            continue
        call = _CALL.fullmatch(line)
        if call is None or " )" in call.group(8):
            gathered.note_unreadable(
                run,
                at,
                Message("unreadable-lines", "not a call of Recorder, or two in one: left out, and others like it"),
            )
            continue
        begin_s, begin, end_s, end, function, depth, _, words = call.groups()
        if function not in _DATA and function not in _OTHERS:
            continue
        start, done = int(begin_s + begin.ljust(9, "0")), int(end_s + end.ljust(9, "0"))
        what = _interpret_call(function, words.split())
        if what is None or done < start:
            gathered.note_unreadable(
                run,
                at,
                Message(
                    "unreadable-lines",
                    "a call of {function} with other arguments or times: left out, and others like it",
                    function=function,
                ),
            )
            continue
        operation, file, size, offset = what
        nested += depth != "0"
        gathered.rows.extend(
            (
                rank,
                gathered.names.get_number(operation),
                0,
                size,
                gathered.files.get_number(file),
                offset,
                start,
                done - start,
                at,
            )
        )
    names = gathered.names.numbers
    gathered.into(
        run,
        {name: _KINDS.get(name, name) for name in names},
        text,
        unplaced=[name for name in names if name.endswith("_unplaced")],
        shared=False,
    )
    keep_names(run, "files", gathered.files.numbers)
    run.cannot_tell(
        Message(
            "results-not-traced",
            "Recorder's text has no results: a call that failed or moved less looks like any other",
        )
    )
    if nested:
        run.warn(
            0,
            Message(
                "nested-calls",
                "{n_calls} of these calls were made by a library, such as MPI-IO or HDF5, inside a call of its own",
                n_calls=nested,
            ),
        )
    if not match:
        run.warn(
            0, Message("assumed-rank", "the file's name does not end in the number of a rank: assumed to be rank 0")
        )
    return [run]


def _interpret_call(function: str, words: list[str]) -> tuple[str, str, int, int] | None:
    """Return (operation, file, size, offset); None if the arguments do not fit the function."""
    if function not in _DATA:
        operation = _OTHERS[function]
        if operation == "open" and len(words) > 1 and words[1].isdigit() and int(words[1][:18]) & _FLAG_CREATE:
            operation = "create"
        # glibc's own names for stat have the version of the structure first.
        arguments = words[1:] if function.startswith("__") else words
        return operation, arguments[0] if arguments else "", 0, 0
    operation, size, offset = _DATA[function]
    # A name with blanks is several words: counted from the end.
    count = size + 1 if offset is None else offset + 1
    numbers = [words[at - count] for at in (size, offset) if at is not None] if len(words) >= count else []
    if not numbers or not all(number.isdigit() and len(number) < 19 for number in numbers):
        return None
    return operation, " ".join(words[: len(words) - count + 1]), int(numbers[0]), int(numbers[-1]) if offset else 0
