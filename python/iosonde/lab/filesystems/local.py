"""A directory on the client's own disk: no file system over a network, to see what the lab itself does."""

from __future__ import annotations

from iosonde.lab.hosts import LabHost
from iosonde.lab.lab import Lab

from .recipe import Layout, Recipe


class _Local(Recipe):
    title = "a directory on the clients' own disks"

    def start(self, lab: Lab) -> None:
        """Nothing serves."""

    def mount(self, lab: Lab, client: LabHost) -> None:
        """Show the client's own disk at the common place."""
        (client.disk / "data").mkdir(exist_ok=True) if client.disk.is_mount() else None
        client.shell(f'mkdir -p "{client.disk}/data"; mount --bind "{client.disk}/data" "{lab.mount_point}"')

    def layout(self, lab: Lab) -> Layout:
        """One copy, where the client is."""
        return Layout()


RECIPE = _Local()
