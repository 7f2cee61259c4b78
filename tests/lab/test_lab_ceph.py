"""CephFS in a lab: two copies of every object, one of which is enough to read."""

from __future__ import annotations

import short_life

from iosonde.lab.status import status


def test_its_life():
    with short_life.a_lab("ceph", servers=2, size=2) as lab:
        layout = status(lab.name).layout
        assert (layout["copies"], layout["copied_by"], layout["servers_of_a_file"]) == (2, "servers", 2)
        written = short_life.each_sees_the_others_file(lab)
        short_life.dies_and_comes_back(lab, lab.servers[0], lambda: short_life.each_still_reads(lab, written))
        short_life.each_still_reads(lab, written)
