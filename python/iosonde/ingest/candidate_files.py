"""Files to import: those that were named, those in directories, members of archives, pipes; and their content."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path, PurePath
from typing import BinaryIO

from iosonde.core.errors import InputError, IosondeError, SystemFaultError
from iosonde.core.message import Message
from iosonde.foreign.guarded import begin_of, forget_silence, inspect_path, open_checked
from iosonde.foreign.reading import copy_pipe, open_pipe
from iosonde.foreign.removal import scratch_directory
from iosonde.foreign.unpacking import ArchiveFile, is_archive, unpack_archive
from iosonde.importers import Text, read
from iosonde.importers.fio_version import AdjacentVersion
from iosonde.store.files import MARKER


@dataclass(frozen=True)
class CandidateFile:
    """A file to import.

    The path is relative to the named directory; ``is_explicit``: the file itself was named. ``place``: its directory;
    members of an archive have that of the archive. ``root``: name of the named directory or archive, '' if there is
    none. ``home``: the absolute directory (or archive) that was named, or that contains a named file; ``inside``: the
    path below it, '' if that is ``relative``. ``damage``: why it cannot be read; ``fault``: because the system failed.
    ``adjacent_version``: fio's version, from files around a latency log."""

    path: Path
    relative: PurePath
    size: int
    name: str = ""
    damage: str = ""
    is_explicit: bool = False
    place: PurePath = PurePath()
    fault: bool = False
    adjacent_version: AdjacentVersion | None = None
    root: str = ""
    home: PurePath = PurePath()
    inside: str = ""

    @property
    def key(self) -> str:
        """Return the name by which an import knows the file."""
        return self.name or str(self.path)


@contextmanager
def iterate_file_groups(names: Sequence[str], recursive: bool, store: Path) -> Iterator[list[CandidateFile]]:
    """Yield every file to read, in order, each once; nothing inside the store. Unpacked archives exist until the block
    ends. Raises InputError."""
    forget_silence()
    with ExitStack() as stack:
        batch: list[CandidateFile] = []
        for file in _list_explicit_files(names, recursive, store):
            if file.is_explicit and (pipe := open_pipe(file.path)):
                batch.append(_copy_pipe_to_file(file, pipe, stack))
            elif is_archive(file.path) and not file.damage:
                batch += _unpack_archive(file, stack)
            else:
                batch.append(file)
        yield batch


def _copy_pipe_to_file(candidate: CandidateFile, pipe: BinaryIO, stack: ExitStack) -> CandidateFile:
    """Copy a pipe to a file that exists until ``stack`` ends: importers read a file more than once."""
    try:
        copy = stack.enter_context(scratch_directory("iosonde-import-")) / "pipe"
        size = copy_pipe(pipe, candidate.path, copy)
        # The directory of a pipe has the number of a process; its content is from here.
        return replace(candidate, path=copy, size=size, name=str(candidate.path), home=Path.cwd())
    except (IosondeError, OSError) as error:
        return replace(candidate, damage=format_reason(error, str(candidate.path)), fault=is_fault(error))


def _unpack_archive(archive: CandidateFile, stack: ExitStack) -> list[CandidateFile]:
    """Unpack an archive until ``stack`` ends, and return its members by name; for a damaged one return the archive and
    the reason."""
    try:
        with ExitStack() as scratch, open_checked(archive.path) as file:
            members = unpack_archive(archive.path, file, scratch.enter_context(scratch_directory("iosonde-import-")))
            stack.push(scratch.pop_all())
    except IosondeError as error:
        return [replace(archive, damage=format_reason(error, str(archive.path)), fault=is_fault(error))]
    except OSError as error:
        damage = Message(
            "no-scratch-directory",
            "it cannot be unpacked: no scratch directory: {reason}; set TMPDIR to a directory that can be written",
            reason=error.strerror,
        )
        return [replace(archive, damage=damage)]
    return [_build_member_candidate(archive, member, earlier) for member, earlier in _count_same_names(members)]


def _count_same_names(members: Sequence[ArchiveFile]) -> Iterator[tuple[ArchiveFile, int]]:
    """Yield the members by name, each with the number of earlier members of the same name."""
    count: Counter[PurePath] = Counter()
    for member in sorted(members):
        yield member, count[member.name]
        count[member.name] += 1


def _build_member_candidate(archive: CandidateFile, member: ArchiveFile, earlier: int) -> CandidateFile:
    name = f"{archive.path}/{member.name}" + (f" ({earlier + 1})" if earlier else "")
    return CandidateFile(
        member.path,
        archive.relative.parent / member.name,
        member.size,
        name=name,
        place=archive.path.parent / member.name,
        root=(root := archive.path.name.partition(".")[0]),
        home=PurePath(archive.path.parent.resolve()) / root,
        inside=member.name.as_posix(),
    )


def _list_explicit_files(names: Sequence[str], recursive: bool, store: Path) -> list[CandidateFile]:
    candidates: dict[Path, CandidateFile] = {}
    for name in names:
        path = Path(name)
        try:
            listing = inspect_path(path, store.resolve(), MARKER)
        except (IosondeError, OSError) as error:
            candidates[path] = CandidateFile(
                path, path, 0, damage=format_reason(error, name), is_explicit=True, place=path, fault=is_fault(error)
            )
            continue
        is_directory = listing.kind == "directory"
        if is_directory and not recursive:
            raise InputError(
                "is-a-directory", "{path} is a directory", "add {spell.recursive} to read everything in it", path=name
            )
        if listing.kind == "missing":
            raise InputError(
                "no-such-file",
                "{path} does not exist",
                "name a file or, with {spell.recursive}, a directory",
                path=name,
            )
        root = os.path.basename(os.path.abspath(path)) if is_directory else ""
        home = (path if is_directory else path.parent).resolve()
        entries = [(file, size, "") for file, size in listing.files] + [(file, 0, why) for file, why in listing.skipped]
        for file, size, why in sorted(entries):
            relative = file.relative_to(path) if is_directory else file
            candidates.setdefault(
                file,
                CandidateFile(
                    file,
                    relative,
                    size,
                    damage=why,
                    is_explicit=not is_directory,
                    place=file,
                    root=root,
                    home=home,
                    inside="" if is_directory else file.name,
                ),
            )
    return list(candidates.values())


def format_reason(error: IosondeError | OSError, name: str) -> Message:
    """Return the error of a file without its name, which begins the line."""
    if isinstance(error, IosondeError):
        message = error.message.without_prefix(f"{name}: ").without_prefix(f"{name} ")
        return message.with_text(f"{message}; {error.hint}") if error.hint else message
    return Message("unreadable-file", "it cannot be read: {reason}", reason=error.strerror)


def is_fault(error: Exception) -> bool:
    """Return whether the system failed, and not the file."""
    return isinstance(error, SystemFaultError)


def read_content(candidate: CandidateFile, limit: int | None = None) -> bytes:
    """Return all of a file, or its beginning; nothing if it cannot be read."""
    if limit is not None:
        return begin_of(candidate.path, limit)
    try:
        with open_checked(candidate.path) as file:
            return file.read()
    except (IosondeError, OSError):
        return b""


def read_candidate(candidate: CandidateFile) -> Text:
    """Return the text of a file. Raises IosondeError and OSError if it cannot be read."""
    with open_checked(candidate.path) as file:
        return read(file, candidate.relative.as_posix())
