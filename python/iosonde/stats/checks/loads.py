"""Loads of disks in the time of runs, for the checks of them."""

from collections.abc import Sequence

from iosonde.core.device_loads import DeviceLoad, read_device_loads, select_disks
from iosonde.core.stored import StoredRun


def list_disk_loads(runs: Sequence[StoredRun]) -> list[tuple[StoredRun, DeviceLoad]]:
    """Return each run with each of its disks that a log has; partitions and devices made of others are left out."""
    return [(run, load) for run in runs for load in select_disks(read_device_loads(run.facts))]
