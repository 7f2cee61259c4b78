"""IO500: ``result_summary.txt`` of all years, ``result.txt``, the find's CSV, and ``config.ini``.

    [RESULT]       ior-easy-write      352.803032 GiB/s : time 386.698 seconds
    [SCORE ] Bandwidth 122.312630 GiB/s : IOPS 192.355126 kiops : TOTAL 153.386640

becomes ``ior_easy_write bandwidth_last_done`` in bytes/s and ``time``; mdtest and find give ``rate_last_done``. The
scores
are geometric means over the phases: ``score bandwidth``, ``rate`` and ``total`` (no unit). ``GB/s`` of 2019 is
numerically
GiB/s (checked against IOR's own files); ``[INVALID]`` marks the run incomplete.
"""

from __future__ import annotations

import re

from .parsed import CERTAIN, LIKELY, Claim, Parsed, Row
from .reading import iso_date, number, whole_number
from .text import Text

NAME = "io500"
HEADLINE = ("bandwidth", "rate", "total")

GIB = 1024.0**3
_RESULT = re.compile(
    r"\s*\[(RESULT|RESULT-invalid| +|SCOREX? *)\]\s*(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?([A-Za-z][\w-]*)\s+(\S+)\s+(\S+)"
    r"\s*:\s*time\s+(\S+)\s+seconds(.*)$"
)
_SCORE = re.compile(
    r"\s*\[SCORE(X?) *\]\s*Bandwidth\s+(\S+)\s+(\S+)\s*:\s*IOPS\s+(\S+)\s+(\S+)\s*:\s*TOTAL\s+(\S+)(.*)$"
)
_FIND = re.compile(r"runtime: (\S+) rate: (\S+)")
_SECTION = re.compile(r"\[([\w-]+)\]\s*$")
_VALUE = re.compile(r"([\w-]+)\s*=\s?(.*)$")
_PHASE = re.compile(r"(ior|mdtest|find|mdworkbench)\b")


def claims(text: Text) -> Claim | None:
    """By the summary's lines, the result file's sections, the find's first line."""
    if (found := text.search(_RESULT, "[RESULT", "[   ")) or (found := text.search(_SCORE, "[SCORE")):
        return Claim(CERTAIN, found[0], text.lines[found[0] - 1].strip()[:60])
    if (said := text.find("throughput-stonewall", "rate-stonewall")) or (
        (said := text.find("version         = io500-")) and "[run]" in text.whole
    ):
        return Claim(CERTAIN, *said)
    if (found := text.search(_FIND, first_lines=3)) and "job steal" in text.whole[:4000]:
        return Claim(CERTAIN, found[0], "runtime and rate of io500's find")
    if "\n[ior-easy" in text.whole and "\n[mdtest-easy" in text.whole:
        return Claim(LIKELY, *(text.find("[ior-easy") or (1, "")))
    return None


def parse(text: Text) -> list[Parsed]:
    """One Parsed for each list."""
    if text.search(_RESULT, "[RESULT", "[   ") or text.search(_SCORE, "[SCORE"):
        return _summary(text)
    if found := text.search(_FIND, first_lines=3):
        return [_find(text, found[0])]
    return [_sections(text)]


def _summary(text: Text) -> list[Parsed]:
    runs: list[Parsed] = []
    version, scored = "", True
    for at, line in text.numbered():
        if line.startswith("IO500 version"):
            version, scored = line.split()[2] if len(line.split()) > 2 else "", True
        elif found := _RESULT.match(line):
            if scored:
                runs.append(Parsed(version=version.removeprefix("io500-")))
                scored = False
            _phase(runs[-1], at, found)
        elif (found := _SCORE.match(line)) and runs:
            scored = True
            _score(runs[-1], at, found)
        elif "INVALID" in line.upper() and runs:
            runs[-1].lacks(at, f"io500 says: {line.strip()[:160]}")
    if runs and not scored:
        runs[-1].lacks(text.last_line, "there is no [SCORE]: the list is not complete")
    return runs or [Parsed(missing=[])]


def _phase(run: Parsed, at: int, found: re.Match[str]) -> None:
    mark, name, word, unit, seconds, rest = found.groups()
    operation = name.lower().replace("-", "_")
    value, time = number(word), number(seconds)
    scored = mark.strip() != ""
    if value is None or time is None or value < 0 or time < 0:
        run.lacks(at, f"{name}: '{word[:40]}' in '{seconds[:40]}' s is not a result")
        return
    if "invalid" in (mark + rest).lower():
        run.lacks(at, f"{name} is marked invalid")
    if value == 0:
        if scored:
            run.lacks(at, f"{name} has no result (0)")
        return
    if not scored:
        run.warn(at, f"{name} does not count in the score")
    _result(run, at, operation, value, unit)
    run.rows.append(Row(operation, "time", time, "s", at))


def _result(run: Parsed, at: int, operation: str, value: float, unit: str) -> None:
    known = {"gib/s": GIB, "gb/s": GIB, "mib/s": 1024.0**2, "kiops": 1e3, "iops": 1.0}
    factor = known.get(unit.lower())
    if factor is None:
        run.warn(at, f"the unit '{unit[:20]}' of {operation} is not known: left out")
        return
    if unit.lower() == "gb/s":
        run.warn(at, "GB/s was read as GiB/s (1073741824 bytes/s): io500 of 2019 calculates so")
    rate = unit.lower().endswith("iops")
    metric, base = ("rate_last_done", "operations/s") if rate else ("bandwidth_last_done", "bytes/s")
    run.rows.append(Row(operation, metric, value * factor, base, at))


def _score(run: Parsed, at: int, found: re.Match[str]) -> None:
    extended, bandwidth, unit, rate, _, total, rest = found.groups()
    operation = "extended_score" if extended else "score"
    if unit.lower() == "gb/s":
        run.warn(at, "GB/s was read as GiB/s (1073741824 bytes/s): io500 of 2019 calculates so")
    for metric, word, factor, base in (
        ("bandwidth", bandwidth, GIB, "bytes/s"), ("rate", rate, 1e3, "operations/s"), ("total", total, 1.0, ""),
    ):  # fmt: skip
        if (value := number(word)) is not None:
            run.rows.append(Row(operation, metric, value * factor, base, at))
    if "invalid" in rest.lower():
        run.lacks(at, "the score is marked invalid")


def _sections(text: Text) -> Parsed:
    """``result.txt`` and ``config.ini``: sections with settings and, in the first, results."""
    run, section, sections = Parsed(), "", 0
    for at, line in text.numbered():
        if found := _SECTION.match(line.strip()):
            section, sections = found.group(1), sections + 1
        elif found := _VALUE.match(line.strip()):
            _value(run, at, section, *found.groups())
        elif line.startswith("; START"):
            run.started_at = iso_date(line[7:])
    run.facts["sections"] = sections
    if not run.rows:
        run.warn(1, "settings only: there is no result in this file")
    elif not any(row.operation == "score" for row in run.rows):
        run.lacks(text.last_line, "there is no [SCORE]: the list is not complete")
    return run


def _value(run: Parsed, at: int, section: str, key: str, word: str) -> None:
    value, operation = number(word.split()[0] if word.split() else ""), section.lower().replace("-", "_")
    if section == "run":
        if key == "version":
            run.version = word.strip().removeprefix("io500-")[:60]
        elif key == "procs" and (ranks := whole_number(word)) is not None:
            run.factors["ranks"] = ranks
        elif key == "mode":
            run.factors["mode"] = word.strip()[:60]
    elif section in ("SCORE", "SCOREX"):
        names = {"MD": ("rate", 1e3, "operations/s"), "BW": ("bandwidth", GIB, "bytes/s"), "SCORE": ("total", 1.0, "")}
        if key in names and value is not None:
            metric, factor, base = names[key]
            run.rows.append(Row("score" if section == "SCORE" else "extended_score", metric, value * factor, base, at))
    elif "INVALID" in word.upper():
        run.lacks(at, f"{section}: {key} is marked invalid")
    elif key in ("score", "t_delta", "throughput-stonewall", "rate-stonewall") and _PHASE.match(section):
        _phase_value(run, at, operation, key, value)


def _phase_value(run: Parsed, at: int, operation: str, key: str, value: float | None) -> None:
    if value is None or value < 0:
        run.lacks(at, f"{operation}: {key} is not a number")
        return
    if key == "t_delta":
        run.rows.append(Row(operation, "time", value, "s", at))
        return
    bandwidth = operation.startswith("ior")
    run.warn(at, "scores were read as GiB/s (ior) and kIOPS (mdtest, find, mdworkbench): result.txt prints no units")
    if value == 0:
        run.lacks(at, f"{operation} has no result (0)")
        return
    name = "last_done" if key == "score" else "first_done"
    metric = f"bandwidth_{name}" if bandwidth else f"rate_{name}"
    run.rows.append(
        Row(operation, metric, value * (GIB if bandwidth else 1e3), "bytes/s" if bandwidth else "operations/s", at)
    )


def _find(text: Text, at: int) -> Parsed:
    run = Parsed()
    found = _FIND.match(text.lines[at - 1])
    assert found is not None
    for metric, word, unit in (("time", found.group(1), "s"), ("rate_last_done", found.group(2), "operations/s")):
        if (value := number(word)) is not None and value > 0:
            run.rows.append(Row("find", metric, value, unit, at))
    names = [name.strip() for name in text.lines[at].split(",")] if len(text.lines) > at else []
    for place, line in enumerate(text.lines[at + 1 :], at + 2):
        cells = [cell.strip() for cell in line.split(",")]
        rank = whole_number(cells[0])
        if rank is None or len(cells) != len(names):
            if line.strip():
                run.warn(place, "not a row of this table: left out")
            continue
        row = dict(zip(names, cells, strict=True))
        if (errors := whole_number(row.get("errors", ""))) and errors > 0:
            run.lacks(place, f"rank {rank} had {errors} errors")
        if (total := whole_number(row.get("total", ""))) is not None:
            run.rows.append(Row("find", "operations", total, "operations", place, rank))
    return run
