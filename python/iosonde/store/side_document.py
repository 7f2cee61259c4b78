"""A document of a store about its runs, separate from them, as runs never change: ``factors.json``, ``loads.json``."""

from __future__ import annotations

import contextlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Generic, TypeVar

from iosonde.core.errors import DataError

from .files import Disk, build_write_error, clean_leftovers, lock_directory, read_file_state, read_plain, replace_file
from .runfile import SELF_SHA256, decode, encode_sealed, is_sealed

_T = TypeVar("_T")


class SideDocument(ABC, Generic[_T]):
    """A sealed file of a store. A subclass has its name, what is lost with it (``LOST``), and its conversion from and
    to JSON: ``decode_content`` raises AttributeError, KeyError, TypeError, ValueError for anything else."""

    FILE = ""
    LOST = ""

    def __init__(self, store: Path, disk: Disk) -> None:
        self._store, self._disk = store, disk

    @abstractmethod
    def build_empty(self) -> _T:
        """Return the content without a file."""

    @abstractmethod
    def decode_content(self, content: dict[str, Any]) -> _T:
        """Return the content of a decoded file."""

    @abstractmethod
    def encode_content(self, content: _T) -> dict[str, Any]:
        """Return the content as plain data."""

    @property
    def path(self) -> Path:
        """Return the file; it does not exist if nothing was added."""
        return self._store / self.FILE

    @property
    def state(self) -> object:
        """Return a value that changes when the file is replaced."""
        return read_file_state(self.path)

    def read(self) -> _T:
        """Return the content; empty without a file. Raises DataError."""
        try:
            text = read_plain(self.path)
            content = decode(text)
            if SELF_SHA256 in content and not is_sealed(text, content):
                raise DataError("checksum-mismatch", "it was changed after it was written")
            return self.decode_content(content)
        except FileNotFoundError:
            return self.build_empty()
        except (AttributeError, DataError, OSError, KeyError, TypeError, ValueError) as error:
            raise DataError(
                "damaged-file",
                "{path} is damaged: {lost}",
                "restore it from a copy, or remove it and repeat the import",
                path=self.path,
                lost=self.LOST,
            ) from error

    def change(self, edit: Callable[[_T], _T]) -> _T:
        """Replace the content by ``edit`` of it, and return it. Raises DataError, SystemFaultError."""
        with self._lock_store():
            clean_leftovers(self._disk, self._store, self.FILE)
            old = self.read()
            new = edit(old)
            if new != old:
                try:
                    replace_file(self._disk, self.path, encode_sealed(self.encode_content(new)))
                except OSError as error:
                    raise build_write_error(error, "cannot write {path}", path=self.path) from error
        return new

    @contextlib.contextmanager
    def _lock_store(self) -> Iterator[None]:
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(lock_directory(self._store))
            except OSError as error:
                raise build_write_error(error, "cannot write in {path}", path=self._store) from error
            yield
