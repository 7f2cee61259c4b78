"""sar of sysstat: disks (``-d``), CPUs (``-u``), network interfaces (``-n DEV``); text, ``sadf -d`` and ``sadf -j``.

    Linux 5.15.0 (oss1) 	05/03/23 	_x86_64_	(8 CPU)

    10:00:01        DEV       tps     rkB/s     wkB/s     dkB/s   areq-sz    aqu-sz     await     %util
    10:10:01        sdb    120.00      0.00 491520.00      0.00   4096.00      7.90     65.80     99.80

become ``disk utilisation``, ``latency``, ``write_bandwidth`` … of each device: means over all samples, which are kept
for runs of the same time. The date of text is that of its first line; a time that is half a day earlier than the one
before begins the next day. ``sadf`` prints UTC, or with ``-t`` and ``-T`` a zone that its letters do not tell. Other
tables and the averages are left out. Source: ``pr_stats.c``, ``sadf_misc.c``, ``json_stats.c``.
"""

import re
from collections.abc import Mapping
from datetime import date

from iosonde.core.device_loads import CPU, DISK, NETWORK
from iosonde.core.message import Message

from .iostat import build_unreadable_run, load_sysstat_json
from .parsed import CERTAIN, Claim, Parsed
from .reading import Lines, get_json_object, list_objects, number_from_json, parse_number
from .samples import DeviceSample, Samples
from .sysstat import (
    Moment,
    add_average_rows,
    choose_kind,
    parse_date,
    parse_moment,
    parse_time,
    read_values,
    to_seconds,
)
from .text import Text

NAME = "sar"
HEADLINE = ("utilisation", "latency", "busy")

_HEADER = re.compile(r"Linux (\S+) \(([^()]*)\) *\t(\S+) *\t_\w+_\t\(\d+ CPU\)")
_TIME = r"(\d{1,2}:\d\d:\d\d(?: [AP]M)?) +"
_TABLE_WORDS = ("DEV", "IFACE", "CPU")
_TABLE = re.compile(rf"{_TIME}(?:(?:DEV|IFACE|CPU) +\S.*|.* DEV|.* IFACE)$")
_LINE = re.compile(rf"{_TIME}(\S.*)$")
_LIST = re.compile(r"# hostname;interval;timestamp;(?:DEV|IFACE|CPU);")
_JSON_DISK, _JSON_WORD = '"disk-device":', '"sysdata-version":'
_DAY_S = 86400.0
_RESTART = "RESTART"
_NAMES = {DISK: ("DEV", "disk-device"), NETWORK: ("IFACE", "iface"), CPU: ("CPU", "cpu")}
_ALL_CPUS = ("all", "-1")
UNTIMED = Message(
    "samples-without-time",
    "the date of its samples is unknown, as the first line of sar is missing: no run can be found for them",
)

NO_SAMPLES = Message("no-results", "no sample of disks, CPUs or network interfaces (sar -d, -u, -n DEV)")


def claims(text: Text) -> Claim | None:
    """Recognise a table with times, the list of ``sadf -d``, and the JSON of ``sadf -j``."""
    if hit := text.find(_JSON_DISK, _JSON_WORD, '"file-utc-time":'):
        return Claim(CERTAIN, *hit)
    return Claim.from_match(
        CERTAIN,
        text.search(_LIST, "# hostname;") or text.search(_TABLE, " DEV", "IFACE ", "CPU "),
    )


def parse(text: Text) -> list[Parsed]:
    """Return one Parsed for each host, and for each call of sar."""
    if text.content.lstrip().startswith("{"):
        return _parse_json(text)
    if "# hostname;interval;timestamp;" in text.content:
        return _parse_list(text)
    reader = _Reader()
    for at, line in text.numbered():
        reader.read_line(at, line.rstrip())
    reader.end_call()
    return reader.runs


class _Clock:
    """The times of one table of text: they only rise, and after midnight the day is the next one."""

    def __init__(self, day: date | None, first: float) -> None:
        self._midnight = to_seconds(day) if day else 0.0
        self.now = self._midnight + first
        self.interval = 0.0

    def advance(self, seconds: float) -> None:
        """Move to a time of day, in s; the interval is that from the last other time."""
        now = self._midnight + seconds
        if now < self.now - _DAY_S / 2:
            self._midnight, now = self._midnight + _DAY_S, now + _DAY_S
        if now != self.now:
            self.interval, self.now = now - self.now, now


class _Reader:
    def __init__(self) -> None:
        self.runs: list[Parsed] = []
        self._begin_call("", "")

    def _begin_call(self, host: str, day: str) -> None:
        self._run, self._samples = Parsed(), Samples(host)
        self._day_text, self._day = day, parse_date(day)
        self._clocks: dict[str, _Clock] = {}
        self._kind, self._columns, self._has_tables = "", tuple[str, ...](), False

    def read_line(self, at: int, line: str) -> None:
        if line.startswith("Linux ") and (match := _HEADER.match(line)):
            self.end_call()
            self._begin_call(match[2], match[3])
        elif not line or _RESTART in line:
            self._columns = ()
            if line:
                self._clocks.clear()
        elif any(word in line for word in _TABLE_WORDS) and (match := _TABLE.match(line)):
            self._begin_table(match[1], tuple(line[match.end(1) :].split()))
        elif self._kind and self._columns and (match := _LINE.match(line)):
            self._read_row(at, match[1], match[2].split())

    def _begin_table(self, time: str, columns: tuple[str, ...]) -> None:
        self._kind, self._columns, self._has_tables = choose_kind(columns), columns, True
        if self._day_text:
            self._day = parse_date(self._day_text, has_half=time[-1] == "M")
        seconds = parse_time(time)
        if self._kind and seconds is not None:
            if self._kind in self._clocks:
                self._clocks[self._kind].advance(seconds)
            else:
                self._clocks[self._kind] = _Clock(self._day, seconds)

    def _read_row(self, at: int, time: str, cells: list[str]) -> None:
        clock, seconds = self._clocks.get(self._kind), parse_time(time)
        if len(cells) != len(self._columns) or clock is None or seconds is None:
            self._run.lacks(at, Message("damaged-lines", "the row is cut or damaged: left out"))
            return
        clock.advance(seconds)
        device = cells[self._columns.index(_NAMES[self._kind][0])]
        if clock.interval > 0 and (self._kind != CPU or device in _ALL_CPUS):
            sample = DeviceSample(clock.now, clock.interval, self._kind, device, read_values(self._columns, cells), at)
            self._samples.entries.append(sample)

    def end_call(self) -> None:
        """Close the call."""
        if not self._has_tables:
            return
        if not self._samples.entries:
            self._run.lacks(0, NO_SAMPLES)
        elif self._day is None:
            self._samples.untimed = UNTIMED
            self._run.warn(0, UNTIMED)
        add_average_rows(self._run, self._samples)
        self.runs.append(self._run)
        self._begin_call("", "")


def _parse_list(text: Text) -> list[Parsed]:
    """Read ``sadf -d``."""
    runs: dict[str, Parsed] = {}
    samples: dict[str, Samples] = {}
    kind, columns = "", list[str]()
    for at, line in text.numbered():
        cells = line.strip().split(";")
        if line.startswith("# hostname;"):
            columns = cells
            # With -h all tables stand side by side.
            kind = "" if any("[...]" in cell for cell in cells) else choose_kind(columns)
        elif len(cells) < 4 or not kind or _RESTART in line:
            continue
        elif len(cells) != len(columns) or (moment := _parse_stamp(cells[2])) is None:
            runs.setdefault(cells[0], Parsed()).lacks(
                at, Message("damaged-lines", "the row is cut or damaged: left out")
            )
        else:
            runs.setdefault(cells[0], Parsed())
            host = samples.setdefault(cells[0], Samples(cells[0], moment.is_utc))
            seconds = parse_number(cells[1]) or 0.0
            _add_sample(host, at, kind, dict(zip(columns[3:], cells[3:], strict=True)), moment, seconds)
    for name, run in runs.items():
        add_average_rows(run, samples.get(name) or Samples(name))
    return list(runs.values())


def _parse_stamp(cell: str) -> Moment | None:
    """Return the time of ``sadf -d``; ``-U`` prints seconds since 1970."""
    return Moment(float(cell), True) if cell.isdigit() and len(cell) < 12 else parse_moment(cell)


def _add_sample(
    samples: Samples, at: int, kind: str, row: Mapping[str, object], moment: Moment, seconds: float
) -> None:
    device = next((str(row[name]) for name in _NAMES[kind] if name in row), "")
    if kind == CPU:
        if device not in _ALL_CPUS:
            return
        device = "all"
    values = read_values(tuple(row), row.values())
    if values and seconds > 0:
        samples.entries.append(DeviceSample(moment.seconds, seconds, kind, device, values, at))


def _parse_json(text: Text) -> list[Parsed]:
    document, is_cut = load_sysstat_json(text)
    lines, runs, at = Lines(text), list[Parsed](), 0
    for host in list_objects(get_json_object(document, "sysstat"), "hosts"):
        run, samples = Parsed(), Samples(str(host.get("nodename") or ""))
        for entry in list_objects(host, "statistics"):
            line, at = lines.locate_needle('"timestamp":', at + 1)
            stamp = get_json_object(entry, "timestamp")
            # Older versions write "utc": 1 instead of a zone.
            zone = "UTC" if stamp.get("utc") == 1 else str(stamp.get("tz") or "")
            moment = parse_moment(f"{stamp.get('date')} {stamp.get('time')} {zone}")
            if moment is None:
                continue
            samples.is_utc = moment.is_utc
            seconds = number_from_json(stamp.get("interval")) or 0.0
            devices = list_objects(get_json_object(entry, "network"), "net-dev")
            for kind, rows in (
                (DISK, list_objects(entry, "disk")),
                (CPU, list_objects(entry, "cpu-load")),
                (NETWORK, devices),
            ):
                for row in rows:
                    _add_sample(samples, line, kind, row, moment, seconds)
        if is_cut:
            run.warn(text.last_line, Message("ended-early", "the JSON ends early: the last sample is left out"))
        if not samples.entries:
            run.lacks(
                1, Message("no-results", "no sample of disks, CPUs or network interfaces: sadf -j -- -d -u -n DEV")
            )
        add_average_rows(run, samples)
        runs.append(run)
    return runs or [build_unreadable_run(text)]
