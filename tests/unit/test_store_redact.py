"""Secrets planted everywhere must not be in a redacted copy, and the original stays as it was."""

from __future__ import annotations

import os
import re
import signal
from pathlib import Path

import pytest
import store_samples

from iosonde.core.errors import IosondeError
from iosonde.core.types import Factor, Finding, Observation, Severity
from iosonde.store import Store
from iosonde.store.hide import Names
from iosonde.store.redact import redact
from messages import raises

SECRETS = ["hunter2", "AQBsecretkey", "t0ken-xyz", "s3cr3t!", "AKIAABCDEFGHIJKLMNOP", "sesame"]
NAMES = ["alice", "bob.miller", "gpu01", "gpu17", "gpu02", "frontend", "cluster.example.org", "oss-a", "mgs7"]
ADDRESSES = ["10.1.2.3", "192.168.7.9", "fe80::1ff:fe23:4567:890a", "aa:bb:cc:dd:ee:0f", "2001:db8::7"]
WORDS = [*SECRETS, *NAMES, *ADDRESSES]


def plant(path: Path) -> Store:
    store = Store.create(path)
    everything = " ".join(WORDS)
    run = store_samples.run(
        "gpu01-alice",
        experiment="alice-e1",
        source=f"mtc on gpu01 ({everything})",
        factors={"client host": "gpu17", "alice_setting": 3, "server": "oss-a", "nodes": 2, "fs": "nfs"},
        observations=[Observation("read", "bandwidth", 1.0, "bytes/s", includes="alice@gpu01")],
        facts={
            "host": {"name": "gpu01.cluster.example.org", "kernel": "6.1.0-13"},
            "hosts": ["gpu01", "gpu02"],
            "job": {"node_list": "gpu[01-02],frontend", "user": "alice", "account": "bob.miller"},
            "busy": {"gpu02": 1.0},
            "command": [
                "iosonde",
                "run",
                "--target",
                "/home/alice/x",
                "--password",
                "hunter2",
                "--hosts",
                "gpu01,gpu17",
            ],
            "environment": {"MY_API_KEY": "t0ken-xyz", "HOSTNAME": "gpu01", "password": 123456789},
            "mount": {
                "source": "oss-a:/export",
                "options": "rw,name=bob.miller,secret=AQBsecretkey,addr=10.1.2.3",
                "address": "aa:bb:cc:dd:ee:0f",
            },
            "lustre": "mgs7@o2ib:/scratch",
            "url": "https://bob.miller:s3cr3t!@frontend/repo",
            "network": {"eth0": "fe80::1ff:fe23:4567:890a", "ib0": "2001:db8::7"},
        },
        phases=[{"name": "read", "host": "gpu02", "path": "/gpfs/home/alice/data"}],
        findings=[Finding("M1", Severity.INFO, "gpu02 is slow", {"host": "gpu02"}, "ask alice")],
        missing=["rank 3 on gpu17 did not finish"],
        raw={
            "alice.log": f"Nodes: {everything}\nexport AWS_KEY=AKIAABCDEFGHIJKLMNOP\n--token=sesame\n".encode(),
            "packed.gz": b"\x1f\x8b\x00hunter2",
        },
    )
    store.append(run)
    store.append(store_samples.run("plain"))
    experiment = store_samples.experiment("alice-e1", name="is gpu02 slower than 10.1.2.3?")
    experiment.settings = {"target": "/home/alice/x", "ssh": "alice@frontend", "token": "sesame"}
    experiment.factors = [Factor("client host", levels=("gpu01", "gpu17"))]
    store.save_experiment(experiment)
    store.notes.change("gpu01-alice", add=["for-alice"], note="told bob.miller, 192.168.7.9 is down")
    return store


def everything_in(path: Path) -> bytes:
    """Names and contents of all files, tables also as text (packed pages could hide a word)."""
    import pyarrow.parquet as pq

    found = b""
    for file in sorted(path.rglob("*")):
        found += str(file.relative_to(path)).encode() + b"\n"
        if file.is_file():
            found += file.read_bytes()
        if file.suffix == ".parquet":
            table = pq.read_table(file)
            found += repr((table.to_pydict(), table.schema.metadata, pq.read_metadata(file).metadata)).encode()
    return found


@pytest.fixture
def copied(tmp_path: Path) -> tuple[Store, Store]:
    store = plant(tmp_path / "store")
    before = everything_in(store.path)
    done = redact(store, tmp_path / "copy")
    assert done.runs == 2
    assert everything_in(store.path) == before
    return store, Store.open(tmp_path / "copy")


@pytest.mark.parametrize("word", WORDS)
def test_no_planted_word_is_in_the_copy(copied: tuple[Store, Store], word: str) -> None:
    original, copy = copied
    assert re.search(re.escape(word).encode(), everything_in(original.path), re.IGNORECASE)
    assert not re.search(re.escape(word).encode(), everything_in(copy.path), re.IGNORECASE)
    assert b"123456789" not in everything_in(copy.path)


def test_the_copy_is_a_store_with_the_same_numbers(copied: tuple[Store, Store]) -> None:
    original, copy = copied
    assert copy.problems() == []
    assert copy.results()["value"].to_pylist() == original.results()["value"].to_pylist()
    assert (copy.operations("plain") == original.operations("plain")).all()
    (redacted,) = [run_id for run_id in copy.run_ids() if run_id != "plain"]
    run = copy.run(redacted)
    assert run.seconds == 1.5
    assert run.facts["host"]["kernel"] == "6.1.0-13"
    assert run.factors["fs"] == "nfs"
    assert run.missing[0].startswith("rank 3 on host-")
    assert run.experiment == copy.experiments()[0].id
    assert len(copy.notes.read_notes(redacted)["notes"]) == 1


def test_one_name_gets_one_pseudonym_everywhere(copied: tuple[Store, Store]) -> None:
    _, copy = copied
    (run,) = [copy.run(run_id) for run_id in copy.run_ids() if run_id != "plain"]
    one = run.facts["hosts"][0]
    assert re.fullmatch(r"host-\d+", one)
    assert run.facts["host"]["name"] == one
    assert run.facts["environment"]["HOSTNAME"] == one
    assert run.id.startswith(one)
    two = run.facts["hosts"][1]
    assert two != one
    assert run.phases[0]["host"] == two
    assert list(run.facts["busy"]) == [two]
    assert re.fullmatch(r"/home/user-\d+/x", run.facts["command"][3])


def test_packed_raw_files_are_left_out_and_it_says_so(copied: tuple[Store, Store]) -> None:
    _, copy = copied
    (run,) = [copy.run(run_id) for run_id in copy.run_ids() if run_id != "plain"]
    assert len(run.raw) == 1
    assert run.findings[-1].code == "D106"
    assert "packed.gz" in run.findings[-1].sentence


def test_more_words_and_no_second_copy(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run(source="the Zeus project on nfs"))
    done = redact(store, tmp_path / "copy", also=["zeus"])
    assert Store.open(tmp_path / "copy").run("run-1").source == "the name-1 project on nfs"
    assert done.replaced["name"] >= 1
    with raises("directory-not-empty"):
        redact(store, tmp_path / "copy")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("/home/alice/data", "/home/user-1/data"),
        ("curl -u alice:pw12345 https://web01/x", "curl -u user-1:secret-1 https://host-1/x"),
        ("mount nfs01:/export /mnt", "mount host-1:/export /mnt"),
        ("//smb9/share", "//host-1/share"),
        ("PASSWORD='two words'", "PASSWORD='secret-1'"),
        ("Authorization: Bearer abcdef123456", "Authorization: Bearer secret-1"),
        ("ssh -p 22 ann@login.site.org", "ssh -p 22 user-1@host-1"),
        ("10.0.0.1:2049", "address-1:2049"),
        ("at 2026-11-21T10:00:00Z took 00:01:02", "at 2026-11-21T10:00:00Z took 00:01:02"),
        ("127.0.0.1 localhost root ::1", "127.0.0.1 localhost root ::1"),
        ("kernel 6.1.0-13, mpich 5.0.2", "kernel 6.1.0-13, mpich 5.0.2"),
        ("PATH=/usr/bin:/bin:/sbin", "PATH=/usr/bin:/bin:/sbin"),
        ("rw,sec=sys,vers=4.2", "rw,sec=sys,vers=4.2"),
    ],
)
def test_what_is_found_in_plain_text(text: str, expected: str) -> None:
    names = Names()
    names.learn(text)
    assert names.hide(text) == expected


@pytest.mark.parametrize("told", [{"password": "p%40ssw0rd%21x"}, "PASSWORD=p%40ssw0rd%21x"])
def test_a_secret_of_an_address_is_hidden_in_its_plain_form_too(told: object) -> None:
    names = Names()
    names.learn(told)
    assert names.hide("it is p@ssw0rd!x") in ("it is secret-1", "it is secret-2")


def test_a_host_that_is_called_like_one_of_our_keys_does_not_break_the_copy() -> None:
    names = Names()
    names.learn({"host": {"name": "vm"}, "user": "nodes"})
    assert names.hide({"vm": {"swappiness": 1}, "nodes": 2, "x": "vm-7"}) == {
        "vm": {"swappiness": 1},
        "nodes": 2,
        "x": "host-1-7",
    }


def test_short_and_full_name_are_one_host_and_lists_are_opened() -> None:
    names = Names()
    names.learn({"hosts": ["n1.site.org", "n1"], "node_list": "rack[08-10]"})
    assert names.hide("n1.site.org n1 N1") == "host-1 host-1 host-1"
    assert names.hide("rack09, rack77") != "rack09, rack77"
    assert "rack" not in names.hide("rack08 rack09 rack10 rack77")
    assert names.hide({"rack08": 1, "x": [True, None, 2.5]}) == {"host-2": 1, "x": [True, None, 2.5]}


def test_servers_that_were_down_are_hidden_wherever_they_are_named() -> None:
    spread = {"servers": ["vault7", "vault8"], "bricks": ["vault7:/b", "vault8:/b"], "copies": 2}
    found = {
        "factors": {"health": "ok, then vault8 down"},
        "facts": {"machine": {"filesystem": spread}, "conditions": {"after": {"health": ["vault8 down"]}}},
    }
    names = Names()
    names.learn(found)
    hidden = names.hide(found)
    assert "vault" not in str(hidden)
    assert hidden["factors"]["health"].endswith(" host-2 down")
    assert hidden["facts"]["conditions"]["after"]["health"] == ["host-2 down"]


def test_the_same_again_replaces_what_a_killed_copy_left(tmp_path, monkeypatch):
    """It removes only what it made itself."""
    store = plant(tmp_path / "store")
    (tmp_path / ".tmp-copy-of-mine").mkdir()
    pid = os.fork()
    if not pid:
        monkeypatch.setattr(Store, "append_with_digest", lambda *_: os.kill(os.getpid(), signal.SIGKILL))
        redact(store, tmp_path / "copy")
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == -signal.SIGKILL
    assert not (tmp_path / "copy").exists() and len(os.listdir(tmp_path)) == 3
    assert redact(store, tmp_path / "copy").runs == 2
    assert sorted(os.listdir(tmp_path)) == [".tmp-copy-of-mine", "copy", "store"]
    assert Store.open(tmp_path / "copy").problems() == []


@pytest.mark.parametrize("error", [KeyboardInterrupt(), OSError(28, "No space left on device")])
def test_a_copy_that_fails_leaves_nothing(tmp_path, monkeypatch, error):
    store = plant(tmp_path / "store")
    (tmp_path / "copy").mkdir()
    monkeypatch.setattr(store.disk, "rename", lambda *_: (_ for _ in ()).throw(error))
    with pytest.raises((KeyboardInterrupt, IosondeError)) as raised:
        redact(store, tmp_path / "copy")
    assert ".tmp-" not in str(raised.value)
    assert os.listdir(tmp_path / "copy") == [] and sorted(os.listdir(tmp_path)) == ["copy", "store"]


def test_the_names_of_this_host_and_user_are_hidden_too(tmp_path, monkeypatch):
    monkeypatch.setattr("socket.gethostname", lambda: "tern77")
    monkeypatch.setattr("getpass.getuser", lambda: "wilhelmine")
    store = Store.create(tmp_path / "store")
    facts = {"kernel": "6.1"}
    store.append(store_samples.run("r", facts=facts, source="by wilhelmine", raw={"out.txt": b"on tern77"}))
    assert redact(store, tmp_path / "copy").replaced == {"host": 1, "user": 1}
    copy = Store.open(tmp_path / "copy")
    assert (copy.run("r").source, copy.raw_file("r", "out.txt")) == ("by user-1", b"on host-1")
