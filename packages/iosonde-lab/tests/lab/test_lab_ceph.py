"""CephFS in a lab: two copies of every object, one of which is enough to read."""

import json

import pytest
import short_life

from iosonde.core.errors import InputError
from iosonde_lab import api as labs
from iosonde_lab.status import status


def test_its_life():
    with short_life.a_lab("ceph", servers=2, size=2) as lab:
        layout = status(lab.name).layout
        assert (layout["copies"], layout["copied_by"], layout["servers_of_a_file"]) == (2, "servers", 2)
        written = short_life.each_sees_the_others_file(lab)
        short_life.dies_and_comes_back(lab, lab.servers[0], lambda: short_life.each_still_reads(lab, written))
        short_life.each_still_reads(lab, written)
        short_life.dies_and_comes_back(lab, lab.host("monitor"))  # K-24: the metadata server
        short_life.each_still_reads(lab, written)
        options_live(lab)
        servers_count(lab)


def options_live(lab):
    """As the client's own daemon, the pool and a new file say."""
    for value, told in (("off", "false"), ("on", "true")):
        labs.set_options(lab, {"client_cache": value})
        for client in lab.clients:
            asked = client.run("ceph", "--admin-daemon", "/run/ceph/client.admin.asok", "config", "get", "client_oc")
            assert json.loads(asked) == {"client_oc": told}
    for size in ("1", "2"):
        assert labs.set_options(lab, {"size": size}).values == {"size": size}
        assert status(lab.name).layout["copies"] == int(size)
    labs.set_options(lab, {"stripe_unit": "1MiB", "stripe_count": "2"})
    told = lab.clients[1].shell(f"cd {lab.mount_point}; echo x > striped; getfattr -n ceph.file.layout striped")
    assert "stripe_unit=1048576 stripe_count=2" in told
    with pytest.raises(InputError, match="not a multiple of stripe_unit"):
        labs.set_options(lab, {"stripe_unit": "3MiB"})
    assert {one.name: one.serves for one in status(lab.name).hosts if one.serves} == {
        "monitor": "mds active",
        "server1": "osd.0 up",
        "server2": "osd.1 up",
    }


def servers_count(lab):
    labs.count_operations(lab, True)
    lab.clients[0].shell(f"dd if=/dev/zero of={lab.mount_point}/counted bs=1M count=8 conv=fsync 2>/dev/null")
    found = {one.server: one for one in labs.profile(lab).servers}
    written = sum(found[one.name].written_bytes for one in lab.servers)
    assert 8 * short_life.MIB <= written < 9 * short_life.MIB  # what OSDs pass on is not of clients
    assert "copy from another OSD" in {
        one.operation for name in ("server1", "server2") for one in found[name].operations
    }
    assert "create" in {one.operation for one in found["monitor"].operations}
