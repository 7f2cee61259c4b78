"""``python tests/stub.py`` writes python/iosonde/__init__.pyi: where editors and type checkers find each function."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import iosonde
from iosonde.commands import load_abouts

STUB = Path(__file__).parents[1] / "python" / "iosonde" / "__init__.pyi"
HEAD = "# Written by `make golden` from commands/*/__init__.py.\n"


def stub() -> str:
    """The whole file, in the order of the linter."""
    return HEAD + "\n".join(sorted(_imports())) + "\n"


def _imports() -> Iterator[str]:
    homes = {name: f"commands.{folder}.options" for folder, about in load_abouts().items() for name in about.functions}
    for name, home in (iosonde._HOMES | {"__version__": "core.version"} | homes).items():
        yield f"from .{home} import {name} as {name}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
