"""Errors of programs that steps call, as one line at the end of the output: the run shows the last line."""

import os
import sys
from types import TracebackType

from iosonde.core.errors import IosondeError


def for_errors() -> None:
    """Print each uncaught IosondeError or OSError from now on as one line on stderr, with exit code 1 and no
    traceback."""
    before = sys.excepthook

    def report_error(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if not isinstance(error, (IosondeError, OSError)):
            before(kind, error, trace)
            return
        message = f"{error.message}; {error.hint}" if isinstance(error, IosondeError) and error.hint else str(error)
        os.write(2, f"{message}\n".encode(errors="replace"))

    sys.excepthook = report_error
