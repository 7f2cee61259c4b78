"""The caller of a campaign: functions for output, progress and stopping. The defaults are silent and never stop."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path

from iosonde.core.front_end import Silent, Stop, TrialProgress
from iosonde.measure.servers_seen import ServerHands

__all__ = ["Caller", "ServerHands", "Silent", "Stop", "TrialProgress"]


@dataclass(frozen=True)
class Caller:
    """``command`` is stored with every run, ``again`` is the command by which a batch job starts the same campaign.

    ``say`` takes a line for the user, ``waiting`` the awaited part of the target and the seconds so far. ``progress``
    takes the expected seconds of all trials. ``stopping`` is active while trials are measured. ``servers`` returns
    access to the servers of a target in an emulated cluster, with counters on request; None elsewhere.
    """

    command: tuple[str, ...] = ()
    again: tuple[str, ...] = ()
    say: Callable[[str], None] = lambda _: None
    waiting: Callable[[str, float], None] = lambda _what, _waited_s: None
    progress: Callable[[float], TrialProgress] = lambda _expected_s: Silent()
    stopping: Callable[[], AbstractContextManager[Stop]] = lambda: nullcontext(Silent())
    servers: Callable[[Path, bool], ServerHands | None] = lambda _target, _profile: None
