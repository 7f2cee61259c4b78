"""Options that several commands about a measurement have, by what they say."""

from __future__ import annotations

from dataclasses import dataclass

from iosonde.core.option_kinds import Duration
from iosonde.core.options import Flag, Text

from .option_kinds import HostNames


@dataclass(kw_only=True)
class LauncherOptions:
    """How ranks are started, and on which hosts."""

    launcher: Text[str | None] = Text("NAME", "local, mpirun or slurm.", default_text="what fits")
    hosts: HostNames[str | None] = HostNames("FILE|NAMES", "One host per line, or n1,n2; for mpirun.")


@dataclass(kw_only=True)
class TurnOptions:
    """What to do while another iosonde measures on this machine."""

    wait: Duration[float | None] = Duration(
        "TIME", "Where another iosonde measures on this machine: wait for it so long, do not refuse at once."
    )
    alongside: Flag[bool] = Flag("Measure though another iosonde measures on this machine.")
