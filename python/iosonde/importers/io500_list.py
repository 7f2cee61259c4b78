"""IO500's list of results, as ``result_summary.txt`` and the log of a whole run print it.

Logs of 2017 to 2020 print each phase when it ends and all of them again before the score; the second line is the same
measurement. If several attempts used one directory, these second lines cover all of them.
"""

import re
from dataclasses import dataclass

from iosonde.core.message import Message

from .io500_score import NAMES, check_score
from .parsed import Parsed, Row
from .reading import parse_number
from .text import Text

GIB = 1024.0**3
RESULT = re.compile(
    r"\s*\[(RESULT|RESULT-invalid| +|SCOREX? *)\]\s*(?:(?:BW|IOPS)\s+phase\s+\d+\s+)?([A-Za-z][\w-]*)\s+(\S+)\s+(\S+)"
    r"\s*:\s*time\s+(\S+)\s+seconds(.*)$"
)
SCORE = re.compile(
    r"\s*\[SCORE(X?)(-invalid)? *\]\s*Bandwidth\s+(\S+)\s+(\S+)\s*:\s*IOPS\s+(\S+)\s+(\S+)\s*:\s*TOTAL\s+(\S+)(.*)$"
)
# io500's own messages; a scheduler's "invalid account" is not one of its results.
INVALID = re.compile(r"\s*(?:;\s*)?ERROR INVALID|\s*One or more test phases invalid")


def parse_list(text: Text) -> list[Parsed]:
    """Return one Parsed for each list: it ends with its score, or when a phase repeats with another result."""
    runs: list[Parsed] = []
    results: dict[str, tuple[str, ...]] = {}
    version, scored = "", True
    early: list[tuple[int, str]] = []  # complaints about the first phase precede its result
    blocks, mixed, is_new = _find_repeated_blocks(text), 0, True
    for at, line in text.numbered():
        if not scored and at in blocks and blocks[at].results & set(results.items()):
            mixed = blocks[at].last
            runs[-1].lacks(
                at,
                Message(
                    "several-attempts",
                    "results of several attempts follow: only those that this one printed before are taken",
                ),
            )
        if at <= mixed:
            continue
        if line.startswith("IO500 version"):
            version, scored, is_new = line.split()[2] if len(line.split()) > 2 else "", True, True
        elif match := RESULT.match(line):
            name, cells = match.group(2), match.group(3, 4, 5)
            if not scored and results.get(name, cells) != cells:
                runs[-1].lacks(
                    at,
                    Message(
                        "ended-early",
                        "[SCORE] is missing before {name} repeats: the list is incomplete",
                        name=name,
                    ),
                )
                scored = True
            if scored:
                runs.append(Parsed(version=version.removeprefix("io500-")))
                for place, sentence in early:
                    runs[-1].mark_invalid(place, sentence)
                scored, is_new, results, early = False, False, {}, []
            if name not in results:
                _add_phase(runs[-1], at, match)
                results[name] = cells
        elif (match := SCORE.match(line)) and runs:
            if not mixed:
                _add_score(runs[-1], at, match)
            scored, mixed = True, 0
        elif INVALID.match(line):
            sentence = Message("marked-invalid", "io500 says: {quote}", quote=line.strip(" ;")[:160])
            if runs and not is_new:
                runs[-1].mark_invalid(at, sentence)
            else:
                early.append((at, sentence))
    if runs and not scored:
        runs[-1].lacks(text.last_line, Message("ended-early", "[SCORE] is missing: the list is incomplete"))
    for run in runs:
        check_score(run)
    return runs or [Parsed(missing=[])]


@dataclass
class _Block:
    """Consecutive result lines up to line ``last``: (phase, value, unit and time) of each."""

    last: int
    results: set[tuple[str, tuple[str, ...]]]


def _find_repeated_blocks(text: Text) -> dict[int, _Block]:
    """Return first line → the consecutive result lines in which a phase has several results."""
    blocks: dict[int, _Block] = {}
    first = 0
    for at, line in text.numbered():
        if (match := RESULT.match(line)) is None:
            first = 0
            continue
        first = first or at
        block = blocks.setdefault(first, _Block(at, set()))
        block.last = at
        block.results.add((match.group(2), match.group(3, 4, 5)))
    return {
        at: candidate
        for at, candidate in blocks.items()
        if len({name for name, _ in candidate.results}) < len(candidate.results)
    }


def _add_phase(run: Parsed, at: int, match: re.Match[str]) -> None:
    mark, name, word, unit, seconds, rest = match.groups()
    operation = NAMES.get(name.lower().replace("-", "_"), name.lower().replace("-", "_"))
    value, time = parse_number(word), parse_number(seconds)
    scored = mark.strip() != ""
    if value is None or time is None or value < 0 or time < 0:
        run.lacks(
            at,
            Message(
                "invalid-number",
                "{operation}: '{cell}' in '{seconds}' s is not a result",
                operation=name,
                cell=word[:40],
                seconds=seconds[:40],
            ),
        )
        return
    if "invalid" in (mark + rest).lower():
        run.mark_invalid(at, Message("marked-invalid", "{operation} is marked invalid", operation=name))
    if value == 0:
        if scored:
            run.lacks(at, Message("no-results", "{operation} has no result (0)", operation=name))
        return
    if not scored:
        run.warn(at, Message("not-in-score", "{operation} does not count in the score", operation=name))
    _add_result(run, at, operation, value, unit)
    run.rows.append(Row(operation, "time", time, "s", at))


def _add_result(run: Parsed, at: int, operation: str, value: float, unit: str) -> None:
    factor = {"gib/s": GIB, "gb/s": GIB, "mib/s": 1024.0**2, "kiops": 1e3, "iops": 1.0}.get(unit.lower())
    if factor is None:
        run.warn(
            at,
            Message(
                "unknown-unit",
                "unknown unit '{unit}' of {operation}: left out",
                unit=unit[:20],
                operation=operation,
            ),
        )
        return
    if unit.lower() == "gb/s":
        run.warn(
            at, Message("assumed-unit", "GB/s was read as GiB/s (1073741824 bytes/s), as io500 of 2019 calculates")
        )
    rate = unit.lower().endswith("iops")
    metric, base = ("rate_last_done", "operations/s") if rate else ("bandwidth_last_done", "bytes/s")
    run.rows.append(Row(operation, metric, value * factor, base, at))


def _add_score(run: Parsed, at: int, match: re.Match[str]) -> None:
    extended, invalid, bandwidth, unit, rate, _, total, rest = match.groups()
    operation = "extended_score" if extended else "score"
    if unit.lower() == "gb/s":
        run.warn(
            at, Message("assumed-unit", "GB/s was read as GiB/s (1073741824 bytes/s), as io500 of 2019 calculates")
        )
    if invalid or "invalid" in rest.lower():
        run.mark_invalid(at, Message("marked-invalid", "the score is marked invalid"))
    for metric, word, factor, base in (
        ("bandwidth", bandwidth, GIB, "bytes/s"),
        ("rate", rate, 1e3, "operations/s"),
        ("total", total, 1.0, ""),
    ):
        value = parse_number(word)
        if value is None or value < 0:
            run.lacks(
                at,
                Message(
                    "invalid-number",
                    "the {metric} of the score, '{cell}', is not a result",
                    metric=metric,
                    cell=word[:40],
                ),
            )
        elif value > 0 or not invalid:
            run.rows.append(Row(operation, metric, value * factor, base, at))
