"""Ctrl-C at a moment of our choosing."""

from __future__ import annotations

import signal
from typing import Any


class Interrupts:
    """Ctrl-C or SIGTERM, taken at a moment of our choosing: Python drops an exception that comes while it forks.

    The second one interrupts at once. A SIGINT that the shell told us to ignore stays ignored.
    """

    def __init__(self) -> None:
        self._requested = False

    def __enter__(self) -> Interrupts:
        signals = [
            number for number in (signal.SIGINT, signal.SIGTERM) if signal.getsignal(number) is not signal.SIG_IGN
        ]
        self._before = {number: signal.signal(number, self._ask) for number in signals}
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _ask(self, _signal: int, _frame: Any) -> None:
        if self._requested:
            raise KeyboardInterrupt
        self._requested = True

    def check(self) -> None:
        """Interrupt now if it was asked for; called about once a second."""
        if self._requested:
            raise KeyboardInterrupt
