"""The caller of a campaign: the front end that listens here and now."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from iosonde.core.front_end import get_front_end

from .labs import find_server_hands

if TYPE_CHECKING:
    from iosonde.campaign.caller import Caller


def build_caller(words: Sequence[str] = ()) -> Caller:
    """Build the caller. ``words``: the command that is stored with every run where none was typed."""
    from iosonde.campaign.caller import Caller

    listener = get_front_end()
    typed = listener.command_line
    return Caller(
        command=typed or tuple(words),
        again=(sys.executable, "-m", "iosonde.cli.main", *typed[1:]) if typed else (),
        say=listener.note,
        waiting=listener.waiting(),
        progress=listener.trial_progress,
        stopping=listener.stopping,
        servers=find_server_hands,
    )
