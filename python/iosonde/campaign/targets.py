"""The measured directories: one, or several as levels of the factor ``target``.

``--target NAME=DIR`` names a level; each of several bare directories gets the shortest distinguishing name.
"""

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from iosonde.core.errors import InputError, IosondeError

# Text before the first "=" is a name unless it may be part of a path: ./a=b is a directory.
_TARGET_OPTION = re.compile(r"([^/=\s~]+)=(.+)")


def parse_targets(words: Sequence[str]) -> dict[str, str]:
    """Return name → directory from options; the name of a single bare directory is empty. Raises InputError."""
    pairs = [_split_word(word) for word in words]
    bare = [Path(os.path.abspath(directory)) for name, directory in pairs if not name]
    default_names = iter(derive_target_names(bare) if len(pairs) > 1 else [""])
    targets = [(name or next(default_names), directory) for name, directory in pairs]
    names = [name for name, _ in targets]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise InputError(
            "duplicate-target",
            "two targets are called '{name}'",
            "give each its own name: {spell.target:NAME=DIR}",
            name=twice,
        )
    return dict(targets)


def derive_target_names(paths: Sequence[Path]) -> list[str]:
    """Return the shortest distinguishing names of paths: one part of each, as near to its end as possible, else their
    ends."""
    parts = [path.parts for path in paths]
    longest = max(map(len, parts), default=0)
    for place in range(1, longest + 1):
        suffixes = [part[-place] for part in parts if len(part) >= place]
        if len(set(suffixes)) == len(parts):
            return suffixes
    for length in range(1, longest + 1):
        ends = [str(Path(*part[-length:])) for part in parts]
        if len(set(ends)) == len(parts):
            return ends
    return [str(path) for path in paths]


@contextmanager
def prefix_target_errors(name: str) -> Iterator[None]:
    """Prefix errors of a named target with its name."""
    try:
        yield
    except IosondeError as error:
        mark = f"target {name}"
        if name and not error.message.startswith(f"{mark}: "):
            raise error.prefixed(mark) from error
        raise


def _split_word(word: str) -> tuple[str, str]:
    match = _TARGET_OPTION.fullmatch(word)
    return (match[1], match[2]) if match else ("", word)
