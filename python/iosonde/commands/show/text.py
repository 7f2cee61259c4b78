"""The text of ``iosonde show``: a store at a glance, one run in detail; under 80 columns."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.device_loads import DEVICE_LOADS
from iosonde.core.grouping import group_by_key
from iosonde.core.level_text import format_assignments, format_level
from iosonde.core.message import spell
from iosonde.core.stored import StoredRun
from iosonde.core.types import Observation
from iosonde.core.units import format_rate, format_seconds, format_size
from iosonde.layout.text import WIDTH, paragraphs, table, width, wrapped

from .answer import Detail, Listing
from .text_loads import format_loads

_MOST_FACTS = 24
# Facts that readers look for first.
_FIRST_FACTS = (
    "command",
    "target",
    "hosts",
    "launcher",
    "machine.target.mount",
    "machine.mount",
    "machine.host",
    "machine.cpu.model",
    "machine.memory.total",
    "iosonde",
    "envelope",
)
_CELL = 18
_RUN = 32


def listing_lines(listing: Listing) -> Iterator[str]:
    """Yield every experiment with its runs; what is the same in all runs appears once."""
    runs = listing.runs
    incomplete = listing.n_incomplete
    names = {item.id: item for item in listing.experiments}
    ids = list(dict.fromkeys([*names, *(run.experiment for run in runs)]))
    heading = f"{listing.path}: {_format_count(len(ids), 'experiment')}, {_format_count(len(runs), 'run')}"
    yield from wrapped(heading + (f", {incomplete} of them incomplete" if incomplete else ""), "  ")
    for experiment_id in ids:
        yield ""
        name = names.get(experiment_id)
        about = ", ".join(filter(None, (name.name, _format_start(name.created_at)))) if name else ""
        title = f"{experiment_id}  {about}" if about else experiment_id
        yield from wrapped(title, "  ")
        mine = [run for run in runs if run.experiment == experiment_id]
        yield from _format_runs(mine, listing.tags, listing.units) if mine else ["  no runs"]


def _format_runs(runs: Sequence[StoredRun], tags: Mapping[str, list[str]], units: Mapping[str, str]) -> Iterator[str]:
    factors = list(dict.fromkeys(name for run in runs for name in run.factors))
    values = {name: [_format_level(run.factors.get(name), units.get(name, "")) for run in runs] for name in factors}
    varying = [name for name in factors if len(set(values[name])) > 1]
    fixed = [f"{name}={values[name][0]}" for name in factors if name not in varying]
    if fixed:
        yield from wrapped("  same in all: " + ", ".join(fixed), "    ")
    columns = {
        "run": [run.id for run in runs],
        "started": [_format_start(run.started_at) for run in runs],
        "took": [format_seconds(run.seconds) if run.seconds else "-" for run in runs],
        "status": ["complete" if run.complete else "incomplete" for run in runs],
    }
    if any(tags.get(run.id) for run in runs):
        columns["tags"] = [" ".join(tags.get(run.id, [])) for run in runs]
    omitted = [name for name in varying if not _add_fitting_factor(columns, name, values[name])]
    numbers = {name for name in varying if all(_is_number(run.factors.get(name)) for run in runs)} | {"took"}
    # `show STORE RUN` needs the run's name: do not truncate one of ordinary length.
    full_ids = max(map(width, columns["run"])) <= _RUN
    align = "".join("L" if name == "run" and full_ids else "r" if name in numbers else "l" for name in columns)
    yield from table(list(columns), list(zip(*columns.values(), strict=True)), align, WIDTH).split("\n")
    if omitted:
        yield from wrapped(f"  vary as well: {', '.join(omitted)} ({spell.json}, {spell.export})", "    ")


def _add_fitting_factor(columns: dict[str, list[str]], name: str, cells: list[str]) -> bool:
    """Add a factor before the status if the table stays narrow enough; return whether it was added.
    Tags may still be truncated.
    """
    most = dict.fromkeys(columns, _CELL) | {"run": _RUN}
    wide = sum(min(max(map(width, [title, *column])), most[title]) + 2 for title, column in columns.items())
    if wide + max(map(width, [name, *cells])) > WIDTH:
        return False
    columns[name] = cells
    for title in ("status", "tags"):
        if title in columns:
            columns[title] = columns.pop(title)
    return True


def detail_lines(detail: Detail) -> Iterator[str]:
    """Yield one run: its origin, its results over all ranks, findings, and the facts of the machine."""
    run, stored, notes = detail.run, detail.stored, detail.notes
    yield from wrapped(f"run {run.id} of experiment {run.experiment}", "  ")
    about = {
        "started": _format_start(run.started_at) + (f", took {format_seconds(run.seconds)}" if run.seconds else ""),
        "source": run.source,
        "status": "complete" if run.complete else "incomplete: " + "; ".join(run.missing),
        "factors": ", ".join(
            f"{name}={_format_level(value, detail.units.get(name, ''))}" for name, value in run.factors.items()
        ),
        "filesystem": (stored.filesystem or "") + (f" ({stored.structure})" if stored.structure else ""),
        "seed": "" if run.seed is None else str(run.seed),
        "tags": " ".join(notes["tags"]),
        "recorded": "" if stored.n_operations is None else _format_count(stored.n_operations, "operation"),
        "files": ", ".join(f"{name} ({format_size(of['bytes'])})" for name, of in stored.files.items()),
        "iosonde": stored.written_by,
    }
    yield from _format_pairs({key: value for key, value in about.items() if value})
    yield from _format_remounts(stored)
    for note in notes["notes"]:
        yield from wrapped(f"  note      {_format_start(str(note.get('at', '')))} {note.get('text', '')}", " " * 12)
    totals = [row for row in run.observations if row.rank is None]
    if totals:
        yield from ["", *_format_results(totals, run.row_settings, detail.units)]
    rank_count = len(run.observations) - len(totals)
    if rank_count:
        yield f"  and {_format_count(rank_count, 'result')} of single ranks ({spell.json}, {spell.export})"
    yield from paragraphs((f"{finding.code} {finding.sentence}" for finding in run.findings), "     ")
    yield from format_loads(stored.facts)
    yield from _format_facts({key: value for key, value in run.facts.items() if key != DEVICE_LOADS})


def _format_remounts(stored: StoredRun) -> Iterator[str]:
    times = group_by_key(((phase, str(remount["mount"])), remount) for phase, remount in stored.remounts)
    for (phase, mount), several in times.items():
        took = [
            remount.get("seconds", remount.get("unmount_s", 0.0) + remount.get("mount_s", 0.0)) for remount in several
        ]
        span = " to ".join(dict.fromkeys(map(format_seconds, (min(took), max(took)))))
        where = several[0]["host"] if len(several) == 1 else f"{len(several)} nodes"
        at = str(min(remount["at"] for remount in several))[11:19]
        yield from wrapped(f"  remounted   {mount} on {where} before {phase or 'the trial'}, at {at}, {span}", " " * 14)


def _format_results(
    rows: Sequence[Observation], row_settings: Mapping[str, Mapping[str, Any]], units: Mapping[str, str]
) -> Iterator[str]:
    """Format the rows; those that a run keeps under a key by their operation and settings."""
    settings = {key: ", ".join(format_assignments(row["factors"], units)) for key, row in row_settings.items()}
    operation_by_key = {key: str(row["operation"]) for key, row in row_settings.items()}
    cells = [
        [
            operation_by_key.get(row.operation, row.operation),
            *([settings.get(row.operation, "")] if settings else []),
            row.metric,
            format_rate(row.value, row.unit) if row.value == row.value else "~",
            "" if row.count is None else f"{row.count:,}",
        ]
        for row in rows
    ]
    heads = ["operation", *(["settings"] if settings else []), "metric", "value", "count"]
    yield from table(heads, cells, "l" * (len(heads) - 2) + "rr", WIDTH).split("\n")
    inside = group_by_key(
        (row.includes, operation_by_key.get(row.operation, row.operation)) for row in rows if row.includes
    )
    for includes, operations in inside.items():
        listed = ", ".join(dict.fromkeys(operations))
        yield from wrapped(f"  clock includes {includes.replace(',', ', ')}: {listed}", "    ")


def _format_facts(facts: Mapping[str, Any]) -> Iterator[str]:
    flat = sorted(
        _flatten_facts({key: value for key, value in facts.items() if key != "remounts"}),
        key=lambda fact: _get_fact_sort_key(fact[0]),
    )
    if not flat:
        return
    yield from ["", *_format_pairs({key: _format_value(value) for key, value in flat[:_MOST_FACTS]})]
    if len(flat) > _MOST_FACTS:
        yield f"  and {len(flat) - _MOST_FACTS} more facts ({spell.json})"


def _get_fact_sort_key(key: str) -> int:
    return next((n for n, first in enumerate(_FIRST_FACTS) if key.startswith(first)), len(_FIRST_FACTS))


def _flatten_facts(value: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested facts as ``machine.host.kernel``, without unknown ones; a list of values stays one fact."""
    for key, item in value.items():
        if isinstance(item, Mapping):
            yield from _flatten_facts(item, f"{prefix}{key}.")
        elif isinstance(item, list) and any(isinstance(part, Mapping) for part in item):
            parts = (part if isinstance(part, Mapping) else {"": part} for part in item)
            for number, part in enumerate(parts):
                yield from _flatten_facts(part, f"{prefix}{key}[{number}].")
        elif item not in (None, "", []):
            yield prefix + key, " ".join(map(_format_value, item)) if isinstance(item, list) else item


def _format_pairs(pairs: Mapping[str, str]) -> Iterator[str]:
    column = min(max(map(width, pairs), default=0), 30)
    yield from paragraphs((f"  {key.ljust(column)}  {value}" for key, value in pairs.items()), " " * (column + 4))


def _format_count(number: int, name: str) -> str:
    return f"{number:,} {name}" + ("" if number == 1 else "s")


def _format_start(time: str) -> str:
    """Format ``2026-11-21T10:00:00.123Z`` as ``2026-11-21 10:00``."""
    return time[:16].replace("T", " ")


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _format_level(value: Any, unit: str) -> str:
    return format_level(value, unit) if unit == "bytes" and value is not None else _format_value(value)


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool))
