"""SSHFS in a lab: one server, whose sshd is killed and comes back."""

import short_life

from iosonde_lab.filesystems import recipe_of
from iosonde_lab.status import status


def test_its_life():
    with short_life.a_lab("sshfs", servers=1) as lab:
        assert status(lab.name).layout["copies"] == 1
        written = short_life.each_sees_the_others_file(lab)
        for name in written:
            placed = recipe_of(lab).placement(lab, lab.mount_point / name)
            assert placed == {"server1": (short_life.seen(lab, lab.clients[0]) / name).stat().st_size}
        short_life.dies_and_comes_back(lab, lab.servers[0])
        short_life.each_still_reads(lab, written)
