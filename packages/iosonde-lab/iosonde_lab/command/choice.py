"""Which lab a command is about, and becoming a command on one of its hosts."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from iosonde.core.front_end import get_front_end
from iosonde.core.options import Text

if TYPE_CHECKING:
    from iosonde_lab.api import Lab, LabHost


@dataclass(kw_only=True)
class LabChoice:
    """The option of commands about a lab that is up."""

    lab: Text[str | None] = Text("NAME", "Which lab, where there are several.")

    def open_lab(self) -> Lab:
        """Open the lab, as root: whoever is not root learns that first. Raises InputError."""
        from iosonde_lab import api as labs

        share_waiting()
        labs.need_root()
        return labs.open_lab(self.lab)


def share_waiting() -> None:
    """Have the front end say what is waited for from now on."""
    from iosonde_lab import api as labs

    labs.tell_waiting(get_front_end().waiting())


def become_command(lab: Lab, host: LabHost, words: Sequence[str]) -> NoReturn:
    """Become a command on a host, in the working directory."""
    inside = host.words(*words, directory=os.getcwd())
    os.execvpe(inside[0], inside, host.environment())
