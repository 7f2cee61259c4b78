"""Whatever happens to any file of a store: it is said, or it changes nothing that anybody is shown."""

from __future__ import annotations

import os
import random
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import store_samples

from iosonde.commands.store.answer import check
from iosonde.commands.verify.answer import verify
from iosonde.core.errors import IosondeError
from iosonde.data.source import open_data
from iosonde.store import Store

FLIPS = 25  # of every file, at places that are drawn


def make(path: Path) -> Store:
    store = Store.create(path)
    store.save_experiment(store_samples.experiment())
    phase = {"index": 0, "name": "read_large", "operation": "read_large", "measures": "bandwidth"}
    for number in range(2):
        store.append(store_samples.run(f"run-{number}", phases=[phase], seconds=number + 1.0))
    store.notes.change("run-1", add=["baseline"], note="the switch was replaced")
    return store


def content(path: Path) -> Any:
    """All that anybody is shown of a store."""
    store = Store.open(path)
    runs = store.runs()
    return (
        runs,
        store.experiments(),
        store.results().to_pylist(),
        [store.notes.read_notes(run["id"]) for run in runs],
        [store.operations(run["id"]).tolist() for run in runs],
        [store.run(run["id"]).raw for run in runs],
    )


def flip(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    data[draw.randrange(len(data))] ^= 1 << draw.randrange(8)
    path.write_bytes(data)


def change_digit(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    places = [found.start() for found in re.finditer(rb"\d", data)]
    if places:
        place = draw.choice(places)
        data[place] = 48 + (data[place] - 47) % 10
        path.write_bytes(data)


def cut(path: Path, draw: random.Random) -> None:
    os.truncate(path, draw.randrange(path.stat().st_size))


def zero(path: Path, draw: random.Random) -> None:
    data = bytearray(path.read_bytes())
    start = draw.randrange(len(data))
    end = start + min(16, len(data) - start)
    data[start:end] = bytes(end - start)
    path.write_bytes(data)


def swap(path: Path, draw: random.Random) -> None:
    store = next(parent for parent in path.parents if (parent / "store.json").exists())
    other = draw.choice([other for other in files(store) if other != path])
    mine, theirs = path.read_bytes(), other.read_bytes()
    path.write_bytes(theirs)
    other.write_bytes(mine)


def remove(path: Path, draw: random.Random) -> None:
    path.unlink()


def link(path: Path, draw: random.Random) -> None:
    elsewhere = Path(f"{path}.elsewhere")
    elsewhere.write_bytes(path.read_bytes())
    path.unlink()
    path.symlink_to(elsewhere)


def fifo(path: Path, draw: random.Random) -> None:
    path.unlink()
    os.mkfifo(path)


def directory(path: Path, draw: random.Random) -> None:
    path.unlink()
    path.mkdir()


MUTATIONS = {flip: FLIPS, change_digit: FLIPS, cut: 5, zero: 5, swap: 5, remove: 1, link: 1, fifo: 1, directory: 1}


def files(store: Path) -> list[Path]:
    return sorted(path for path in store.rglob("*") if path.is_file() and "locks" not in path.parts)


def said(path: Path) -> Iterator[str]:
    """What the two commands that look after stores say is wrong."""
    for ask in (lambda: check(str(path)).serious, lambda: verify(open_data(str(path))).damaged):
        try:
            yield from (problem.sentence for problem in ask())
        except IosondeError as error:
            yield error.message


@pytest.fixture(scope="module")
def original(tmp_path_factory) -> Path:
    return make(tmp_path_factory.mktemp("original") / "store").path


NAMES = [
    "store.json",
    "experiments/e-1.json",
    "notes/run-1.json",
    *(f"runs/run-0/{name}" for name in ("run.json", "results.parquet", "operations.parquet", "raw/out.txt")),
]


@pytest.mark.parametrize("name", NAMES)
def test_every_mutation_is_said_or_changes_nothing(original: Path, tmp_path: Path, name: str) -> None:
    before, silent = content(original), []
    draw = random.Random(name)
    for mutate, times in MUTATIONS.items():
        for number in range(times):
            store = tmp_path / f"{mutate.__name__}-{number}"
            shutil.copytree(original, store)
            mutate(store / name, draw)
            sentences = [*said(store)]
            if name == "notes/run-1.json" and mutate is remove:  # as if nobody had written one
                continue
            if not sentences and content(store) != before:
                silent.append(store.name)
            shutil.rmtree(store)
    assert silent == []


def test_every_file_of_the_store_is_mutated(original: Path) -> None:
    names = {str(path.relative_to(original)).replace("run-1/", "run-0/") for path in files(original)}
    assert names == set(NAMES)


@pytest.mark.parametrize("name", ["experiments/e-1.json", "store.json"])
@pytest.mark.parametrize("mutate", [remove, change_digit, directory])
def test_both_commands_say_it_by_their_exit_code(original, tmp_path, name, mutate: Callable) -> None:
    from click.testing import CliRunner

    from iosonde.cli.group import cli

    store = shutil.copytree(original, tmp_path / "store")
    draw = random.Random(3)
    mutate(store / name, draw)
    for command in (["store", "check", str(store)], ["verify", str(store)]):
        done = CliRunner().invoke(cli, command)
        assert done.exit_code or getattr(done.exception, "exit_code", 0), (command, done.output)
