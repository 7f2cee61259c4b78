"""``python tests/stub.py`` writes python/iosonde/__init__.pyi: where editors and type checkers find each function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from iosonde.commands import abouts

STUB = Path(__file__).parents[1] / "python" / "iosonde" / "__init__.pyi"
HEAD = """# Written by `make golden` from commands/*/__init__.py.
from .core.errors import IosondeError as IosondeError
from .core.errors import IosondeWarning as IosondeWarning
from .core.version import __version__ as __version__
from .commands.opened import open as open
"""


def stub() -> str:
    """The whole file."""
    return HEAD + "\n".join(sorted(_imports())) + "\n"


def _imports() -> Iterator[str]:
    for folder, about in abouts().items():
        for name in about.functions:
            yield f"from .commands.{folder}.options import {name} as {name}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
