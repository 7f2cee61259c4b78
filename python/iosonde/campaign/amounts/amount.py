"""What a call of a tool leaves on the target, and the options that it follows from."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath

from iosonde.campaign.forecast import TrialWork
from iosonde.core.message import Message
from iosonde.core.vocabulary.sizes import parse_size
from iosonde.core.vocabulary.tool import Word


class UnknownAmountError(Exception):
    """An amount that does not follow from the command's text, with the reason."""

    def __init__(self, reason: Message) -> None:
        super().__init__(str(reason))
        self.reason = reason


@dataclass(frozen=True)
class FileSpace:
    """Bytes and files at once."""

    n_bytes: int = 0
    n_files: int = 0

    def times(self, count: int) -> "FileSpace":
        """Return the space of ``count`` copies."""
        return FileSpace(count * self.n_bytes, count * self.n_files)


@dataclass(frozen=True)
class Amount:
    """Space by the path that is written, at most. ``is_permanent``: the files stay when the tool ends.

    ``work`` is None if the tool's clock ends it, or something else than its amount.
    """

    spaces: Mapping[str, FileSpace]
    work: TrialWork | None
    is_permanent: bool = True


@dataclass(frozen=True)
class CallContext:
    """What is known about a call besides its words: the number of its processes, the directory of the trial (nothing
    is in it before), the directories that commands of the trial make, and the working directory, if it changed.
    ``read_file`` returns the text of a file that a command names; None if it is not read."""

    ranks: int
    trial_directory: str
    directories: frozenset[str] = frozenset()
    place: str = ""
    read_file: Callable[[str], str | None] = lambda _: None

    def at(self, place: str) -> "CallContext":
        """Return the context in a working directory."""
        return replace(self, place=place)

    def locate(self, path: str) -> str:
        """Return a path as seen from the first working directory."""
        return str(PurePosixPath(self.place, path))

    def is_new(self, path: str) -> bool:
        """Return whether nothing is at a path before the trial."""
        return PurePosixPath(self.locate(path)).is_relative_to(self.trial_directory)


@dataclass
class CallOptions:
    """Options of a call by their first name in the registry, and its other arguments."""

    values: dict[str, list[str]] = field(default_factory=dict)
    arguments: list[str] = field(default_factory=list)

    def has(self, *names: str) -> bool:
        """Return whether one of the options is present and not switched off."""
        return any(name in self.values and self.values[name][-1] != "0" for name in names)

    def text(self, name: str, default: str = "") -> str:
        """Return the last value of an option."""
        return self.values[name][-1] if name in self.values else default

    def size(self, name: str, default: int | None = None, unit: int = 1) -> int:
        """Return a size; a plain number counts ``unit`` bytes. Raises UnknownAmountError if it is unclear, or absent
        without a default."""
        text = self.text(name)
        if not text and default is not None:
            return default
        n_bytes = parse_size(text)
        if n_bytes is None:
            raise UnknownAmountError(Message("unknown-amount", "the size '{size}' is unclear", size=text[:40]))
        return n_bytes * unit if text.strip().isdigit() else n_bytes

    def count(self, name: str, default: int = 0) -> int:
        """Return a whole number, also one with a letter as 1k. Raises UnknownAmountError if it is unclear."""
        return self.size(name, default)

    def refuse(self, names: str, reason: str) -> None:
        """Raise UnknownAmountError if one of the options is present."""
        present = next((name for name in names.split() if self.has(name)), None)
        if present is not None:
            option = ("-" if len(present) == 1 else "--") + present
            raise UnknownAmountError(Message("unknown-amount", f"{reason} ({{option}})", option=option))


def collect_options(words: Iterable[Word]) -> CallOptions:
    """Collect the options of a call. Raises UnknownAmountError for an option that the registry does not have, and for
    a word that the shell changes."""
    options = CallOptions()
    for word in words:
        if "$" in word.name or "$" in (word.value or ""):
            text = word.value or word.name
            raise UnknownAmountError(Message("unknown-amount", "the shell changes '{word}'", word=text))
        if not word.name:
            options.arguments.append(word.value or "")
        elif word.option is None:
            raise UnknownAmountError(Message("unknown-amount", "the option {option} is unknown", option=word.name))
        else:
            options.values.setdefault(word.option.names[0], []).append(word.value or "")
    return options


def merge_spaces(spaces: dict[str, FileSpace], others: Mapping[str, FileSpace]) -> None:
    """Add others to ``spaces``: a file that is written again takes its largest size."""
    for path, space in others.items():
        before = spaces.get(path, FileSpace())
        spaces[path] = FileSpace(max(space.n_bytes, before.n_bytes), max(space.n_files, before.n_files))


def add_work(works: Iterable[TrialWork | None]) -> TrialWork | None:
    """Return the sum, None if a part is unknown."""
    total = TrialWork(0)
    for work in works:
        if work is None:
            return None
        total = TrialWork(total.n_bytes + work.n_bytes, total.n_files + work.n_files, total.n_written + work.n_written)
    return total


def multiply_work(work: TrialWork | None, count: int) -> TrialWork | None:
    """Return the work of ``count`` copies."""
    return (
        replace(work, n_bytes=count * work.n_bytes, n_files=count * work.n_files, n_written=count * work.n_written)
        if work
        else None
    )
