"""Stores in which somebody wrote a value of another type, with hashes that fit: every command reads them, or says why
not."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from iosonde.store.runfile import encode_sealed

VALUES: tuple[Any, ...] = (
    None,
    True,
    0,
    -1,
    7,
    2.5,
    2**70,
    "",
    "nope",
    [],
    ["a"],
    [1],
    [None],
    [[1]],
    {},
    {"a": 1},
    {"a": {"b": "c"}},
    [{}],
    [{"name": 3}],
    {"$float": "nan"},
    {"$float": "inf"},
)
HASHES = ("self_sha256", "schema_version")


def nested(levels: int) -> Any:
    """A value that deep."""
    value: Any = "deep"
    for level in range(levels):
        value = [value] if level % 2 else {"a": value}
    return value


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where a value stands, for each of them, as keys."""
    if path:
        yield path
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value[:3]):
            yield from places(item, (*path, place))


def kind_of(path: tuple[Any, ...]) -> str:
    """Its name without numbers: items of one list are alike."""
    return ".".join("*" if isinstance(key, int) else key for key in path)


def forge(file: Path, path: tuple[Any, ...], value: Any) -> None:
    """Write ``value`` there, and hashes that fit."""
    document = json.loads(file.read_text())
    holder = document
    for key in path[:-1]:
        holder = holder[key]
    holder[path[-1]] = value
    text = (
        encode_sealed({**document, "self_sha256": ""}) if "self_sha256" in document else json.dumps(document).encode()
    )
    file.write_bytes(text)


def forgeries(store: Path, draw: random.Random, count: int) -> Iterator[tuple[Path, tuple[Any, ...], Any]]:
    """So many, of all kinds of places alike: file, place in it, value."""
    files = sorted([*store.glob("runs/*/run.json"), *store.glob("experiments/*.json"), *store.glob("notes/*.json")])
    kinds: dict[str, list[tuple[Path, tuple[Any, ...]]]] = {}
    for file in files:
        for path in places(json.loads(file.read_text())):
            if path[0] not in HASHES:
                kinds.setdefault(f"{file.parent.parent.name} {kind_of(path)}", []).append((file, path))
    for _ in range(count):
        file, path = draw.choice(kinds[draw.choice(sorted(kinds))])
        yield file, path, draw.choice((*VALUES, nested(900)))
