"""Choice of the importer for a file: each states how sure it is, the surest reads, and the choice is shown.

A package adds a tool with an entry point in the group ``iosonde.importers`` (docs/importers.md). If two are equally
sure, the one whose evidence is first in the file reads it. So a log that wraps another tool's goes to the wrapper.
"""

import gc
import importlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import TypeVar

from iosonde.core.errors import DataError, InputError, UnknownFormatError
from iosonde.core.message import Message
from iosonde.core.plugins import find_entry_points, load_plugin

from .bare_text import Attempt, extract_outputs
from .damage import drop_implausible_rows
from .parsed import LIKELY, Claim, Importer, Parsed
from .parts import split_by_tool
from .plausibility import note_contradictions
from .text import Note, Text

_T = TypeVar("_T")

# Name as in --format and in a run's source → module in this package.
OURS = {
    "beegfs-storagebench": "beegfs_storagebench",
    "benchio": "benchio",
    "biosnoop": "biosnoop",
    "blktrace": "blktrace",
    "bonnie++": "bonnie",
    "ceph-osd-bench": "osd_bench",
    "cosbench": "cosbench",
    "crystaldiskmark": "crystaldiskmark",
    "darshan": "darshan",
    "darshan-dxt": "darshan_dxt",
    "dbench": "dbench",
    "dbench-kubernetes": "dbench_kubernetes",
    "dd": "dd",
    "diskspd": "diskspd",
    "dlio": "dlio",
    "elbencho": "elbencho",
    "filebench": "filebench",
    "fileop": "fileop",
    "fio": "fio",
    "fio-log": "fio_log",
    "fs_mark": "fs_mark",
    "gluster-profile": "gluster_profile",
    "h5perf": "h5perf",
    "hyperfine": "hyperfine",
    "io500": "io500",
    "ioping": "ioping",
    "ior": "ior",
    "iostat": "iostat",
    "iozone": "iozone",
    "iperf2": "iperf2",
    "iperf3": "iperf3",
    "juicefs": "juicefs",
    "kbench": "kbench",
    "lustre-stats": "lustre_stats",
    "md-workbench": "md_workbench",
    "mds-survey": "mds_survey",
    "mdtest": "mdtest",
    "netperf": "netperf",
    "obdfilter-survey": "obdfilter_survey",
    "phoronix": "phoronix",
    "published": "published",
    "rados-bench": "rados_bench",
    "rbd-bench": "rbd_bench",
    "recorder": "recorder",
    "sar": "sar",
    "smallfile": "smallfile",
    "strace": "strace",
    "sysbench-fileio": "sysbench_fileio",
    "time": "time",
    "vdbench": "vdbench",
    "warp": "warp",
    "yabs": "yabs",
}
GROUP = "iosonde.importers"
# Names of tools that are words of other texts.
_COMMON_WORDS = ("dd", "published", "recorder", "time", "warp")


@dataclass(frozen=True)
class Understood:
    """Format of a file, other claims on it, and its executions."""

    format: str
    claim: Claim
    others: dict[str, Claim]
    runs: list[Parsed] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)

    @property
    def tool_version(self) -> str:
        """Return the version that the tool printed, in the first execution with one; '' if there is none."""
        return next((run.version for run in self.runs if run.version), "")

    @property
    def warnings(self) -> list[Note]:
        """Return all notes in the order of the file: about the text, about each execution, and what is missing."""
        notes = list(self.notes)
        for run in self.runs:
            notes += [*run.warnings, *run.missing]
        return sorted(dict.fromkeys(notes), key=lambda note: note.line)


@cache
def importers() -> dict[str, Importer]:
    """Return every importer by name, ours and those of plug-ins. Raises SystemFaultError for a plug-in that cannot
    load."""
    ours = {name: importlib.import_module(f"{__package__}.{module}") for name, module in OURS.items()}
    others = {name: load_plugin(GROUP, name) for name in find_entry_points(GROUP)}
    return dict(sorted({**ours, **others}.items()))


def understand(text: Text, importer_name: str | None = None) -> Understood:
    """Let the surest importer (or the one called ``importer_name``) read ``text``.

    Raises UnknownFormatError if no importer knows the format, InputError if no importer is called ``importer_name``.
    """
    if importer_name is not None:
        check_importer(importer_name)
    # What was tried is mostly what is read in the end: both are kept.
    collect_claims = cache(_collect_claims)

    @cache
    def read_bare(bare: Text) -> Understood:
        return _understand_bare(bare, collect_claims(bare), importer_name)

    def try_to_read(bare: Text) -> Attempt:
        try:
            if importer_name is None and not collect_claims(bare):
                return Attempt()
            reading = read_bare(bare)
        except DataError:
            return Attempt()
        return Attempt.from_runs(reading.claim, reading.runs)

    readings = [(part, read_bare(part.text)) for part in extract_outputs(text, try_to_read)]
    runs = [part.restore_lines(run) for part, reading in readings for run in reading.runs]
    notes = [note for part, reading in readings for note in part.restore_notes(reading.notes)]
    part, first = readings[0]
    others = {name: part.restore_claim(claim) for name, claim in first.others.items()}
    return Understood(first.format, part.restore_claim(first.claim), others, runs, list(dict.fromkeys(notes)))


def _understand_bare(text: Text, claims: dict[str, Claim], importer_name: str | None) -> Understood:
    if importer_name is not None:
        name, claim = importer_name, claims.get(importer_name) or Claim(0, 0, "asked for")
    elif not claims:
        code, problem, nearest, line = _describe_unknown_format(text)
        raise UnknownFormatError(
            code,
            "{path}: " + problem,
            "known: {importers}",
            path=text.name,
            importers=", ".join(importers()),
            nearest=nearest,
            line=line,
        )
    else:
        name, claim = min(claims.items(), key=lambda item: (-item[1].score, item[1].line))
    others = {other: claims[other] for other in claims if other != name}
    parts = (
        {name: text}
        if importer_name
        else split_by_tool(text, name, {importer: get_begin_words(importer) for importer in importers()})
    )
    runs = [run for importer, part in parts.items() for run in _parse_runs(importer, part)]
    notes = list(text.notes)
    for other, also in others.items():
        if also.score >= claim.score and other not in parts:
            ambiguous = Message(
                "also-another-format",
                "read as {name} (line {line}); {evidence} indicates {other} too: {spell.format:{other}} reads that",
                name=name,
                line=claim.line,
                evidence=also.evidence,
                other=other,
            )
            notes.append(Note(also.line, ambiguous))
    return Understood(name, claim, others, runs, notes)


def check_importer(name: str) -> None:
    """Raise InputError for an unknown importer."""
    if name == "columns":
        raise InputError(
            "missing-option",
            "'columns' needs a map of the columns",
            "give {spell.columns:MAP}.yaml: see docs/columns.md",
        )
    if name not in importers():
        raise InputError(
            "unknown-importer",
            "unknown importer '{name}'",
            "there are: {importers}",
            name=name,
            importers=", ".join(importers()),
        )


def get_begin_words(name: str) -> tuple[str, ...]:
    """Return words of the line with which an execution of this tool begins; none if it has no such line."""
    return tuple(getattr(importers()[name], "BEGINS", ()))


def _parse_runs(importer_name: str, text: Text) -> list[Parsed]:
    importer = importers()[importer_name]
    if check := getattr(importer, "check", None):
        check(text)
    with _pause_garbage_collection():
        runs = _call_importer(importer_name, importer.parse, text)
        for run in runs:
            run.tool, run.headline = importer_name, tuple(getattr(importer, "HEADLINE", ()))
        runs = [drop_implausible_rows(run, text) for run in runs]
        for run in runs:
            note_contradictions(run)
    return runs


def _collect_claims(text: Text) -> dict[str, Claim]:
    """Collect all claims: from the head of a long file, from all of it only if the head convinces no importer."""
    for part in (text.head(), text):
        claims = {
            name: claim
            for name, importer in importers().items()
            if (claim := _call_importer(name, importer.claims, part))
        }
        if part is text or any(claim.score >= LIKELY for claim in claims.values()):
            break
        if claims and text.has_numbers_only:
            break
    return claims


def _call_importer(name: str, function: Callable[[Text], _T], text: Text) -> _T:
    """Turn a fault of an importer into an error that names it: one odd file must not end an import of thousands."""
    try:
        return function(text)
    except Exception as error:
        place = error.__traceback__
        while place is not None and place.tb_next is not None:
            place = place.tb_next
        where = f"{place.tb_frame.f_code.co_name}, line {place.tb_lineno}" if place else "?"
        raise DataError(
            "importer-failed",
            "{path}: the importer '{importer}' failed ({error_type}: {error}; in {location})",
            "please report this fault of the importer, with the file",
            path=text.name,
            importer=name,
            error_type=type(error).__name__,
            error=error,
            location=where,
        ) from error


def _describe_unknown_format(text: Text) -> tuple[str, str, str, int]:
    """Return a code and a message about a file that no importer claims, with the nearest tool and its line."""
    if "\0" in text.raw[:4096].decode("latin-1"):
        return "binary-file", "not the output of a known tool: it is binary", "", 0
    if not text.content.strip():
        return "empty-file", "the file is empty", "", 0
    if nearest := _find_nearest_tool(text):
        return (
            "unknown-format",
            "not the output of a known tool; {nearest} is named in line {line}, without a result",
            *nearest,
        )
    return "unknown-format", "not the output of a known tool", "", 0


def _find_nearest_tool(text: Text) -> tuple[str, int] | None:
    """Return the first tool whose name is in the text, and its line."""
    content = text.head().content.lower()
    places = [(place, name) for name in OURS if name not in _COMMON_WORDS and (place := content.find(name)) >= 0]
    for place, name in sorted(places):
        if re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w-])").match(content, place):
            return name, text.line_of(place)
    return None


def build_no_result_error(name: str, reading: Understood) -> DataError | None:
    """Return the error of a file in which an importer recognised its tool, but read nothing; None if it read
    something."""
    if any(run.rows or run.missing or run.operations is not None for run in reading.runs):
        return None
    return DataError(
        "no-result",
        "{path}: {format} is recognised in line {line} ({evidence}), but its importer reads no result",
        "was the output cut, or changed? Importers that were tried: {importers}",
        path=name,
        format=reading.format,
        line=reading.claim.line,
        evidence=reading.claim.evidence,
        importers=", ".join(importers()),
    )


@contextmanager
def _pause_garbage_collection() -> Iterator[None]:
    """Disable the garbage collector: millions of rows have no cycles, and searching for them takes longer than
    reading."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()
