"""MooseFS in a lab: two copies of everything, one of which is enough to read."""

import short_life

from iosonde_lab import api as labs
from iosonde_lab.filesystems import recipe_of
from iosonde_lab.status import status


def test_its_life():
    with short_life.a_lab("moosefs", servers=2, goal=2) as lab:
        layout = status(lab.name).layout
        assert (layout["copies"], layout["copied_by"]) == (2, "servers")
        lab.wait("its capacity is known", lambda: status(lab.name).capacity.as_should, 10)  # of all servers
        written = short_life.each_sees_the_others_file(lab)
        n_bytes = (short_life.seen(lab, lab.clients[0]) / "of-client1").stat().st_size
        assert recipe_of(lab).placement(lab, lab.mount_point / "of-client1") == dict.fromkeys(
            ("server1", "server2"), n_bytes
        )
        assert {one.file for one in labs.placements(lab, lab.mount_point)} == {"of-client1", "of-client2"}
        short_life.dies_and_comes_back(lab, lab.servers[0], lambda: short_life.each_still_reads(lab, written))
        short_life.each_still_reads(lab, written)
        goal_and_cache_live(lab)


def goal_and_cache_live(lab):
    """When `set` returns the chunks agree, the lab knows its layout, and every client is mounted as was said."""
    n_bytes = (short_life.seen(lab, lab.clients[0]) / "of-client1").stat().st_size
    for goal in (1, 2):
        labs.set_options(lab, {"goal": str(goal)})
        placed = recipe_of(lab).placement(lab, lab.mount_point / "of-client1")
        assert sum(placed.values()) == goal * n_bytes
        assert status(lab.name).layout["copies"] == goal and status(lab.name).health == ()
    before = [client.processes("mfsmount") for client in lab.clients]
    found = labs.set_options(lab, {"client_cache": "direct"})
    assert (found.was, found.values) == ({"client_cache": "auto"}, {"client_cache": "direct"})
    assert all(client.processes("mfsmount") != old for client, old in zip(lab.clients, before, strict=True))
    assert {one.serves for one in status(lab.name).hosts if one.role == "server"} == {"connected"}
    assert "stable" in status(lab.name).facts["chunks"]
