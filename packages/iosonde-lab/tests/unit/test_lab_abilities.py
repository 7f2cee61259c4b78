"""The lines of doctor about labs."""

from iosonde.commands.doctor import answer as doctor_answer
from iosonde.core.message import Message
from iosonde.ranks import abilities
from iosonde.ranks.abilities.ability import Ability
from iosonde_lab import api as labs
from iosonde_lab.api import LabListing, Possible


def test_doctor_says_whether_a_lab_can_be_had_and_which_file_systems_lack_a_package(monkeypatch):
    def possible(*missing: str) -> tuple[Possible, ...]:
        return Possible("local", "", {}, {}, ()), Possible("ceph", "", {}, {}, missing)

    def said(found: LabListing) -> list[Ability]:
        monkeypatch.setattr(labs, "listing", lambda: found)
        return [one for one in doctor_answer.doctor().abilities if one.name.startswith("lab")]

    monkeypatch.setattr(abilities, "check_all", lambda *_: [])
    (whole,) = said(LabListing((), possible()))
    assert (whole.ok, whole.cure) == (True, "") and "local, ceph" in whole.detail
    here, packages = said(LabListing((), possible("ceph-mon", "ceph-osd")))
    assert here.ok and "local" in here.detail and "ceph" not in here.detail
    assert not packages.ok and "ceph" in packages.detail.split()
    assert packages.cure.split()[-2:] == ["ceph-mon", "ceph-osd"]
    _, built = said(LabListing((), possible("ceph-mon", "iosonde-nfs-mount", "orangefs")))
    assert {"ceph-mon", "lab-deps"} <= set(built.cure.split()) and "iosonde-nfs-mount" not in built.cure
    rootless = Message("not-root", "it needs root")
    (not_root,) = said(LabListing((), possible(), ("iproute2",), rootless))
    assert (not_root.ok, not_root.detail) == (False, rootless) and "iproute2" not in not_root.cure
    (bare,) = said(LabListing((), possible(), ("iproute2",)))
    assert (bare.ok, bare.cure) == (False, "apt install iproute2")
