"""A helper process for calls that may hang: ``python -m iosonde.foreign.child_program MODULE DESCRIPTOR``.

Requests are JSON lines over the socket: {"operation", "arguments"}. The functions are in ``MODULE.OPERATIONS``; they
take and return plain values. The answer is {"answer"} or {"error"}, preceded by {"alive"} whenever
``MODULE.progress()`` has changed. The process ends with the socket. It imports only the necessary modules, to start in
0.1 s.
"""

import importlib
import json
import os
import socket
import sys
import threading
import time
from typing import Any

from iosonde.core.errors import IosondeError, SystemFaultError, TargetFaultError
from iosonde.core.message import mark_deferred_option, set_default_spelling

ALIVE_EVERY_S = 0.2


class Line:
    """A socket that two threads write to."""

    def __init__(self, descriptor: int) -> None:
        self._socket = socket.socket(fileno=descriptor)
        self._alone = threading.Lock()
        self.requests = self._socket.makefile("r", encoding="ascii")

    def send(self, message: dict[str, Any]) -> None:
        """Send one line."""
        with self._alone:
            self._socket.sendall(json.dumps(message).encode("ascii") + b"\n")


def answer(operations: dict[str, Any], request: dict[str, Any]) -> dict[str, Any]:
    """Run one request and return its answer."""
    try:
        return {"answer": operations[request["operation"]](**request["arguments"])}
    except IosondeError as error:
        return {"error": error.to_json()}
    except OSError as error:
        template = "{path}: {reason}" if error.filename else "{reason}"
        fault = TargetFaultError("io-error", template, path=error.filename, reason=error.strerror or error)
        return {"error": fault.to_json()}
    except Exception as error:
        reason = " ".join(str(error).split())
        bug = SystemFaultError("internal-error", "{kind}: {reason}", kind=type(error).__name__, reason=reason)
        return {"error": bug.to_json()}


def _tell_progress(module: Any, line: Line) -> None:
    before = module.progress()
    while True:
        time.sleep(ALIVE_EVERY_S)
        now = module.progress()
        if now != before:
            line.send({"alive": now})
        before = now


def main() -> None:
    """Serve requests until the parent closes the socket or ends."""
    set_default_spelling(mark_deferred_option)
    module, line = importlib.import_module(sys.argv[1]), Line(int(sys.argv[2]))
    try:
        line.send({"ready": os.getpid()})
        if hasattr(module, "progress"):
            threading.Thread(target=_tell_progress, args=(module, line), daemon=True).start()
        for request in line.requests:
            line.send(answer(module.OPERATIONS, json.loads(request)))
    except OSError:
        return


if __name__ == "__main__":
    main()
