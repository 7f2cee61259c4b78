"""The command line as the one who asks for a campaign: its words, and how it is spoken to and stopped."""

from __future__ import annotations

import sys

from iosonde import campaign
from iosonde.commands.lab.server_hands import build_server_hands

from .output import talk
from .progress import TrialLine, Waiting
from .stop import Interrupts


def caller() -> campaign.caller.Caller:
    """What is said goes to stderr, and Ctrl-C is taken when it does no harm."""
    again = (sys.executable, "-m", "iosonde.cli.main", *sys.argv[1:])
    return campaign.caller.Caller(tuple(sys.argv), again, talk, Waiting(), TrialLine, Interrupts, build_server_hands)
