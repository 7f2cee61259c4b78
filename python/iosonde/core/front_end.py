"""Who listens while a command works: a terminal, or a program that called a function.

A room says ``front_end().warn(…)``; what becomes of it, a line on stderr or an ``IosondeWarning``, the front end knows.
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from io import BytesIO
from pathlib import Path
from typing import Any, BinaryIO, Protocol

from .types import Trial
from .whole_file import write_atomically


class Progress(Protocol):
    """A line that shows how far something is."""

    def __call__(self, what: str, done: Any) -> None:
        """``done`` of the work is done, of late that on ``what``."""


class TrialProgress(Protocol):
    """Receiver of a campaign's progress."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """Start ``trial``; ``place`` trials of ``total`` are done."""

    def expect(self, rest_s: float) -> None:
        """Receive the expected time of the rest, in seconds from now, estimated from the trials so far."""

    def tick(self, beats: list[Any]) -> None:
        """Update about once a second; ``beats`` are the ranks' last reports."""

    def clear(self) -> None:
        """Finish: no more calls follow."""


class Stop(Protocol):
    """A way to end the campaign."""

    def check(self) -> None:
        """Raise KeyboardInterrupt to end it; called about once a second."""


class Silent:
    """A TrialProgress and a Stop that do nothing."""

    def trial(self, trial: Trial, place: int, total: int) -> None:
        """Do nothing."""

    def expect(self, rest_s: float) -> None:
        """Do nothing."""

    def tick(self, beats: list[Any]) -> None:
        """Do nothing."""

    def clear(self) -> None:
        """Do nothing."""

    def check(self) -> None:
        """Continue."""


class FrontEnd:
    """Nobody listens: what is said is dropped. Front ends override what they show.

    ``command_line``: the words of the command that was typed, with the program's name; () where none was. ``is_json``:
    the answer is printed as JSON.
    """

    command_line: tuple[str, ...] = ()
    is_json = False

    def warn(self, text: str) -> None:
        """Warn of something that the reader of a result has to know."""

    def remark(self, text: str) -> None:
        """Say what was chosen in the user's place."""

    def note(self, text: str) -> None:
        """Say what is being done, or was: of interest only while it happens."""

    def share_progress(self, what: str) -> AbstractContextManager[Progress]:
        """Return what shows the share of the work that is done."""
        return nullcontext(lambda what, done: None)

    def count_progress(self) -> AbstractContextManager[Progress]:
        """Return what shows how many of something are done."""
        return nullcontext(lambda what, done: None)

    def waiting(self) -> Progress:
        """Return what shows how long something has been waited for, in seconds."""
        return lambda what, done: None

    def trial_progress(self, expected_s: float) -> TrialProgress:
        """Return what shows how far trials are that should take so long together."""
        return Silent()

    def stopping(self) -> AbstractContextManager[Stop]:
        """Return what takes an interrupt at a moment when it does no harm."""
        return nullcontext(Silent())

    def open_output(self, form: str, path: str | None) -> AbstractContextManager[BinaryIO]:
        """Open what a table of this form is written to: the file, which appears whole or not at all, or, where none is
        named, stdout. Raises InputError."""
        return nullcontext(BytesIO()) if path is None else write_atomically(Path(path))


_listener: ContextVar[FrontEnd | None] = ContextVar("listener", default=None)


def get_front_end() -> FrontEnd:
    """Return who listens here and now."""
    return _listener.get() or FrontEnd()


@contextmanager
def use_front_end(listener: FrontEnd) -> Iterator[None]:
    """Let this front end listen meanwhile, where nobody does yet."""
    if _listener.get():
        yield
        return
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)
