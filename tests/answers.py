"""Answers of commands on small data, recorded whole: JSON, text and figure in ``tests/golden/answers``.

``python tests/answers.py [COMMAND…]`` records them again; read the diff.
"""

from __future__ import annotations

import contextlib
import dataclasses
import inspect
import io
import json
import math
import os
import re
import shlex
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from hashlib import sha1
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from click.testing import CliRunner

TESTS = Path(__file__).parent
DIRECTORY = TESTS / "golden" / "answers"
DIGITS, TOLERANCE = 9, 1e-7
MAX_VALUES, MAX_WIDTH = 12, 118  # of a list of numbers that is recorded whole; of a line of a recorded file
MAX_PART = 400  # characters of a part that is recorded whole in every case
CONDENSED = ("report",)  # commands whose cases share most of their parts
ALWAYS_WHOLE = ("answers", "verdicts", "columns")


_DRAWN_ID = re.compile(r"\b\d{8}(T\d{6})?-[0-9a-f]{8}\b")
VARYING = ("self_sha256", "stored_at")  # of a run that was stored now


def list_commands() -> list[str]:
    """The commands of which answers are recorded."""
    from answer_cases import CASES

    return sorted(CASES)


def record(command: str, directory: Path) -> dict[str, Any]:
    """Command line → answer, for all cases of a command, which share a scratch directory."""
    from answer_cases import CASES, prepare
    from fake_tree import survey_nothing_real
    from iosonde.commands.diagnose import trials
    from iosonde.store import tables

    own = {"HOME": str(directory), "XDG_CACHE_HOME": str(directory / ".cache")}
    environ = mock.patch.dict(os.environ, COLUMNS="80", TZ="UTC", NO_COLOR="1", **own)
    pieces = mock.patch.object(trials, "IN_MEMORY", 2000), mock.patch.object(tables, "ROWS_PER_GROUP", 500)
    with contextlib.chdir(directory), environ, survey_nothing_real(), pieces[0], pieces[1]:
        answers = {}
        for line in CASES[command]:
            prepare(line)
            answers[line] = simplify(answer(shlex.split(line)), str(directory))
        return condense_cases(answers) if command in CONDENSED else answers


def answer(words: list[str]) -> dict[str, Any]:
    """What a command line gives: a refusal, or everything that its result can show."""
    from iosonde.cli import terminal
    from iosonde.cli.group import cli
    from iosonde.commands.corpus.for_page import CorpusPage
    from iosonde.commands.survey.for_page import SurveyPage
    from iosonde.core.errors import IosondeError

    shown: dict[str, Any] = {}

    def keep(result: Any, lines: Iterator[str], _: bool, then: Callable[[], object] | None = None) -> None:
        shown["text"] = list(lines)
        shown["json"] = result.to_dict()
        if getattr(result, "problem", False):
            shown["problem"] = True
        if figures := _list_figures(result):
            shown["figures"] = figures
        page = getattr(result, "page", None)
        content = getattr(result, "answer", None) or page
        if isinstance(page, (CorpusPage, SurveyPage)):  # the JSON of other pages is all that they show
            shown["page"] = {key: part for key, part in vars(page).items() if key not in ("corpus", "survey")}
        if rows := getattr(content, "records", list)():
            shown["records"] = _list_columns(rows)
        if tables := list(_iterate_tables(content)):
            shown["tables"] = tables
        if then:
            then()

    with mock.patch.object(terminal, "print_result", keep):
        done = CliRunner().invoke(cli, words)
    if isinstance(done.exception, IosondeError):
        error = done.exception
        return shown | {"refused": error.code, "values": dict(error.values), "message": f"{error}", "hint": error.hint}
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    shown |= {"exit": done.exit_code} if done.exit_code else {}
    shown |= {"stderr": done.stderr.splitlines()} if done.stderr else {}
    return shown | ({"stdout": done.stdout.splitlines()} if done.stdout else {})


def _list_figures(result: Any) -> Any:
    from iosonde.commands.plot.content import Drawn
    from iosonde.commands.plot.figure import list_figure_makers
    from iosonde.core.errors import InputError

    answer = getattr(result, "answer", None)
    makers = [make for _, make in list_figure_makers(answer)] if isinstance(answer, Drawn) else []
    if getattr(result, "figure", None):
        makers.append(lambda: result.figure(answer))
    try:
        figures = [make() for make in makers]
    except InputError as error:
        return error.code
    return [_describe_figure(figure) for figure in figures]


def _list_columns(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The rows of a frame as its columns."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: _shorten_column([row.get(name) for row in rows]) for name in names}


def _shorten_column(entries: list[Any]) -> Any:
    return _digest(entries) if len(entries) > MAX_VALUES and _are_texts(entries) else entries


def _iterate_tables(content: Any) -> Iterator[dict[str, Any]]:
    """Every table to download that a part of an answer, or of a page, can make of itself."""
    if isinstance(content, Mapping):
        content = list(content.values())
    if isinstance(content, (list, tuple)):
        for part in content:
            yield from _iterate_tables(part)
    elif dataclasses.is_dataclass(content):
        for name, method in inspect.getmembers(type(content), inspect.isfunction):
            if "DataTable" in str(method.__annotations__.get("return")) and method.__code__.co_argcount == 1:
                table = getattr(content, name)()
                columns = [_shorten_column(list(column)) for column in zip(*table.rows, strict=True)]
                yield {"caption": table.caption, "columns": list(table.columns), "values": columns}
        for field in dataclasses.fields(content):
            yield from _iterate_tables(getattr(content, field.name))


def _describe_figure(figure: Any) -> dict[str, Any]:
    leaves = list(_iterate_leaves(figure.spec))
    texts = [leaf for leaf in leaves if not isinstance(leaf, float)]
    numbers = [leaf for leaf in leaves if isinstance(leaf, float)]
    return {
        "title": figure.title,
        "description": figure.description,
        "texts": _digest(texts),
        "numbers": _shorten(numbers) if numbers else None,
    }


def _iterate_leaves(value: Any) -> Iterator[str | float]:
    """Everything that a figure's specification says, in order: keys and texts, and its numbers."""
    if isinstance(value, Mapping):
        for key, entry in value.items():
            yield str(key)
            yield from _iterate_leaves(entry)
    elif isinstance(value, (list, tuple)):
        for entry in value:
            yield from _iterate_leaves(entry)
    else:
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        yield float(value) if is_number else str(value)


def simplify(value: Any, directory: str) -> Any:
    """``value`` as JSON: numbers to 9 digits, long lists shortened."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {
            key if isinstance(key, str) else repr(key): simplify(entry, directory)
            for key, entry in value.items()
            if key not in VARYING
        }
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return _shorten([simplify(entry, directory) for entry in value])
    if isinstance(value, (set, frozenset)):
        return sorted(simplify(entry, directory) for entry in value)
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return _round(value) if math.isfinite(value) else repr(value)
    if isinstance(value, (bool, int)) or value is None:
        return value
    return _DRAWN_ID.sub("ID", str(value).replace(directory, "DIRECTORY"))


def _shorten(entries: list[Any], most: int = MAX_VALUES) -> Any:
    """A long list by columns, or what depends on each of its numbers, its signs and its order."""
    if len(entries) <= most:
        return entries
    kinds = {type(entry) for entry in entries}
    if kinds == {dict} and len({tuple(entry) for entry in entries}) == 1:
        columns = {name: [entry[name] for entry in entries] for name in entries[0]}
        return {name: _digest(column) if _are_texts(column) else _shorten(column) for name, column in columns.items()}
    if not kinds <= {int, float, type(None)}:
        return entries
    places = [(place, number) for place, number in enumerate(entries, 1) if number is not None]
    above, below = (math.fsum(place * max(sign * number, 0) for place, number in places) for sign in (1, -1))
    short = {"n": len(places), "ends": [entries[0], entries[-1]], "above": _round(above), "below": _round(below)}
    return short if len(places) == len(entries) else short | {"none": len(entries) - len(places)}


def condense_cases(answers: dict[str, Any]) -> dict[str, Any]:
    """The first part of each place and form whole; of others their keys and texts as a digest, their numbers in short.
    A form is the set of its keys."""
    forms: set[str] = set()
    return {line: _condense(answer, "", forms) for line, answer in answers.items()}


def _condense(part: Any, place: str, forms: set[str]) -> Any:
    if place.endswith(ALWAYS_WHOLE) or not isinstance(part, (dict, list)) or len(json.dumps(part)) <= MAX_PART:
        return part
    form = f"{place} {sorted(set(_iterate_key_paths(part)))}"
    if form in forms:
        numbers: dict[str, list[float]] = {}  # by key: of one magnitude
        for key, number in _iterate_numbers(part):
            numbers.setdefault(key, []).append(_round(number))
        texts = [leaf for leaf in _iterate_leaves(part) if isinstance(leaf, str)]
        return {"texts": _digest(texts), **{key: _shorten(entries, 4) for key, entries in numbers.items()}}
    forms.add(form)
    if isinstance(part, list):
        return [_condense(entry, place, forms) for entry in part]
    return {key: _condense(entry, f"{place}/{key}", forms) for key, entry in part.items()}


def _iterate_numbers(value: Any, key: str = "") -> Iterator[tuple[str, float]]:
    if isinstance(value, Mapping):
        for name, entry in value.items():
            yield from _iterate_numbers(entry, str(name))
    elif isinstance(value, list):
        for entry in value:
            yield from _iterate_numbers(entry, key)
    elif isinstance(value, (int, float)) and not isinstance(value, bool):
        yield key, float(value)


def _iterate_key_paths(value: Any, place: str = "") -> Iterator[str]:
    for key, entry in value.items() if isinstance(value, Mapping) else ():
        yield from (f"{place}/{key}", *_iterate_key_paths(entry, f"{place}/{key}"))
    for entry in value if isinstance(value, list) else ():
        yield from _iterate_key_paths(entry, place)


def _are_texts(entries: list[Any]) -> bool:
    return all(isinstance(entry, str) for entry in entries)


def _digest(entries: list[str]) -> Any:
    if len(set(entries)) == 1:
        return {"n": len(entries), "all": entries[0]}
    return {"n": len(entries), "digest": sha1(json.dumps(entries).encode(), usedforsecurity=False).hexdigest()[:12]}


def _round(number: float) -> float:
    return float(f"{number:.{DIGITS}g}")


def find_differences(recorded: Any, actual: Any, place: str = "") -> Iterator[str]:
    """Where two simplified answers differ; numbers may differ by rounding."""
    if isinstance(recorded, dict) and isinstance(actual, dict) and list(recorded) == list(actual):
        for key in recorded:
            yield from find_differences(recorded[key], actual[key], f"{place}/{key}")
    elif isinstance(recorded, list) and isinstance(actual, list) and len(recorded) == len(actual):
        for at, (one, other) in enumerate(zip(recorded, actual, strict=True)):
            yield from find_differences(one, other, f"{place}/{at}")
    elif not _is_same(recorded, actual):
        yield f"{place}: recorded {recorded!r}, is {actual!r}"


def _is_same(recorded: Any, actual: Any) -> bool:
    if isinstance(recorded, float) and isinstance(actual, (int, float)) and not isinstance(actual, bool):
        return math.isclose(recorded, actual, rel_tol=TOLERANCE, abs_tol=1e-12)
    return type(recorded) is type(actual) and recorded == actual


def read_recorded(command: str) -> dict[str, Any]:
    """The recorded answers of a command."""
    recorded: dict[str, Any] = json.loads((DIRECTORY / f"{command}.json").read_text(encoding="utf-8"))
    return recorded


def format_recorded(value: Any, indent: int = 0) -> str:
    """JSON in which what fits on a line is on one."""
    short = json.dumps(value, ensure_ascii=False)
    if len(short) + indent <= MAX_WIDTH or not isinstance(value, (dict, list)):
        return short
    inner = " " * (indent + 1)
    if isinstance(value, dict):
        entries = [f"{json.dumps(k, ensure_ascii=False)}: {format_recorded(v, indent + 1)}" for k, v in value.items()]
        return "{\n" + ",\n".join(inner + entry for entry in entries) + "\n" + " " * indent + "}"
    return "[\n" + ",\n".join(inner + format_recorded(v, indent + 1) for v in value) + "\n" + " " * indent + "]"


def main(commands: list[str]) -> None:
    """Record the answers of some commands, or of all; what differs by rounding alone stays."""
    DIRECTORY.mkdir(exist_ok=True)
    for command in commands or list_commands():
        with tempfile.TemporaryDirectory() as directory:
            actual = record(command, Path(directory))
        file = DIRECTORY / f"{command}.json"
        changed = not file.exists() or any(find_differences(read_recorded(command), actual))
        if changed:
            file.write_text(format_recorded(actual) + "\n", encoding="utf-8")
        print(f"{'recorded ' if changed else 'unchanged'} {file.name}")


if __name__ == "__main__":
    sys.path[1:1] = [str(TESTS / "unit"), str(TESTS / "commands")]
    with contextlib.redirect_stderr(io.StringIO()):
        main(sys.argv[1:])
