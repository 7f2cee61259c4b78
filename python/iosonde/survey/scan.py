"""All files of a tree after a full scan: sizes, ages, kinds, and measurements of all their bytes.

A scan is the truth that samples are compared with. It is stored as a file (NumPy's ``npz``), so that samples are drawn
repeatedly from one scan. It contains no names of files or directories.
"""

import zipfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt

from iosonde.core.errors import InputError
from iosonde.core.whole_file import write_atomically

from .contents import Contents, LookOptions, Piece
from .opening import NOT_TRIED, WalkedFile
from .tree import SurveyedTree
from .walk import WalkOptions, files_from_drawn

MOST_FILES = 1_000_000
_VERSION = 1
_AT_ONCE = 4096  # files whose pieces are in memory together
Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True)
class TreeScan:
    """Files with known contents. For each file: ``sizes`` (bytes), ``ages`` (s, at the scan), ``kind`` (index in
    ``kinds``), ``part`` (number of its directory at ``depth``).

    ``pieces``: by name (``zeros``, ``entropy`` of 8 bits, a codec), a value from 0 to 1 of each piece; those of file i
    are from ``first[i]`` to ``first[i + 1]``. Empty if only the heads of files were read. ``n_omitted``: unreadable
    files.
    """

    sizes: Floats
    ages: Floats
    kinds: tuple[str, ...]
    kind: Integers
    depth: int
    part: Integers
    n_omitted: int
    pieces: dict[str, Floats] = field(default_factory=dict)
    first: Integers = field(default_factory=lambda: np.zeros(1, np.int64))

    def save(self, path: str) -> None:
        """Write the scan as a whole or not at all. Raises InputError, or SystemFaultError if the disk is full."""
        with write_atomically(Path(path)) as out:
            np.savez_compressed(
                out,
                version=_VERSION,
                sizes=self.sizes,
                ages=self.ages,
                kinds=np.array(self.kinds, str),
                kind=self.kind,
                depth=self.depth,
                part=self.part,
                left_out=self.n_omitted,
                first=self.first,
                names=np.array(list(self.pieces), str),
                values=np.array(list(self.pieces.values()), float),
            )


def load_scan(path: str) -> TreeScan:
    """Read a stored scan. Raises InputError."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            if int(archive["version"]) != _VERSION:
                raise InputError(
                    "unsupported-version",
                    "{path}: unsupported scan version {version}",
                    "scan again into another file",
                    path=path,
                    version=archive["version"],
                )
            pieces = dict(zip(archive["names"].tolist(), archive["values"], strict=True))
            return TreeScan(
                archive["sizes"],
                archive["ages"],
                tuple(archive["kinds"].tolist()),
                archive["kind"],
                int(archive["depth"]),
                archive["part"],
                int(archive["left_out"]),
                pieces,
                archive["first"],
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile) as error:
        raise InputError(
            "not-a-scan", "{path} is not a scan of a tree", "give a new file to write one", path=path
        ) from error


def scan_tree(
    tree: SurveyedTree,
    codecs: Sequence[str] = (),
    depth: int = 1,
    on_progress: Callable[[str, int], object] | None = None,
) -> TreeScan:
    """Read the head of every file and, with codecs, all of it. Raises InputError, NoAnswerError."""
    walk_options = WalkOptions(tree.path, 0, MOST_FILES)
    walked = tree.walk(walk_options, on_progress and (lambda files: on_progress("files seen", files)))
    if walked.files > MOST_FILES:
        raise InputError(
            "too-many-files",
            "{path}: {n_files:,} files are too many for a full scan",
            "give a part of the tree",
            path=tree.path,
            n_files=walked.files,
        )
    files, look_options = list(files_from_drawn(walked.by_count)), LookOptions(codecs, 0, every_piece=True)
    rows: list[tuple[WalkedFile, str, int]] = []
    pieces: dict[str, list[Floats]] = {name: [] for name in ("zeros", "entropy", *codecs) if codecs}
    for done in range(0, len(files), _AT_ONCE):
        some = files[done : done + _AT_ONCE]
        looked = tree.look_at_all(some, look_options, on_progress and partial(_report_read, on_progress, done))
        answered = [(file, contents) for file, contents in zip(some, looked, strict=True) if not contents.why]
        rows.extend((file, contents.kind or "", len(contents.pieces)) for file, contents in answered)
        for name, values in pieces.items():
            values.append(_collect_values(name, [contents for _, contents in answered]))
        if any(contents.why == NOT_TRIED for contents in looked):
            break
    joined = {name: np.concatenate(parts) if parts else np.zeros(0) for name, parts in pieces.items()}
    return _build_scan(rows, len(files) - len(rows), walked.now_s, depth, joined)


def _report_read(on_progress: Callable[[str, int], object], before: int, done: int) -> None:
    on_progress("files read", before + done)


def _build_scan(
    rows: Sequence[tuple[WalkedFile, str, int]], n_omitted: int, now_s: int, depth: int, pieces: dict[str, Floats]
) -> TreeScan:
    kinds, kind = np.unique(np.array([name for _, name, _ in rows], str), return_inverse=True)
    _, part = np.unique(np.array([_cut_to_depth(file.path, depth) for file, _, _ in rows], object), return_inverse=True)
    return TreeScan(
        np.array([file.size for file, _, _ in rows], float),
        np.array([max(0.0, now_s - file.modified_ns / 1e9) for file, _, _ in rows], float),
        tuple(kinds.tolist()),
        kind.astype(np.int64),
        depth,
        part.astype(np.int64),
        n_omitted,
        pieces,
        np.concatenate([[0], np.cumsum([many for _, _, many in rows])]).astype(np.int64),
    )


def _cut_to_depth(path: bytes, depth: int) -> bytes:
    return b"/".join(path.split(b"/")[:-1][:depth])


def _collect_values(name: str, looked: Sequence[Contents]) -> Floats:
    return np.fromiter((_compute_value(name, piece) for contents in looked for piece in contents.pieces), float)


def _compute_value(name: str, piece: Piece) -> float:
    """Return a measurement as a survey defines it, from 0 to 1."""
    if name == "zeros":
        return piece.zeros / piece.blocks if piece.blocks else 0.0
    return piece.entropy / 8 if name == "entropy" else min(1.0, piece.compressed[name] / piece.size)
