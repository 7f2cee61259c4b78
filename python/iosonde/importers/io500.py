"""IO500: ``result_summary.txt`` of all years, ``result.txt``, the find's CSV, and ``config.ini``.

    [RESULT]       ior-easy-write      352.803032 GiB/s : time 386.698 seconds
    [SCORE ] Bandwidth 122.312630 GiB/s : IOPS 192.355126 kiops : TOTAL 153.386640

becomes ``ior_easy_write bandwidth_last_done`` in bytes/s and ``time``; mdtest and find give ``rate_last_done``. The
scores are geometric means over the phases, and are checked: ``score bandwidth``, ``rate`` and ``total`` (no unit).
``GB/s`` of 2019 is numerically GiB/s (checked against IOR's own files); ``[INVALID]`` marks the run incomplete.
"""

import re

from iosonde.core.message import Message

from .io500_list import GIB, INVALID, RESULT, SCORE, parse_list
from .io500_score import check_score
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import date_to_iso, parse_integer, parse_number
from .text import Text

NAME = "io500"
UNLIKELY = 10  # ratio of the rate until the first rank is done to the overall rate
HEADLINE = ("bandwidth", "rate", "total")

_FIND = re.compile(r"runtime: (\S+) rate: (\S+)")
_SECTION = re.compile(r"\[([\w-]+)\]\s*$")
_GLUED = re.compile(r"^[\w-]+\s*=.*\[[a-z][a-z-]+\]\s*$|^\[[a-z][a-z-]+\]\s*[\w-]+\s*=")
_VALUE = re.compile(r"([\w-]+)\s*=\s?(.*)$")
_COMPLAINT = re.compile(r"\s*;\s*(?:ERROR|WARNING)\b")
# After a number, or in its place; not in a path.
_MARKED_INVALID = re.compile(r"(?:^|[\s\[(])INVALID\b", re.IGNORECASE)
_PHASE = re.compile(r"(ior|mdtest|find|mdworkbench)\b")


def claims(text: Text) -> Claim | None:
    """Recognise the summary's lines, the result file's sections, the find's first line."""
    if (hit := text.search(RESULT, "[RESULT", "[   ")) or (hit := text.search(SCORE, "[SCORE")):
        return Claim(CERTAIN, hit[0], text.lines[hit[0] - 1].strip()[:60])
    if (occurrence := text.find("throughput-stonewall", "rate-stonewall")) or (
        (occurrence := text.find("version         = io500-")) and "[run]" in text.content
    ):
        return Claim(CERTAIN, *occurrence)
    if (hit := text.search(_FIND, first_lines=3)) and "job steal" in text.content[:4000]:
        return Claim(CERTAIN, hit[0], "runtime and rate of io500's find")
    is_settings = "\n[ior-easy" in text.content and "\n[mdtest-easy" in text.content
    return Claim.from_match(LIKELY, text.find("[ior-easy")) if is_settings else None


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each list."""
    if text.search(RESULT, "[RESULT", "[   ") or text.search(SCORE, "[SCORE"):
        return parse_list(text)
    if hit := text.search(_FIND, first_lines=3):
        return [_parse_find(text, hit[0])]
    return [_parse_sections(text)]


def _parse_sections(text: Text) -> Parsed:
    """Read ``result.txt`` and ``config.ini``: sections with settings and, in the first, results."""
    run, section, sections = Parsed(), "", 0
    for at, line in text.numbered():
        if match := _SECTION.match(line.strip()):
            section, sections = match.group(1), sections + 1
        elif _GLUED.search(line):
            run.lacks(at, GLUED)
            section = ""
        elif match := _VALUE.match(line.strip()):
            _add_value(run, at, section, *match.groups())
        elif line.startswith("; START"):
            run.started_at = date_to_iso(line[7:])
        elif INVALID.match(line):
            run.mark_invalid(at, Message("marked-invalid", "io500 says: {quote}", quote=line.strip(" ;")[:160]))
        elif _COMPLAINT.match(line):
            run.warn(at, Message("marked-invalid", "io500 says: {quote}", quote=line.strip(" ;")[:160]))
    run.facts["sections"] = sections
    _drop_other_unit_rates(run)
    check_score(run)
    if not run.rows:
        run.warn(1, Message("settings-only", "settings only: this file has no result"))
    elif not any(row.operation == "score" for row in run.rows):
        run.lacks(text.last_line, Message("ended-early", "[SCORE] is missing: the list is incomplete"))
    return run


def _add_value(run: Parsed, at: int, section: str, key: str, word: str) -> None:
    if section == "run":
        _add_setting(run, key, word)
    elif key == "exe":
        run.facts.setdefault("commands", {})[section] = word.strip()[:2000]
    else:
        if _MARKED_INVALID.search(word):
            part = "the score" if key == section == "SCORE" else f"{section}: {key}"
            run.mark_invalid(at, Message("marked-invalid", "{part} is marked invalid", part=part))
        value = parse_number(word.split()[0]) if word.split() else None
        if section in ("SCORE", "SCOREX"):
            _add_score(run, at, section, key, value)
        elif key in ("score", "t_delta", "throughput-stonewall", "rate-stonewall") and _PHASE.match(section):
            _add_phase_value(run, at, section.lower().replace("-", "_"), key, value)


def _add_setting(run: Parsed, key: str, word: str) -> None:
    if key == "version":
        run.version = word.strip().removeprefix("io500-")[:60]
    elif key == "procs" and (ranks := parse_integer(word)) is not None:
        run.factors["ranks"] = ranks
    elif key == "mode":
        run.factors["mode"] = word.strip()[:60]


def _add_score(run: Parsed, at: int, section: str, key: str, value: float | None) -> None:
    names = {"MD": ("rate", 1e3, "operations/s"), "BW": ("bandwidth", GIB, "bytes/s"), "SCORE": ("total", 1.0, "")}
    if key in names and value is not None and (value > 0 or not run.invalid):
        metric, factor, base = names[key]
        run.rows.append(Row("score" if section == "SCORE" else "extended_score", metric, value * factor, base, at))


def _add_phase_value(run: Parsed, at: int, operation: str, key: str, value: float | None) -> None:
    if value is None or value < 0:
        run.lacks(at, Message("invalid-number", "{operation}: {field} is not a number", operation=operation, field=key))
    elif key == "t_delta":
        run.rows.append(Row(operation, "time", value, "s", at))
    else:
        run.warn(
            at,
            Message(
                "assumed-unit",
                "scores were read as GiB/s (ior) and kIOPS (mdtest, find, mdworkbench): result.txt prints no units",
            ),
        )
        if value == 0:
            run.lacks(at, Message("no-results", "{operation} has no result (0)", operation=operation))
        else:
            is_ior = operation.startswith("ior")
            name, factor, unit = ("bandwidth", GIB, "bytes/s") if is_ior else ("rate", 1e3, "operations/s")
            clock = "last_done" if key == "score" else "first_done"
            run.rows.append(Row(operation, f"{name}_{clock}", value * factor, unit, at))


def _drop_other_unit_rates(run: Parsed) -> None:
    """Leave out rates at the stonewall in another unit than the score, as development versions of 2020 print without
    notice."""
    score = {row.operation: row.value for row in run.rows if row.metric == "bandwidth_last_done"}
    for row in [candidate for candidate in run.rows if candidate.metric == "bandwidth_first_done"]:
        if row.operation in score and row.value > UNLIKELY * score[row.operation]:
            run.rows.remove(row)
            run.warn(
                row.line,
                Message(
                    "unit-mismatch",
                    "throughput-stonewall of {operation} is {ratio:.0f} times its score: its unit differs, "
                    "and it was left out",
                    operation=row.operation,
                    ratio=row.value / score[row.operation],
                ),
            )


def _parse_find(text: Text, at: int) -> Parsed:
    run = Parsed()
    match = _FIND.match(text.lines[at - 1])
    assert match is not None
    for metric, word, unit in (("time", match.group(1), "s"), ("rate_last_done", match.group(2), "operations/s")):
        if (value := parse_number(word)) is not None and value > 0:
            run.rows.append(Row("find", metric, value, unit, at))
        else:
            run.lacks(at, Message("invalid-number", "{metric} is '{cell}'", metric=metric, cell=word[:40]))
    names = [name.strip() for name in text.lines[at].split(",")] if len(text.lines) > at else []
    for place, line in enumerate(text.lines[at + 1 :], at + 2):
        cells = [cell.strip() for cell in line.split(",")]
        rank = parse_integer(cells[0])
        if rank is None or len(cells) != len(names):
            if line.strip():
                run.warn(place, Message("unreadable-lines", "not a row of this table: left out"))
            continue
        row = dict(zip(names, cells, strict=True))
        if (errors := parse_integer(row.get("errors", ""))) and errors > 0:
            run.lacks(
                place, Message("operations-failed", "rank {rank} had {n_errors} errors", rank=rank, n_errors=errors)
            )
        if (total := parse_integer(row.get("total", ""))) is not None:
            run.rows.append(Row("find", "operations", total, "operations", place, rank))
    return run
