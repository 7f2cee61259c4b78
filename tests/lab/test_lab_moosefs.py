"""MooseFS in a lab: two copies of everything, one of which is enough to read."""

from __future__ import annotations

import short_life

from iosonde.lab.filesystems import recipe_of
from iosonde.lab.status import status


def test_its_life():
    with short_life.a_lab("moosefs", servers=2, goal=2) as lab:
        layout = status(lab.name).layout
        assert (layout["copies"], layout["copied_by"]) == (2, "servers")
        written = short_life.each_sees_the_others_file(lab)
        n_bytes = (short_life.seen(lab, lab.clients[0]) / "of-client1").stat().st_size
        assert recipe_of(lab).placement(lab, lab.mount_point / "of-client1") == dict.fromkeys(
            ("server1", "server2"), n_bytes
        )
        short_life.dies_and_comes_back(lab, lab.servers[0], lambda: short_life.each_still_reads(lab, written))
        short_life.each_still_reads(lab, written)
