"""MD-REAL-IO of 2016 to 2018, the predecessor of md-workbench: the line of each phase, in one of two forms.

    benchmark 0.4s 216259.5 iops/s 20000 obj 54064.9 obj/s 402.3 Mib/s (0 errs)
    Benchmark: 2500.0 iters/s 18.6 MiB/s - an iteration is (write new, stat, read and delete old)

becomes ``benchmark time``, ``rate_last_done`` (iops/s), ``object_rate_last_done`` (an iteration handles one object) and
``bandwidth_last_done``. Its Mib/s are of 1024² bytes, as its source calculates. Reports of single processes, which
begin with their rank, are not read.
"""

import re

from iosonde.core.message import Message

from .damage import note_reported_failure
from .parsed import Parsed, Row
from .reading import date_to_iso, parse_number
from .text import Text

_HEAD = re.compile(r"MD-REAL-IO total objects(?: created)?: (\d+).*\(version: ([^)]*)\)(?: time: (.*))?$")
_LINE = re.compile(r"(precreate|benchmark|cleanup) +(\d[\d.]*)s (.*)$")
_OLD_LINE = re.compile(r"(Precreate|Benchmark|Cleanup): +(\d.*/s\b.*)$")
_VALUE = re.compile(r"(?<![\d.])(\d\S{0,39}) (iops/s|elements/s|iters/s|obj/s|dset/s|Mi[Bb]/s)")
_METRICS = {
    "iops/s": ("rate_last_done", "operations/s", 1.0),
    "elements/s": ("rate_last_done", "operations/s", 1.0),
    "iters/s": ("object_rate_last_done", "operations/s", 1.0),
    "obj/s": ("object_rate_last_done", "operations/s", 1.0),
    "dset/s": ("data_set_rate_last_done", "operations/s", 1.0),
    "MiB/s": ("bandwidth_last_done", "bytes/s", 1024.0**2),
}
# Fields of a complete line.
_UNITS = {
    "precreate": {"iops/s", "dset/s", "obj/s", "MiB/s"},
    "benchmark": {"iops/s", "obj/s", "MiB/s"},
    "cleanup": {"iops/s", "obj/s", "dset/s"},
    "Precreate": {"elements/s", "MiB/s"},
    "Benchmark": {"iters/s", "MiB/s"},
    "Cleanup": {"elements/s"},
}
# Fields that the versions of 2016 do not print. Their lines end with the count of errors, as those of later ones.
_NOT_IN_2016 = {"iops/s"}
_ERRORS = re.compile(r"\((\d+) errs")
_READING = Message("assumed-unit", "Mib/s was read as 1024² bytes/s, as the source of MD-REAL-IO calculates")


def parse_text(text: Text) -> list[Parsed]:
    """Return one Parsed for each execution; the benchmark's repetitions are its iterations."""
    runs: list[Parsed] = []
    iterations, done = dict[str, int](), False
    for at, line in text.numbered():
        if match := _HEAD.match(line):
            _close_runs(runs, done, at)
            runs.append(Parsed(version=match.group(2)[:60], started_at=date_to_iso((match.group(3) or "").strip())))
            runs[-1].factors["objects"] = int(match.group(1)[:18])
            iterations, done = {}, False
        elif not runs:
            continue
        elif match := _LINE.match(line):
            phase = match.group(1)
            iterations[phase] = iterations.get(phase, -1) + 1
            if (seconds := parse_number(match.group(2))) is not None:
                runs[-1].rows.append(Row(phase, "time", seconds, "s", at, None, iterations[phase]))
            _add_values(runs[-1], at, phase, match.group(3), iterations[phase])
            _add_errors(runs[-1], at, phase, match.group(3))
        elif match := _OLD_LINE.match(line):
            _add_values(runs[-1], at, match.group(1), match.group(2), 0)
        elif line.startswith("Total runtime:"):
            done = True
        elif line.startswith("Errors: "):
            runs[-1].lacks(at, Message("operations-failed", "it had errors: {quote}", quote=line[8:160].strip()))
        else:
            if line.startswith("WARNING"):
                runs[-1].warn(at, Message("tool-warning", "md-real-io warns: {quote}", quote=line[8:].strip()[:200]))
            note_reported_failure(runs[-1], at, line)
    _close_runs(runs, done, text.last_line)
    return runs


def _add_values(run: Parsed, at: int, phase: str, rest: str, iteration: int) -> None:
    missing = set(_UNITS[phase])
    for word, unit in _VALUE.findall(rest):
        if unit == "Mib/s":
            run.warn(at, _READING)
        name = unit.replace("Mib", "MiB")
        metric, base, factor = _METRICS[name]
        value = parse_number(word)
        if value is None or value < 0:
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
        else:
            run.rows.append(Row(phase.lower(), metric, value * factor, base, at, None, iteration))
        missing.discard(name)
    if missing <= _NOT_IN_2016 and _ERRORS.search(rest):
        return
    if missing:
        run.lacks(
            at,
            Message(
                "damaged-lines",
                "the line of {phase} is cut: {metrics} missing",
                phase=phase,
                metrics=", ".join(sorted(missing)),
            ),
        )


def _add_errors(run: Parsed, at: int, phase: str, rest: str) -> None:
    match = _ERRORS.search(rest)
    if match is None:
        run.lacks(at, Message("damaged-lines", "the line of {phase} is cut", phase=phase))
    elif int(match.group(1)[:9]):
        run.lacks(
            at, Message("operations-failed", "{phase} had {n_errors} errors", phase=phase, n_errors=match.group(1))
        )


def _close_runs(runs: list[Parsed], done: bool, last: int) -> None:
    if runs and not done:
        runs[-1].lacks(last, Message("ended-early", "the output ends without 'Total runtime'"))
    if runs and not runs[-1].rows:
        runs[-1].lacks(last, Message("no-results", "no line of a phase"))
