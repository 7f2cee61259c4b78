"""The last words of a rank that fails: a file in the folder of its trial, and a sentence on stderr, which reaches the
parent from nodes that do not share the folder. The parent reads the files here, and stderr by its watchdog."""

from __future__ import annotations

import contextlib
import json
import os
import traceback
from pathlib import Path

from iosonde.core.errors import IosondeError
from iosonde.engine import _native
from iosonde.ranks.hosts import this_host
from iosonde.ranks.watchdog import SAID


def leave(folder: Path, error: Exception) -> None:
    """Say why this rank ends. Called where ``error`` is handled; raises nothing, whatever cannot be written: the other
    ranks have still to be told."""
    message, hint = (error.message, error.hint) if isinstance(error, IosondeError) else (_in_words(error), "")
    host = this_host().name
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"error-{host}-{os.getpid()}.json"
        beside = path.with_suffix(".tmp")  # another rank's abort ends this one at any moment: half a file says nothing
        with contextlib.suppress(OSError):
            beside.write_text(json.dumps({"message": message, "hint": hint, "trace": traceback.format_exc()}))
        beside.rename(path)  # what a full disk cut, too: that is said
    here = f"on {host}: "
    sentence = " ".join(_sentence(message if message.startswith(here) else here + message, hint).split())
    with contextlib.suppress(OSError):
        os.write(2, f"{SAID}{sentence}\n".encode(errors="replace"))


def left(folder: Path) -> list[str]:
    """What the ranks that share the folder left, a sentence each."""
    return [_read(path) for path in sorted(folder.glob("error-*.json"))]


def _read(path: Path) -> str:
    try:
        error = json.loads(path.read_text())
        return _sentence(error["message"], error["hint"])
    except ValueError:
        return f"a rank failed and could not say why: is {path.parent.parent} full?"


def _sentence(message: str, hint: str) -> str:
    return f"{message}. {hint}".strip()


def _in_words(error: Exception) -> str:
    """Where and what, without Python's own spelling where the system spoke."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    if isinstance(error, _native.EngineError):
        return f"the engine cannot do this workload: {error}"
    return " ".join(f"{type(error).__name__}: {error}".split())
