"""The map of a CSV: a YAML file with the role, unit and clock of each column.

Its form is ``columns.schema.json`` in this directory; conditions beyond a schema are checked here, all at once.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from iosonde.core.column_units import is_rate
from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.metrics import TIMES, build_metric
from iosonde.core.problems import Problem, SpecError, suggest_replacement
from iosonde.core.schema import RESULT_COLUMNS
from iosonde.core.schema_problems import list_violations
from iosonde.core.types import Better, FactorValue
from iosonde.core.units import parse_rate, parse_size
from iosonde.core.yaml_text import Document, Key, format_key, load

from .reading import PER_SECOND

PAGE = "docs/columns.md"
KIND = "map of columns"
FIRST = f"give it tool and columns: see {PAGE}"
SIZE = "size"  # the unit of cells that are typed as sizes: 64k, 1MiB
EMPTY = ("", "-", "NA", "N/A", "n/a", "null", "None")
_PATH = Path(__file__).with_name("columns.schema.json")
_ONCE = ("operation", "repetition", "iteration", "rank", "started", "status")
# Valid keys for each kind of column, besides `is`.
_KEYS = {
    "factor": ("name", "unit", "levels", "text"),
    "fact": ("name",),
    "metric": ("name", "unit", "clock", "includes", "better", "operation"),
    "operation": ("levels",),
    "started": ("format", "unit"),
    "status": ("complete",),
}
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
RESERVED_NAMES = frozenset(
    {
        *RESULT_COLUMNS,
        "tool",
        "run",
        "experiment",
        "started_at",
        "source",
        "complete",
        "block",
        "order",
        "seed",
        "seconds",
        "trial",
    }
)
_COUNT_RATE = re.compile(r"([kM]?)(?:(?:operations|operation|ops|op|files|IOs)/s|IOPS|iops)")
_UNIT_EXAMPLES = (
    "MB/s, MiB/s, Gbit/s, op/s, kIOPS, files/s, s, ms, us, ns, KiB, MB, bytes, operations, samples/s, W, J, %, 1"
)


class BaseUnit(NamedTuple):
    """Conversion to base units: ``base`` = number × ``times`` / ``per``."""

    base: str
    times: float = 1.0
    per: float = 1.0

    def to_base(self, number: float) -> float:
        """Return the number in base units."""
        return number * self.times / self.per


_UNITS = {
    **{text: BaseUnit("s", 1.0, units) for text, units in PER_SECOND.items() if text not in ("m", "h")},
    **dict.fromkeys(("%", "percent"), BaseUnit("", 1.0, 100.0)),
    "1": BaseUnit(""),
    **{text: BaseUnit(text) for text in ("samples", "samples/s", "W", "J")},
    **dict.fromkeys(("operations", "operation", "ops", "op", "files", "IOs"), BaseUnit("operations")),
    **dict.fromkeys(("B", "byte", "bytes"), BaseUnit("bytes")),
}


@dataclass(frozen=True)
class MapColumn:
    """A column of the file. ``metric`` is the metric's name with its clock, ``kind`` without."""

    header: str
    role: str
    name: str
    unit: BaseUnit = BaseUnit("")
    typed_size: bool = False
    metric: str = ""
    kind: str = ""
    includes: str = ""
    operation: str = ""
    levels: Mapping[str, FactorValue] = field(default_factory=dict)
    text: bool | None = None
    form: str = ""
    complete: frozenset[str] = frozenset()


@dataclass(frozen=True)
class ColumnsMap:
    """Content of a map: ``name`` and ``content`` are those of the file."""

    name: str
    content: bytes
    tool: str
    columns: tuple[MapColumn, ...]
    version: str = ""
    separator: str = ","
    decimal: str = "."
    empty: frozenset[str] = frozenset(EMPTY)
    operation: str = ""
    headline: tuple[str, ...] = ()
    factors: Mapping[str, FactorValue] = field(default_factory=dict)
    facts: Mapping[str, FactorValue] = field(default_factory=dict)

    def with_role(self, role: str) -> list[MapColumn]:
        """Return its columns of one role, in the order of the map."""
        return [column for column in self.columns if column.role == role]


def build_schema_text() -> str:
    """Return the JSON Schema (2020-12) of a map, for editors and other tools."""
    return _PATH.read_text(encoding="utf-8")


def read_map(path: str | Path) -> ColumnsMap:
    """Read the map in a file. Raises InputError if the file is unreadable, SpecError with all errors in it."""
    document = load(Path(path), KIND, FIRST)
    problems = list_violations(_build_validator(), document, PAGE) or list(_list_problems(document))
    if problems:
        raise SpecError(document.name, problems)
    return _build_map(document)


@cache
def _build_validator() -> Any:
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(build_schema_text()))


def parse_unit(text: str) -> BaseUnit:
    """Return a unit in base units. Raises InputError for an unknown or ambiguous one."""
    if text in _UNITS:
        return _UNITS[text]
    if match := _COUNT_RATE.fullmatch(text):
        return BaseUnit("operations/s", {"": 1.0, "k": 1e3, "M": 1e6}[match.group(1)])
    try:
        if text.endswith(("/s", "ps")):
            return BaseUnit("bytes/s", parse_rate(f"1{text}"))
        if text.endswith("B"):
            return BaseUnit("bytes", float(parse_size(f"1{text}")))
    except InputError:
        pass  # the error below lists units
    raise InputError("unknown-unit", "'{unit}' is not a known unit", "known: {units}", unit=text, units=_UNIT_EXAMPLES)


# Checks


def _list_problems(document: Document) -> Iterator[Problem]:
    columns = {name: _normalise_keys(column) for name, column in document.data["columns"].items()}
    roles = [column["is"] for column in columns.values()]
    columns_path: Key = ("columns",)
    for role in _ONCE:
        if roles.count(role) > 1:
            yield _build_problem(
                document,
                columns_path,
                Message("duplicate-role", "{n_columns} columns are {role}", n_columns=roles.count(role), role=role),
                "name only one",
            )
    if "metric" not in roles:
        yield _build_problem(
            document,
            columns_path,
            Message("missing-metric", "no column is a metric"),
            "mark the one with the measured values: {is: metric, unit: MB/s}",
        )
    for name, column in columns.items():
        yield from _check_column(document, (*columns_path, name), column)
    factor_names = [(name, column.get("name", name)) for name, column in columns.items() if column["is"] == "factor"]
    for place, (name, factor) in enumerate(factor_names):
        if factor in [other for _, other in factor_names[:place]] or factor in document.data.get("factors", {}):
            yield _build_problem(
                document,
                (*columns_path, name),
                Message("duplicate-factor", "duplicate factor {factor}", factor=factor),
                "give each its own name",
            )
    for factor in document.data.get("factors", {}):
        yield from _check_factor_name(document, ("factors", factor), factor)
    yield from _check_metrics(document, columns, "operation" in roles, "rank" in roles)


def _normalise_keys(value: str | dict[str, Any]) -> dict[str, Any]:
    return {"is": value} if isinstance(value, str) else value


def _build_problem(document: Document, path: Key, what: Message, hint: str = "") -> Problem:
    return Problem(document.place(path), format_key(path), what, hint)


def _check_column(document: Document, path: Key, column: dict[str, Any]) -> Iterator[Problem]:
    role, allowed = column["is"], _KEYS.get(column["is"], ())
    for key in column:
        if key != "is" and key not in allowed:
            yield _build_problem(
                document,
                (*path, key),
                Message("unused-key", "it has no meaning for a column that is {role}", role=role),
                suggest_replacement(key, allowed) if allowed else "leave it out",
            )
    if "unit" in column and not (role == "factor" and column["unit"] == SIZE):
        try:
            parse_unit(column["unit"])
        except InputError as error:
            yield _build_problem(document, (*path, "unit"), error.message, error.hint)
    if role == "status" and "complete" not in column:
        yield _build_problem(
            document,
            path,
            Message("missing-key", "the words that mark a complete trial are missing", name="complete"),
            "give complete: [ok]",
        )
    if role == "factor":
        yield from _check_factor_name(document, path, column.get("name", str(path[-1])))


def _check_factor_name(document: Document, path: Key, name: str) -> Iterator[Problem]:
    if not _NAME.fullmatch(name):
        yield _build_problem(
            document,
            path,
            Message("invalid-name", "'{name}' is not a valid name for a factor", name=name),
            "give it a name of letters, digits and _ with name:",
        )
    elif name in RESERVED_NAMES:
        yield _build_problem(
            document,
            path,
            Message("reserved-name", "every run already has a column '{name}'", name=name),
            "give it another name with name:",
        )


def _check_metrics(document: Document, columns: dict[str, Any], by_column: bool, ranks: bool) -> Iterator[Problem]:
    column_by_metric: dict[tuple[str, str], str] = {}
    for name, column in columns.items():
        if column["is"] != "metric":
            continue
        path: Key = ("columns", name)
        if "unit" not in column:
            yield _build_problem(
                document,
                path,
                Message("missing-key", "the unit is missing", name="unit"),
                "give it one, as unit: MB/s; unit: '1' for a plain number",
            )
            continue
        kind = column.get("name", name)
        if not _NAME.fullmatch(kind):
            yield _build_problem(
                document,
                path,
                Message("invalid-name", "'{name}' is not a valid name for a metric", name=kind),
                "give one with name:, for example bandwidth",
            )
        yield from _check_clock(document, path, column, kind, ranks)
        operation = column.get("operation") or document.data.get("operation", "")
        if not operation and not by_column:
            yield _build_problem(
                document,
                path,
                Message("missing-key", "its operation is missing", name="operation"),
                "give operation: write, here or for the whole file, or a column that is operation",
            )
        key = (operation, build_metric_name(kind, column.get("clock", "")))
        if key in column_by_metric:
            yield _build_problem(
                document,
                path,
                Message("duplicate-metric", "duplicate of the metric of column {column}", column=column_by_metric[key]),
                "give it its own name or operation",
            )
        column_by_metric.setdefault(key, name)


def _check_clock(document: Document, path: Key, column: dict[str, Any], kind: str, ranks: bool) -> Iterator[Problem]:
    try:
        base = parse_unit(column["unit"]).base
    except InputError:
        return  # reported already
    clock = column.get("clock", "")
    if is_rate(base) and not clock and not ranks:
        yield _build_problem(
            document,
            path,
            Message("missing-key", "its clock is missing", name="clock"),
            "clock: last_done (until the last was done), first_done, sum_of_ranks (each one's own, added) or unknown",
        )
    if clock and not is_rate(base):
        yield _build_problem(
            document,
            (*path, "clock"),
            Message("unused-key", "only a rate has a clock"),
            "leave it out",
        )
    better = column.get("better")
    default_better = str(Better.LOWER if build_metric(kind, base).better is Better.LOWER else Better.HIGHER)
    if better is None and not is_rate(base) and base not in TIMES:
        yield _build_problem(
            document,
            path,
            Message("missing-key", "its better direction is missing", name="better"),
            f"give better: {default_better}, or lower if it is a cost",
        )
    elif better is not None and better != default_better:
        yield _build_problem(
            document,
            (*path, "better"),
            Message(
                "wrong-direction",
                "{metric} in {unit} is assumed to be better when {direction}",
                metric=kind,
                unit=base or "no unit",
                direction=default_better,
            ),
            "a cost has latency, time, errors, loss or cost in its name" if better == "lower" else "leave it out",
        )


# Result


def build_metric_name(kind: str, clock: str) -> str:
    """Return the name of a metric with its clock, without one that is unknown."""
    return kind if clock in ("", "unknown") else f"{kind}_{clock}"


def _build_map(document: Document) -> ColumnsMap:
    data = document.data
    columns = tuple(_build_column(name, _normalise_keys(column), data) for name, column in data["columns"].items())
    kinds = tuple(dict.fromkeys(column.kind for column in columns if column.role == "metric"))
    return ColumnsMap(
        name=document.name,
        content=document.text.encode(),
        tool=data["tool"],
        columns=columns,
        version=data.get("version", ""),
        separator={"tab": "\t"}.get(data.get("separator", ","), data.get("separator", ",")),
        decimal=data.get("decimal", "."),
        empty=frozenset((*EMPTY, *data.get("empty", ()))),
        operation=data.get("operation", ""),
        headline=tuple(data.get("headline", kinds)),
        factors=data.get("factors", {}),
        facts=data.get("facts", {}),
    )


def _build_column(header: str, column: dict[str, Any], data: dict[str, Any]) -> MapColumn:
    kind = column.get("name", header)
    typed = column.get("unit") == SIZE
    return MapColumn(
        header=header,
        role=column["is"],
        name=kind,
        unit=BaseUnit("bytes") if typed else parse_unit(column.get("unit", "1")),
        typed_size=typed,
        metric=build_metric_name(kind, column.get("clock", "")),
        kind=kind,
        includes=column.get("includes", ""),
        operation=column.get("operation", data.get("operation", "")),
        levels=column.get("levels", {}),
        text=column.get("text"),
        form=column.get("format", ""),
        complete=frozenset(map(_format_word, column.get("complete", ()))),
    )


def _format_word(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
