"""The page's templates compiled, kept in the user's cache: compiling them costs a tenth of a page.

What is kept is code that runs, so it is kept only in a directory that nobody else can write.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from iosonde.core.cache_folder import own_cache_folder

if TYPE_CHECKING:
    from jinja2 import BytecodeCache


def compiled_templates() -> BytecodeCache | None:
    """Where Jinja keeps what it compiled; None where that cannot be, or somebody else could write there."""
    from jinja2 import FileSystemBytecodeCache

    class Kept(FileSystemBytecodeCache):
        """A full disk costs the time of compiling, not the page."""

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    folder = own_cache_folder()
    return None if folder is None else Kept(str(folder), "page-%s.cache")
