"""The last words of a failing rank: a file in its trial's folder, and a line on stderr. The parent reads the files here
and stderr with its watchdog, because some nodes may not share the folder."""

import contextlib
import json
import os
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from iosonde.core.errors import IosondeError
from iosonde.core.message import Message, restore_message
from iosonde.engine import _native
from iosonde.ranks import watchdog
from iosonde.ranks.hosts import get_this_host


def report_failure(folder: Path, error: Exception) -> None:
    """Report why this rank ends. Called where ``error`` is handled. Raises nothing, even if it cannot write: the other
    ranks must still be informed."""
    failure = error.to_json() if isinstance(error, IosondeError) else _describe_error(error)
    message, hint = failure["message"], failure["hint"]
    host = get_this_host().name
    with contextlib.suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"error-{host}-{os.getpid()}.json"
        # Another rank's abort may end this one at any moment, and half a file says nothing.
        temporary_path = path.with_suffix(".tmp")
        with contextlib.suppress(OSError):
            temporary_path.write_text(json.dumps({**failure, "trace": traceback.format_exc()}))
        temporary_path.rename(path)  # a full disk may have cut this too, which the reader reports
    here = f"on {host}: "
    sentence = " ".join(_join_sentence(message if message.startswith(here) else here + message, hint).split())
    with contextlib.suppress(OSError):
        os.write(2, f"{watchdog.MESSAGE_PREFIX}{sentence}\n".encode(errors="replace"))


def read_errors(folder: Path) -> list[Message]:
    """Return a message for each rank that left an error in the folder."""
    return [_read_error(path) for path in sorted(folder.glob("error-*.json"))]


def message_to_json(message: str) -> dict[str, Any]:
    """Return the JSON from which another process rebuilds the message; plain text has no code."""
    code, values = (message.code, message.values) if isinstance(message, Message) else ("", {})
    return {"code": code, "text": str(message), "values": {name: str(value) for name, value in values.items()}}


def message_from_json(message: Mapping[str, Any]) -> Message:
    """Return the message that another process wrote (``message_to_json``)."""
    return restore_message(message["code"], message["text"], message["values"])


def describe_failed_ranks(outcome: watchdog.Outcome) -> Message:
    """Return a message about ranks that ended without a reason of their own."""
    ending = "signal {signal}" if outcome.signal else "exit code {exit_code}"
    return Message(
        "ranks-failed",
        "the ranks ended with " + ending + ": {output}",
        signal=outcome.signal,
        exit_code=outcome.exit_code,
        output=outcome.last_words(),
    )


def _read_error(path: Path) -> Message:
    try:
        error = json.loads(path.read_text())
        text = _join_sentence(error["message"], error["hint"])
        return restore_message(
            error.get("code", "unexpected-error"), text, error.get("values", {})
        )  # older ones have neither
    except ValueError:
        return Message("unreadable-failure", "a rank failed without a reason: is {path} full?", path=path.parent.parent)


def _join_sentence(message: str, hint: str) -> str:
    return f"{message}. {hint}".strip()


def _describe_error(error: Exception) -> dict[str, Any]:
    """Return the same keys as ``IosondeError.to_json``; system errors without Python's own wording."""
    if isinstance(error, OSError) and error.strerror:
        code, message = "io-error", f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    elif isinstance(error, _native.EngineError):
        code, message = "unsupported-workload", f"the engine cannot do this workload: {error}"
    else:
        code, message = "unexpected-error", " ".join(f"{type(error).__name__}: {error}".split())
    return {"kind": type(error).__name__, "code": code, "message": message, "hint": "", "values": {}}
