"""Stores that disks, people and others changed: each change is said, or has no effect; nobody hangs or falls over it.

What may change without a word: tags and notes (people change these), and the layout of JSON whose content stays.
"""

from __future__ import annotations

import json
import os
import random
from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any

from . import samples
from .case import Case, dice, digest, judge
from .warm import warm

CPU_S, WALL_S = 15, 45.0
COMMANDS: dict[str, tuple[str, ...]] = {
    "store check": ("store", "check", "st"),
    "verify": ("verify", "st", "--json"),
    "show": ("show", "st"),
    "show run": ("show", "st", samples.FIRST_RUN),
    "summary": ("summary", "st"),
    "watch": ("watch", "st"),
    "compare": ("compare", "st", "--response", "read", "--group", "nodes", "1", "2"),
    "export": ("show", "st", "--export", "csv"),
    "report": ("report", "st", "-o", "page.html"),
}
JUDGES = ("store check", "verify")
OTHERS = [name for name in COMMANDS if name not in (*JUDGES, "report")]  # a page takes seconds: not with --quick
SECRET = "not-for-you-4711"
KINDS = ("flip", "cut", "zeros", "digit", "empty", "removed", "swapped", "link", "dangling link", "FIFO", "directory")


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Damages of every kind of file; forgeries; a question that was changed."""
    for kind in KINDS:
        for number in range(1 if quick else 20):
            yield Case("store: file damaged", f"{kind} #{number}", partial(_attack_file, seed, quick, kind, number))
    for name, change in QUESTIONS.items():
        yield Case("store: question or marker changed", name, partial(_attack_question, change))
    for name in FORGERIES if not quick else list(FORGERIES)[::4]:
        yield Case("store: run forged", name, partial(_attack_by_forgery, seed, quick, name))


def run(name: str, folder: Path) -> Any:
    """One command on the store ``st`` of a folder."""
    return warm().command(list(COMMANDS[name]), folder, cpu_s=CPU_S, wall_s=WALL_S)


@cache
def _undamaged_output(name: str) -> tuple[int, str]:
    """What a command says of the store before anything is done to it."""
    ended = run(name, samples.store().parent)
    return ended.code, ended.out


def _attack_file(seed: int, quick: bool, kind: str, number: int, folder: Path) -> list[str]:
    store, rng = samples.copy(samples.store(), folder / "st"), dice(seed, f"{kind} {number}")
    files = sorted(path for path in store.rglob("*") if path.is_file() and path.suffix in (".json", ".parquet", ".txt"))
    files = [path for path in files if not {"tags", "notes"} & set(path.parts)]
    chosen = rng.choice(files)
    before, parsed = chosen.read_bytes(), _parse(chosen)
    _mutate(kind, chosen, files, rng, folder / "elsewhere")
    what = f"{kind} of {chosen.relative_to(store)}"
    same = chosen.is_file() and (chosen.read_bytes() == before or (parsed is not None and _parse(chosen) == parsed))
    others = rng.sample(OTHERS, 1) if quick else rng.sample([*OTHERS, "report"], 2)
    return _check_commands(what, others, folder, is_effective=not same)


def _check_commands(what: str, others: list[str], folder: Path, is_effective: bool) -> list[str]:
    """What the commands do with a store that was changed, and whether path of those that check says so."""
    breaches, words = [], []
    for name in (*JUDGES, *others):
        ended = run(name, folder)
        breaches += [f"{what}: {breach}" for breach in judge(ended, deadline_s=WALL_S)]
        if name in JUDGES and (ended.code, ended.out) != _undamaged_output(name):
            words.append(ended.err or ended.out)
    if is_effective and not words:
        breaches.append(f"{what}: neither store check nor verify says so")
    return breaches


def _parse(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes()) if path.suffix == ".json" else None
    except ValueError:
        return None


def _mutate(kind: str, path: Path, files: list[Path], rng: random.Random, elsewhere: Path) -> None:
    raw = bytearray(path.read_bytes())
    at = rng.randrange(max(1, len(raw)))
    if kind in ("flip", "cut", "zeros", "digit", "empty"):
        if kind == "flip":
            raw[at] ^= 1 << rng.randrange(8)
        elif kind == "zeros":
            raw[at : at + 64] = bytes(len(raw[at : at + 64]))
        elif kind == "digit":
            digits = [place for place, byte in enumerate(raw) if 48 <= byte <= 57]
            raw[place] = 48 + (raw[place := rng.choice(digits)] - 47) % 10
        path.write_bytes(raw[: {"cut": at, "empty": 0}.get(kind, len(raw))])
        return
    if kind == "swapped":
        other = rng.choice([file for file in files if file != path and file.suffix == path.suffix] or files)
        content = other.read_bytes()
        other.write_bytes(raw)
        path.write_bytes(content)
        return
    path.unlink()
    if kind == "link":
        elsewhere.write_text(SECRET)
        path.symlink_to(elsewhere)
    elif kind == "dangling link":
        path.symlink_to("nowhere")
    elif kind == "FIFO":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()


def _json_change(path_in_store: str, **changes: Any) -> Callable[[Path], object]:
    def change(store: Path) -> None:
        path = store / path_in_store
        path.write_text(json.dumps({**json.loads(path.read_text()), **changes}, indent=2, sort_keys=True) + "\n")

    return change


_QUESTION = f"experiments/{samples.EXPERIMENT}.json"
QUESTIONS: dict[str, Callable[[Path], object]] = {
    "experiment removed": lambda store: (store / _QUESTION).unlink(),
    "all experiments removed": lambda store: [path.unlink() for path in (store / "experiments").iterdir()],
    "other seed": _json_change(_QUESTION, seed=8),
    "other name": _json_change(_QUESTION, name="it was another question"),
    "other levels": _json_change(_QUESTION, factors=[{"levels": [1, 4], "name": "nodes", "role": "set", "unit": ""}]),
    "other settings": _json_change(_QUESTION, settings={"target": "/elsewhere"}),
    "other date": _json_change(_QUESTION, created_at="2020-01-01T00:00:00Z"),
    "store.json removed": lambda store: (store / "store.json").unlink(),
    "store.json of the future": _json_change("store.json", schema_version=99),
    "store.json is a list": lambda store: (store / "store.json").write_text("[]"),
}


def _attack_question(change: Callable[[Path], object], folder: Path) -> list[str]:
    change(samples.copy(samples.store(), folder / "st"))
    return _check_commands("changed", ["show", "summary"], folder, is_effective=True)


def _nest(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


# What is put into a run.json whose digest is right.
FORGERIES: dict[str, dict[str, Any]] = {
    "a factor is a dict": {"factors": {"nodes": {"a": 1}}},
    "a factor is a list": {"factors": {"nodes": [1, [2]]}},
    "factors is a list": {"factors": [1, 2]},
    "phases is text": {"phases": "x"},
    "phases of numbers": {"phases": [1, 2]},
    "a severity that is none": {"findings": [{"code": "M101", "severity": "nope", "sentence": "x", "evidence": {}}]},
    "findings without keys": {"findings": [{}]},
    "900 levels deep": {"facts": _nest(900)},
    "facts is a number": {"facts": 7},
    "hosts is a number": {"facts": {"hosts": 7}},
    "files lead outside": {"files": {"../../../secret": {"bytes": 16, "sha256": "0" * 64}}},
    "files absolute": {"files": {"/etc/passwd": {"bytes": 16, "sha256": "0" * 64}}},
    "files is a list": {"files": ["results.parquet"]},
    "id leads outside": {"id": "../../secret"},
    "id is a number": {"id": 7},
    "experiment leads outside": {"experiment": "../../secret"},
    "experiment is a list": {"experiment": [1]},
    "seconds is text": {"seconds": "long"},
    "seconds is huge": {"seconds": 1e308},
    "seconds is null": {"seconds": None},
    "started at no time": {"started_at": "yesterday"},
    "started in year 9999999": {"started_at": "9999999-01-01T00:00:00Z"},
    "missing is true": {"missing": True},
    "complete is text": {"complete": "no"},
    "headlines is text": {"headlines": "x"},
    "operations is huge": {"operations": 10**30},
    "versions is null": {"versions": None},
    "a name of 100,000 characters": {"source": "x" * 100_000},
    "names that steer": {"source": "\x1b[2J\u202e<script>", "factors": {"\x1b]0;x\x07": "\r\n"}},
    "schema version is true": {"schema_version": True},
    "nothing but a version": {"": None},
}


def _attack_by_forgery(seed: int, quick: bool, name: str, folder: Path) -> list[str]:
    store = samples.copy(samples.store(), folder / "st")
    (folder / "secret").write_text(SECRET)
    path = store / "runs" / samples.FIRST_RUN / "run.json"
    document = json.loads(path.read_text())
    document = {"schema_version": 1} if "" in FORGERIES[name] else {**document, **FORGERIES[name]}
    path.write_bytes(samples.seal_forgery(document))
    before, breaches = digest(store), []
    others = dice(seed, name).sample(OTHERS, 1) if quick else COMMANDS
    for command in dict.fromkeys([*JUDGES, *others]):
        ended = run(command, folder)
        breaches += judge(ended, deadline_s=WALL_S)
        if SECRET in ended.out + ended.err:
            breaches.append(f"{ended.command}: shows a file outside the store")
        # An export into a pipe is exact; only for a terminal it is escaped.
        if "\x1b" in ended.err + ("" if "--export" in ended.command else ended.out):
            breaches.append(f"{ended.command}: a name steers the terminal")
    written = {entry.name for entry in folder.iterdir()} - {"st", "secret", "home", "tmp", "page.html"}
    if written or digest(store) != before:
        breaches.append(f"written: {written or 'in the store'}")
    return breaches
