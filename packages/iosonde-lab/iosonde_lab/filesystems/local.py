"""A directory on the client's own disk: no network file system, to measure the lab itself."""

from iosonde_lab.hosts import LabHost
from iosonde_lab.lab import Lab

from .recipe import Recipe


class _Local(Recipe):
    title = "a directory on the clients' own disks"

    def start(self, lab: Lab) -> None:
        """Do nothing: no server exists."""

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Bind the client's own disk to the common mount point."""
        (client.disk / "data").mkdir(exist_ok=True) if client.disk.is_mount() else None
        client.shell(f'mkdir -p "{client.disk}/data"; mount --bind "{client.disk}/data" "{lab.mount_point}"')


RECIPE = _Local()
