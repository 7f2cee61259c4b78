"""GlusterFS in a lab, as far as no lab is needed: the ways to a volume."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError
from iosonde.lab.filesystems import ganesha, glusterfs

RECIPE = glusterfs.RECIPE


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"access": "cifs"}, "access=cifs: Samba would serve it, and the kernel alone can mount that"),
        ({"access": "http"}, "access=http: it moves whole objects and is no file system"),
        ({"access": "ftp"}, "access=ftp: it moves whole files and is no file system"),
        ({"access": "smoke"}, "access=smoke: no way to a volume"),
        ({"access": "nfs", "direct_io": "on"}, "of the FUSE client, and access=nfs has none"),
    ],
)
def test_a_way_that_a_lab_does_not_have_is_refused_with_the_reason(options, said):
    with pytest.raises(InputError, match=said):
        RECIPE.check(2, options)


def test_ways_that_it_has(monkeypatch):
    monkeypatch.setattr(ganesha, "kernel_has_client", lambda: False)
    for access in ("native", "nfs"):
        RECIPE.check(2, {"access": access, "replica": "2"})
    told = []
    client = SimpleNamespace(run=lambda *words: told.append(words), bind=lambda _: told.append("log"))
    for options in ({}, {"access": "nfs"}):
        lab = SimpleNamespace(servers=[SimpleNamespace(name="server1", address="10.99.0.1")], clients=[client],
                              mount_point=Path("/mnt"), directory=Path("/nowhere"),
                              description=SimpleNamespace(options=options))  # fmt: skip
        RECIPE.mount(lab, client)
        assert RECIPE.read(lab, "access") == options.get("access", "native")
    assert told[1] == ("mount", "-t", "glusterfs", "10.99.0.1:/lab", "/mnt")
    assert told[2] == ("iosonde-nfs-mount", "server1:/lab", "/mnt", "-o", "vers=3,proto=tcp,nolock")
