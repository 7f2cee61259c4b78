"""An emulated cluster on one Linux machine, with a real file system on it, whose truth we set: hosts, links, disks.

``up`` brings one up, ``open_lab`` finds one that is there, ``down`` leaves nothing of it. A host is a process that
holds network, mount, UTS, IPC and PID name spaces: when it goes, everything in it goes.
"""

from __future__ import annotations

from .bring import up
from .description import LabDescription
from .description import of_words as described
from .hosts import LabHost
from .lab import Lab, labs, only, open_lab, target_of
from .listing import listing
from .run_words import run_words
from .status import status
from .teardown import down

__all__ = ["LabDescription", "LabHost", "Lab", "described", "down", "labs", "listing", "only", "open_lab", "run_words",
           "status", "target_of", "up"]  # fmt: skip
