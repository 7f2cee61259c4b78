"""What goes wrong in a program that a step calls ends its output as one sentence: the run shows the last line of it."""

from __future__ import annotations

import os
import sys
from types import TracebackType

from iosonde.core.errors import IosondeError


def for_errors() -> None:
    """From now on an uncaught IosondeError or OSError is one line on stderr, and exit code 1, without a traceback."""
    before = sys.excepthook

    def report_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, (IosondeError, OSError)):
            before(kind, error, trace)
            return
        message = f"{error.message}; {error.hint}" if isinstance(error, IosondeError) and error.hint else str(error)
        os.write(2, f"{message}\n".encode(errors="replace"))

    sys.excepthook = report_error
