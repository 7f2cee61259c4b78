"""Power loss at every moment: each prefix of the store's effects, with all that was not yet flushed at risk.

``Recorder`` notes every effect. For each prefix the disk is rebuilt as POSIX allows: a name (made, renamed,
removed) that was not followed by an fsync of its directory may or may not be there, in any combination; data that
was not followed by an fsync of its file may be lost, torn, or zeros. Then the store must open, hold whole
everything that was acknowledged, and take another run.
"""

from __future__ import annotations

import io
import random
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import store_samples

from iosonde.core.errors import InputError
from iosonde.core.types import Trial
from iosonde.store import Store
from iosonde.store.files import Disk


class Recorder(Disk):
    """Does everything, and notes it: (effect, path, …) with paths relative to ``root``."""

    def __init__(self, root: Path, without: str = "") -> None:
        self.root = root
        self.without = without
        self.effects: list[tuple] = []

    def note(self, effect: str, path: Path | str, *more: object) -> None:
        if effect != self.without:
            self.effects.append((effect, str(Path(path).relative_to(self.root)), *more))

    def make_directory(self, path: Path) -> None:
        super().make_directory(path)
        self.note("mkdir", path)

    def open_new(self, path: Path) -> io.FileIO:
        file = super().open_new(path)
        self.note("create", path)
        return file

    def write(self, file: io.FileIO, data: bytes) -> None:
        super().write(file, data)
        self.note("write", file.name, bytes(data))

    def sync_file(self, file: io.FileIO) -> None:
        super().sync_file(file)
        self.note("sync_file", file.name)

    def sync_directory(self, path: Path) -> None:
        super().sync_directory(path)
        self.note("sync_directory", path)

    def sync_file_system(self, path: Path) -> None:
        super().sync_file_system(path)
        self.note("sync_file_system", path)

    def rename(self, old: Path, new: Path) -> None:
        super().rename(old, new)
        self.note("rename", old, str(new.relative_to(self.root)))

    def remove_file(self, path: Path) -> None:
        super().remove_file(path)
        self.note("remove", path)

    def remove_directory(self, path: Path) -> None:
        super().remove_directory(path)
        self.note("remove", path)


@dataclass(eq=False)
class Inode:
    names: dict[str, Inode] | None = None  # of a directory, as running programs see it
    content: bytes = b""
    synced: int = 0


@dataclass(eq=False)
class Change:
    """Names that appear or vanish together, and the directories that must be flushed to make them last."""

    entries: list[tuple[Inode, str, Inode | None]]
    unflushed: set[int] = field(default_factory=set)


class Replay:
    """The disk after a prefix of the effects."""

    def __init__(self, effects: list[tuple]) -> None:
        self.root = Inode(names={})
        self.changes: list[Change] = []
        for effect in effects:
            self._do(*effect)

    def _at(self, path: str) -> Inode:
        node = self.root
        for part in Path(path).parts:
            assert node.names is not None
            node = node.names[part]
        return node

    def _do(self, effect: str, path: str, *more: object) -> None:
        if effect in ("mkdir", "create"):
            self._change((path, Inode(names={} if effect == "mkdir" else None)))
        elif effect == "write":
            self._at(path).content += more[0]  # type: ignore[operator]
        elif effect == "sync_file":
            node = self._at(path)
            node.synced = len(node.content)
        elif effect == "sync_directory":
            for change in self.changes:
                change.unflushed.discard(id(self._at(path)))
        elif effect == "sync_file_system":
            for change in self.changes:
                change.unflushed.clear()
            self._sync_all(self.root)
        elif effect == "rename":
            node = self._at(path)
            self._change((path, None), (str(more[0]), node))
        else:
            self._change((path, None))

    def _sync_all(self, node: Inode) -> None:
        node.synced = len(node.content)
        for child in (node.names or {}).values():
            self._sync_all(child)

    def _change(self, *entries: tuple[str, Inode | None]) -> None:
        done = []
        for path, node in entries:
            parent = self._at(str(Path(path).parent))
            assert parent.names is not None
            parent.names.pop(Path(path).name, None)
            if node is not None:
                parent.names[Path(path).name] = node
            done.append((parent, Path(path).name, node))
        self.changes.append(Change(done, {id(parent) for parent, _, _ in done}))

    def after_crash(self, rng: random.Random, lost: set[int], tail: str) -> dict[str, bytes | None]:
        """Path → content (None: a directory) with the pending changes numbered in ``lost`` gone."""
        names: dict[int, dict[str, Inode]] = {}
        pending = -1
        for change in self.changes:
            pending += bool(change.unflushed)
            if change.unflushed and pending in lost:
                continue
            for parent, name, node in change.entries:
                here = names.setdefault(id(parent), {})
                here.pop(name, None)
                if node is not None:
                    here[name] = node
        state: dict[str, bytes | None] = {}

        def walk(node: Inode, path: str) -> None:
            for name, child in names.get(id(node), {}).items():
                below = f"{path}/{name}" if path else name
                if child.names is not None:
                    state[below] = None
                    walk(child, below)
                else:
                    state[below] = self._survives(child, rng, tail)

        walk(self.root, "")
        return state

    @staticmethod
    def _survives(node: Inode, rng: random.Random, tail: str) -> bytes:
        safe, risky = node.content[: node.synced], node.content[node.synced :]
        if tail == "torn":
            risky = risky[: rng.randrange(len(risky) + 1)]
        return safe + {"kept": risky, "lost": b"", "torn": risky, "zeros": bytes(len(risky))}[tail]

    def crashes(self, rng: random.Random):
        count = sum(bool(change.unflushed) for change in self.changes)
        everything = set(range(count))
        yield self.after_crash(rng, set(), "kept")
        yield self.after_crash(rng, everything, "lost")
        yield self.after_crash(rng, set(), "zeros")
        for number in range(count):
            yield self.after_crash(rng, {number}, "torn")
            yield self.after_crash(rng, everything - {number}, "kept")
        for _ in range(3):
            yield self.after_crash(rng, {n for n in everything if rng.random() < 0.5}, "torn")


RUNS = {
    "run-1": store_samples.run("run-1"),
    "run-2": store_samples.run("run-2", operations=None, raw={}, started_at="2026-11-21T10:01:00Z"),
}
BATCH = {
    name: store_samples.run(name, operations=None, raw={"out.txt": b"text"}, started_at="2026-11-21T10:02:00Z")
    for name in ("batch-1", "batch-2")
}
ALL = {**RUNS, **BATCH}


def record(root: Path, without: str = "") -> tuple[list[tuple], dict[str, int]]:
    """A life of a store, and after how many effects each step of it was acknowledged."""
    root.mkdir()
    disk, done = Recorder(root, without), {}
    store = Store.create(root / "store", disk)
    done["create"] = len(disk.effects)
    store.save_experiment(store_samples.experiment())
    done["experiment"] = len(disk.effects)
    for name, run in RUNS.items():
        store.append(run)
        done[name] = len(disk.effects)
    assert store.append_many([*BATCH.values(), RUNS["run-1"]]) == ["run-1"]
    done |= dict.fromkeys(BATCH, len(disk.effects))
    store.notes.change("run-1", add=["baseline"])
    done["tag"] = len(disk.effects)
    longer = store_samples.experiment()
    longer.trials.append(Trial(1, {"nodes": 2}, 0, 0, 8))
    store.save_experiment(longer)
    done["experiment again"] = len(disk.effects)
    return disk.effects, done


def check(path: Path, done: set[str]) -> None:
    """Nothing acknowledged is lost, nothing half is shown."""
    store = Store.open(path) if "create" in done else Store.create(path)
    assert [item for item in store.problems() if item.code != "D102"] == []
    present = store.run_ids()
    assert set(present) <= set(ALL)
    assert {name for name in ALL if name in done} <= set(present)
    for name in present:
        assert store.run(name).observations == ALL[name].observations
    for mark, trials in (("experiment", [1, 2]), ("experiment again", [2])):
        if mark in done:
            assert len(store.experiment("e-1").trials) in trials
    if "tag" in done:
        assert store.notes.tags("run-1") == ["baseline"]


def check_that_life_goes_on(path: Path) -> None:
    store = Store.create(path)
    store.append(store_samples.run("next", operations=None, raw={}))
    assert "next" in store.run_ids()
    assert [item for item in store.problems() if item.code != "D102"] == []


def replay_all(tmp_path: Path, without: str = "", seed: int = 1) -> int:
    """Check every crash; the number of different ones."""
    effects, done = record(tmp_path / "recorded", without)
    rng, seen = random.Random(seed), set()
    for length in range(len(effects) + 1):
        acknowledged = {name for name, at in done.items() if at <= length}
        for state in Replay(effects[:length]).crashes(rng):
            key = (frozenset(state.items()), frozenset(acknowledged))
            if key in seen:
                continue
            seen.add(key)
            root = tmp_path / f"crash-{len(seen)}"
            root.mkdir()
            for name, content in state.items():
                (root / name).mkdir() if content is None else (root / name).write_bytes(content)
            check(root / "store", acknowledged)
            if len(seen) % 10 == 0:
                check_that_life_goes_on(root / "store")
    return len(seen)


def test_every_crash_leaves_a_store_that_opens_with_all_that_was_acknowledged(tmp_path: Path) -> None:
    assert replay_all(tmp_path) > 200


@pytest.mark.parametrize("without", ["sync_file", "sync_directory", "sync_file_system"])
def test_the_replay_finds_a_store_that_does_not_flush(tmp_path: Path, without: str) -> None:
    with pytest.raises((AssertionError, InputError)):
        replay_all(tmp_path, without)
