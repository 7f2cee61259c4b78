"""``--subject-commit``: which version of the file system under test was measured."""

from __future__ import annotations

from pathlib import Path

from iosonde.core.errors import InputError
from iosonde.ranks import machine

AUTO = "auto"
_DIRTY = "+"  # after the commit of a tree with changes that are not committed


def subject_commit(word: str | None) -> str | None:
    """The word itself; of ``auto`` the commit of the Git repository that we are in, with a ``+`` where files differ
    from it. Raises InputError where there is none."""
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
            "{spell.subject_commit} auto: {directory} is in no Git repository that has a commit",
            "change to that of the file system under test, or name the commit",
            directory=Path.cwd(),
        )
    return f"{software['commit']}{_DIRTY if software['commit_modified'] else ''}"
