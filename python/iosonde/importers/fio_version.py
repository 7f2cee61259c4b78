"""The version of fio that wrote a latency log, on which the unit depends (fio 2: µs, fio 3: ns).

The log lacks it. The output of the same job has it, and is mostly in the same directory, or one above: ``seqw.out`` and
``seqw/seqw_clat.log``.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePath
from typing import NamedTuple

HEAD_BYTES = 1 << 16
MOST_FILES = 50  # files of a directory that are searched
_LATENCY_LOG = re.compile(r"(?P<job>.*)_(?:clat|slat|lat)(?:\.\d{1,9})*\.log(?:\.gz)?$", re.IGNORECASE)
_LOG = re.compile(r"_(?:clat_hist|clat|slat|lat|bw|iops)(?:\.\d{1,9})*\.log(?:\.gz)?$", re.IGNORECASE)
_ENDS = (".out", ".txt", ".json", ".log", ".stdout", ".terse", ".csv", "")
_VERSION = re.compile(
    rb'^fio-(\d[\w.+-]{0,40})\s*$|"fio version"\s*:\s*"fio-([^"]{1,40})"|^\d;fio-([^;\s]{1,40});', re.MULTILINE
)


class AdjacentVersion(NamedTuple):
    """A version of fio, and the file in which it was found."""

    version: str
    file: str

    @property
    def major(self) -> int:
        """Return the number before the first dot."""
        return int(self.version.partition(".")[0].partition("-")[0])


def is_latency_log(name: PurePath) -> bool:
    """Return whether the unit of this file, by its name, depends on the version."""
    return _LATENCY_LOG.match(name.name) is not None


def find_sibling_version(
    log: PurePath, begin: Callable[[PurePath], bytes], others: Sequence[PurePath] = ()
) -> AdjacentVersion | None:
    """Return the version in the job's own output, else in ``others`` of its directory, else in the directory above.
    None if no version is present, or two differ. ``begin`` gives the first bytes of a file, none for a missing one."""
    for names in (_iterate_job_outputs(log), *_iterate_folder_outputs(log, others)):
        versions = {version.major: version for name in names if (version := _parse_version(name, begin(name)))}
        if versions:
            return next(iter(versions.values())) if len(versions) == 1 else None
    return None


def _parse_version(name: PurePath, head: bytes) -> AdjacentVersion | None:
    match = _VERSION.search(head)
    version = next((part for part in match.groups() if part), b"").decode("ascii", "replace") if match else ""
    return (
        AdjacentVersion(version, name.name) if version[:1].isdigit() and version.partition(".")[0].isdigit() else None
    )


def _iterate_job_outputs(log: PurePath) -> Iterator[PurePath]:
    match = _LATENCY_LOG.match(log.name)
    job = match["job"] if match else ""
    for folder, stems in ((log.parent, (job,)), (log.parent.parent, dict.fromkeys((job, log.parent.name)))):
        yield from (folder / f"{stem}{end}" for stem in stems if stem for end in _ENDS)


def _iterate_folder_outputs(log: PurePath, others: Sequence[PurePath]) -> Iterator[list[PurePath]]:
    for folder in (log.parent, log.parent.parent):
        yield [other for other in others if other.parent == folder and not _LOG.search(other.name)][:MOST_FILES]
