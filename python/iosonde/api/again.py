"""What was measured from Python, as the command that measures it again: kept with every run, shown on the page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from .words import level_text, levels_of, names


def run_command(what: Any, words: Mapping[str, Any]) -> tuple[str, ...]:
    """``iosonde run`` with the words of the function :func:`run` that were given."""
    options = [option for word, value in words.items() for option in _options(word, value)]
    return ("iosonde", "run", *([] if what is None else [str(what)]), *options)


def levels(settings: Any) -> Iterator[str]:
    """``{"n": [1, 2]}`` as what ``--set`` takes: ``n=1,2``; texts stay as they are. Raises InputError."""
    if isinstance(settings, Mapping):
        yield from (f"{level_text(name)}={','.join(levels_of(several, 'set'))}" for name, several in settings.items())
    else:
        yield from names(settings, "set")


def target_words(targets: Any) -> list[str]:
    """``{"nfs": "/mnt/n"}`` as what ``--target`` takes: ``nfs=/mnt/n``; one path, or several, stay as they are."""
    if isinstance(targets, Mapping):
        return [f"{name}={path}" for name, path in targets.items()]
    return [str(path) for path in ([targets] if isinstance(targets, str | Path) else targets)]


def _options(word: str, value: Any) -> Iterator[str]:
    flag = f"--{word.replace('_', '-')}"
    if value is None or (value is False and word != "shared_writes"):
        return
    if word == "set":
        yield from (part for text in levels(value) for part in (flag, text))
    elif word == "target":
        yield from (part for text in target_words(value) for part in (flag, text))
    elif isinstance(value, bool):
        yield flag if value else flag.replace("--", "--no-", 1)
    else:
        several = isinstance(value, Iterable) and not isinstance(value, str)
        yield from (flag, ",".join(map(str, value)) if several else level_text(value))
