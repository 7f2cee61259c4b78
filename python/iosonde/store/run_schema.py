"""The types of ``run.json`` and ``experiments/<id>.json``, as a file may come from anywhere.

Only keys that iosonde reads are listed; others may hold anything. A value may be null unless its key ends with ``!``,
which also makes it required. Items of lists and of ``{"*": …}`` are not null.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from typing import Any, Protocol

from iosonde.core.errors import DataError
from iosonde.core.types import Role, Severity

_NULL = type(None)
TEXT, INTEGER, NUMBER, FLAG = frozenset({str}), frozenset({int}), frozenset({int, float}), frozenset({bool})
SCALAR = frozenset({str, int, float, bool, _NULL})
_TEXTS, _OBJECT = [TEXT], dict[str, Any]()

_LOAD = {
    "host": TEXT,
    "background_share": NUMBER,
    "busy_share": NUMBER,
    "iowait_share": NUMBER,
    "load_average": NUMBER,
    "own_share": NUMBER,
    "seconds": NUMBER,
    "steal_share": NUMBER,
}
_MOUNT = {
    "type": TEXT,
    "source": TEXT,
    "server": TEXT,
    "options": TEXT,
    "mount_point": TEXT,
    "block_bytes": NUMBER,
    "free_bytes": NUMBER,
    "total_bytes": NUMBER,
}
_LAB = {
    "name": TEXT,
    "description": {"file_system": TEXT},
    "emulated": {"links": [{"bytes_per_s!": NUMBER}], "warnings": _TEXTS},
}
_MACHINE = {
    "host": {"boot_id": TEXT, "name": TEXT, "kernel": TEXT},
    "cpu": _OBJECT,
    "memory": {"usable_bytes": NUMBER, "total_bytes": NUMBER},
    "mount": _MOUNT,
    "filesystem": _OBJECT,
    "network": [{"bits_per_s": NUMBER, "state": TEXT, "name": TEXT}],
    "devices": [_OBJECT],
    "lab": _LAB,
}
_ESTIMATE = {"value": NUMBER, "low": NUMBER, "high": NUMBER, "level": NUMBER, "n": INTEGER, "warnings": [TEXT]}
# The results of one repetition of a probe.
_PROBE_REPETITION = {
    "nodes!": [
        {
            "host": TEXT,
            "rank": INTEGER,
            "cores": NUMBER,
            "copy_one!": NUMBER,
            "copy_all!": NUMBER,
            "cpu": {"write!": NUMBER, "read!": NUMBER},
            "disk": _OBJECT,
        }
    ],
    "pairs!": [{"a!": INTEGER, "b!": INTEGER}],
    "servers": [_OBJECT],
    "tcp": [{"error": TEXT}],
}
# The results over all repetitions, kept by every run on these nodes.
_PROBE_SUMMARY = {
    "nodes!": [
        {
            "host": TEXT,
            "cores": NUMBER,
            "disk_write": _ESTIMATE,
            "disk_read": _ESTIMATE,
            "cpu_write": _ESTIMATE,
            "cpu_read": _ESTIMATE,
            "memory_copy_one_core": _ESTIMATE,
            "memory_copy_all_cores": _ESTIMATE,
        }
    ],
    "pairs!": [
        {
            "ranks!": [INTEGER],
            "hosts!": _TEXTS,
            "medium!": TEXT,
            "latency": _ESTIMATE,
            "bandwidth": _ESTIMATE,
            "bandwidth_back": _ESTIMATE,
        }
    ],
    "servers": [_OBJECT],
    "tcp": [_OBJECT],
    "warnings": _TEXTS,
}
_PLANNED = {"kind!": TEXT, "on!": TEXT, "at_s": NUMBER, "for_s": NUMBER, "rate": TEXT, "during": TEXT}
_FAULT = {
    "planned!": _PLANNED,
    "host!": TEXT,
    "phase": INTEGER,
    "phase_ns": INTEGER,
    "inflicting_ns": INTEGER,
    "in_force_ns": INTEGER,
    "undoing_ns": INTEGER,
    "undone_ns": INTEGER,
    "healed_ns": INTEGER,
    "why": TEXT,
    "cpu_s": {"*": NUMBER},
}
_CONTRADICTION = {"code!": TEXT, "operation!": TEXT, "metrics!": _TEXTS, "sentence!": TEXT}
_FACTS = {
    "allocation": SCALAR,
    "clocks": {"at_ns": [INTEGER], "drift_ns": [NUMBER], "error_ns": NUMBER, "offset_ns": {"*": NUMBER}},
    "contradictions": [_CONTRADICTION],
    "conditions": {"options": {"*": SCALAR}},
    "cannot_tell": _TEXTS,
    "envelope": {"*": SCALAR},
    "faults": [_FAULT],
    "files": {"*": TEXT},
    "hosts": _TEXTS,
    "import": {"file": TEXT, "format": TEXT, "warnings": _TEXTS},
    "launcher": TEXT,
    "levels_found": {"*": [SCALAR]},
    "loads": [_LOAD],
    "machine": _MACHINE,
    "maximum": NUMBER,
    "measured_beside": [INTEGER],
    "mounts": [{"host": TEXT, "source": TEXT, "type": TEXT}],
    "nodes": [INTEGER],
    "order": INTEGER,
    "probe": (_PROBE_SUMMARY, _PROBE_REPETITION),
    "remounts": [{"mount": TEXT, "host": TEXT}],
    "servers": {"profile": {"by_server": {"*": {"*": SCALAR}}}},
    "software": _OBJECT,
    "steps": [_OBJECT],
    "subject_commit": SCALAR,
    "target": TEXT,
}
_RANK = {
    "rank!": INTEGER,
    "node": INTEGER,
    "started_ns": NUMBER,
    "ended_ns": NUMBER,
    "clock_offset_ns": INTEGER,
    "operations": NUMBER,
    "bytes": NUMBER,
    "errors": NUMBER,
    "output": TEXT,
}
_PHASE = {
    "all_active_ns": NUMBER,
    "cache": {"state": TEXT, "resident_bytes": NUMBER, "bytes": NUMBER, "remounts": [_OBJECT]},
    "clock_error_ns": NUMBER,
    "command": TEXT,
    "contradictions": [_CONTRADICTION],
    "counted_kind": TEXT,
    "distinct_bytes": NUMBER,
    "duration_ns": NUMBER,
    "end_spread_ns": NUMBER,
    "hints": _OBJECT,
    "histograms": {"*": [[NUMBER]]},
    "index": INTEGER,
    "measures": TEXT,
    "mpi": {"tool": TEXT, "tasks": [INTEGER | {_NULL}], "expected": INTEGER},
    "name": TEXT,
    "network": _OBJECT,
    "of_ranks_alone": [_TEXTS],
    "on": TEXT,
    "open_flags": _TEXTS,
    "operation": TEXT,
    "ranks": [_RANK],
    "server_calls": {"*": NUMBER},
    "settings": _OBJECT,
    "stage": TEXT,
    "start_spread_ns": NUMBER,
    "tools": _TEXTS,
    "totals": {"*": {"count": NUMBER, "bytes": NUMBER, "errors": NUMBER}},
    "versions": [SCALAR],
}
_FINDING = {"code!": TEXT, "severity!": tuple(Severity), "sentence!": TEXT, "evidence": _OBJECT, "action": TEXT}
_RUN = {
    "complete!": FLAG,
    "experiment!": TEXT,
    "experiment_sha256": TEXT,
    "experiment_trials": INTEGER,
    "factors!": {"*": SCALAR},
    "facts!": _FACTS,
    "files!": {"*": {"bytes!": INTEGER, "sha256!": TEXT}},
    "findings!": [_FINDING],
    "headlines": {"*": _TEXTS},
    "id!": TEXT,
    "missing!": _TEXTS,
    "operations": INTEGER,
    "phases!": [_PHASE],
    "row_settings": {"*": {"operation!": TEXT, "factors!": {"*": SCALAR}}},
    "schema_version!": INTEGER,
    "seconds!": NUMBER,
    "seed": INTEGER,
    "source!": TEXT,
    "started_at!": TEXT,
    "stored_at": TEXT,
    "versions": {"*": SCALAR},
}
_EXPERIMENT = {
    "id!": TEXT,
    "name!": TEXT,
    "created_at!": TEXT,
    "seed!": INTEGER,
    "schema_version!": INTEGER,
    "factors!": [{"name!": TEXT, "unit!": TEXT, "role!": tuple(Role), "levels!": [SCALAR]}],
    "trials!": [
        {"index!": INTEGER, "factors!": {"*": SCALAR}, "repetition!": INTEGER, "block!": INTEGER, "seed!": INTEGER}
    ],
    "settings!": _OBJECT,
}

MAX_DEPTH = 64
_MOST_SHAPES = 10_000
_NAMES = {
    str: "text",
    int: "a whole number",
    float: "a number",
    bool: "true or false",
    _NULL: "null",
    list: "a list",
    dict: "an object",
}


def check_types(document: Any, schema: Schema) -> None:
    """Check a document against a schema. Raises DataError, naming the first value of a wrong type."""
    try:
        schema.check(document)
    except _MismatchError as error:
        place = ".".join(reversed(error.keys)) or "it"
        raise DataError(error.code, "{field} is " + error.problem, field=place, **error.values) from None


class _MismatchError(Exception):
    """A mismatch, as a ``code`` and a template, and the ``keys`` of the value, innermost first."""

    def __init__(self, code: str, problem: str, *keys: str, **values: object) -> None:
        self.code, self.problem, self.keys, self.values = code, problem, [*keys], values


def _build_wrong_type_error(value: Any, types: Iterable[type]) -> _MismatchError:
    expected = " or ".join(_NAMES[kind] for kind in types)
    return _MismatchError("wrong-type", "{actual}, not {expected}", actual=_NAMES[type(value)], expected=expected)


class Schema(Protocol):
    """A schema of a value."""

    def check(self, value: Any) -> None:
        """Check a value. Raises _MismatchError."""


class _Leaf:
    def __init__(self, types: frozenset[type]) -> None:
        self.types = types

    def check(self, value: Any) -> None:
        if type(value) not in self.types:
            raise _build_wrong_type_error(value, self.types)


class _Choice:
    def __init__(self, words: tuple[str, ...]) -> None:
        self._words = words

    def check(self, value: Any) -> None:
        if value not in self._words:
            raise _MismatchError("unknown-value", "not one of {allowed}", allowed=", ".join(self._words))


class _Either:
    """A choice of schemas; the mismatch with the last one is raised."""

    def __init__(self, schemas: Iterable[Schema]) -> None:
        *self._others, self._last = schemas

    def check(self, value: Any) -> None:
        for schema in self._others:
            with suppress(_MismatchError):
                return schema.check(value)
        return self._last.check(value)


class _Anything:
    """A value without a schema; it is displayed, written and searched, so its depth is limited."""

    def check(self, value: Any, levels: int = MAX_DEPTH) -> None:
        if levels == 0:
            raise _MismatchError("nested-too-deep", "nested deeper than {limit} levels", limit=MAX_DEPTH)
        for item in value.values() if type(value) is dict else value:
            if type(item) in (dict, list):
                self.check(item, levels - 1)


class _Items:
    """A list, or an object with any keys, of one schema."""

    def __init__(self, kind: type, item: Schema) -> None:
        self._kind: Any = kind
        self._item = item
        self._types = item.types if isinstance(item, _Leaf) else frozenset()

    def check(self, value: Any) -> None:
        if type(value) is not self._kind:
            raise _build_wrong_type_error(value, [self._kind])
        if self._types.issuperset(map(type, value.values() if self._kind is dict else value)):
            return
        for key, item in value.items() if self._kind is dict else enumerate(value):
            _check_within(self._item, item, str(key))


class _Fields:
    """An object with these keys, among others. Many objects share keys and types, so their nested fields are cached by
    shape."""

    def __init__(self, fields: dict[str, Any]) -> None:
        self._fields = [
            (key.removesuffix("!"), key.endswith("!"), compile_schema(description))
            for key, description in fields.items()
        ]
        self._nested_by_shape: dict[tuple[Any, ...], list[tuple[str, Schema]]] = {}

    def check(self, value: Any) -> None:
        if type(value) is not dict:
            raise _build_wrong_type_error(value, [dict])
        shape = (*value, *map(type, value.values()))
        nested = self._nested_by_shape.get(shape)
        if nested is None:
            nested = self._checked_leaves(value)
            if len(self._nested_by_shape) < _MOST_SHAPES:
                self._nested_by_shape[shape] = nested
        name = ""
        try:
            for name, schema in nested:
                schema.check(value[name])
        except _MismatchError as error:
            error.keys.append(name)
            raise

    def _checked_leaves(self, value: dict[str, Any]) -> list[tuple[str, Schema]]:
        nested: list[tuple[str, Schema]] = []
        for name, required, schema in self._fields:
            if value.get(name) is None:
                if required and not (name in value and isinstance(schema, _Leaf) and _NULL in schema.types):
                    raise _MismatchError("missing-key", "missing", name)
            elif isinstance(schema, _Leaf):
                _check_within(schema, value[name], name)
            else:
                nested.append((name, schema))
        names = {name for name, *_ in self._fields}
        return nested + [(name, _ANYTHING) for name in value if name not in names and type(value[name]) in (dict, list)]


def compile_schema(described: Any) -> Schema:
    """Compile a description into a schema."""
    if isinstance(described, frozenset):
        return _Leaf(described)
    if isinstance(described, tuple):
        return _Either(map(compile_schema, described)) if isinstance(described[0], dict) else _Choice(described)
    if isinstance(described, list):
        return _Items(list, compile_schema(described[0]))
    return _Items(dict, compile_schema(described["*"])) if "*" in described else _Fields(described)


def _check_within(schema: Schema, value: Any, key: str) -> None:
    try:
        schema.check(value)
    except _MismatchError as error:
        error.keys.append(key)
        raise


_ANYTHING = _Anything()
RUN, EXPERIMENT = compile_schema(_RUN), compile_schema(_EXPERIMENT)
