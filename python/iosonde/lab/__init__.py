"""An emulated cluster on one Linux machine, with a real file system on it, whose truth we set: hosts, links, disks.

``up`` brings one up, ``open_lab`` finds one that is there, ``down`` leaves nothing of it. A host is a process that holds
network, mount, UTS, IPC and PID name spaces: when it goes, everything in it goes.
"""

from __future__ import annotations

from .bring import up
from .description import Description
from .lab import Lab, labs, open_lab
from .teardown import down

__all__ = ["Description", "Lab", "down", "labs", "open_lab", "up"]
