"""fio's jobs: which entries of an output are threads of one job, and which settings belong to which job.

The entries of one name, group and setting are the threads (or servers) of one job. Jobs are different settings: they
are never summed. Settings that all jobs share are the run's; the others, with the ``job``'s name, are those of its
rows. A job that lacks an option which others have has fio's default; where fio prints no options of a job, they are
unknown.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from iosonde.core.headlines import find_kind
from iosonde.core.message import Message
from iosonde.core.types import FactorValue
from iosonde.core.vocabulary import FIO
from iosonde.core.vocabulary.tool import ValueKind

from .parsed import Parsed, Row
from .reading import parse_size

Settings = dict[str, FactorValue]

# Options that other jobs of one output may set.
_DEFAULTS: Settings = dict(FIO.defaults)
UNKNOWN: Settings = dict.fromkeys(_DEFAULTS)
"""Settings of a job whose options are not printed: none of them has fio's default."""
# Options with which a write job reads, and with which blocks have several sizes.
_VERIFIES = {"verify", "do_verify", "verify_only"}
# Options with which each operation is followed by the next at once, and that take no time of a job's own.
_NEVER_PAUSE = (
    "name description filename directory filename_format rw readwrite rwmixread rwmixwrite bs blocksize size filesize"
    " runtime timeout time_based ramp_time ioengine iodepth numjobs direct buffered sync thread group_reporting"
    " stonewall wait_for_previous new_group norandommap randrepeat allrandrepeat randseed random_generator"
    " random_distribution percentage_random offset offset_increment invalidate fallocate overwrite io_size io_limit"
    " refill_buffers zero_buffers scramble_buffers percentile_list clat_percentiles lat_percentiles slat_percentiles"
    " significant_figures cpus_allowed cpus_allowed_policy numa_cpu_nodes numa_mem_policy mem ioscheduler hipri"
    " fixedbufs registerfiles write_bw_log write_lat_log write_iops_log log_avg_msec per_job_logs exitall"
    " kb_base unit_base"
)
_DIRECTIONS = {"rw", "readwrite"}
# Options that write around the page cache, or flush it.
_FLUSHES = ("direct", "atomic", "sync", "fsync", "fdatasync", "sync_file_range", "end_fsync", "fsync_on_close")
_OFF = ("0", "none", "false")
# Options that set what others set too, so that the absence of these proves no default.
_ALIASES = {"buffered", "bsrange", "blocksize_range", "bssplit"}
_SIZE_RANGES = {"bsrange", "blocksize_range", "bssplit", "bs_unaligned", "verify", "zonemode", "read_iolog"}


LAST_DONE = "last_done"
FSYNC = "fsync"  # operation of fio's section ``sync``: fsync, fdatasync, sync_file_range
_MOST_OF_SUM = 1.01
_SECTOR = 512  # bytes: a mean of several sizes is hardly a multiple of it


@dataclass
class FioJob:
    """A job: its name, its group (jobs of one group run at the same time), its settings, its ``parts`` (threads or
    servers, as its reader has them). ``factors`` are the settings that distinguish its rows; ``iteration`` counts
    earlier jobs of the same name and settings, None if there are none. ``clock`` names the rates of the whole: a sum of
    ranks for every job if any has ranks, so that all have one metric."""

    name: str
    group: int
    settings: Settings
    parts: list[Any] = field(default_factory=list)
    factors: Settings | None = None
    iteration: int | None = None
    clock: str = LAST_DONE

    @property
    def has_ranks(self) -> bool:
        """Return whether its parts are ranks; a single part is the whole job."""
        return len(self.parts) > 1


def options_to_factors(options: dict[str, Any]) -> dict[str, Any]:
    """Return fio's options as factors: sizes in bytes, whole numbers as such."""
    factors: dict[str, Any] = {}
    for key, value in options.items():
        text, option = str(value)[:200], FIO.by_name.get(key)
        if option is None or not option.setting:
            continue
        if option.kind == ValueKind.SIZE:
            size = parse_size(text)
            factors[option.setting] = text if size is None else size
        else:
            factors[option.setting] = int(text) if text.isascii() and text.isdigit() and len(text) < 18 else text
    return factors


def group_parts(parts: Iterable[tuple[str, int, Settings, Any]]) -> list[FioJob]:
    """Return the jobs of (name, group, settings, part), in order."""
    jobs: dict[tuple[Any, ...], FioJob] = {}
    for name, group, settings, part in parts:
        key = (name, group, *sorted(settings.items()))
        jobs.setdefault(key, FioJob(name, group, settings)).parts.append(part)
    return list(jobs.values())


def assign_settings(run: Parsed, jobs: Sequence[FioJob], line: int) -> None:
    """Give the run the settings that all jobs share, and each job's rows the others; note jobs that ran together."""
    if len(jobs) == 1:
        _assign_only_job(run, jobs[0])
        return
    every = [{"job": job.name[:200], **job.settings} for job in jobs]
    names = dict.fromkeys(name for settings in every for name in settings)
    for name in names:
        for settings in every:
            if name in _DEFAULTS:
                settings.setdefault(name, _DEFAULTS[name])
    shared = {name for name in names if len({(name in settings, settings.get(name)) for settings in every}) == 1}
    run.factors |= _drop_unknown({name: value for name, value in every[0].items() if name in shared and name != "job"})
    if "job" in shared and jobs[0].name:
        run.facts["job"] = every[0]["job"]
    keys = [repr(settings) for settings in every]
    several, earlier = Counter(keys), Counter[str]()
    clock = "sum_of_ranks" if any(job.has_ranks for job in jobs) else LAST_DONE
    for job, settings, key in zip(jobs, every, keys, strict=True):
        job.factors = _drop_unknown({name: value for name, value in settings.items() if name not in shared}) or None
        job.iteration = earlier[key] if several[key] > 1 else None
        job.clock = clock
        earlier[key] += 1
    _note_concurrent_jobs(run, jobs, line)


def _assign_only_job(run: Parsed, job: FioJob) -> None:
    run.factors |= _drop_unknown(job.settings)
    if job.name:
        run.facts["job"] = job.name[:200]
    job.clock = "sum_of_ranks" if job.has_ranks else LAST_DONE


def _drop_unknown(settings: Settings) -> Settings:
    return {name: value for name, value in settings.items() if value is not None}


def _note_concurrent_jobs(run: Parsed, jobs: Sequence[FioJob], line: int) -> None:
    by_group: dict[int, list[str]] = {}
    for job in jobs:
        by_group.setdefault(job.group, []).append(job.name)
    run.facts["groups"] = [list(dict.fromkeys(names)) for names in by_group.values()]
    for names in by_group.values():
        if len(names) > 1:
            run.warn(
                line,
                Message(
                    "concurrent-jobs",
                    "{jobs} ran at the same time (one group): each is a setting of its own, measured beside the others",
                    jobs=", ".join(dict.fromkeys(names))[:200],
                ),
            )


def is_closed_loop(options: Mapping[str, Any]) -> bool:
    """Return whether a job keeps its operations in flight: its options are printed, and none limits the rate, pauses,
    synchronises, verifies, or is unknown for this."""
    return bool(_DIRECTIONS & options.keys()) and options.keys() <= set(_NEVER_PAUSE.split())


def is_unflushed(options: Mapping[str, Any]) -> bool | None:
    """Return whether a job's writes may stay in the page cache, None if its options are not printed."""
    if not _DIRECTIONS & options.keys():
        return None
    is_direct = str(options.get("buffered", "1")) == "0"
    return not is_direct and all(str(options.get(name, "0")).lower() in _OFF for name in _FLUSHES)


def join_flags(flags: Iterable[bool | None]) -> bool | None:
    """Return whether this is so of all jobs: False if it is not of one, None if it is unknown of one."""
    every = set(flags)
    return False if False in every else None if None in every or not every else True


def has_only_own_options(options: Mapping[str, Any]) -> bool:
    """Return whether the options of a job are printed, and none sets what another option sets: those that are absent
    have fio's default."""
    return bool(_DIRECTIONS & options.keys()) and not _ALIASES & options.keys()


def sum_rates(rows: Sequence[Row], factors: Settings | None) -> list[Row]:
    """Return the sums of the rates of a job's threads or servers, by direction."""
    sums: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        if row.metric in ("bandwidth_own", "rate_own"):
            sums.setdefault((row.operation, row.metric), []).append(row)
    return [
        Row(
            operation,
            metric.replace("_own", "_sum_of_ranks"),
            sum(row.value for row in parts),
            parts[0].unit,
            parts[0].line,
            count=None if parts[0].count is None else sum(row.count or 0 for row in parts),
            factors=factors,
        )
        for (operation, metric), parts in sums.items()
    ]


def exceeds_parts(totals: Sequence[Row], sums: Sequence[Row]) -> bool:
    """Return whether a rate of fio's total is above the sum of its servers' own."""
    expected = {(row.operation, find_kind(row.metric)): row.value for row in sums}
    return any(
        row.value > _MOST_OF_SUM * expected.get((row.operation, find_kind(row.metric)), math.inf) for row in totals
    )


def find_block_size(moved: Iterable[tuple[float, float]]) -> int | None:
    """Return the size of every access if each pair (bytes, operations) gives the same whole one, else None."""
    sizes = {n_bytes / n_operations for n_bytes, n_operations in moved if n_operations}
    size = next(iter(sizes), 0.0)
    return int(size) if len(sizes) == 1 and size > 0 and size % _SECTOR == 0 else None


def is_merged(options: Mapping[str, Any], settings: Settings, moved: Mapping[str, tuple[float, float]]) -> bool:
    """Return whether an entry covers jobs of other settings too: group_reporting merges a whole group, and prints the
    options of one. ``moved``: read or write → (bytes, operations), of those that were done."""
    rw, size = str(settings.get("rw", "")).removeprefix("rand"), settings.get("block_size")
    if (rw == "read" and "write" in moved) or (rw == "write" and "read" in moved and not _VERIFIES & options.keys()):
        return True
    if not isinstance(size, int) or _SIZE_RANGES & options.keys():
        return False
    means = [(n_bytes / n_operations, n_operations) for n_bytes, n_operations in moved.values() if n_operations]
    return any(mean > 1.001 * size or (mean < 0.9 * size and n_operations >= 20) for mean, n_operations in means)
