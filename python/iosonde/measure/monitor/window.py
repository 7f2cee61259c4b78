"""The files of a monitor: a window that moves on with every look, so that no look meets what a recent one touched.

A file is written by one look, its attributes are read a third of the window later, it is opened after two thirds, and
read and removed at the end. So the files never take more than a fixed space, and none is in a cache of this node
because a look put it there a moment ago.
"""

from dataclasses import dataclass

EACH = 4  # files, thus operations of a kind, of a look
FILE_BYTES = 1 << 20
DIRECTORY = ".iosonde-monitor"
TEMPLATE = "f"
_MIN_LOOKS = 3  # a third of the window is at least one look
MIN_SPACE_BYTES = (_MIN_LOOKS + 1) * EACH * FILE_BYTES
LOOK_BYTES = 2 * EACH * FILE_BYTES  # written and read


@dataclass(frozen=True)
class Window:
    """The files at the beginning of look ``number``, counted from 0: those of the ``looks`` before it."""

    number: int
    looks: int

    @property
    def to_read(self) -> int:
        """Return the first of the files that this look reads and removes."""
        return self.number * EACH

    @property
    def to_open(self) -> int:
        """Return the first of the files that this look opens."""
        return (self.number + self.looks // 3) * EACH

    @property
    def to_stat(self) -> int:
        """Return the first of the files whose attributes this look reads."""
        return (self.number + 2 * self.looks // 3) * EACH

    @property
    def to_write(self) -> int:
        """Return the first of the files that this look writes."""
        return (self.number + self.looks) * EACH

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the files that exist before the look."""
        return name_files(self.to_read, self.looks * EACH)


def name_files(first: int, count: int = EACH) -> tuple[str, ...]:
    """Return the names of ``count`` files, as the engine makes them."""
    return tuple(f"{TEMPLATE}{number:06d}" for number in range(first, first + count))


def count_looks(space_bytes: int) -> int:
    """Return how many looks the window holds, at least 3, so that its files and those being written fit."""
    return max(_MIN_LOOKS, space_bytes // (EACH * FILE_BYTES) - 1)
