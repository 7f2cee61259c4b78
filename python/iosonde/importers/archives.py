"""Archives of results (tar, compressed or not, and zip), unpacked beside: nothing in them can name another place."""

from __future__ import annotations

import shutil
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from iosonde.core.errors import DataError

from .text import FILE_BYTES

_SUFFIXES = (".zip", ".tar", ".tgz", ".tar.gz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
# Of all members together: a small file can unpack to more than any disk.
MOST_BYTES = 64 << 30
MOST_FILES = 1_000_000


def is_archive(path: Path) -> bool:
    """By its name."""
    return path.name.lower().endswith(_SUFFIXES)


def unpack(archive: Path, into: Path) -> None:
    """Its regular files, below ``into``. Raises DataError where it is damaged, or holds more than is imported."""
    total = 0
    try:
        for count, (name, size, stream) in enumerate(_members(archive), 1):
            total += size
            if total > MOST_BYTES or size > FILE_BYTES or count > MOST_FILES:
                raise DataError(
                    f"{archive} unpacks to more than is read from an archive (at {name})", "unpack it yourself"
                )
            place = into / name
            place.parent.mkdir(parents=True, exist_ok=True)
            with place.open("wb") as file:
                shutil.copyfileobj(stream, file)
    except (tarfile.TarError, zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as error:
        raise DataError(f"{archive} cannot be unpacked: {error}", "see whether it is whole") from error


def _members(archive: Path) -> Iterator[tuple[PurePosixPath, int, IO[bytes]]]:
    """Path, size and content of every regular file."""
    if zipfile.is_zipfile(archive):
        with zipfile.ZipFile(archive) as whole:
            for one in whole.infolist():
                if not one.is_dir() and (name := _inside(one.filename)):
                    with whole.open(one) as stream:
                        yield name, one.file_size, stream
        return
    with tarfile.open(archive) as tape:
        for member in tape:
            content = tape.extractfile(member) if member.isreg() else None
            if content is not None and (name := _inside(member.name)):
                yield name, member.size, content


def _inside(name: str) -> PurePosixPath | None:
    """The path without anything that leads elsewhere; None where nothing is left."""
    parts = [part for part in name.replace("\\", "/").split("/") if part not in ("", ".", "..") and "\0" not in part]
    return PurePosixPath(*parts) if parts else None
