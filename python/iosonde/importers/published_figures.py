"""The figures of a published document: a YAML file with each number, its unit and settings, and the words around it.

Its form is ``published.schema.json`` in this directory. Conditions beyond a schema are checked here, all at once: every
number stands in its words, so that a digit that was typed wrong is found without the document.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from iosonde.core.column_units import is_rate
from iosonde.core.errors import InputError
from iosonde.core.expression import CONDITIONS
from iosonde.core.message import Message
from iosonde.core.problems import Problem, SpecError
from iosonde.core.schema_problems import list_violations
from iosonde.core.types import FactorValue
from iosonde.core.units import parse_suffixed_size
from iosonde.core.yaml_text import Document, Key, format_key, parse

from .columns_map import RESERVED_NAMES, BaseUnit, build_metric_name, parse_unit

PAGE = "docs/published.md"
_FIRST = f"give it published, document and figures: see {PAGE}"
_PATH = Path(__file__).with_name("published.schema.json")
_NEEDED = ("where", "words", "operation", "metric", "unit", "value")
# Numbers of a figure that stand in its words, besides the value.
_SPREAD = ("low", "high", "sd", "n")
# `10,000`, `.735`, `2e-04`, `-34.359`; the sign of `64 KB-16 MB` is none.
_NUMBER = re.compile(r"(?<![\d.,])((?<![\w)])[-−])?(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+\.?\d*|\.\d+)(e[-+]?\d+)?")
# Units that tools do not print.
_UNITS = {"h": BaseUnit("s", 3600.0), "d": BaseUnit("s", 86400.0), "EUR": BaseUnit("EUR")}
_FIRST_KEY = re.compile(r"^published: *\S", re.MULTILINE)
# Factor of a repeated trial.
REPETITION = "repetition"


@dataclass(frozen=True)
class Slip:
    """An error of the document: the right number or words, None if unknown, and the reason."""

    why: str
    should_be: float | str | None = None


@dataclass(frozen=True)
class Statement:
    """A claim of the document in words, with its place."""

    where: str
    words: tuple[str, ...]
    slip: Slip | None
    line: int


@dataclass(frozen=True)
class PrintedNumber:
    """A printed number, in the unit of the document; ``unit`` converts it to base units.

    ``metric`` has its clock. ``statistic`` names what is printed of the metric, '' for its value or mean. ``n`` counts
    trials, None if the document does not say; ``low`` and ``high`` are the ends of its interval at ``level``.
    ``relation``: ``at_least`` or ``at_most`` of a promise. ``bound``: the most that their system and the measured one
    can deliver. ``follows``: what other numbers give for it. ``digits``: significant digits to which it is meant.
    ``clock``: when that of a rate stopped. ``unmeasured``: code of the reason why nothing is compared with it.
    ``unit_name``, ``written_settings``: as the file has them, for people; no number of a trial.
    """

    where: str
    words: tuple[str, ...]
    operation: str
    metric: str
    statistic: str
    unit: BaseUnit
    value: float
    settings: Mapping[str, FactorValue]
    line: int
    printed: str = ""
    n: int | None = None
    level: float | None = None
    low: float | None = None
    high: float | None = None
    sd: float | None = None
    slip: Slip | None = None
    relation: str = ""
    bound: tuple[float, float] | None = None
    follows: float | None = None
    digits: int | None = None
    clock: str = ""
    unmeasured: str = ""
    unit_name: str = ""
    written_settings: Mapping[str, FactorValue] = field(default_factory=dict)

    @property
    def right_value(self) -> float | None:
        """Return the value, corrected if the document is wrong; None if the right one is unknown."""
        if self.slip is None:
            return self.value
        return self.slip.should_be if isinstance(self.slip.should_be, (int, float)) else None


@dataclass(frozen=True)
class DocumentCampaign:
    """An experiment file with claims about a document, and its trials; both paths begin at the document's file.
    ``here``: what was measured in place of the published system."""

    experiment: str
    data: str
    here: str = ""


@dataclass(frozen=True)
class Publication:
    """A document: its title, a short name, and what it prints. ``is_same_hardware``: its numbers are of the system that
    is measured, not of another one. ``file``: where it was read, None for a text. ``has_questions``: its own numbers
    answer questions of the file. ``notes``: what was assumed in reading it."""

    title: str
    document: str
    figures: tuple[PrintedNumber, ...]
    authors: str = ""
    year: int | None = None
    statements: tuple[Statement, ...] = field(default=())
    is_same_hardware: bool = True
    campaigns: tuple[DocumentCampaign, ...] = ()
    notes: tuple[str, ...] = ()
    has_questions: bool = False
    file: Path | None = None

    @property
    def wrong_statements(self) -> tuple[Statement, ...]:
        """Return the claims in words that are wrong by the document itself."""
        return tuple(item for item in self.statements if item.slip is not None)


def build_schema_text() -> str:
    """Return the JSON Schema (2020-12) of the file, for editors and other tools."""
    return _PATH.read_text(encoding="utf-8")


def read_publication(text: str, name: str) -> Publication:
    """Read the text of a file called ``name``. Raises SpecError with all errors in it."""
    document = parse(text, name, first=_FIRST)
    problems = list_violations(_build_validator(), document, PAGE)
    if not problems:
        cells = list(_iterate_cells(document))
        problems = [problem for path, cell in cells for problem in _check_cell(document, path, cell)]
        problems += _list_duplicates(document, cells)
    if problems:
        raise SpecError(name, problems)
    data = document.data
    return Publication(
        title=data["published"],
        document=data["document"],
        figures=tuple(_build_number(document, path, cell) for path, cell in cells if cell["value"] is not None),
        authors=data.get("authors", ""),
        year=data.get("year"),
        is_same_hardware=data.get("hardware", "same") == "same",
        campaigns=tuple(DocumentCampaign(**campaign) for campaign in data.get("campaigns", ())),
        notes=tuple(data.get("notes", ())),
        has_questions=bool(data.get("questions")),
        statements=tuple(
            Statement(
                item["where"],
                _list_words(item),
                _build_slip(item),
                _get_line(document, ("statements", place)),
            )
            for place, item in enumerate(data.get("statements", ()))
        ),
    )


def read_publication_file(path: Path) -> Publication | None:
    """Read the file of a document; None for any other file. Raises SpecError with all errors in it."""
    if path.suffix not in (".yaml", ".yml") or not path.is_file():
        return None
    text = path.read_text(encoding="utf-8", errors="replace")
    if not (_FIRST_KEY.search(text) and "\nfigures:" in text):
        return None
    return replace(read_publication(text, str(path)), file=path)


@cache
def _build_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(build_schema_text()))


# Cells


def _iterate_cells(document: Document) -> Iterator[tuple[Key, dict[str, Any]]]:
    """Yield the path and all keys of each number: those of its item, its column, its row and its own. Trials of one
    setting have a number, ``repetition``."""
    for place, item in enumerate(document.data["figures"]):
        path: Key = ("figures", place)
        shared = {key: value for key, value in item.items() if key != "table"}
        if "table" not in item:
            yield path, shared
            continue
        columns = item["table"].get("columns")
        for row_place, row in enumerate(item["table"]["rows"]):
            row_path = (*path, "table", "rows", row_place)
            if columns is not None and len(row["values"]) != len(columns):
                what = Message(
                    "wrong-length",
                    "the row has {n_values} values and the table {n_columns} columns",
                    n_values=len(row["values"]),
                    n_columns=len(columns),
                )
                hint = "write null where nothing is printed"
                raise SpecError(document.name, [Problem(document.place(row_path), format_key(row_path), what, hint)])
            own = {key: value for key, value in row.items() if key != "values"}
            for number, cell in enumerate(row["values"]):
                part = columns[number] if columns is not None else {"settings": {REPETITION: number}}
                inner = cell if isinstance(cell, dict) else {"value": cell}
                yield (*row_path, "values", number), _merge(shared, part, own, inner)


def _merge(*parts: Mapping[str, Any]) -> dict[str, Any]:
    """Merge the keys of nested parts: the innermost counts; settings are united, words are added."""
    merged: dict[str, Any] = {}
    for part in parts:
        settings = {**merged.get("settings", {}), **part.get("settings", {})}
        words = [*_list_words(merged), *_list_words(part)]
        merged |= part
        merged |= {"settings": settings} | ({"words": words} if words else {})
    return merged


def _list_words(cell: Mapping[str, Any]) -> tuple[str, ...]:
    words = cell.get("words", ())
    return (words,) if isinstance(words, str) else tuple(words)


# Checks


def _check_cell(document: Document, path: Key, cell: Mapping[str, Any]) -> Iterator[Problem]:
    def build_problem(what: Message, hint: str, *key: str) -> Problem:
        return Problem(document.place((*path, *key)), format_key((*path, *key)), what, hint)

    for key in _NEEDED:
        if key not in cell:
            yield build_problem(Message("missing-key", "the key '{name}' is missing", name=key), f"see {PAGE}")
    if "unit" in cell:
        yield from _check_unit(build_problem, cell)
    for name in cell.get("settings", {}):
        if name in RESERVED_NAMES and name != REPETITION:
            what = Message("reserved-name", "every run already has a column '{name}'", name=name)
            yield build_problem(what, "give it another name", "settings", name)
    if cell.get("value") is not None and "words" in cell:
        yield from _check_words(build_problem, cell)
    if "follows" in cell:
        try:
            _compute(cell)
        except InputError as error:
            yield build_problem(error.message, error.hint, "follows")


def _check_unit(build_problem: Any, cell: Mapping[str, Any]) -> Iterator[Problem]:
    try:
        base = _parse_unit(cell["unit"]).base
    except InputError as error:
        yield build_problem(error.message, error.hint, "unit")
        return
    if is_rate(base) and "clock" not in cell and "statistic" not in cell:
        what = Message("missing-key", "its clock is missing", name="clock")
        yield build_problem(what, "clock: last_done (until the last was done), sum_of_ranks or unknown")


def _parse_unit(text: str) -> BaseUnit:
    return _UNITS.get(text) or parse_unit(text)


def _check_words(build_problem: Any, cell: Mapping[str, Any]) -> Iterator[Problem]:
    """Check that every number of a figure stands in its words."""
    words = " ".join(_list_words(cell))
    numbers = list_numbers(words)
    if "printed" in cell:
        if cell["printed"] not in words:
            yield build_problem(_describe_absent(cell["printed"]), "copy both from the document", "printed")
    elif cell["value"] not in numbers:
        yield build_problem(
            _describe_absent(cell["value"]),
            "copy both from the document; where the text has no plain number, add it as printed: '3 thousand'",
        )
    for key in _SPREAD:
        if key in cell and cell[key] not in numbers:
            yield build_problem(_describe_absent(cell[key]), "copy both from the document", key)
    if "level" in cell and not numbers & {cell["level"], round(100 * cell["level"], 6)}:
        yield build_problem(_describe_absent(cell["level"]), "add the words that give the confidence level", "level")


def _describe_absent(value: float | str) -> Message:
    return Message("number-not-in-words", "{value} does not stand in the words", value=value)


def list_numbers(words: str) -> set[float]:
    """Return all numbers in a text: ``10,000``, ``.735``, ``2e-04``, ``50%``."""
    return {
        float(f"{'-' if match[1] else ''}{match[2].replace(',', '')}{match[3] or ''}")
        for match in _NUMBER.finditer(words)
    }


def _list_duplicates(document: Document, cells: list[tuple[Key, dict[str, Any]]]) -> list[Problem]:
    """Find numbers of the same thing: a setting is missing that distinguishes them."""
    place_by_thing: dict[str, Key] = {}
    problems: list[Problem] = []
    for path, cell in cells:
        thing = json.dumps([cell.get(key) for key in ("operation", "metric", "clock", "statistic", "settings")])
        first = place_by_thing.setdefault(thing, path)
        if first != path:
            what = Message(
                "duplicate-figure",
                "the same operation, metric and settings as in line {first_line}",
                first_line=document.place(first),
            )
            hint = "give the setting that distinguishes them; trials of one setting stand in one row"
            problems.append(Problem(document.place(path), format_key(path), what, hint))
    return problems


# Result


def _build_number(document: Document, path: Key, cell: Mapping[str, Any]) -> PrintedNumber:
    return PrintedNumber(
        where=cell["where"],
        words=_list_words(cell),
        operation=cell["operation"],
        metric=build_metric_name(cell["metric"], cell.get("clock", "")),
        statistic=cell.get("statistic", ""),
        unit=_parse_unit(cell["unit"]),
        value=float(cell["value"]),
        settings={name: _read_level(level) for name, level in cell.get("settings", {}).items()},
        line=_get_line(document, path),
        printed=cell.get("printed", ""),
        **{key: cell.get(key) for key in ("n", "level", "low", "high", "sd", "digits")},
        slip=_build_slip(cell),
        relation=cell.get("relation", ""),
        bound=(cell["bound"]["published"], cell["bound"]["measured"]) if "bound" in cell else None,
        follows=_compute(cell) if "follows" in cell else None,
        clock=cell.get("clock", ""),
        unmeasured=cell.get("unmeasured", ""),
        unit_name="" if cell["unit"] == "1" else cell["unit"],
        written_settings={name: level for name, level in cell.get("settings", {}).items() if name != REPETITION},
    )


def _read_level(level: FactorValue) -> FactorValue:
    """Return ``64KiB`` in bytes, as measured runs have it."""
    size = parse_suffixed_size(level) if isinstance(level, str) else None
    return level if size is None else size


def _compute(cell: Mapping[str, Any]) -> float:
    return float(CONDITIONS.read(cell["follows"], (), "follows").number({}))


def _build_slip(cell: Mapping[str, Any]) -> Slip | None:
    return Slip(cell["slip"]["why"], cell["slip"].get("should_be")) if "slip" in cell else None


def _get_line(document: Document, path: Key) -> int:
    place = document.place(path)
    return place if isinstance(place, int) else 1
