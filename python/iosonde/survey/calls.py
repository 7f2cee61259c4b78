"""Calls to a tree, any of which may never return: since when each is waited for."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import ParamSpec, TypeVar

_P = ParamSpec("_P")
_T = TypeVar("_T")


class TreeCalls:
    """The calls of one thread: ``calls(os.open, …)``. Others may ask it how long it has waited.

    ``since``: when the call that is under way began (monotonic), None between calls; ``heard``: when the tree last
    gave what it was asked for, not only a look on the way there.
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
        """Note that the tree gave what it was asked for."""
        self.heard = time.monotonic()

    def waited_s(self, now: float) -> float:
        """How long the call that is under way has been waited for."""
        since = self.since
        return 0.0 if since is None else now - since
