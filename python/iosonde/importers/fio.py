"""fio 2.x and 3.x: JSON and json+ (also several documents, client/server, with text around), terse, normal text.

Made by ``fio --name=j --rw=randread --bs=4k --output-format=json``:

    "read": {"io_bytes": 16777216, "bw_bytes": 2796202666, "iops": 682666.67, "clat_ns": {"mean": 1202.25, …

is ``read bandwidth_last_done`` (bytes/s), ``rate_last_done``, ``bytes``, ``time``, ``latency_*`` (fio's ``lat``) and
``completion_latency_*`` (``clat``), with percentiles as ``completion_latency_p99``, all in s. ``sync`` is the
operation ``fsync`` (also fdatasync and sync_file_range), with ``latency_*``. A job entry is one
thread, or with group_reporting all of them: its bytes over its longest runtime. Several entries of one job are its
threads (with ``--client`` its servers): each is ``bandwidth_own`` of a rank, and ``bandwidth_sum_of_ranks`` is their
sum. Percentiles of all threads come from their histograms (json+), if printed. Several jobs are settings of one
output: the factor ``job`` and their own options distinguish their rows, which are never summed (``fio_jobs``).
Documents of ``--status-interval`` are snapshots of one run: only the last counts.

Terse lines (versions 2 to 5) have KiB, KiB/s, ms and µs between semicolons. Fields 6 to 46 are the reads, the next
block the writes (fio HOWTO, "Terse output"); version 5 adds six fields to each, versions 4 and 5 a block of trims.
Version 2 does not name fio, and has its fields one place further left.
"""

import re

from iosonde.core.message import Message

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import parse_number
from .text import Text

NAME = "fio"
BEGINS = (": (g=0): rw=",)
HEADLINE = ("bandwidth", "rate", "completion_latency_p99", "latency_p99")

_TERSE = re.compile(
    r"(?:([345]);(fio-[^;]+);|2;(?=[^;]*;\d+;\d+(?:;[\d.]+){12};[\d.]+%=))([^;]*);(\d+);(\d+);\d+;\d+;\d+"
)
_TERSE_STARTS = ("\n3;fio-", "\n4;fio-", "\n5;fio-", "\n2;")
_BLOCK = 41


def claims(text: Text) -> Claim | None:
    """Recognise the JSON's version key, a terse line, or the normal output's own lines."""
    if occurrence := text.find('"fio version"'):
        return Claim(CERTAIN, *occurrence)
    from .fio_text import JOB

    if hit := text.search(_TERSE, *_TERSE_STARTS):
        return Claim(CERTAIN, hit[0], f"a terse line of {hit[1].group(2) or 'version 2'}"[:60])
    if claim := Claim.from_match(CERTAIN, text.search(JOB, ": (groupid=")):
        return claim
    if "\nRun status group " in text.content:
        return Claim.from_match(LIKELY, text.find("Run status group "))
    return Claim.from_match(LIKELY, text.find("fio: terminating on signal", "fio: pid="))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution. If text and JSON were both printed, the JSON is read: it has all digits."""
    if '"fio version"' in text.content:
        from .fio_json import parse_json

        return parse_json(text)
    if text.search(_TERSE, *_TERSE_STARTS):
        return _parse_terse(text)
    from .fio_text import parse_text

    return parse_text(text)


def _parse_terse(text: Text) -> list[Parsed]:
    """Return one Parsed for each terse line (``--minimal``). The only setting that it prints is the job's name."""
    runs: list[Parsed] = []
    for at, line in text.numbered():
        if match := _TERSE.match(line):
            runs.append(_parse_terse_line(at, line.split(";"), match))
        elif runs and line.startswith("fio: terminating on signal"):
            runs[-1].lacks(at, Message("tool-failed", "fio reports: {quote}", quote=line[:160]))
    if len({run.facts["job"] for run in runs}) > 1:
        for run in runs:
            run.factors["job"] = run.facts.pop("job")
    return runs


def _parse_terse_line(at: int, fields: list[str], match: re.Match[str]) -> Parsed:
    form = match.group(1) or "2"
    run = Parsed(version=(match.group(2) or "").removeprefix("fio-")[:60])
    run.facts["job"] = match.group(3)[:200]
    run.warn(
        at,
        Message(
            "assumed-unit",
            "bandwidths were read as KiB/s (1024 bytes) and latencies as µs, as fio's terse format defines",
        ),
    )
    if match.group(5) != "0":
        run.lacks(
            at,
            Message(
                "tool-failed", "job {job} ended with error {status}", job=match.group(3)[:40], status=match.group(5)
            ),
        )
    block = _BLOCK + 6 * (form == "5")
    for place, direction in enumerate(("read", "write") if form == "3" else ("read", "write", "trim")):
        first = 4 + (form != "2") + place * block
        part = fields[first : first + block]
        if len(part) < block and direction != "trim":
            run.lacks(at, Message("ended-early", "the line ends in the fields of {direction}", direction=direction))
        elif len(part) == block and (parse_number(part[0]) or 0) > 0:
            _add_terse_direction(run, at, direction, part)
    if not run.rows:
        run.lacks(at, Message("no-results", "the job did no I/O"))
    return run


def _add_terse_direction(run: Parsed, at: int, direction: str, part: list[str]) -> None:
    def add_row(metric: str, word: str, unit: str, per_base: float) -> None:
        if (value := parse_number(word)) is not None:
            run.rows.append(Row(direction, metric, value / per_base, unit, at))

    add_row("bytes", part[0], "bytes", 1 / 1024)
    add_row("bandwidth_last_done", part[1], "bytes/s", 1 / 1024)
    add_row("rate_last_done", part[2], "operations/s", 1.0)
    add_row("time", part[3], "s", 1e3)
    for name, first in (("submission_latency", 4), ("completion_latency", 8), ("latency", 32)):
        if parse_number(part[first + 2]):
            for offset, statistic in enumerate(("min", "max", "mean", "sd")):
                add_row(f"{name}_{statistic}", part[first + offset], "s", 1e6)
    for field in part[12:32]:
        level, _, value = field.partition("%=")
        if (percent := parse_number(level)) and value:
            add_row(f"completion_latency_p{percent:g}", value, "s", 1e6)
