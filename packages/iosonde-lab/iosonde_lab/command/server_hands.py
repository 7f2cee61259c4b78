"""Hands on the servers of the lab that a campaign is measured in."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from iosonde_lab import api as labs

if TYPE_CHECKING:
    from iosonde.measure.servers_seen import ServerHands


def build_server_hands(target: Path, profile: bool) -> ServerHands | None:
    """Return access to the servers of a target on a lab's file system; None where this is no host of a lab.
    ``profile``: they are to count."""
    from iosonde.measure.servers_seen import ServerHands

    if not labs.inside():
        return None
    lab = labs.open_lab()
    if not target.is_relative_to(lab.mount_point):
        return None
    return ServerHands(
        states=lambda: {name: (server.says, server.well) for name, server in labs.servers_now(lab).items()},
        health=lambda: labs.health_now(lab),
        count=(lambda: labs.count_operations(lab, True)) if profile else None,
        counted=(lambda: labs.profile(lab).to_dict()) if profile else None,
        tell=(sys.executable, "-m", "iosonde.cli.main", "lab", "profile", "--json") if profile else (),
    )
