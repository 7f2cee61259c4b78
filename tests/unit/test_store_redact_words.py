"""59 words of all the ways in which outputs, notes, tags, levels and tables name people, machines and secrets: each is
hidden in the copy, or the answer names it among what somebody has to look at."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
import store_samples
from test_store_redact import everything_in

from iosonde.core.types import Experiment, Factor, Observation
from iosonde.store import Store
from iosonde.store import remains as remains_module
from iosonde.store.hide import Names
from iosonde.store.redact import Redacted, redact
from iosonde.store.remains import Remains

OUTPUT = """
IOR-4.0.0: MPI Coordinated Test of Parallel I/O
Command line        : ior -o /p/scratch/erin/out -t 1m
Machine             : Linux tango0131
Job ID: 8812345 on zeusnode07.cluster.site
From host: limahost
$ mysql -u dbuser7 -p sw0rdfish mydata; sshpass -p kettle9 ssh -p 22 x
$ mysqldump -phunter5 --all
$ curl -u carol: https://web-intern/files; curl -u dan:tulip77 https://x
$ export OPENAI=sk-abcdefgh12345678 SLACK=xoxb-123456-abcdefgh CI=glpat-AbCdEfGh12345678
$ git clone https://oauth2:gh-pass-1@git.example.net/x  # ghp_abcdefghij0123456789
AWS AKIAIOSFODNN7EXAMPLE, hf_AbCdEfGhIjKlMnOpQr, key AQBvKx9aAAAAABAAb1cD2eF3gH4iJ5kL6mN7oP==
password for the node is marmalade.
uid=1001(frieda) gid=1002(hydro) groups=1002(hydro),1003(geology)
-rw-r--r-- 1 gustav botany 4096 Nov 26 10:00 out
drwxr-xr-x. 2 henry oceanography 10 Nov 26 10:00 d
  Uid: ( 1004/  ingrid)   Gid: ( 1002/   hydro)
mail jonas%40example.org or karl@uni.example.de
eth0 a0-b1-c2-d3-e4-f5 and a0b1.c2d3.e4f6, ib0 a0:b1:c2:d3:e4:f7
Serial Number:    S3Z8NB0K123456
machine-id 0123456789abcdef0123456789abcdef
slurmstepd: error: *** JOB 8812346 ON tango0132 CANCELLED ***
nfs: server vault-a not responding, still trying
ssh: connect to host backup-b port 22: Connection refused
disk /dev/disk/by-id/ata-ST4000NM_ZC1ABCDE, UUID 6a6a1c7e-1d2e-4f3a-8b4c-5d6e7f8a9b0c
lena:x:1005:1002:Lena:/nonexistent:/bin/bash
token=qwertz123 Authorization: Bearer abcdefgh87654321
the run of martha was slow, ask norbert; Olga saw it
http://10.9.8.7:9000/x and 2001:db8::77
session Zm9vYmFyYmF6cXV4Zm9vYmFy1234
"""
WORDS = re.findall(
    r"\S+",
    """
erin tango0131 8812345 zeusnode07 limahost sw0rdfish kettle9 hunter5 carol tulip77 sk-abcdefgh12345678
xoxb-123456-abcdefgh glpat-AbCdEfGh12345678 gh-pass-1 ghp_abcdefghij0123456789 AKIAIOSFODNN7EXAMPLE
hf_AbCdEfGhIjKlMnOpQr AQBvKx9aAAAAABAAb1cD2eF3gH4iJ5kL6mN7oP marmalade frieda hydro geology gustav botany henry
oceanography ingrid jonas karl a0-b1-c2-d3-e4-f5 a0b1.c2d3.e4f6 a0:b1:c2:d3:e4:f7 S3Z8NB0K123456
0123456789abcdef0123456789abcdef 8812346 tango0132 vault-a backup-b ZC1ABCDE 6a6a1c7e-1d2e-4f3a-8b4c-5d6e7f8a9b0c
lena qwertz123 abcdefgh87654321 martha norbert olga 10.9.8.7 2001:db8::77 Zm9vYmFyYmF6cXV4Zm9vYmFy1234 dbuser7
web-intern git.example.net uni.example.de pauline quentin rosa sierra7 tannhaeuser ursula""",
)


def plant(path: Path) -> Store:
    store = Store.create(path)
    operations = [Observation("read of pauline", "bandwidth", 1.0, "bytes/s", includes="quentin@x")]
    store.append(
        store_samples.run(
            "rosa-1",
            source="run of martha on zeusnode07",
            factors={"who": "ursula", "node": "sierra7", "nodes": 2, "quality": "erin"},
            facts={"user": "pauline", "job": {"job": "8812345", "user": "rosa"}, "serial": 4711001},
            observations=operations,
            raw={"out-of-gustav.txt": OUTPUT.encode()},
            headlines={"read of pauline": ["bandwidth"]},
        )
    )
    experiment = Experiment(
        "e-1",
        "run of frieda on tango0131",
        [Factor("who", levels=("ursula",))],
        {"target": "/p/scratch/erin/x"},
        [],
        7,
        "2026-11-21T09:00:00Z",
    )
    store.save_experiment(experiment)
    store.notes.change("rosa-1", add=["tannhaeuser", "for-henry"], note="my password is marmalade, says carol")
    return store


@pytest.fixture(scope="module")
def redacted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Redacted, Store, bytes]:
    top = tmp_path_factory.mktemp("redact")
    done = redact(plant(top / "store"), top / "copy")
    return done, Store.open(top / "copy"), everything_in(top / "copy")


def names_in(done: Redacted) -> str:
    remains = done.remains
    return "\n".join([*remains.unsure, *remains.paths, *remains.names]).lower()


def test_every_word_is_hidden_or_named_as_unsure(redacted: tuple[Redacted, Store, bytes]) -> None:
    done, _, content = redacted
    assert len(WORDS) == len(set(WORDS)) == 59
    silent = [word for word in WORDS if word.encode().lower() in content.lower() and word.lower() not in names_in(done)]
    assert silent == []


def test_only_words_that_stand_nowhere_as_names_stay(redacted: tuple[Redacted, Store, bytes]) -> None:
    done, _, content = redacted
    stay = {word for word in WORDS if word.encode().lower() in content.lower()}
    assert stay <= {"martha", "norbert", "olga", "tannhaeuser", "ursula", "Zm9vYmFyYmF6cXV4Zm9vYmFy1234"}
    assert b"4711001" not in content
    assert {"tannhaeuser", "who: ursula"} <= set(done.remains.names)


def test_the_list_to_look_at_is_short(redacted: tuple[Redacted, Store, bytes]) -> None:
    """A list of everything would hide what matters."""
    assert len(redacted[0].remains.unsure) < 15, redacted[0].remains.unsure


def test_a_copy_is_whole_and_its_own_copy_is_the_same(redacted: tuple[Redacted, Store, bytes], tmp_path: Path) -> None:
    _, copy, _ = redacted
    assert copy.problems() == []
    again = redact(copy, tmp_path / "again")
    assert again.replaced == {}
    (first,), (second,) = copy.runs(), Store.open(tmp_path / "again").runs()
    assert {**first, **_varying(second)} == second
    assert [path.name for path in copy.path.rglob("*.txt")] == [path.name for path in tmp_path.rglob("*.txt")]
    for path in copy.path.rglob("*.txt"):
        assert path.read_bytes() == (tmp_path / "again" / path.relative_to(copy.path)).read_bytes()


def _varying(document: dict[str, Any]) -> dict[str, Any]:
    """What says when a run was stored."""
    return {key: document[key] for key in ("stored_at", "self_sha256") if key in document}


def test_ids_and_names_of_metrics_are_nothing_to_look_at(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "s")
    observation = Observation("zap17", "flux-of-42ab", 1.0, "x")
    for name, raw in (("job-a77x", {}), ("other-b5", {"night-b6.txt": b"at job-a77x zap17 flux-of-42ab e-33z rope55"})):
        store.append(store_samples.run(name, experiment="e-33z", observations=[observation], raw=raw, findings=[]))
    store.save_experiment(store_samples.experiment("e-33z", name="evening"))
    store.notes.change("job-a77x", add=["e-33z", "for-b7"], note="see zap17")
    remains = redact(store, tmp_path / "copy").remains
    assert list(remains.unsure) == ["rope55"]
    assert set(remains.names) == {"evening", "for-b7", "night-b6.txt"}


@pytest.mark.parametrize(
    "text",
    [
        "mkdir -p /data/x && srun -p batch ior -t 1m",
        "ssh -p 2222 x; mpirun -ppn 4 ior; find . -print; iperf3 -p 5201",
        "read on ext4 at rank3, raid6 by md0, written to nvme0n1 via ib0",
        "password is not set; the token is missing",
        "took 4711001 bytes, 48.123 s, job 3 of 12, jobs: 16",
        "2026-11-26 10:00:00, 1.2.3-4, git 0a1b2c3",
    ],
)
def test_what_names_nobody_stays(text: str) -> None:
    names = Names()
    names.learn(text)
    assert names.hide(text) == text


@pytest.mark.long
@pytest.mark.parametrize(
    "piece",
    [
        "://a:b",
        "-1 ",
        "a.",
        "mysql ",
        "a-",
        "token",
        "sk-",
        "aa-",
        "/a",
        "x -a ",
        "1",
        "a1.",
        "ab:",
        "drwxr-xr-x ",
        "eyJ",
    ],
)
def test_long_lines_take_no_quadratic_time(piece: str) -> None:
    text = f"job {piece * (50_000 // len(piece))}"
    began = time.process_time()
    names, remains = Names(), Remains()
    names.learn(text)
    remains.read_sentence(names.hide(text))
    assert time.process_time() - began < 3


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgresql://u:se/cr@t:Q@db1/x", "postgresql://u:secret-1@host-1/x"),
        ("redis-cli -a opensesame ping", "redis-cli -a secret-1 ping"),
        ("tool -x -p tulip1 y", "tool -x -p secret-1 y"),
        ("SLURM_JOB_ID=77123 and 77123, 77123.5", "SLURM_JOB_ID=id-1 and id-1, 77123.5"),
        ("job 471 in 471 s", "job id-1 in 471 s"),
        ("Passwort ist geheim7", "Passwort ist secret-1"),
        ('"hostname" : "n7x", "user": "zoe"', '"hostname" : "host-1", "user": "user-1"'),
    ],
)
def test_what_is_found(text: str, expected: str) -> None:
    names = Names()
    names.learn(text)
    assert re.sub(r"(?<=://)\w+(?=:)", "u", names.hide(text)) == expected


@pytest.mark.parametrize(
    ("text", "unsure", "paths"),
    [
        ("gpu17, then gpu-x2; 3abc9 x1 u2", "gpu-x2 gpu17", ""),
        ("rank3 ext4 nfsv4 file_2 a/gpu1 gpu1=2 gpu1(x) gpu1.5 .gpu1 +gpu1", "", ""),
        ("1bcdefgh2345678 1bcdefgh23456789 abcdefghabcdefgh 1234567890123456", "1bcdefgh23456789", ""),
        ("1bcdefgh23456789== and /1bcdefgh23456788 x+1bcdefgh23456787/", "1bcdefgh23456789==", ""),
        ("a.b b.c.d x/e.f.g h.i.j( k.l.m-_. 1.2.3", "b.c.d k.l.m", ""),
        ("gpu17 gpu18 gpu17 host-1 my-user-2x gpu18- gpu18", "gpu18 gpu17", ""),
        ("/a /a/b /a/b/c/d/e x=/f/g x/h/i /a/b/c/d", "", "/a/b/c/d /a/b /f/g"),
        ("/usr/x /libfoo/x /lib64/x /dev/x /iosonde-1/x /var/x /opt/y", "", ""),
        ("/usrx/x /variable/x /iosonde/x /srv/dev", "", "/iosonde/x /srv/dev /usrx/x /variable/x"),
        ("http://a/b/c {x}/c/d */e/f", "", ""),
    ],
)
def test_remaining_words_and_paths_of_a_text(text: str, unsure: str, paths: str) -> None:
    remains = Remains(frozenset({"exempt17"}))
    remains.read(f"{text} exempt17")
    assert (list(remains.unsure), list(remains.paths), remains.names) == (unsure.split(), paths.split(), {})


def test_remaining_words_are_counted_most_frequent_first() -> None:
    remains = Remains()
    remains.read({"gpu17": ["gpu16", {"sha256": "gpu14", "x_digest": "gpu14", "digests": ("gpu18", 7, None)}]}, "x")
    remains.read(["gpu19"], "sha256")
    remains.read(["gpu18 /b/c", "gpu18 /a/b /b/c"], "y")
    assert list(remains.unsure.items()) == [("gpu18", 3), ("gpu16", 1), ("gpu17", 1)]
    assert list(remains.paths.items()) == [("/b/c", 2), ("/a/b", 1)]


@pytest.mark.parametrize(
    ("text", "unsure"),
    [
        ("the run of martha was slow, ask norbert; Olga saw it", "Olga martha norbert"),
        ("told 'zoe' (by yan) via xy, on tuesday with node", "yan zoe"),
        ("it was Ada, Bob. Cleo saw; seen by Dan", "Cleo Dan"),
        ("Ada came, Bea Too, and 5 Cid", "Cid Too"),
        ("saw host-1 on host-2 at gpu17", "gpu17"),
    ],
)
def test_remaining_words_of_a_sentence(text: str, unsure: str) -> None:
    remains = Remains()
    remains.read_sentence(text)
    assert sorted(remains.unsure) == sorted(unsure.split())


def test_remaining_names_that_people_gave() -> None:
    remains = Remains(frozenset({"rosa-1"}))
    remains.read_names(["rosa-1", "slow disk", "ab", "for alice", "Slow Alice", "for alice", "node", "a.b"])
    assert list(remains.names.items()) == [("for alice", 2), ("Slow Alice", 1), ("a.b", 1)]
    assert remains.unsure == remains.paths == {}


def test_a_long_list_of_remains_is_cut_and_its_counts_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(remains_module, "_MAX_DIFFERENT", 2)
    remains = Remains()
    for text in ("gpu11", "gpu12", "gpu13", "gpu12", "gpu13"):
        remains.read(text)
    assert remains.unsure == {"gpu12": 2, "gpu11": 1}
