"""An emulated cluster on one Linux machine, with a real file system and known hosts, links and disks.
``up`` brings a lab up, ``open_lab`` opens an existing one, ``down`` removes it without a trace. A host is a process
that holds network, mount, UTS, IPC and PID name spaces; when it ends, everything in it ends.
"""

from .attend import FaultService, hands_of
from .bring import check, check_description, check_options, described, up
from .description import LabDescription
from .faults import MEANINGS as FAULTS
from .faults import Healing, LabFault, heal, in_force, inflict
from .faults import check as check_fault
from .hosts import LabHost
from .lab import Lab, inside, labs, only, open_lab, setting_of, target_of
from .listing import LabListing, Possible, keeps_data, listing
from .live import (
    Placement,
    count_operations,
    get_options,
    is_directory,
    mount,
    placement,
    placements,
    profile,
    remount,
    set_options,
    unmount,
)
from .patience import tell_waiting
from .place import on_host
from .run_words import check_shared, run_words
from .status import health_now, servers_now, status
from .teardown import down
from .tools import installing, need_root

__all__ = [
    "FAULTS",
    "FaultService",
    "Healing",
    "Lab",
    "LabDescription",
    "LabFault",
    "LabHost",
    "LabListing",
    "Placement",
    "Possible",
    "check",
    "check_description",
    "check_fault",
    "check_options",
    "check_shared",
    "count_operations",
    "described",
    "down",
    "get_options",
    "hands_of",
    "heal",
    "health_now",
    "in_force",
    "inflict",
    "inside",
    "installing",
    "is_directory",
    "keeps_data",
    "labs",
    "listing",
    "mount",
    "need_root",
    "on_host",
    "only",
    "open_lab",
    "placement",
    "placements",
    "profile",
    "remount",
    "run_words",
    "servers_now",
    "set_options",
    "setting_of",
    "status",
    "target_of",
    "tell_waiting",
    "unmount",
    "up",
]
