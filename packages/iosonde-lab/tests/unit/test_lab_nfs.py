"""NFS in a lab, as far as no lab is needed: what it can be, what it needs, what it asks its hosts to do."""

from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace

import pytest

from iosonde.core.errors import InputError
from iosonde.core.filesystems import has_unsplit_files, is_on_own_disk
from iosonde_lab import tools
from iosonde_lab.filesystems import ganesha, nfs
from iosonde_lab.tools import LabError
from messages import assert_problem, raises

RECIPE = nfs.RECIPE


@dataclass
class FakeHost:
    """Notes what it is told; ``says`` is what a command prints, or that it fails."""

    name: str
    disk: Path = Path("/disk")
    address: str = "10.99.0.1"
    told: list[tuple[str, ...]] = field(default_factory=list)
    says: dict[str, str | None] = field(default_factory=dict)

    def run(self, *words: str, **_: object) -> str:
        self.told.append(words)
        if (said := self.says.get(words[0], "")) is None:
            raise LabError("no-response", "{host}: {command}: it fails", host=self.name, command=words[0])
        return said

    def ask(self, parse, *words: str, **_: object):
        return parse(self.run(*words))


def lab_of(server: FakeHost, client: FakeHost, **options: str) -> SimpleNamespace:
    return SimpleNamespace(
        servers=(server,),
        clients=(client,),
        directory=Path("/nowhere"),
        mount_point=Path("/mnt"),
        description=SimpleNamespace(options=options),
    )


@pytest.fixture(params=[True, False], ids=["kernel", "ours"])
def kernel_client(request, monkeypatch):
    monkeypatch.setattr(ganesha, "kernel_has_client", lambda: request.param)
    return request.param


def test_what_it_cannot_be_is_said(monkeypatch):
    monkeypatch.setattr(ganesha, "kernel_has_client", lambda: False)
    for n_servers, options, code, values in [
        (2, {}, "unsupported-server-count", {"required_servers": 1, "n_servers": 2}),
        (1, {"sync": "yes"}, "unknown-option-value", {"sync": "yes"}),
        (1, {"vers": "2"}, "unknown-option-value", {"version": 2}),
        (1, {"vers": "4.1"}, "kernel-feature-missing", {"version": "4.1"}),
        (1, {"goal": "2"}, "unknown-option", {"option": "goal"}),
    ]:
        with raises(code, InputError, **values):
            RECIPE.check(n_servers, options)
    RECIPE.check(1, {"sync": "on", "vers": "3"})


def test_other_versions_are_the_kernels(monkeypatch):
    monkeypatch.setattr(ganesha, "kernel_has_client", lambda: True)
    RECIPE.check(1, {"vers": "4.2"})


def test_it_needs_what_mounts_it_here(kernel_client):
    needed = set(RECIPE.commands.values())
    assert {"nfs-ganesha", "nfs-ganesha-vfs", "rpcbind"} < needed
    assert needed & {"nfs-common", "iosonde-nfs-mount"} == {"nfs-common" if kernel_client else "iosonde-nfs-mount"}


def test_it_is_mounted_as_asked(kernel_client):
    client = FakeHost("client1")
    RECIPE.mount(lab_of(FakeHost("server1"), client, sync="on"), client)
    command = ("mount", "-t", "nfs") if kernel_client else ("iosonde-nfs-mount",)
    assert client.told == [(*command, "server1:/data", "/mnt", "-o", "sync,vers=3,proto=tcp,nolock")]


def test_a_server_that_does_not_answer_is_a_complaint():
    client = FakeHost("client1")
    assert RECIPE.health(lab_of(FakeHost("server1"), client)) == []
    client.says["rpcinfo"] = None
    assert_problem(*RECIPE.health(lab_of(FakeHost("server1"), client)), "no-response", host="server1")


def test_a_file_lies_whole_on_its_server():
    server = FakeHost("server1", says={"stat": "4096\n"})
    assert RECIPE.placement(lab_of(server, FakeHost("client1")), Path("/mnt/d/f")) == {"server1": 4096}
    assert server.told[-1][-1] == "/disk/data/d/f"


def test_what_no_package_has_is_said_to_be_built():
    built = tools.UNPACKAGED["iosonde-nfs-mount"]
    assert "make lab-deps" in built
    assert tools.installing(["a", "b", "a"]).split() == ["apt", "install", "a", "b"]
    assert tools.installing(["iosonde-nfs-mount"]) == built
    packaged, _, rest = tools.installing(["a", "iosonde-nfs-mount"]).partition(f" {built}")
    assert packaged.split()[:3] == ["apt", "install", "a"] and not rest


def test_a_file_can_be_needed_like_a_command(tmp_path):
    assert not tools.has_command(str(tmp_path / "library.so"))
    (tmp_path / "library.so").touch()
    assert tools.has_command(str(tmp_path / "library.so"))


def test_a_mount_by_our_client_is_one_of_nfs():
    assert not is_on_own_disk("fuse.nfs") and has_unsplit_files("fuse.nfs", {})
