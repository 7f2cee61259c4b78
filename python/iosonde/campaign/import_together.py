"""Files that tell of one measurement: which of those that were found, and the one run that they become."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import TypeVar

from iosonde.core.types import FactorValue, Run
from iosonde.importers import Text, Understood, elbencho_execution
from iosonde.importers.io500_execution import (
    INFORMATION,
    Execution,
    FilePart,
    has_list,
    is_execution,
    is_list,
    join,
)
from iosonde.importers.parsed import Parsed
from iosonde.importers.runs import digest_of, runs_of

# Beside so many executions a file is a summary of a series, and not of one of them.
MOST_EXECUTIONS = 20
# So few are looked at together even if nothing stands above them: the list of one is often beside its neighbour, too.
FEW_EXECUTIONS = 3
# In larger directories each file is read by itself: all of a group are in memory together.
MOST_FILES = 500
_OF_MPI = re.compile(rb"^(?:IOR-\d|-- started at |mdtest-\d)", re.MULTILINE)
_TEXTS = (".csv", ".txt", ".out", ".log", ".res", "")
# Settings that came with an execution and that no importer reads: kept beside it.
KEPT = re.compile(r"(config\S*\.ini|system-information\.txt)$")
_UNSAFE = re.compile(r"[^A-Za-z0-9._+=@-]+")
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class Member:
    """One file of a group; ``understood`` None: it is no result. ``place``: where it stands."""

    name: str
    place: PurePath
    text: Text
    understood: Understood | None

    @property
    def parts(self) -> list[FilePart]:
        """Each execution that the file tells of."""
        made = self.understood
        return [FilePart(self.name, one, made.claim) for one in made.runs] if made else []


def together(
    found: Sequence[T],
    place: Callable[[T], PurePath],
    begin: Callable[[T], bytes],
    content: Callable[[T], bytes],
) -> Iterator[list[T]]:
    """The files in groups: those of an execution with what stands above it and may tell of it, or has the same list,
    and every other one by itself. ``place`` is where a file stands, ``begin`` its first bytes, ``content`` all of
    them."""
    by_folder: dict[PurePath, list[T]] = {}
    for one in found:
        by_folder.setdefault(place(one).parent, []).append(one)
    executions = {folder for folder, files in by_folder.items() if is_execution([place(one).name for one in files])}
    below: dict[PurePath, set[PurePath]] = {}
    for folder in executions:
        for above in folder.parents:
            below.setdefault(above, set()).add(folder)
    head = {folder: folder for folder in executions}
    near = {folder for folder, several in below.items() if len(several) <= FEW_EXECUTIONS}
    for folder in sorted(near | by_folder.keys(), key=lambda one: len(one.parts)):
        if 0 < len(below.get(folder, ())) <= MOST_EXECUTIONS:
            # From the top on: whatever stands above these was met before, and gathered more.
            first = head.get(folder) or min(head[one] for one in below[folder])
            head |= dict.fromkeys((folder, *below[folder]), first)
    for folder, files in by_folder.items():
        if folder not in head and len(files) <= MOST_FILES and _is_repeated(files, place, begin):
            head[folder] = folder
    _meet(found, place, content, head)
    groups: dict[object, list[T]] = {}
    for number, one in enumerate(found):
        groups.setdefault(head.get(place(one).parent, number), []).append(one)
    yield from groups.values()


def _meet(
    found: Sequence[T], place: Callable[[T], PurePath], content: Callable[[T], bytes], head: dict[PurePath, PurePath]
) -> None:
    """Executions with the same list of results, character for character, in one group, wherever they stand: an author
    puts the list of one system beside another one, too. What stands in many places is no list of one execution."""
    copies: dict[bytes, set[PurePath]] = {}
    for one in found:
        name, folder = place(one), place(one).parent
        if folder in head and has_list([name.name]) and (held := content(one)):
            copies.setdefault(hashlib.sha256(held).digest(), set()).add(head[folder])
    moved: dict[PurePath, PurePath] = {}

    def now(one: PurePath) -> PurePath:
        return now(moved[one]) if one in moved else one

    for heads in copies.values():
        if 1 < len(heads) <= FEW_EXECUTIONS:
            first, *others = sorted({now(one) for one in heads})
            moved |= dict.fromkeys(others, first)
    head |= {folder: now(one) for folder, one in head.items()}


def _is_repeated(files: Sequence[T], place: Callable[[T], PurePath], begin: Callable[[T], bytes]) -> bool:
    """Whether what one of these files says often stands in another one: beside elbencho's CSV its text, beside the
    outputs of IOR and mdtest the log of their job."""
    heads = [begin(one) for one in files if place(one).suffix.lower() in _TEXTS]
    return any(head.startswith(elbencho_execution.HEAD) for head in heads) or sum(map(_is_of_mpi, heads)) > 1


def _is_of_mpi(head: bytes) -> bool:
    return _OF_MPI.search(head) is not None


def runs_together(
    members: Sequence[Member], experiment: str, factors: Callable[[Member], Mapping[str, FactorValue]]
) -> tuple[dict[str, list[Run]], set[str]]:
    """(name of a file → the runs that it stands for, the names of the files that are in the run of another one)."""
    executions: dict[str, Execution] = {}
    kept: dict[str, list[Member]] = {}
    own: dict[str, list[Parsed]] = {}
    for files in _folders(members):
        unique = {digest_of(one.text.raw): one for one in reversed(files)}.values()
        parts = [part for one in reversed(unique) for part in one.parts]
        names = [one.place.name for one in files]
        whole = is_execution(names) or has_list(names)
        made = join(parts, _information(files[0].place.parent, members)) if whole else None
        if made is not None and not _adopt(made.parsed, made.base.name, executions):
            executions[made.base.name] = made
            kept[made.base.name] = files
            own[made.base.name] = [made.parsed]
        for part in (part for one in files for part in one.parts) if made is None else made.left:
            own.setdefault(part.name, []).append(part.parsed)
        _join_elbencho([one.name for one in files], own)
        _drop_repeated([one.name for one in files], own)
    for name, parsed in ((name, parsed) for name, several in own.items() for parsed in several):
        _adopt(parsed, name, executions)
    runs: dict[str, list[Run]] = {}
    for one in members:
        told = [parsed for at, parsed in enumerate(own.get(one.name, ()))
                if (at == 0 and one.name in executions) or not _is_told(parsed, executions)]  # fmt: skip
        if told and one.understood:
            runs[one.name] = _runs(one, one.understood, told, experiment, factors(one))
            if one.name in executions:
                _keep(runs[one.name], executions[one.name], one, kept[one.name])
    return runs, {one.name for one in members if one.understood and one.name not in runs}


def _join_elbencho(names: Sequence[str], own: dict[str, list[Parsed]]) -> None:
    """What several files of a directory say of one execution stays with one of them."""
    parts = [(name, one) for name in names for one in own.get(name, ()) if one.tool == "elbencho"]
    if len({name for name, _ in parts}) < 2:
        return
    for name, _ in parts:
        own[name] = [one for one in own[name] if one.tool != "elbencho"]
    for name, parsed, others in elbencho_execution.join(parts):
        own[name].append(parsed)
        if others:
            parsed.facts["joined_with"] = sorted(PurePath(one).name for one in others)


def _drop_repeated(names: Sequence[str], own: dict[str, list[Parsed]]) -> None:
    """An execution whose output stands in its own file and in the log of the job counts once: in the file with the
    fewest. It is the same where the tool, its start to the second and each of its numbers are."""
    seen: dict[object, Parsed] = {}
    for name in sorted(names, key=lambda one: len(own.get(one, ()))):
        kept = []
        for parsed in own.get(name, ()):
            key = (parsed.tool, parsed.started_at, tuple((row.operation, row.metric, row.value) for row in parsed.rows))
            if parsed.started_at and parsed.rows and key in seen:
                seen[key].adopt_missing(PurePath(name).name, parsed)
            else:
                kept.append(parsed)
                seen[key] = parsed
        if name in own:
            own[name] = kept


def _folders(members: Sequence[Member]) -> list[list[Member]]:
    """The files by where they stand, those with the most of them first: of two copies it has more to say."""
    folders: dict[PurePath, list[Member]] = {}
    for one in members:
        folders.setdefault(one.place.parent, []).append(one)
    return sorted(folders.values(), key=len, reverse=True)


def _is_told(parsed: Parsed, executions: Mapping[str, Execution]) -> bool:
    """Whether this list is that of an execution that is there."""
    return is_list(parsed) and any(one.is_same(parsed) for one in executions.values())


def _adopt(parsed: Parsed, name: str, executions: Mapping[str, Execution]) -> bool:
    """Whether this list is that of an execution that is there, which is then as invalid as the list."""
    for one in executions.values():
        if is_list(parsed) and one.is_same(parsed):
            if one.parsed is not parsed:
                one.parsed.adopt_invalid(PurePath(name).name, parsed)
            return True
    return False


def _runs(
    one: Member, understood: Understood, told: list[Parsed], experiment: str, factors: Mapping[str, FactorValue]
) -> list[Run]:
    whole = Understood(understood.format, understood.claim, understood.others, told, understood.notes)
    return runs_of(whole, one.text, experiment, factors)


def _keep(runs: Sequence[Run], execution: Execution, base: Member, files: Sequence[Member]) -> None:
    """With the first run the files that it is made of, and those of its settings."""
    used = {part.name for part in execution.used}
    others = [one for one in files if one is not base and (one.name in used or KEPT.search(one.name))]
    run = runs[0]
    run.raw |= {_UNSAFE.sub("_", one.place.name)[-120:].lstrip("."): one.text.raw for one in others}
    run.facts["import"] |= {
        "files": {one.place.name: digest_of(one.text.raw) for one in (base, *others)},
        "doubles": sorted({PurePath(part.name).name for part in execution.doubles}),
    }


def _information(folder: PurePath, members: Sequence[Member]) -> str:
    """What ``system-information.txt`` says, here or above: the nearest."""
    found = [one for one in members if one.place.name == INFORMATION
             and (one.place.parent == folder or one.place.parent in folder.parents)]  # fmt: skip
    return max(found, key=lambda one: len(one.place.parts)).text.whole if found else ""
