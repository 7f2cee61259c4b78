"""OpenAFS in a lab: one server, all of whose processes are killed and come back."""

import pytest
import short_life

from iosonde_lab import api as labs
from iosonde_lab.status import status


@pytest.mark.slow
def test_its_life():
    with short_life.a_lab("openafs", servers=1) as lab:
        found = status(lab.name)
        assert found.layout["copies"] == 1 and not found.problem
        written = short_life.each_sees_the_others_file(lab)
        short_life.dies_and_comes_back(lab, lab.servers[0])
        short_life.each_still_reads(lab, written)
        short_life.each_sees_the_others_file(lab)
        what_a_client_kept_is_gone_after_a_new_mount(lab)


def what_a_client_kept_is_gone_after_a_new_mount(lab):
    """Its cache lies on its disk, where dropping pages does not reach it."""
    cache = lab.clients[0].directory / "afs-cache"
    lab.clients[0].shell(f"head -c 8M /dev/urandom > {lab.mount_point}/kept; sync")

    def kept() -> int:
        return sum(one.stat().st_size for one in cache.glob("D*/V*"))

    assert kept() >= 8 * short_life.MIB
    labs.remount(lab, ["client1"])
    assert kept() < short_life.MIB
    assert len((short_life.seen(lab, lab.clients[0]) / "kept").read_bytes()) == 8 * short_life.MIB
