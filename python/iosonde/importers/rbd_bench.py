"""``rbd bench`` and its older form ``bench-write``: a block image of Ceph, without a file system.

    bench  type write io_size 4096 io_threads 16 bytes 1073741824 pattern random
    elapsed: 33   ops: 262144   ops/sec: 7911.84   bytes/sec: 31 MiB/s

becomes ``write bandwidth_last_done``, ``rate_last_done``, ``operations`` and ``time``: until the last operation is
done, and the image is flushed. A mix has ``readwrite``, ``read`` and ``write``. Newer versions print whole MiB/s: then
the rate is the exact number. Samples of the running benchmark are left out. Source: ``tools/rbd/action/Bench.cc``.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import BINARY, parse_number
from .text import Text

NAME = "rbd-bench"
HEADLINE = ("bandwidth", "rate")

_BEGIN = re.compile(
    r"\s*bench(?:-write)? +(?:type (\w+) +)?(?:read:write=(\d+):\d+ +)?io_size (\d+) io_threads (\d+) bytes (\d+)"
    r" pattern (full sequential|\w+)"
)
# Older versions print bytes with two decimals, newer ones a unit: else digits may be lost.
_RESULT = re.compile(
    r"\s*+(?:elapsed: +(\d+),? +)?(read_|write_)?ops: +(\d+),? +(?:read_|write_)?ops/sec: +([\d.e+]+),? +"
    r"(?:read_|write_)?bytes/sec: +(?:(\d+\.\d\d)|([\d.e+]+) ([KMGTPE]?)i?B(?:/s)?)\s*$"
)
_FAILED = re.compile(r"\s*(?:rbd: |bench failed: |write error: |read error: )")


def claims(text: Text) -> Claim | None:
    """Recognise the line of settings."""
    return Claim.from_match(CERTAIN, text.search(_BEGIN, "\nbench", "io_threads "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each benchmark."""
    runs: list[Parsed] = []
    for at, line in text.numbered():
        if match := _BEGIN.match(line):
            _check_end(runs, at)
            runs.append(_begin_benchmark(match))
        elif not runs or not line.strip():
            continue
        elif "ops/sec:" in line:
            if match := _RESULT.match(line):
                _add_result(runs[-1], at, match)
            else:
                runs[-1].lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        elif _FAILED.match(line):
            runs[-1].lacks(at, Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160]))
        else:
            note_reported_failure(runs[-1], at, line)
    _check_end(runs, text.last_line)
    return runs


def _begin_benchmark(match: re.Match[str]) -> Parsed:
    kind, share, size, depth, total, pattern = match.groups()
    run = Parsed()
    run.factors |= {
        "rw": kind or "write",
        "block_size": int(size[:18]),
        "io_depth": int(depth[:9]),
        "bytes": int(total[:18]),
        "random": int(pattern.startswith("rand")),
    }
    if share:
        run.factors["read_share"] = int(share[:3])
    if pattern == "full sequential":
        run.factors["pattern"] = "full_sequential"
    return run


def _add_result(run: Parsed, at: int, match: re.Match[str]) -> None:
    elapsed, part, count, rate_word, exact, speed_word, unit = match.groups()
    operation = part.rstrip("_") if part else str(run.factors["rw"])
    rate, speed = parse_number(rate_word), parse_number(exact or speed_word)
    if rate is None or speed is None:
        run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
        return
    operations = int(count[:18])
    if speed:
        run.rows.append(
            Row(operation, "bandwidth_last_done", speed * BINARY[(unit or "").lower()], "bytes/s", at, count=operations)
        )
    if rate:
        run.rows.append(Row(operation, "rate_last_done", rate, "operations/s", at, count=operations))
    run.rows.append(Row(operation, "operations", operations, "operations", at))
    if unit is not None:
        run.warn(at, Message("low-resolution", "the bandwidth has two digits or three: the rate is more exact"))
    if elapsed and (seconds := int(elapsed[:9])):
        run.rows.append(Row(operation, "time", seconds, "s", at))
        run.warn(at, Message("low-resolution", "the time is cut to whole seconds"))


def _check_end(runs: list[Parsed], at: int) -> None:
    if runs and not runs[-1].rows and not runs[-1].missing:
        runs[-1].lacks(at, Message("ended-early", "the output ends without 'elapsed: … ops/sec: …'"))
