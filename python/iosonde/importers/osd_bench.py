"""``ceph tell osd.N bench``, ``ceph tell osd.* bench``, ``ceph osd bench``: writes of one storage daemon on its own.

    osd.3: {
        "bytes_written": 1073741824,
        "blocksize": 4194304,
        "elapsed_sec": 5.5,
        "bytes_per_sec": 195225786.2,
        "iops": 46.5
    }

becomes ``write bandwidth_last_done``, ``rate_last_done``, ``bytes`` and ``time``. Each daemon is a setting, ``osd``: a
pass over all of them is one run, and a daemon that comes again begins the next. Also the sentence of older versions and
of ``--format plain``: ``bench: wrote 1 GiB in blocks of 4 MiB in 5.5 sec at 186 MiB/sec 46 IOPS``.
"""

import json
import re
from typing import Any, NamedTuple

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import BINARY, number_from_json, parse_number
from .text import Text

NAME = "ceph-osd-bench"
HEADLINE = ("bandwidth",)

_DOCUMENT = re.compile(r"^[ \t]*(?:(osd\.\d+):? ?)?(\{)", re.MULTILINE)
_NAME_OF_OSD = re.compile(r"\bosd\.\d+\b")
_SENTENCE = re.compile(
    r".{0,120}?bench: wrote ([\d.]+) ?([kKMGT]?i?B) in blocks of ([\d.]+) ?([kKMGT]?i?B) in ([\d.]+) sec at"
    r" ([\d.]+) ?([kKMGT]?i?B)/sec(?: ([\d.]+) IOPS)?"
)
_FAILED = re.compile(r"\s*(?:(osd\.\d+):? )?(?:Error E[A-Z]+: |problem getting command descriptions)")


class _Bench(NamedTuple):
    osd: str
    line: int
    settings: dict[str, FactorValue]
    rows: list[Row]
    problems: list[tuple[int, Message]]


def claims(text: Text) -> Claim | None:
    """Recognise the keys of the JSON together, or the sentence."""
    if '"blocksize"' in text.content and '"bytes_per_sec"' in text.content:
        return Claim.from_match(CERTAIN, text.find('"bytes_written"'))
    return Claim.from_match(CERTAIN, text.search(_SENTENCE, "bench: wrote "))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each pass over the daemons."""
    benches = sorted([*_read_documents(text), *_read_lines(text)], key=lambda bench: bench.line)
    runs: list[Parsed] = []
    daemons: set[str] = set()
    for bench in benches:
        if not runs or not bench.osd or bench.osd in daemons:
            runs.append(Parsed())
            daemons.clear()
        daemons.add(bench.osd)
        _add_bench(runs[-1], bench)
    for run in runs:
        _share_settings(run)
    return runs


def _add_bench(run: Parsed, bench: _Bench) -> None:
    settings = {**bench.settings, **({"osd": bench.osd} if bench.osd else {})}
    for row in bench.rows:
        row.factors = dict(settings)
        run.rows.append(row)
    for problem in bench.problems:
        run.lacks(*problem)
    if not bench.osd:
        run.warn(bench.line, Message("unknown-osd", "the output does not name the daemon: it is assumed to be one"))


def _share_settings(run: Parsed) -> None:
    """Make what all rows share a setting of the run."""
    for name in dict.fromkeys(name for row in run.rows for name in row.factors or {}):
        values = {(row.factors or {}).get(name) for row in run.rows}
        if len(values) == 1:
            run.factors[name] = values.pop()
            for row in run.rows:
                row.factors = {key: value for key, value in (row.factors or {}).items() if key != name} or None


def _read_documents(text: Text) -> list[_Bench]:
    content, decoder, end = text.content, json.JSONDecoder(), 0
    benches: list[_Bench] = []
    while match := _DOCUMENT.search(content, end):
        begin, line = match.start(2), text.line_of(match.start(2))
        osd = match.group(1) or _find_name(content[end : match.start()])
        try:
            value, end = decoder.raw_decode(content, begin)
        except (ValueError, RecursionError):
            value, end = None, begin + 1
        if isinstance(value, dict) and "bytes_per_sec" in value:
            benches.append(_read_document(osd, text, begin, value))
        elif value is None and '"bytes_written"' in content[begin : begin + 200]:
            message = Message("damaged-lines", "the JSON is broken or ends early here: left out")
            benches.append(_Bench(osd, line, {}, [], [(line, message)]))
    return benches


def _find_name(before: str) -> str:
    """Return the only daemon that the lines since the last result name, such as those with the command; '' if there is
    none."""
    names = set(_NAME_OF_OSD.findall(before))
    return names.pop() if len(names) == 1 else ""


def _read_document(osd: str, text: Text, begin: int, value: dict[str, Any]) -> _Bench:
    names = ("bytes_written", "blocksize", "elapsed_sec", "bytes_per_sec", "iops")
    numbers = {name: number_from_json(value.get(name)) for name in names}
    line = text.line_of(begin)
    lines = {name: text.line_of(max(begin, text.content.find(f'"{name}"', begin))) for name in names if name in value}
    problems = [
        (
            lines[name],
            Message("invalid-number", "'{cell}' of {metric} is not a number", cell=str(value[name])[:40], metric=name),
        )
        for name in names
        if name in value and numbers[name] is None
    ]
    return _build_bench(osd, line, numbers, lines, problems)


def _build_bench(
    osd: str,
    line: int,
    numbers: dict[str, float | None],
    lines: dict[str, int],
    problems: list[tuple[int, Message]],
) -> _Bench:
    rows = [
        Row("write", metric, value, unit, lines.get(name, line))
        for name, metric, unit in (
            ("bytes_written", "bytes", "bytes"),
            ("elapsed_sec", "time", "s"),
            ("bytes_per_sec", "bandwidth_last_done", "bytes/s"),
            ("iops", "rate_last_done", "operations/s"),
        )
        if (value := numbers.get(name))
    ]
    if not any(row.metric == "bandwidth_last_done" for row in rows) and not problems:
        problems.append((line, Message("no-results", "no bandwidth")))
    size = numbers.get("blocksize")
    return _Bench(osd, line, {"block_size": int(size)} if size else {}, rows, problems)


def _read_lines(text: Text) -> list[_Bench]:
    benches: list[_Bench] = []
    for at, line in text.numbered():
        if "bench: wrote " in line and (match := _SENTENCE.match(line)):
            amounts = [_parse_amount(*match.group(place, place + 1)) for place in (1, 3, 6)]
            seconds, rate = parse_number(match.group(5)), parse_number(match.group(8) or "")
            numbers = dict(
                zip(
                    ("bytes_written", "blocksize", "bytes_per_sec", "elapsed_sec", "iops"),
                    [*amounts, seconds, rate],
                    strict=True,
                )
            )
            name = _NAME_OF_OSD.search(line)
            benches.append(_build_bench(name.group() if name else "", at, numbers, {}, []))
        elif "rror" in line and (match := _FAILED.match(line)):
            message = Message("tool-failed", "it failed: {quote}", quote=line.strip()[:160])
            benches.append(_Bench(match.group(1) or "", at, {}, [], [(at, message)]))
    return benches


def _parse_amount(word: str, unit: str) -> float | None:
    """Return the bytes of ``1024 MB``: Ceph's units are powers of 1024, whatever their name."""
    value = parse_number(word)
    return None if value is None else value * BINARY[unit[:-1].removesuffix("i").lower()]
