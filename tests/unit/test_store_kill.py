"""kill -9 of a process that stores runs, at random moments, many times; and several processes at once."""

from __future__ import annotations

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import store_samples

from iosonde.core.errors import InputError
from iosonde.store import Store
from iosonde.store.marker import has_store_data


def child(work: Callable[[int], None]) -> tuple[int, int]:
    """(pid, reading end of a pipe) of a process that does ``work(writing end)``."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            os.close(reading)
            work(writing)
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    return pid, reading


def acknowledged(reading: int) -> list[str]:
    """The ids a child wrote to its pipe, one line each, until it ended."""
    with os.fdopen(reading) as pipe:
        return pipe.read().split("\n")[:-1]


def append_forever(path: Path, prefix: str, pipe: int) -> None:
    store, number = Store.create(path), 0
    while True:
        run_id = f"{prefix}-{number}"
        store.append(store_samples.run(run_id))
        os.write(pipe, f"{run_id}\n".encode())
        number += 1


@pytest.mark.long
def test_what_append_returned_for_survives_kill_9(tmp_path: Path) -> None:
    rng, path, stored, leftovers = random.Random(3), tmp_path / "store", set(), 0
    Store.create(path).append(store_samples.run("before"))
    for turn in range(30):
        pid, pipe = child(lambda writing, turn=turn: append_forever(path, f"r{turn}", writing))
        # Half of the kills hit a process that surely stores runs by then, however slow the machine is.
        first = os.read(pipe, 100).decode() if turn % 2 else ""
        time.sleep(rng.uniform(0.0, 0.02))
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        stored |= {*first.split(), *acknowledged(pipe)}
        store = Store.open(path)
        assert stored <= set(store.run_ids())
        found = store.problems()
        assert {item.code for item in found} <= {"D102"}
        leftovers += len(found)
    assert leftovers, "no kill hit an append: the test shows nothing"
    for run_id in store.run_ids():
        assert store.run(run_id).observations == store_samples.run().observations
    store.append(store_samples.run("after"))
    assert store.problems() == []
    assert not [name for name in os.listdir(path / "runs") if name.startswith(".tmp")]


def test_what_a_live_process_is_writing_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "store"
    store = Store.create(path)

    def stop_half_way(pipe: int) -> None:
        class Stopping(type(store.disk)):
            def rename(self, old: Path, new: Path) -> None:
                os.write(pipe, b"here\n")
                signal.pause()

        Store.open(path, Stopping()).append(store_samples.run("half"))

    pid, pipe = child(stop_half_way)
    try:
        assert os.read(pipe, 10) == b"here\n"
        store.append(store_samples.run("other"))
        assert store.run_ids() == ["other"]
        assert store.problems() == []
        assert [name for name in os.listdir(path / "runs") if name.startswith(".tmp-half")]
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(pipe)
    assert [item.code for item in store.problems()] == ["D102"]


def test_two_processes_append_at_once(tmp_path: Path) -> None:
    path = tmp_path / "store"

    def append(prefix: str, pipe: int) -> None:
        store = Store.create(path)
        for number in range(15):
            for run_id in (f"{prefix}-{number}", f"contested-{number}"):
                try:
                    store.append(store_samples.run(run_id, source=prefix))
                except InputError:
                    continue
                os.write(pipe, f"{run_id}\n".encode())

    children = [child(lambda pipe, name=name: append(name, pipe)) for name in ("a", "b")]
    told = [acknowledged(pipe) for _, pipe in children]
    assert [os.waitpid(pid, 0)[1] for pid, _ in children] == [0, 0]
    store = Store.open(path)
    assert sorted(told[0] + told[1]) == sorted(store.run_ids())
    assert {f"contested-{number}" for number in range(15)} <= set(store.run_ids())
    assert store.problems() == []
    for document in store.runs():
        winner = told[0] if document["source"] == "a" else told[1]
        assert document["id"] in winner


def test_a_store_that_appears_while_its_place_is_checked_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "store"
    path.mkdir()

    def create_meanwhile(store: Path) -> bool:
        monkeypatch.undo()
        Store.create(store).append(store_samples.run("theirs"))
        return has_store_data(store)

    monkeypatch.setattr("iosonde.store.store.has_store_data", create_meanwhile)
    store = Store.create(path)
    store.append(store_samples.run("ours"))
    assert sorted(store.run_ids()) == ["ours", "theirs"]


def test_tags_of_two_processes_are_all_kept(tmp_path: Path) -> None:
    store = Store.create(tmp_path / "store")
    store.append(store_samples.run("run-1"))

    def tag(prefix: str, _pipe: int) -> None:
        for number in range(20):
            store.notes.change("run-1", add=[f"{prefix}{number}"])

    for pid, pipe in [child(lambda pipe, name=name: tag(name, pipe)) for name in ("a", "b")]:
        assert os.waitpid(pid, 0)[1] == 0
        os.close(pipe)
    assert len(store.notes.tags("run-1")) == 40
