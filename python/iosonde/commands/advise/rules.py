"""The rules of an advice as files: what they are called, and the directory that holds them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iosonde.commands.files import write_files
from iosonde.core.errors import InputError
from iosonde.core.message import current_spelling
from iosonde.core.option_kinds import Setting
from iosonde.core.options import V
from iosonde.core.pairs import pair_of


class Renaming(Setting[V]):
    """New names: ``A=KEY``, repeated, or a dict in Python. A key may hold a comma."""

    def read(self, text: Any) -> dict[str, str]:
        """Return name → key. Raises InputError."""
        return dict(pair_of(pair, current_spelling()(self.flag, "")) for pair in text)


def write_rules(directory: Path, files: Mapping[str, str]) -> None:
    """Write the rules into a directory that holds no others. Raises InputError."""
    stale = [path.name for path in directory.glob("rule-*") if path.name not in files] if directory.is_dir() else []
    if stale:
        raise InputError(
            "directory-not-empty",
            "{directory} holds {file} of another advice",
            "name an empty directory",
            directory=directory,
            file=stale[0],
        )
    write_files(directory, files)
