"""Files about one measurement: which of them belong together, their single run, and versions from files around."""

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import TypeVar

from iosonde.core.types import FactorValue, Run
from iosonde.foreign.guarded import begin_of
from iosonde.importers import Text, Understood
from iosonde.importers.fio_version import HEAD_BYTES, AdjacentVersion, find_sibling_version, is_latency_log
from iosonde.importers.io500_execution import (
    INFORMATION,
    Execution,
    FilePart,
    has_list,
    is_execution,
    is_list,
    join_directory,
)
from iosonde.importers.parsed import Parsed
from iosonde.importers.plausibility import note_contradictions
from iosonde.importers.runs import build_runs, compute_digest

from . import same_measurement

# Next to more executions a file is a summary of a series, not of one of them.
MOST_EXECUTIONS = 20
# Up to this number are read together even without a parent: the list of one is often next to its neighbour as well.
FEW_EXECUTIONS = 3
# In larger directories each file is read by itself, as all files of a group are in memory together.
MOST_FILES = 500
_TEXTS = (".csv", ".txt", ".out", ".log", ".res", ".json", ".xls", ".html", ".gz", "")
# Settings of an execution that no importer reads: stored with it.
SETTINGS_FILE = re.compile(r"(config\S*\.ini|system-information\.txt)$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Member:
    """A file of a group; ``understood`` None: it is not a result. ``place``: its path."""

    name: str
    place: PurePath
    text: Text
    understood: Understood | None

    @property
    def parts(self) -> list[FilePart]:
        """Return each execution that the file describes."""
        understood = self.understood
        return [FilePart(self.name, run, understood.claim) for run in understood.runs] if understood else []


def group_files(
    candidates: Sequence[T],
    place: Callable[[T], PurePath],
    begin: Callable[[T], bytes],
    content: Callable[[T], bytes],
) -> Iterator[list[T]]:
    """Group the files: an execution with files above it that may describe it, or with the same list; every other file
    by itself. ``place`` is the path of a file, ``begin`` its first bytes, ``content`` all of them."""
    by_folder: dict[PurePath, list[T]] = {}
    for candidate in candidates:
        by_folder.setdefault(place(candidate).parent, []).append(candidate)
    executions = {folder for folder, files in by_folder.items() if is_execution([place(file).name for file in files])}
    below: dict[PurePath, set[PurePath]] = {}
    for folder in executions:
        for above in folder.parents:
            below.setdefault(above, set()).add(folder)
    head = {folder: folder for folder in executions}
    near = {folder for folder, several in below.items() if len(several) <= FEW_EXECUTIONS}
    for folder in sorted(near | by_folder.keys(), key=lambda path: len(path.parts)):
        if 0 < len(below.get(folder, ())) <= MOST_EXECUTIONS:
            # From the top down: directories above were processed before, and gathered more.
            first = head.get(folder) or min(head[entry] for entry in below[folder])
            head |= dict.fromkeys((folder, *below[folder]), first)
    for folder, files in by_folder.items():
        if folder not in head and len(files) <= MOST_FILES and _is_repeated(files, place, begin):
            head[folder] = folder
    _merge_copies(candidates, place, content, head)
    groups: dict[object, list[T]] = {}
    for number, candidate in enumerate(candidates):
        groups.setdefault(head.get(place(candidate).parent, number), []).append(candidate)
    yield from groups.values()


def _merge_copies(
    candidates: Sequence[T],
    place: Callable[[T], PurePath],
    content: Callable[[T], bytes],
    head: dict[PurePath, PurePath],
) -> None:
    """Merge executions with identical result lists into one group, wherever they are: authors also put the list of one
    system next to another. A list found in many places belongs to no single execution."""
    copies: dict[bytes, set[PurePath]] = {}
    for candidate in candidates:
        name, folder = place(candidate), place(candidate).parent
        if folder in head and has_list([name.name]) and (data := content(candidate)):
            copies.setdefault(hashlib.sha256(data).digest(), set()).add(head[folder])
    moved: dict[PurePath, PurePath] = {}

    def resolve_move(path: PurePath) -> PurePath:
        return resolve_move(moved[path]) if path in moved else path

    for heads in copies.values():
        if 1 < len(heads) <= FEW_EXECUTIONS:
            first, *others = sorted({resolve_move(path) for path in heads})
            moved |= dict.fromkeys(others, first)
    head |= {folder: resolve_move(top) for folder, top in head.items()}


def _is_repeated(files: Sequence[T], place: Callable[[T], PurePath], begin: Callable[[T], bytes]) -> bool:
    """Return whether one of these files often repeats another: elbencho's text next to its CSV, the log of a job next
    to its outputs of IOR and mdtest, fio's logs next to its JSON."""
    texts = [file for file in files if place(file).suffix.lower() in _TEXTS]
    return len(texts) > 0 and same_measurement.may_repeat([(place(file).name, begin(file)) for file in texts])


def merge_runs(
    members: Sequence[Member], experiment: str, factors: Callable[[Member], Mapping[str, FactorValue]]
) -> tuple[dict[str, list[Run]], dict[str, str]]:
    """Return (name of a file → its runs, name of a file merged into the run of another one → that one)."""
    executions: dict[str, Execution] = {}
    files_by_base: dict[str, list[Member]] = {}
    own: dict[str, list[Parsed]] = {}
    into: dict[str, str] = {}
    for files in _group_folders(members):
        unique = {compute_digest(file.text.raw): file for file in reversed(files)}.values()
        parts = [part for member in reversed(unique) for part in member.parts]
        names = [file.place.name for file in files]
        has_results = is_execution(names) or has_list(names)
        execution = join_directory(parts, _find_information(files[0].place.parent, members)) if has_results else None
        if execution is not None and not _adopt_list(execution.parsed, execution.base.name, executions):
            executions[execution.base.name] = execution
            files_by_base[execution.base.name] = files
            own[execution.base.name] = [execution.parsed]
            note_contradictions(execution.parsed)  # the list and the outputs of its phases may contradict each other
        for part in (part for file in files for part in file.parts) if execution is None else execution.unused:
            own.setdefault(part.name, []).append(part.parsed)
        into |= _join_accounts([file.name for file in files], own)
    for name, parsed in ((name, parsed) for name, several in own.items() for parsed in several):
        _adopt_list(parsed, name, executions)
    runs: dict[str, list[Run]] = {}
    for member in members:
        standalone = [
            parsed
            for at, parsed in enumerate(own.get(member.name, ()))
            if (at == 0 and member.name in executions) or not _is_part_of_execution(parsed, executions)
        ]
        if standalone and member.understood:
            runs[member.name] = build_runs(
                replace(member.understood, runs=standalone), member.text, experiment, factors(member)
            )
            if member.name in executions:
                _keep_files(runs[member.name], executions[member.name], member, files_by_base[member.name])
            elif others := [other for other in members if into.get(other.name) == member.name]:
                _keep_raw(runs[member.name][0], member, others)
    return runs, {
        member.name: into.get(member.name, "") for member in members if member.understood and member.name not in runs
    }


def _join_accounts(names: Sequence[str], own: dict[str, list[Parsed]]) -> dict[str, str]:
    """Merge what several files of a directory say of one measurement into one of them; return these files by the
    others."""
    parts = [(name, parsed) for name in names for parsed in own.pop(name, ())]
    measurements, into = same_measurement.join_directory_accounts(parts)
    for name, parsed in measurements:
        own.setdefault(name, []).append(parsed)
    return into


def _group_folders(members: Sequence[Member]) -> list[list[Member]]:
    """Group the files by directory, largest group first: of two copies it has more information."""
    folders: dict[PurePath, list[Member]] = {}
    for member in members:
        folders.setdefault(member.place.parent, []).append(member)
    return sorted(folders.values(), key=len, reverse=True)


def _is_part_of_execution(parsed: Parsed, executions: Mapping[str, Execution]) -> bool:
    """Return whether this list belongs to a known execution."""
    return is_list(parsed) and any(execution.is_same(parsed) for execution in executions.values())


def _adopt_list(parsed: Parsed, name: str, executions: Mapping[str, Execution]) -> bool:
    """Return whether this list belongs to a known execution, which then adopts its invalidity."""
    for execution in executions.values():
        if is_list(parsed) and execution.is_same(parsed):
            if execution.parsed is not parsed:
                execution.parsed.adopt_invalid(PurePath(name).name, parsed)
            return True
    return False


def _keep_files(runs: Sequence[Run], execution: Execution, base: Member, files: Sequence[Member]) -> None:
    """Store with the first run its source files, and those of its settings."""
    used = {part.name for part in execution.used}
    others = [file for file in files if file is not base and (file.name in used or SETTINGS_FILE.search(file.name))]
    _keep_raw(runs[0], base, others)
    runs[0].facts["import"]["doubles"] = sorted({PurePath(part.name).name for part in execution.doubles})


def _keep_raw(run: Run, base: Member, others: Sequence[Member]) -> None:
    run.raw |= {_UNSAFE.sub("_", other.place.name)[-120:].lstrip("."): other.text.raw for other in others}
    run.facts["import"]["files"] = {member.place.name: compute_digest(member.text.raw) for member in (base, *others)}


def _find_information(folder: PurePath, members: Sequence[Member]) -> str:
    """Return the nearest ``system-information.txt``, here or above."""
    information_files = [
        member
        for member in members
        if member.place.name == INFORMATION and (member.place.parent == folder or member.place.parent in folder.parents)
    ]
    return max(information_files, key=lambda member: len(member.place.parts)).text.content if information_files else ""


def find_adjacent_versions(
    places: Sequence[PurePath], content: Callable[[PurePath, int], bytes]
) -> dict[PurePath, AdjacentVersion]:
    """Return place of a log → version. ``content`` returns the first bytes of an imported file."""
    imported = set(places)
    by_folder: dict[PurePath, list[PurePath]] = {}
    for place in places:
        by_folder.setdefault(place.parent, []).append(place)

    def read_begin(place: PurePath) -> bytes:
        return content(place, HEAD_BYTES) if place in imported else begin_of(Path(place), HEAD_BYTES)

    versions: dict[PurePath, AdjacentVersion] = {}
    for place in filter(is_latency_log, places):
        others = [*by_folder[place.parent], *by_folder.get(place.parent.parent, ())]
        if version := find_sibling_version(place, read_begin, others):
            versions[place] = version
    return versions
