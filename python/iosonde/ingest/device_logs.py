"""Logs of iostat and sar beside the runs of their time: which samples belong to which run of a store.

A sample belongs to a run if its whole interval lies within the run's start and end, by their printed times. The time
before and after it, up to the next run, is kept too: what disks do then is no work of the run, except for ``FLUSH_S``,
in which a kernel still writes what lies in its memory.
"""

from bisect import bisect
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import PurePath
from typing import Any

from iosonde.core.device_loads import CLOCK_S, DeviceLoad
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.units import format_seconds
from iosonde.core.words import format_count
from iosonde.importers import Understood
from iosonde.importers.samples import DeviceSample, Samples, average, format_moment
from iosonde.store import Store
from iosonde.store.added_loads import LoadsDocument

AROUND_S = 120.0  # before and after a run
_SHIFT_S = 1800.0  # zones differ by multiples of it
_MAX_SHIFTS = 28
FLUSH_S = 35.0  # Linux writes what is older than 30 s, and looks every 5 s


@dataclass(frozen=True)
class JoinedLog:
    """A log and the runs of its time: ``runs`` are their ids, ``changed`` counts those whose loads are new, ``n_short``
    the runs of its time that are too short for a whole interval, which is ``interval_s`` or longer.

    ``devices``: kind → number of devices. ``zone``: what was assumed about its clock, '' if nothing was. ``refusal``:
    why no run has samples of it, '' if one has."""

    file: str
    host: str = ""
    runs: tuple[str, ...] = ()
    changed: int = 0
    devices: Mapping[str, int] = field(default_factory=dict)
    zone: str = ""
    refusal: str = ""
    n_short: int = 0
    interval_s: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return the form of ``iosonde import --json``."""
        return {
            "file": self.file,
            "host": self.host,
            "runs": list(self.runs),
            "changed": self.changed,
            "too_short": self.n_short,
            "devices": dict(self.devices),
            "zone": self.zone,
        }


def collect_samples(understood: Understood) -> tuple[Samples, ...]:
    """Return the samples of a log, one entry for each host; empty for a tool's output that becomes runs."""
    return tuple(run.samples for run in understood.runs if run.samples is not None)


@dataclass(frozen=True)
class _Span:
    """The time of runs that ran together: s since 1970; ``is_utc`` False: of a clock whose zone is unknown."""

    begin_s: float
    end_s: float
    is_utc: bool
    runs: tuple[str, ...]


def join_logs(store: Store | None, logs: Sequence[tuple[str, Samples]]) -> list[JoinedLog]:
    """Give the runs of a store the samples of their time, each log (file, samples) by itself. ``store`` None: there is
    none yet. Raises DataError, SystemFaultError."""
    spans = _list_spans([StoredRun(document) for document in store.runs()] if store else [])
    joined = []
    for file, samples in logs:
        outcome, loads = _join_log(file, samples, spans)
        if store and loads:
            outcome = _store_loads(store, outcome, loads)
        joined.append(outcome)
    return joined


def _store_loads(store: Store, outcome: JoinedLog, loads: Mapping[str, Sequence[DeviceLoad]]) -> JoinedLog:
    before: dict[str, Sequence[DeviceLoad]] = {}

    def add(document: LoadsDocument) -> LoadsDocument:
        before.update(document.by_run)
        return document.merged(loads)

    after = store.added_loads.change(add).by_run
    changed = sum(list(after[run]) != list(before.get(run, ())) for run in loads)
    return replace(outcome, changed=changed)


def _list_spans(runs: Sequence[StoredRun]) -> list[_Span]:
    """Return the times of the runs that have a start and a duration, in order; those of one file at once."""
    runs_by_time: dict[tuple[float, float, bool], list[str]] = {}
    for run in runs:
        started_at, seconds = run.span
        if seconds > 0 and (start := _parse_start(started_at)):
            runs_by_time.setdefault((start[0], start[0] + seconds, start[1]), []).append(run.id)
    return [_Span(*time, tuple(ids)) for time, ids in sorted(runs_by_time.items())]


def _parse_start(text: str) -> tuple[float, bool] | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    is_utc = moment.tzinfo is not None
    return (moment if is_utc else moment.replace(tzinfo=UTC)).timestamp(), is_utc


def _to_utc(seconds: float) -> float:
    """Return the time of a clock in the zone of this machine, in s since 1970."""
    return datetime.fromtimestamp(seconds, UTC).replace(tzinfo=None).astimezone().timestamp()


def _join_log(file: str, samples: Samples, spans: Sequence[_Span]) -> tuple[JoinedLog, dict[str, list[DeviceLoad]]]:
    name = PurePath(file).name
    if samples.untimed or not samples.entries:
        return JoinedLog(file, samples.host, refusal=samples.untimed or _NO_SAMPLES), {}
    if not spans:
        return JoinedLog(file, samples.host, refusal=_NO_RUNS), {}
    shifted = _convert_spans(spans, samples)
    by_device: dict[tuple[str, str], list[DeviceSample]] = {}
    for sample in sorted(samples.entries, key=lambda sample: sample.end_s):
        by_device.setdefault((sample.kind, sample.device), []).append(sample)
    loads: dict[str, list[DeviceLoad]] = {}
    for at, span in enumerate(shifted):
        places = _list_places(shifted, at)
        for (kind, device), entries in by_device.items():
            load = _build_load(DeviceLoad(samples.host, kind, device, name), entries, places)
            if load.during:
                for run in span.runs:
                    loads.setdefault(run, []).append(load)
    if not loads:
        return JoinedLog(file, samples.host, refusal=_explain_no_overlap(samples, shifted)), {}
    within = (span for span in shifted if samples.begin_s <= span.begin_s and span.end_s <= samples.end_s)
    joined = JoinedLog(
        file,
        samples.host,
        tuple(loads),
        devices=Counter(kind for kind, _ in by_device),
        zone=_describe_zone(samples, spans),
        n_short=sum(run not in loads for span in within for run in span.runs),
        interval_s=_find_interval(samples),
    )
    return joined, loads


def _find_interval(samples: Samples) -> float:
    """Return the shortest interval, in s."""
    return min(sample.seconds for sample in samples.entries)


def _convert_spans(spans: Sequence[_Span], samples: Samples) -> list[_Span]:
    """Return the spans by the clock of the log. If only one of the two has a zone, the other is taken for that of this
    machine."""
    shift = samples.begin_s - _to_utc(samples.begin_s)
    converted = [
        span
        if span.is_utc == samples.is_utc
        else _Span(_to_utc(span.begin_s), _to_utc(span.end_s), True, span.runs)
        if samples.is_utc
        else _Span(span.begin_s + shift, span.end_s + shift, False, span.runs)
        for span in spans
    ]
    return sorted(converted, key=lambda span: (span.begin_s, span.end_s))


def _list_places(spans: Sequence[_Span], at: int) -> dict[str, tuple[float, float]]:
    """Return the times during, before and after a run; those outside end where another run begins or has ended."""
    span = spans[at]
    earliest = max((other.end_s + FLUSH_S for other in spans[:at]), default=0.0)
    latest = min((other.begin_s for other in spans[at + 1 :]), default=span.end_s + AROUND_S)
    return {
        "during": (span.begin_s, span.end_s),
        "before": (max(earliest, span.begin_s - AROUND_S), span.begin_s - CLOCK_S),
        "flush": (span.end_s, min(latest, span.end_s + FLUSH_S)),
        "after": (span.end_s + FLUSH_S, min(latest, span.end_s + AROUND_S)),
    }


def _build_load(
    device: DeviceLoad, entries: Sequence[DeviceSample], places: Mapping[str, tuple[float, float]]
) -> DeviceLoad:
    """Return the load with the means of the samples (in order of time) whose whole intervals lie in these places."""
    within = {name: _select(entries, *place) for name, place in places.items()}
    means = {name: average(some) for name, some in within.items()}
    return replace(
        device,
        during=means["during"],
        before=means["before"],
        flush=means["flush"],
        after=means["after"],
        seconds={name: sum(sample.seconds for sample in some) for name, some in within.items() if some},
    )


def _select(entries: Sequence[DeviceSample], begin_s: float, end_s: float) -> list[DeviceSample]:
    first = bisect(entries, begin_s, key=lambda sample: sample.end_s)
    selected = []
    for sample in entries[first:]:
        if sample.end_s > end_s:
            break
        if sample.end_s - sample.seconds >= begin_s:
            selected.append(sample)
    return selected


def _describe_zone(samples: Samples, spans: Sequence[_Span]) -> str:
    """Describe what was assumed about clocks without a zone; '' if all have one."""
    if all(span.is_utc and samples.is_utc for span in spans):
        return ""
    if not samples.is_utc and not any(span.is_utc for span in spans):
        return Message("assumed-zone", "neither its times nor those of the runs have a zone: taken for the same one")
    return Message(
        "assumed-zone",
        "times without a zone were taken for those of this machine ({zone}); TZ=Europe/Berlin before the command, or "
        "another zone, changes that",
        zone=datetime.fromtimestamp(samples.begin_s).astimezone().strftime("UTC%z"),
    )


_NO_SAMPLES = Message("no-samples", "it has no sample of an interval")
_NO_RUNS = Message(
    "no-run-with-times",
    "no run of the store has a known start and duration, so that none can get its samples: import the outputs of that "
    "time, too",
)


def _explain_no_overlap(samples: Samples, spans: Sequence[_Span]) -> Message:
    """Explain why no sample lies within a run, by the nearest run and by a zone in which one would."""
    begin, end = samples.begin_s, samples.end_s
    nearest = min(spans, key=lambda span: max(span.begin_s - end, begin - span.end_s, 0.0))
    others = f" and {format_count(len(spans) - 1, 'other run')}" if len(spans) > 1 else ""
    values = {
        "begin": format_moment(begin),
        "end": format_moment(end),
        "run": nearest.runs[0],
        "start": format_moment(nearest.begin_s),
        "others": others,
    }
    interval = _find_interval(samples)
    if begin <= nearest.begin_s and nearest.end_s <= end and nearest.end_s - nearest.begin_s < 2 * interval:
        return Message(
            "interval-too-long",
            "no sample lies within run {run} of {start}, which took {duration}: the interval is {interval}",
            duration=format_seconds(nearest.end_s - nearest.begin_s),
            interval=format_seconds(interval),
            **values,
        )
    shift = next(_find_shifts(samples, spans), 0.0)
    return Message(
        "no-run-of-its-time",
        "its samples of {begin} to {end} lie within no run, as {run} of {start}{others}{hint}",
        hint=f"; by a clock {shift / 3600:+g} h they would: set TZ to its zone" if shift else "",
        **values,
    )


def _find_shifts(samples: Samples, spans: Sequence[_Span]) -> Iterator[float]:
    """Yield the differences of zones with which a run of the whole log would lie in it, the smallest first."""
    for steps in range(1, _MAX_SHIFTS + 1):
        for shift in (steps * _SHIFT_S, -steps * _SHIFT_S):
            if any(samples.begin_s + shift <= span.begin_s and span.end_s <= samples.end_s + shift for span in spans):
                yield shift
