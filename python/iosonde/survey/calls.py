"""Calls to a tree that may never return, with the waiting time of each."""

import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class TreeCalls:
    """The calls of one thread: ``calls(os.open, …)``. Other threads may query its waiting time.

    ``since``: start of the current call (monotonic), None between calls; ``heard``: when the tree last returned
    requested data, as opposed to a lookup on the way.
    """

    def __init__(self) -> None:
        self.since: float | None = None
        self.heard = 0.0

    def __call__(self, call: Callable[_P, _T], *args: _P.args, **kwargs: _P.kwargs) -> _T:
        """Make one call."""
        self.since = time.monotonic()
        try:
            return call(*args, **kwargs)
        finally:
            self.since = None

    def hear(self) -> None:
        """Note that the tree returned the requested data."""
        self.heard = time.monotonic()

    def waited_s(self, now: float) -> float:
        """Return how long the current call has been waiting."""
        since = self.since
        return 0.0 if since is None else now - since
