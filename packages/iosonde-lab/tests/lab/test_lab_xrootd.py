"""XRootD in a lab: every file whole on one of two servers."""

import pytest
import short_life

from iosonde_lab.filesystems import recipe_of
from iosonde_lab.status import status


@pytest.mark.slow
def test_its_life():
    with short_life.a_lab("xrootd", servers=2) as lab:
        assert status(lab.name).layout["copies"] == 1
        written = short_life.each_sees_the_others_file(lab)
        for name in written:
            n_bytes = (short_life.seen(lab, lab.clients[0]) / name).stat().st_size
            assert sorted(recipe_of(lab).placement(lab, lab.mount_point / name).values()) == [0, n_bytes]
        short_life.dies_and_comes_back(lab, lab.servers[0])
        short_life.each_still_reads(lab, written)
