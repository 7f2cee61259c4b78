"""iostat of sysstat: reports about CPUs and disks, one for each interval; text and ``-o JSON``.

    Linux 5.15.0 (oss1) 	05/03/23 	_x86_64_	(8 CPU)

    05/03/23 10:00:05
    avg-cpu:  %user   %nice %system %iowait  %steal   %idle
               1.00    0.00    2.00    0.50    0.00   96.50

    Device            r/s     rkB/s   …  aqu-sz  %util
    sdb              0.00      0.00   …    7.90  99.80

become ``disk utilisation``, ``latency``, ``write_bandwidth`` … of each device: means over all reports but the first,
which is about the time since the boot. The reports with a time (``-t``) are samples for runs of the same time. Older
columns (rsec/s, avgqu-sz) and units (``-m``) are read, too. Source: ``iostat.c``.
"""

import json
import re
from typing import Any

from iosonde.core.device_loads import CPU, DISK
from iosonde.core.message import Message

from .parsed import CERTAIN, LIKELY, Claim, Parsed
from .reading import Lines, get_json_object, list_objects
from .samples import DeviceSample, Samples
from .sysstat import Moment, add_average_rows, parse_moment, read_values
from .text import Text

NAME = "iostat"
HEADLINE = ("utilisation", "latency")

_HEADER = re.compile(r"Linux (\S+) \(([^()]*)\) *\t(\S+) *\t_\w+_\t\(\d+ CPU\)")
_DEVICES = re.compile(r"Device:? .*(?:%util|/s)|.* %util Device *$|.*kB_wrtn/s .* Device *$")
_CPUS = "avg-cpu:"
_JSON, _JSON_TIME = '"disk_device":', '"timestamp":'
_CUT_END = "]}]}}"
UNTIMED = Message(
    "samples-without-time",
    "its samples have no time, so that no run can be found for them; record it with 'iostat -x -t -o JSON N'",
)


def claims(text: Text) -> Claim | None:
    """Recognise a table of devices or of CPUs, and the JSON of devices."""
    if word := text.find(_JSON):
        return Claim(CERTAIN, *word)
    hit = text.search(_DEVICES, "Device")
    return Claim.from_match(CERTAIN if hit and _CPUS in text.content else LIKELY, hit or text.find(_CPUS))


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each call of iostat."""
    if _JSON in text.content or text.content.lstrip().startswith("{"):
        return _parse_json(text)
    reader = _Reader()
    for at, line in text.numbered():
        reader.read_line(at, line.rstrip())
    reader.end_call()
    return reader.runs


class Reports:
    """The reports of one call: each ends at its time, and begins at that of the one before."""

    def __init__(self, host: str) -> None:
        self._samples = Samples(host)
        self._run = Parsed()
        self._before: Moment | None = None
        self._now: Moment | None = None
        self._n_reports = self._n_timed = 0

    def begin_report(self, moment: Moment | None) -> None:
        """Begin a report that was printed at ``moment``, None if it is unknown."""
        self._before, self._now = self._now, moment
        self._n_reports += 1
        self._n_timed += moment is not None
        self._samples.is_utc = bool(moment and moment.is_utc)

    def add(self, at: int, kind: str, device: str, values: dict[str, float]) -> None:
        """Add the values of a device in this report; those of the first are means since the boot."""
        if self._n_reports < 2 or not values:
            return
        end = self._now.seconds if self._now else 0.0
        seconds = end - self._before.seconds if self._before and self._now else 0.0
        if seconds >= 0:
            self._samples.entries.append(DeviceSample(end, seconds, kind, device, values, at))

    def lacks(self, at: int, message: Message) -> None:
        """Note what is missing."""
        self._run.lacks(at, message)

    def build(self, at: int) -> Parsed:
        """Return the run of all reports."""
        run, samples = self._run, self._samples
        if self._n_timed < self._n_reports:
            samples.untimed = UNTIMED
            samples.entries = [sample._replace(end_s=0.0, seconds=0.0) for sample in samples.entries]
        elif samples.entries:
            samples.entries = [sample for sample in samples.entries if sample.seconds > 0]
        if not samples.entries:
            run.lacks(
                at,
                Message(
                    "no-interval",
                    "a single report, which is about the time since the boot unless '-y' was used: 'iostat -x -t N' "
                    "reports about intervals",
                ),
            )
        elif samples.untimed:
            run.warn(at, samples.untimed)
        add_average_rows(run, samples)
        return run


class _Reader:
    """Reader of text: a report begins with its time, or with the table of CPUs or devices that it had before."""

    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._reports: Reports | None = None
        self._host, self._columns, self._kind = "", tuple[str, ...](), DISK
        self._tables = set[str]()
        self._moment: Moment | None = None
        self._begin = 0

    def read_line(self, at: int, line: str) -> None:
        if not line:
            self._columns = ()
        elif match := _HEADER.match(line):
            self.end_call()
            self._host = match[2]
        elif moment := parse_moment(line):
            self._moment, self._tables = moment, set()
            self._begin_report(at)
        elif line.startswith(_CPUS) or _DEVICES.match(line):
            self._begin_table(at, line)
        elif self._columns and self._reports:
            self._read_row(at, line, self._reports)
        elif self._reports:
            self._reports.lacks(at, Message("damaged-lines", "an unknown line: a report may be lost here"))

    def _begin_table(self, at: int, line: str) -> None:
        kind = self._kind = CPU if line.startswith(_CPUS) else DISK
        self._columns = tuple(line.split()[kind == CPU :])
        if kind in self._tables or not self._reports:
            self._tables = set()
            if self._moment is None or not self._reports:
                self._begin_report(at)
        self._tables.add(kind)

    def _begin_report(self, at: int) -> None:
        if self._reports is None:
            self._reports, self._begin = Reports(self._host), at
        self._reports.begin_report(self._moment)

    def _read_row(self, at: int, line: str, reports: Reports) -> None:
        cells, columns = line.split(), self._columns
        if len(cells) != len(columns):
            reports.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        device = "all" if self._kind == CPU else cells[0 if columns[0].startswith("Device") else -1]
        reports.add(at, self._kind, device, read_values(columns, cells))

    def end_call(self) -> None:
        """Close the call."""
        if self._reports:
            self.runs.append(self._reports.build(self._begin))
        self._reports, self._moment, self._tables, self._columns = None, None, set(), ()


def _parse_json(text: Text) -> list[Parsed]:
    document, is_cut = load_sysstat_json(text)
    lines, runs, at = Lines(text), list[Parsed](), 0
    mark = _JSON_TIME if _JSON_TIME in text.content else _JSON
    for host in list_objects(get_json_object(document, "sysstat"), "hosts"):
        reports = Reports(str(host.get("nodename") or ""))
        for report in list_objects(host, "statistics"):
            line, at = lines.locate_needle(mark, at + 1)
            reports.begin_report(parse_moment(str(report.get("timestamp", ""))))
            cpu = get_json_object(report, "avg-cpu")
            reports.add(line, CPU, "all", read_values(tuple(cpu), cpu.values()))
            for disk in list_objects(report, "disk"):
                name = str(disk.pop("disk_device", ""))
                # A group (-g) has a blank before its name.
                if not name.startswith(" "):
                    reports.add(line, DISK, name, read_values(tuple(disk), disk.values()))
        runs.append(reports.build(1))
    if is_cut:
        for run in runs:
            run.warn(text.last_line, Message("ended-early", "the JSON ends early: the last report is left out"))
    return runs or [build_unreadable_run(text)]


def build_unreadable_run(text: Text) -> Parsed:
    """Return the Parsed of a broken document."""
    run = Parsed()
    run.lacks(text.last_line, Message("damaged-lines", "the JSON is broken: nothing of it is read"))
    return run


def load_sysstat_json(text: Text) -> tuple[dict[str, Any], bool]:
    """Return the document, and whether its end is missing: a killed program does not close it, so that it ends at the
    last whole report. Empty if it is broken otherwise."""
    content = text.content[max(text.content.find("{"), 0) :]
    try:
        document, _ = json.JSONDecoder().raw_decode(content)
        return (document if isinstance(document, dict) else {}), False
    except (ValueError, RecursionError):
        pass
    end = content.rfind("\n\t\t\t\t}")
    if end >= 0:
        try:
            return json.loads(content[: end + 6] + _CUT_END), True
        except (ValueError, RecursionError):
            pass
    return {}, True
