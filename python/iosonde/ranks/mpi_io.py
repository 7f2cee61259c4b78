"""A file that all ranks open through MPI-IO: its hints, this rank's view of it, reads and writes.

The effect of a hint depends on the library: MPICH and Intel MPI have ROMIO. Open MPI has its own OMPIO, which ignores
ROMIO hints, unless disabled (``mpirun --mca io ^ompio``).
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iosonde.core.errors import SystemFaultError

from .mpi import Ranks


class SharedFile:
    """An existing file, open for reading and, if ``writes``, for writing. All ranks must open and close it together.

    Raises SystemFaultError, with the library's message, for all failures here or later.
    """

    def __init__(self, ranks: Ranks, path: Path, writes: bool, hints: Mapping[str, str]) -> None:
        self._mpi, communicator = ranks.library()
        info = self._mpi.Info.Create()
        for name, value in hints.items():
            info.Set(name, value)
        mode = self._mpi.MODE_RDWR if writes else self._mpi.MODE_RDONLY
        with self._wrap_errors(f"open of {path}"):
            self._file = self._mpi.File.Open(communicator, str(path), mode, info)
        info.Free()

    def hints(self) -> dict[str, str]:
        """Return all hints in effect, by name, as reported by the library."""
        info = self._file.Get_info()
        names = [info.Get_nthkey(place) for place in range(info.Get_nkeys())]
        hint_values = {str(name): str(info.Get(name)).strip() for name in names}
        info.Free()
        return hint_values

    def view(self, base: int, piece: int, hole: int) -> None:
        """Set the view of this rank: pieces of ``piece`` bytes, ``hole`` bytes apart, starting at
        ``base``. Collective."""
        block = self._mpi.BYTE.Create_contiguous(piece)
        spaced = block.Create_resized(0, piece + hole)
        spaced.Commit()
        with self._wrap_errors("file view"):
            self._file.Set_view(base, self._mpi.BYTE, spaced, "native")
        spaced.Free()
        block.Free()

    def move(self, kind: str, at: int, buffer: Any, collective: bool) -> int:
        """``read`` into or ``write`` from ``buffer``, starting at byte ``at`` of the view; return the number of bytes
        moved."""
        call = getattr(self._file, f"{kind.capitalize()}_at{'_all' if collective else ''}")
        status = self._mpi.Status()
        with self._wrap_errors(kind):
            call(at, buffer, status)
        return int(status.Get_count(self._mpi.BYTE))

    def sync(self) -> None:
        """Flush to storage. Collective."""
        with self._wrap_errors("sync"):
            self._file.Sync()

    def close(self) -> None:
        """Close the file. Collective."""
        with self._wrap_errors("close"):
            self._file.Close()

    @contextmanager
    def _wrap_errors(self, what: str) -> Iterator[None]:
        try:
            yield
        except self._mpi.Exception as error:
            raise SystemFaultError(
                "io-error",
                "MPI-IO {operation}: {reason}",
                "check the file system and the hints",
                operation=what,
                reason=" ".join(error.Get_error_string().split()),
            ) from error
