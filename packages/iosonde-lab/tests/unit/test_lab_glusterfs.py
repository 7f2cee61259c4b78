"""GlusterFS in a lab, as far as no lab is needed: the ways to a volume."""

from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError
from iosonde_lab.filesystems import ganesha, glusterfs, glusterfs_cli
from iosonde_lab.tools import LabError
from messages import raises

RECIPE = glusterfs.RECIPE


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"access": "cifs"}, "unsupported-option-value"),
        ({"access": "http"}, "unsupported-option-value"),
        ({"access": "ftp"}, "unsupported-option-value"),
        ({"access": "smoke"}, "unknown-option-value"),
        ({"access": "nfs", "direct_io": "on"}, "conflicting-options"),
    ],
)
def test_a_way_that_a_lab_does_not_have_is_refused_with_the_reason(options, code):
    with raises(code, InputError) as caught:
        RECIPE.check(2, options)
    assert options["access"] in caught.value.message
    assert glusterfs._NOT_HERE.get(options["access"], "") in caught.value.message


def test_ways_that_it_has(monkeypatch):
    monkeypatch.setattr(ganesha, "kernel_has_client", lambda: False)
    for access in ("native", "nfs"):
        RECIPE.check(2, {"access": access, "replica": "2"})
    told = []
    client = SimpleNamespace(run=lambda *words: told.append(words), bind=lambda _: told.append("log"))
    for options in ({}, {"access": "nfs"}):
        lab = SimpleNamespace(
            servers=[SimpleNamespace(name="server1", address="10.99.0.1")],
            clients=[client],
            mount_point=Path("/mnt"),
            directory=Path("/nowhere"),
            description=SimpleNamespace(options=options),
        )
        RECIPE.mount(lab, client)
        assert RECIPE.read(lab, "access") == options.get("access", "native")
    assert told[1] == ("mount", "-t", "glusterfs", "10.99.0.1:/lab", "/mnt")
    assert told[2] == ("iosonde-nfs-mount", "server1:/lab", "/mnt", "-o", "vers=3,proto=tcp,nolock")


def _answer(code: int, why: str = "") -> str:
    return f"<cliOutput><opRet>{code}</opRet><opErrstr>{why}</opErrstr></cliOutput>"


def test_a_command_waits_while_the_volume_does_another_one(monkeypatch):
    """Whoever looks at the health of a volume must not keep another one from undoing a fault."""
    monkeypatch.setattr(glusterfs_cli, "_LOOK_S", 0.0)
    busy = _answer(-1, "Another transaction is in progress. Please try again after some time.")
    told = [busy, busy, _answer(0), busy]
    server = SimpleNamespace(name="server1", shell=lambda _, limit_s: told.pop(0))
    assert glusterfs_cli.gluster(server, "volume", "start", "lab", "force").findtext("opRet") == "0"
    with raises("lab-command-failed", LabError):
        glusterfs_cli.gluster(server, "volume", "start", "lab", "force", limit_s=-1.0)


def test_what_is_refused_for_another_reason_is_not_asked_again():
    told = [_answer(-1, "Volume lab does not exist")]
    server = SimpleNamespace(name="server1", shell=lambda _, limit_s: told.pop(0))
    with raises("lab-command-failed", LabError):
        glusterfs_cli.gluster(server, "volume", "info", "lab")
