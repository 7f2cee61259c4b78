"""Unpack archives (tar, compressed or not, and zip): every regular file into a scratch directory, or an error.

No file is returned before the whole archive is read, because the checksum of a compressed stream follows its data.
Unpacked files are numbered, so that no name in an archive leads elsewhere, is too long, or conflicts with another.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import shutil
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO, NamedTuple, NoReturn

from iosonde.core.errors import DataError
from iosonde.core.units import format_size

_SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
# Limits of one archive; a small file can unpack to more than any disk holds.
MAX_BYTES = 4 << 30
MAX_FILE_BYTES = 2 << 30
MAX_FILES = 1_000_000
# Logs of benchmarks compress 5 to 60 times. Below RATIO_FROM_BYTES the ratio is harmless.
MAX_RATIO = 250
RATIO_FROM_BYTES = 64 << 20
# Share of the free space that an archive may take, and share that stays free despite other writers.
MAX_SHARE_OF_FREE, MIN_FREE_SHARE = 1 / 2, 1 / 4
_BLOCK_BYTES = 1 << 20
ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CURE = "unpack it yourself, then import the directory with {spell.recursive}"
_MORE_SPACE = "set TMPDIR to a directory with more space"


class ArchiveFile(NamedTuple):
    """A regular file of an archive: its name there, and the path of its content."""

    name: PurePosixPath
    path: Path
    size: int


class _Entry(NamedTuple):
    """A regular file that is still packed, with its size as declared by the archive."""

    name: PurePosixPath
    size: int
    content: IO[bytes]


def is_archive(path: Path) -> bool:
    """Return whether the name is that of an archive."""
    return path.name.lower().endswith(_SUFFIXES)


def unpack_archive(archive: Path, file: BinaryIO, into: Path) -> list[ArchiveFile]:
    """Unpack the regular files of ``archive``, open as ``file``, into the directory ``into``, in order.

    Raises DataError if the archive is damaged, its files cannot be written, or it exceeds a limit.
    """
    files: list[ArchiveFile] = []
    with _translate_errors(archive, ""):
        budget = _Budget(archive, os.fstat(file.fileno()).st_size, into)
    entries = _iter_entries(file, budget)
    while True:
        with _translate_errors(archive, files[-1].name if files else ""):
            entry = next(entries, None)
        if entry is None:
            return files
        budget.expect(entry.name, entry.size)
        path = into / f"{len(files):07d}"
        _write_entry(archive, entry, path, budget)
        files.append(ArchiveFile(entry.name, path, entry.size))


def _write_entry(archive: Path, entry: _Entry, path: Path, budget: _Budget) -> None:
    """Copy one member completely. Raises DataError."""
    written = 0
    try:
        with path.open("wb") as file:
            while block := _read_block(archive, entry):
                written += len(block)
                budget.spend(len(block))
                file.write(block)
    except OSError as error:
        raise DataError(
            "io-error",
            "cannot unpack {member} of {archive} below {directory}: {reason}",
            _MORE_SPACE,
            archive=archive,
            member=entry.name,
            directory=path.parent.parent,
            reason=error.strerror,
        ) from error
    if written != entry.size:
        raise DataError(
            "truncated-file",
            "{archive}: {member} has {written_bytes} of {expected_bytes} bytes",
            "fetch the archive again",
            archive=archive,
            member=entry.name,
            written_bytes=written,
            expected_bytes=entry.size,
        )


def _read_block(archive: Path, entry: _Entry) -> bytes:
    with _translate_errors(archive, entry.name):
        return entry.content.read(_BLOCK_BYTES)


@contextmanager
def _translate_errors(archive: Path, name: PurePosixPath | str) -> Iterator[None]:
    """Name the archive in any error that the decoder of a damaged one raises."""
    try:
        yield
    except DataError:
        raise
    except Exception as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise DataError(
            "damaged-file",
            "cannot unpack {archive} (at {member}): {reason}" if name else "cannot unpack {archive}: {reason}",
            "fetch the archive again",
            archive=archive,
            member=name,
            reason=why,
        ) from error


class _Budget:
    """The space that one archive may take, checked before each member and during writing."""

    def __init__(self, archive: Path, packed: int, into: Path) -> None:
        self._archive, self._packed, self._into, self._name = archive, packed, into, PurePosixPath()
        self._free = count_free_bytes(into)
        self._written = self._unpacked = self._files = 0

    def expect(self, name: PurePosixPath, size: int) -> None:
        """Refuse a member that exceeds the remaining space. Raises DataError."""
        self._name, self._files = name, self._files + 1
        if self._files > MAX_FILES:
            self._refuse_archive("too-many-files", "has more than {limit} files", limit=MAX_FILES)
        if size > MAX_FILE_BYTES:
            self._refuse_archive(
                "file-too-large",
                "unpacks to a file of {size}; the limit is {limit}",
                size=format_size(size),
                limit=format_size(MAX_FILE_BYTES),
            )
        self.check(self._written + size)

    def spend(self, count: int) -> None:
        """Account for bytes of a member before they are written. Raises DataError."""
        self._written += count
        self.check(self._written)
        if count_free_bytes(self._into) - count < self._free * MIN_FREE_SHARE:
            self._refuse_archive("no-space", "fills {directory}", _MORE_SPACE, directory=self._into.parent)

    def unpack(self, count: int) -> None:
        """Account for bytes of the decompressed archive, including headers. Raises DataError."""
        self._unpacked += count
        self.check(self._unpacked)

    def check(self, total: int) -> None:
        """Refuse ``total`` bytes if they exceed a limit. Raises DataError."""
        if total > MAX_BYTES:
            self._refuse_archive("archive-too-large", "unpacks to more than {limit}", limit=format_size(MAX_BYTES))
        if total > RATIO_FROM_BYTES and total > MAX_RATIO * self._packed:
            self._refuse_archive("archive-too-large", "unpacks to more than {ratio} times its size", ratio=MAX_RATIO)
        if total > self._free * MAX_SHARE_OF_FREE:
            self._refuse_archive(
                "no-space",
                "unpacks to more than half of the {free} free in {directory}",
                _MORE_SPACE,
                free=format_size(self._free),
                directory=self._into.parent,
            )

    def _refuse_archive(self, code: str, problem: str, hint: str = _CURE, **values: object) -> NoReturn:
        """Raise DataError about the archive; ``problem`` is a template over ``values``."""
        raise DataError(
            code,
            "{archive}: it " + problem + (" (at {member})" if self._name.name else ""),
            hint,
            archive=self._archive,
            member=self._name,
            **values,
        )


def count_unpacked_bytes(content: bytes) -> int:
    """Return the number of bytes that a zip archive in memory declares to unpack to; 0 for anything else."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            return sum(info.file_size for info in archive.infolist())
    except zipfile.BadZipFile:
        return 0


def list_zip_names(content: bytes, archive: Path) -> list[str]:
    """Return the names of the files in a zip archive in memory. Raises DataError."""
    with _translate_errors(archive, ""), zipfile.ZipFile(io.BytesIO(content)) as file:
        return [info.filename for info in file.infolist() if not info.is_dir()]


def read_zip_file(content: bytes, archive: Path, name: str) -> bytes:
    """Return the content of one file of a zip archive in memory. Raises DataError."""
    with _translate_errors(archive, name), zipfile.ZipFile(io.BytesIO(content)) as file:
        return file.read(name)


def count_free_bytes(directory: Path) -> int:
    """Return the number of bytes that can still be written below ``directory``."""
    return shutil.disk_usage(directory).free


def _iter_entries(file: BinaryIO, budget: _Budget) -> Iterator[_Entry]:
    """Yield every regular file; then read and check the rest of the archive."""
    magic = file.read(6)
    file.seek(0)
    if magic[:2] == b"PK":
        yield from _iterate_zip_entries(file, budget)
    else:
        yield from _iterate_tar_entries(_Stream(decompress_blocks(file, magic), budget))


def _iterate_zip_entries(file: BinaryIO, budget: _Budget) -> Iterator[_Entry]:
    with zipfile.ZipFile(file) as archive:
        infos = [info for info in archive.infolist() if not info.is_dir()]
        budget.check(sum(info.file_size for info in infos))
        for info in infos:
            if name := _name_inside(info.filename):
                with archive.open(info) as content:
                    yield _Entry(name, info.file_size, content)


def _iterate_tar_entries(stream: _Stream) -> Iterator[_Entry]:
    with tarfile.open(fileobj=stream, mode="r|") as archive:  # type: ignore[call-overload]  # any object with read() will do
        while member := archive.next():
            archive.members.clear()  # the list would grow as large as the archive
            content = archive.extractfile(member) if member.isreg() else None
            if content is not None and (name := _name_inside(member.name)):
                yield _Entry(name, member.size, content)
        end = archive.offset
        stream.drain()
    if not stream.data_end <= end <= stream.position - tarfile.BLOCKSIZE:
        # tarfile ends silently at a damaged header, and at the end of the file.
        raise tarfile.ReadError(f"its list of files ends at byte {end}, without the end mark of an archive")


class _Stream:
    """The bytes of a tar archive from front to back. ``data_end`` is the position after the last nonzero byte."""

    def __init__(self, blocks: Iterator[bytes], budget: _Budget) -> None:
        self._blocks, self._budget, self._rest = blocks, budget, b""
        self.position = self.data_end = 0

    def read(self, size: int) -> bytes:
        """Return at most ``size`` bytes; empty at the end."""
        while not self._rest:
            block = next(self._blocks, None)
            if block is None:
                return b""
            self._budget.unpack(len(block))
            self._rest = block
        piece, self._rest = self._rest[:size], self._rest[size:]
        self.position += len(piece)
        if data := piece.rstrip(b"\0"):
            self.data_end = self.position - len(piece) + len(data)
        return piece

    def drain(self) -> None:
        """Read to the end, so that the checksums are verified."""
        while self.read(_BLOCK_BYTES):
            pass


def decompress_blocks(file: BinaryIO, magic: bytes) -> Iterator[bytes]:
    """Yield the content by blocks, decompressed if its ``magic`` (the first 6 bytes) is that of gzip, bzip2, xz or
    zstd. Raises the errors of the decoder, EOFError if the end is missing."""
    if magic.startswith(b"\x1f\x8b"):
        with gzip.GzipFile(fileobj=file) as stream:
            yield from iter(lambda: stream.read(_BLOCK_BYTES), b"")
    elif magic.startswith(b"BZh"):
        yield from _decode_streams(file, bz2.BZ2Decompressor)
    elif magic == b"\xfd7zXZ\0":
        yield from _decode_streams(file, lambda: lzma.LZMADecompressor(lzma.FORMAT_XZ))
    elif magic.startswith(ZSTD_MAGIC):
        yield from _decode_zstd(file)
    else:
        yield from iter(lambda: file.read(_BLOCK_BYTES), b"")


def _decode_zstd(file: BinaryIO) -> Iterator[bytes]:
    """Decode concatenated frames. A block is small because 4 bytes can decode to 128 KiB."""
    import zstandard

    decoder = None
    while block := file.read(1 << 10):
        while block:
            decoder = decoder or zstandard.ZstdDecompressor().decompressobj()
            try:
                yield decoder.decompress(block)
            except zstandard.ZstdError as error:
                raise EOFError(str(error)) from error
            block = decoder.unused_data
            decoder = None if decoder.eof else decoder
    if decoder:
        raise EOFError("its end is missing")


def _decode_streams(
    file: BinaryIO, new_decoder: Callable[[], bz2.BZ2Decompressor | lzma.LZMADecompressor]
) -> Iterator[bytes]:
    """Decode concatenated streams with only zeros between them. The standard library silently drops data after the
    first stream if it is damaged."""
    decoder, block = new_decoder(), b""
    while True:
        if decoder.eof:
            block = decoder.unused_data.lstrip(b"\0")
            while not block:
                if not (more := file.read(_BLOCK_BYTES)):
                    return
                block = more.lstrip(b"\0")
            decoder = new_decoder()
        elif decoder.needs_input:
            if not (block := file.read(_BLOCK_BYTES)):
                raise EOFError("its end is missing")
        else:
            block = b""
        if content := decoder.decompress(block, _BLOCK_BYTES):
            yield content


def _name_inside(name: str) -> PurePosixPath | None:
    """Return the path without components that lead elsewhere; None if nothing remains."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..") and "\0" not in part]
    return PurePosixPath(*parts) if parts else None
