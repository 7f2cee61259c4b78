"""Lustre's counters: ``lctl get_param obdfilter.*.job_stats mdt.*.job_stats``, and ``stats`` of servers and clients.

    obdfilter.lustre-OST0000.job_stats=
    job_stats:
    - job_id:          ior.1000
      snapshot_time:   1683100810
      write_bytes:     { samples:         256, unit: bytes, min: 1048576, max: 1048576, sum:       268435456 }
      setattr:         { samples:           4, unit: usecs, min:      10, max:      30, sum:              80 }

become ``write operations``, ``bytes``, ``size_mean``, ``size_min``, ``size_max`` and ``setattr latency_mean`` …, of
each job (factor ``job``) and target (``lustre_target``). They are totals since the counters were cleared: of several
prints of one target only the last is read. Operations that did not happen are left out. Source:
``lprocfs_jobstats.c``, ``lprocfs_status.c``.
"""

import re
from datetime import UTC, datetime

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import CERTAIN, Claim, Parsed, Row
from .reading import PER_SECOND, parse_number
from .text import Text

NAME = "lustre-stats"
HEADLINE = ("bytes", "latency_mean", "operations")

_PARAMETER = re.compile(r"(\w+)\.([^=\s]+?)\.((?:job_|md_)?stats)=(.*)$")
_JOB = re.compile(r"- job_id: *(\S.*?)? *$")
_COUNTER = re.compile(
    r" +(\w+): *\{ *samples: *(\d{1,19}), *unit: *(\w+)(?:, *min: *(\d{1,19}), *max: *(\d{1,19}), *sum: *(\d{1,19}))?"
    r"(?P<rest>.*)$"
)
_CUT_COUNTER = re.compile(r" +\w+: *\{")
_LINE = re.compile(r"(\w+) +(\d{1,19}) samples +\[(\w+)\](?: +(\d{1,19}) +(\d{1,19}) +(\d{1,19}))?")
_CUT_LINE = re.compile(r"\w+ +\d+ samples")
_TIME = re.compile(r" *(snapshot_time|start_time|elapsed_time):? +(\d{1,12}(?:\.\d{1,9})?)")
_BYTES = "_bytes"
_LATEST_S = 1e11  # beyond the years that a date can have: damaged


def claims(text: Text) -> Claim | None:
    """Recognise a job's counters, or a counter's line."""
    hit = text.find("job_stats:\n- job_id:") or text.find("\n- job_id: ")
    if hit:
        return Claim(CERTAIN, hit[0], "job_stats:")
    return Claim.from_match(CERTAIN, text.search(_LINE, " samples ["))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each target."""
    reader = _Reader()
    for at, line in text.numbered():
        if line.strip():
            reader.read_line(at, line.rstrip())
    runs = list(reader.runs.values())
    for run in runs:
        if not run.rows and not run.missing:
            is_idle = any(other.rows for other in runs)
            note = run.warn if is_idle else run.lacks
            note(0, Message("no-results", "no operation was counted since the counters were cleared"))
    return runs


class _Reader:
    """Reader of all targets; ``runs`` are by parameter."""

    def __init__(self) -> None:
        self.runs: dict[str, Parsed] = {}
        self._parameter, self._job = "", ""

    def read_line(self, at: int, line: str) -> None:
        if match := _PARAMETER.match(line):
            self._begin_target(f"{match[1]}.{match[2]}.{match[3]}", match[2])
            line = match[4]
        if match := _JOB.match(line):
            self._job = (match[1] or "").strip("\"'")
        elif match := _TIME.match(line):
            self._read_time(match[1], float(match[2]))
        elif match := _COUNTER.match(line) or _LINE.match(line):
            if "rest" in match.groupdict() and "}" not in match["rest"]:
                self._note_damage(at)
            else:
                self._add_counter(at, match)
        elif _CUT_COUNTER.match(line) or _CUT_LINE.match(line):
            self._note_damage(at)

    def _begin_target(self, parameter: str, target: str) -> None:
        earlier = self.runs.pop(parameter, None)
        run = self.runs[parameter] = Parsed(factors={"lustre_target": target}, facts={"parameter": parameter})
        self._parameter, self._job = parameter, ""
        if earlier:
            run.warn(0, Message("earlier-print", "an earlier print of its counters is left out: this one includes it"))

    def _get_run(self) -> Parsed:
        return self.runs.setdefault(self._parameter, Parsed())

    def _read_time(self, name: str, seconds: float) -> None:
        run = self._get_run()
        if name == "elapsed_time":
            run.seconds = max(run.seconds, seconds)
        elif seconds < _LATEST_S:
            moment = datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
            if name == "start_time":
                run.started_at = min(run.started_at or moment, moment)
            else:
                run.facts["snapshot_at"] = max(run.facts.get("snapshot_at", ""), moment)

    def _note_damage(self, at: int) -> None:
        self._get_run().lacks(at, Message("damaged-lines", "the counter is cut or damaged: left out"))

    def _add_counter(self, at: int, match: re.Match[str]) -> None:
        name, samples, unit = match[1], int(match[2]), match[3]
        if not samples:
            return
        operation = name.removesuffix(_BYTES)
        low, high, total = (parse_number(word) if word else None for word in match.groups()[3:6])
        factors: dict[str, FactorValue] | None = {"job": self._job} if self._job else None
        run = self._get_run()
        rows = [("operations", float(samples), "operations")]
        if low is not None and high is not None and total is not None:
            if name.endswith(_BYTES):
                sizes = (("size_mean", total / samples), ("size_min", low), ("size_max", high), ("bytes", total))
                rows += [(metric, value, "bytes") for metric, value in sizes]
            elif (divisor := PER_SECOND.get(unit.rstrip("s") if unit in ("usecs", "nsecs") else unit)) is not None:
                values = (("latency_mean", total / samples), ("latency_min", low), ("latency_max", high))
                rows += [(metric, value / divisor, "s") for metric, value in values]
        existing = {(row.operation, row.metric) for row in run.rows if row.factors == factors}
        run.rows += [
            Row(operation, metric, value, base, at, count=samples, factors=factors)
            for metric, value, base in rows
            if (operation, metric) not in existing
        ]
