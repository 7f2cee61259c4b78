"""A tree of files that is nowhere, for surveys without a file system and without a clock: names, sizes and contents
follow from a number."""

from __future__ import annotations

import errno
import stat
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from types import SimpleNamespace
from typing import Any
from unittest import mock

import numpy as np

from iosonde.survey.contents import BLOCK_BYTES, Contents, LookOptions, Piece
from iosonde.survey.from_list import walk_list
from iosonde.survey.lookup import STATUS, StatusTable
from iosonde.survey.opening import WalkedFile
from iosonde.survey.walk import Walked, WalkOptions

ROOT, FILES, NOW_S, DAY_S = "/data", 240, 1_790_000_000, 86_400
KINDS = {"txt": "text", "gz": "gzip", "nc": "NetCDF classic", "tif": "TIFF"}
_ENDS = ("txt", "txt", "txt", "gz", "nc", "tif")
_PACKED = {"text": 0.3, "gzip": 1.0, "NetCDF classic": 0.6, "TIFF": 0.8}  # by lz4
_CODECS = {"lz4": (1.0, 5e8, 2e9), "zstd": (0.9, 2e8, 8e8), "gzip": (0.95, 5e7, 3e8)}  # of that; bytes/s, both ways


def list_names() -> list[str]:
    """Every file, from the root."""
    return [f"p{number % 4}/run{number % 9}/{number}.{_ENDS[number * 7 % 11 % 6]}" for number in range(FILES)]


def get_size(name: str) -> int:
    """Bytes of a file: some are empty; most are small, few hold most."""
    number = _get_number(name)
    return 0 if number % 40 == 7 else int(300 * 1.06 ** (number * 37 % FILES)) % 9_000_000 + number


def write_list(path: str, sized: bool = True) -> None:
    """A list of the tree's files, with their sizes or their names alone."""
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(f"{get_size(name)} {ROOT}/{name}\n" if sized else f"{ROOT}/{name}\n" for name in list_names())


class FakeTree:
    """In the place of ``iosonde.survey.tree.SurveyedTree``."""

    def __init__(self, path: str, *_: object) -> None:
        self.path = self.resolved = path
        self.inodes = None

    def __enter__(self) -> FakeTree:
        return self

    def __exit__(self, *_: object) -> None:
        """Nothing to close."""

    def hangs(self) -> tuple[str, ...]:
        """Every file answers."""
        return ()

    def walk(self, options: WalkOptions, on_files: Callable[[int], object] | None = None) -> Walked:
        """As a walk finds it: with what a list lacks, and its parts by directory or owner."""
        parts: dict[str, list[str]] = {}
        for name in list_names() if options.by_owner or options.by_depth else ():
            key = f"{_get_owner(name)}" if options.by_owner else name.partition("/")[0]
            parts.setdefault(key, []).append(name)
        walked = self._walk_names(options, list_names())
        unseen = {"unreadable_directories": 2, "errors": {errno.EACCES: 2}, "unknown_entries": 1, "mounts": 1}
        more = unseen | {"snapshots": {".snapshot": 3, ".zfs": 0}, "linked_elsewhere": 4, "links_unchecked": 5}
        counts = {key: value for key, value in walked.counts.items() if key not in ("form", "outside")} | more
        strata = {key: self._walk_names(options, names) for key, names in parts.items()}
        return replace(walked, counts=counts, strata=strata)

    def _walk_names(self, options: WalkOptions, names: list[str]) -> Walked:
        with tempfile.NamedTemporaryFile("w", encoding="utf-8") as file:
            file.writelines(f"{self.path}/{name}\n" for name in names)
            file.flush()
            return walk_list(options, self.resolved, file.name, self.look_up)

    def look_up(self, names: Sequence[bytes]) -> StatusTable:
        """The status of each name."""
        return np.array([_build_status(name.decode()) for name in names], STATUS)

    def look_at_all(
        self,
        files: Sequence[WalkedFile],
        options: LookOptions,
        on_done: Callable[[int], object] | None = None,
        seconds: float | None = None,
    ) -> list[Contents]:
        """What each file holds."""
        return [_build_contents(file.path.decode(), options) for file in files]


@contextmanager
def survey_nothing_real() -> Iterator[None]:
    """Surveys look at the fake tree, in no time, and are kept a minute apart."""
    clock = SimpleNamespace(time=lambda: float(NOW_S), monotonic=lambda: 0.0)
    with ExitStack() as stack:
        answer = "iosonde.commands.survey.answer"
        stack.enter_context(mock.patch(f"{answer}.SurveyedTree", FakeTree))
        stack.enter_context(mock.patch(f"{answer}.survey_open_tree.__defaults__", (FakeTree.walk,)))
        for module in ("commands.survey.answer", "survey.from_list"):
            stack.enter_context(mock.patch(f"iosonde.{module}.time", clock))
        times = mock.patch("iosonde.commands.survey.stored.datetime", wraps=datetime)
        stack.enter_context(times).now.side_effect = (datetime.fromtimestamp(NOW_S + 60 * n, UTC) for n in count())
        yield


def _get_number(name: str) -> int:
    return int(name.rpartition("/")[2].partition(".")[0])


def _get_owner(name: str) -> int:
    return 1000 + _get_number(name) % 3


def _build_status(name: str) -> tuple[Any, ...]:
    number, size = _get_number(name), get_size(name)
    blocks = 0 if number % 50 == 3 else -(-size // 4096) * 8
    modified = NOW_S - DAY_S * (number * 5 % 900) - 1000
    return (True, stat.S_IFREG, 1, size, blocks, 9, number + 1, _get_owner(name), modified * 10**9, modified + 500)


def _build_contents(name: str, options: LookOptions) -> Contents:
    number, size = _get_number(name), get_size(name)
    if not size:
        return Contents("empty")
    if number % 50 == 3:
        return Contents(None, why="released")
    if number % 60 == 11:
        return Contents(None, why="denied")
    kind = KINDS[name.rpartition(".")[2]]
    read = min(size, 1 << 20)
    pieces = (_build_piece(kind, number, read, options.codecs),) if options.codecs else ()
    return Contents(kind, pieces, number % 2 == 0, read if options.codecs else min(read, 512))


def _build_piece(kind: str, number: int, size: int, codecs: Sequence[str]) -> Piece:
    blocks = size // BLOCK_BYTES
    zeros = blocks // 4 if kind == "NetCDF classic" else 0
    ways = {codec: _CODECS[codec.partition(":")[0]] for codec in codecs}
    packed = {codec: int(size * _PACKED[kind] * share) + number % 7 for codec, (share, _, _) in ways.items()}
    pack_s, unpack_s = ({codec: size / way[at] for codec, way in ways.items()} for at in (1, 2))
    digests = b"".join((block % 50 + number % 2).to_bytes(8, "big") for block in range(blocks - zeros))
    read_s, cached = size / (1e8 * (1 + number % 5)), None if number % 11 == 5 else number % 3 == 0
    return Piece(size, blocks, zeros, digests, 4.0 + number % 4, packed, pack_s, unpack_s, read_s, cached)
