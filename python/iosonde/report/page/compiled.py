"""The page's templates compiled, kept in the user's cache: compiling them costs a tenth of a page.

What is kept is code that runs, so it is kept only in a directory that nobody else can write.
"""

from __future__ import annotations

from contextlib import suppress
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from iosonde.core.cache_folder import own_cache_folder
from iosonde.core.version import __version__

if TYPE_CHECKING:
    from jinja2 import BytecodeCache, Environment


def compiled_templates(environment: Environment) -> BytecodeCache | None:
    """Return where Jinja keeps what it compiled in this ``environment``; None where that cannot be, or somebody else
    could write there."""
    from jinja2 import FileSystemBytecodeCache

    digest = _environment_digest(environment)

    class ToleratingBytecodeCache(FileSystemBytecodeCache):
        """A full disk costs the time of compiling, not the page."""

        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(digest + source)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    folder = own_cache_folder()
    return None if folder is None else ToleratingBytecodeCache(str(folder), "page-%s.cache")


def _environment_digest(environment: Environment) -> str:
    """Return all that the compiled code depends on besides the template: Jinja looks for filters, and evaluates
    constants, when it compiles."""
    names = (sorted(registry) for registry in (environment.filters, environment.tests, environment.globals))
    switches = (environment.autoescape, environment.trim_blocks, environment.lstrip_blocks, environment.undefined)
    return repr((version("jinja2"), __version__, *names, *switches))
