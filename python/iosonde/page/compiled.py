"""Compiled templates of the page in the user's cache: compiling them costs a tenth of a page.
Compiled templates are executable code, so the cache is used only if nobody else can write to it.
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
    """Return the cache of what Jinja compiles in this ``environment``.
    None without a cache directory, or if somebody else could write to it.
    """
    from jinja2 import FileSystemBytecodeCache

    digest = _environment_digest(environment)

    class ToleratingBytecodeCache(FileSystemBytecodeCache):
        """Cache that ignores a full disk, which costs only the time of compiling."""

        def get_source_checksum(self, source: str) -> str:
            return super().get_source_checksum(digest + source)

        def dump_bytecode(self, bucket: Any) -> None:
            with suppress(OSError):
                super().dump_bytecode(bucket)

    folder = own_cache_folder()
    return None if folder is None else ToleratingBytecodeCache(str(folder), "page-%s.cache")


def _environment_digest(environment: Environment) -> str:
    """Return what compiled code depends on besides the template.
    Jinja looks up filters and evaluates constants at compile time.
    """
    names = (sorted(registry) for registry in (environment.filters, environment.tests, environment.globals))
    switches = (environment.autoescape, environment.trim_blocks, environment.lstrip_blocks, environment.undefined)
    return repr((version("jinja2"), __version__, *names, *switches))
