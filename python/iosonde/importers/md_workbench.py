"""md-workbench 3.x and 4.x: the line of each phase, and the CSV of latencies of a rank; also MD-REAL-IO, its former
name.

    benchmark process max:0.00s … rate:298182.1 iops/s objects:200 … tp:554.7 MiB/s op-max:2.0981e-05s (0 errs)
    read(2.8610e-06s, 4.0531e-06s, …) stat(…) create(…) delete(…)

becomes ``benchmark rate_last_done``, ``bandwidth_last_done`` and, for each operation in it, the seven numbers in its
brackets: min, 25 %, 50 %, 75 %, 90 %, 99 % and max, as ``benchmark_read latency_min`` and so on. ``time,runtime`` is
the CSV of one kind of operation (``operation_csv``), which its name contains.
"""

import re

from iosonde.core.message import Message
from iosonde.core.vocabulary import MD_WORKBENCH

from .damage import note_reported_failure
from .parsed import CERTAIN, GLUED, LIKELY, Claim, Parsed, Row
from .reading import date_to_iso, parse_number, split_command
from .text import Text

NAME = "md-workbench"
HEADLINE = ("rate", "latency_p99")

_HEAD = re.compile(r"(?:MD-Workbench|MD-REAL-IO) total objects: (\d+).*\(version: ([^)]*)\)(?: time: (.*))?$")
_PHASE = re.compile(r"(precreate|benchmark|cleanup) process max:\s*(\S+?)s min:\s*(\S+?)s mean:\s*(\S+?)s (.*)$")
_OPERATION = re.compile(r"\b(create|read|stat|delete)\(([^()]*)\)?")
_QUANTILES = ("min", "p25", "p50", "p75", "p90", "p99", "max")
_CSV = "time,runtime"


def claims(text: Text) -> Claim | None:
    """Recognise the head line, a phase's line, or the CSV's header."""
    return (
        Claim.from_match(CERTAIN, text.find("MD-Workbench total objects:", "MD-REAL-IO total objects"))
        or Claim.from_match(LIKELY, text.find("benchmark process max:", "precreate process max:"))
        or (Claim(LIKELY, 1, _CSV) if text.first_line == _CSV else None)
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution; the benchmark's repetitions are its iterations."""
    if text.first_line == _CSV:
        from .operation_csv import parse_workbench

        return [parse_workbench(text)]
    if text.find("MD-REAL-IO total objects") and not text.find("process max:"):
        from .md_real_io import parse_text

        return parse_text(text)
    runs: list[Parsed] = []
    command, iterations, done = "", dict[str, int](), False
    for at, line in text.numbered():
        if line.startswith("Args:"):
            command = line[5:].strip()
        elif match := _HEAD.match(line):
            _close_runs(runs, done, at)
            runs.append(_begin_run(match, command))
            command, iterations, done = "", {}, False
        elif match := _PHASE.match(line):
            if not runs:
                runs.append(Parsed())
            phase = match.group(1)
            if line.count(" process max:") > 1:
                runs[-1].lacks(at, GLUED)
                continue
            iterations[phase] = iterations.get(phase, -1) + 1
            _add_phase(runs[-1], at, match, iterations[phase])
        elif line.startswith("Total runtime:"):
            done = True
        elif runs:
            if line.startswith("WARNING"):
                runs[-1].warn(at, Message("tool-warning", "md-workbench warns: {quote}", quote=line[8:].strip()[:200]))
            note_reported_failure(runs[-1], at, line)
    _close_runs(runs, done, text.last_line)
    return runs


def _begin_run(match: re.Match[str], command: str) -> Parsed:
    run = Parsed(version=match.group(2)[:60], started_at=date_to_iso((match.group(3) or "").strip()))
    run.factors["objects"] = int(match.group(1)[:18])
    run.facts["command"] = command
    run.factors |= MD_WORKBENCH.read_settings(split_command(command))
    return run


def _add_phase(run: Parsed, at: int, phase_match: re.Match[str], iteration: int) -> None:
    phase, rest = phase_match.group(1), phase_match.group(5)

    def add_row(operation: str, metric: str, word: str | None, unit: str, factor: float = 1.0) -> None:
        value = parse_number(word or "")
        if value is not None and (value > 0 or unit == "s"):
            run.rows.append(Row(operation, metric, value * factor, unit, at, None, iteration))
        elif word is not None:
            run.lacks(
                at,
                Message(
                    "invalid-number",
                    "{phase}: '{cell}' is not a valid {metric}",
                    phase=phase,
                    cell=word[:40],
                    metric=metric,
                ),
            )

    add_row(phase, "time", phase_match.group(2), "s")
    for pattern, metric, unit, factor in (
        (r"rate:(\S+) iops/s", "rate_last_done", "operations/s", 1.0),
        (r"rate:(\S+) obj/s", "object_rate_last_done", "operations/s", 1.0),
        (r"rate:(\S+) dset/s", "data_set_rate_last_done", "operations/s", 1.0),
        (r"tp:(\S+) Mi[Bb]/s", "bandwidth_last_done", "bytes/s", 1024.0**2),
        (r"op-max:(\S+?)s ", "latency_max", "s", 1.0),
    ):
        match = re.search(pattern, rest)
        add_row(phase, metric, match.group(1) if match else None, unit, factor)
    if not (errors := re.search(r"\((\d+) errs\)", rest)):
        run.lacks(at, Message("damaged-lines", "the line of {phase} is cut", phase=phase))
    elif int(errors.group(1)[:9]):
        run.lacks(
            at, Message("operations-failed", "{phase} had {n_errors} errors", phase=phase, n_errors=errors.group(1))
        )
    for operation, values in _OPERATION.findall(rest):
        words = [word.strip().removesuffix("s") for word in values.split(",")]
        if len(words) != len(_QUANTILES):
            run.lacks(
                at,
                Message(
                    "damaged-lines", "the latencies of {operation} in {phase} are cut", operation=operation, phase=phase
                ),
            )
        else:
            for name, word in zip(_QUANTILES, words, strict=True):
                add_row(f"{phase}_{operation}", f"latency_{name}", word, "s")


def _close_runs(runs: list[Parsed], done: bool, last: int) -> None:
    if runs and not done:
        runs[-1].lacks(last, Message("ended-early", "the output ends without 'Total runtime'"))
