"""``--subject-commit``: the measured version of the file system under test."""

from __future__ import annotations

from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.ranks import machine

AUTO = "auto"
_DIRTY = "+"  # after the commit of a tree with uncommitted changes


def subject_commit(word: str | None) -> str | None:
    """Return the word itself; for ``auto`` the commit of the current Git repository, with a ``+`` for uncommitted
    changes. Raises InputError without a commit."""
    if word is None:
        return None
    if not word.strip():
        raise InputError(
            "empty-option-value",
            "{spell.subject_commit} is empty",
            "give a commit, any other text without blanks, or auto",
        )
    if word != AUTO:
        return word.strip()
    software = machine.software(Path.cwd())
    if not software.get("commit"):
        raise InputError(
            "not-a-git-repository",
            "{spell.subject_commit} auto: {directory} is not in a Git repository with a commit",
            "change to the repository of the file system under test, or name the commit",
            directory=Path.cwd(),
        )
    return f"{software['commit']}{_DIRTY if software['commit_modified'] else ''}"
