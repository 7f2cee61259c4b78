"""elbencho's ``--jsonfile``: an object for each phase, all numbers as texts."""

from collections.abc import Callable
from functools import partial
from typing import Any

from iosonde.core.message import Message

from .elbencho_csv import BETWEEN, begin_run, choose_mix_operation
from .parsed import Parsed, Row
from .reading import Lines, date_to_iso, get_json_object, iter_json_documents, number_from_json
from .text import Text

_VALUES = {
    "elapsed_time_ms": ("time", "s", 1e3),
    "bytes/s": ("bandwidth", "bytes/s", 1.0),
    "iops": ("access_rate", "operations/s", 1.0),
    "entries/s": ("rate", "operations/s", 1.0),
    "bytes": ("bytes", "bytes", 1.0),
    "entries": ("operations", "operations", 1.0),
    "cpu%": ("cpu_utilization", "", 100.0),
}
_FACTORS = {
    "hosts": "nodes",
    "threads": "threads",
    "file_size": "file_size",
    "block_size": "block_size",
    "io_depth": "io_depth",
    "dirs": "directories",
    "files": "files",
}
_LATENCIES = {"min_us": "min", "avg_us": "mean", "max_us": "max"}


def parse_json(text: Text) -> list[Parsed]:
    """Return the objects of one command as one run until a phase repeats: the file is appended to."""
    runs: list[Parsed] = []
    lines, operations, command = Lines(text), set[str](), None
    for document in iter_json_documents(text.content):
        at, value = lines.at(document.begin), document.value
        if not isinstance(value, dict):
            (runs[-1] if runs else begin_run(runs)).lacks(
                at, Message("damaged-lines", "the JSON is broken or ends early here: left out")
            )
        elif isinstance(value.get("phase_type"), str):
            config = get_json_object(value, "config")
            operation = value["phase_type"].lower()[:60]
            if (
                command is None
                or (operation in operations and operation not in BETWEEN)
                or config.get("command") != command
            ):
                _read_settings(begin_run(runs), value, config)
                command = config.get("command", "")
                operations.clear()
            operations.add(operation)
            _add_phase(runs[-1], at, operation, value)
    if not runs:
        begin_run(runs).lacks(1, Message("no-results", "the file holds no phase"))
    return runs


def _read_settings(run: Parsed, value: dict[str, Any], config: dict[str, Any]) -> None:
    run.version = str(config.get("version", ""))[:60]
    run.started_at = date_to_iso(str(value.get("iso_start_date", ""))[:19])
    run.facts["command"] = str(config.get("command", "")).strip()
    for name, factor in _FACTORS.items():
        if (number := number_from_json(config.get(name))) is not None:
            run.factors[factor] = int(number)
    for name, factor in (("direct_io", "direct"), ("random_offsets", "random")):
        if config.get(name) in ("true", "false"):
            run.factors[factor] = config[name] == "true"


def _add_phase(run: Parsed, at: int, operation: str, value: dict[str, Any]) -> None:
    before = len(run.rows)
    for done in ("first_done", "last_done"):
        if not isinstance(numbers := value.get(done), dict):
            run.lacks(at, Message("missing-value", "{operation} has no {count}", operation=operation, count=done))
            continue
        mix = numbers.get("rwmix_read") or numbers.get("read")
        _add_numbers(run, at, partial(choose_mix_operation, operation, mix=bool(mix), read=False), done, numbers)
        if isinstance(mix, dict):
            _add_numbers(run, at, lambda _: f"{operation}_read", done, mix)
    if len(run.rows) == before:
        run.lacks(at, Message("no-results", "{operation} holds no number", operation=operation))


def _add_numbers(
    run: Parsed, at: int, name_operation: Callable[[str], str], done: str, numbers: dict[str, Any]
) -> None:
    for key, (quantity, unit, per_base) in _VALUES.items():
        value = number_from_json(numbers.get(key))
        if value is not None and (value > 0 or (value == 0 and not unit.endswith("/s"))):
            run.rows.append(Row(name_operation(quantity), f"{quantity}_{done}", value / per_base, unit, at))
    latencies = get_json_object(numbers, "latency") if done == "last_done" else {}
    for kind in latencies:
        name = "access_latency" if kind.startswith("IO") else "latency"
        for key, statistic in _LATENCIES.items():
            if (value := number_from_json(get_json_object(latencies, kind).get(key))) is not None:
                run.rows.append(Row(name_operation(name), f"{name}_{statistic}", value / 1e6, "s", at))
