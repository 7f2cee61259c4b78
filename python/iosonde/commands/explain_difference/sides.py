"""Sides A and B of ``explain-difference``: a recorded run by a tool's definition, or a number in a tool's text."""

from pathlib import Path
from typing import Any

from iosonde.commands.show.as_tool import (
    compute_tool_rows,
    get_iozone_clock_parts,
    get_workload_settings,
    iterate_phase_work,
)
from iosonde.core.errors import DataError, InputError
from iosonde.core.stored import StoredPhase, StoredRun
from iosonde.core.types import Run
from iosonde.foreign.guarded import detect_path_kind, forget_silence
from iosonde.importers import understand
from iosonde.importers.runs import build_runs
from iosonde.ingest.temporary_stores import read_text
from iosonde.stats.definitions import elbencho, fio, ior, iozone, mdtest
from iosonde.stats.definitions.clock import FIRST_DONE, LAST_DONE, PARTS, Clock, Work, compute_rate
from iosonde.stats.definitions.difference import Side
from iosonde.store import Store

from . import stated_numbers
from .stated_numbers import build_incomplete_note

DEFINITIONS = ("iosonde", "ior", "mdtest", "iozone", "iozone/parent", "fio", "elbencho", "elbencho/first")
DEFINITION_TITLES = {
    "ior": "IOR",
    "iozone": "IOzone's children",
    "iozone/parent": "IOzone's parent",
    "elbencho": "elbencho's last done",
    "elbencho/first": "elbencho's first done",
}
# Settings that must be known to compare the work of two results.
REQUIRED_SETTINGS = ("threads", "record size", "bytes of each", "record order", "O_DIRECT", "client cache")


def read_sides(text: str, store: str | None) -> dict[str, Side]:
    """Map operations to the numbers of the side ``text``. Raises InputError, DataError."""
    base, at, definition = text.partition("@")
    if at and definition not in DEFINITIONS:
        raise InputError(
            "unknown-definition",
            "'{definition}' is not a definition",
            "after @ there can be: {definitions}",
            definition=definition,
            definitions=", ".join(DEFINITIONS),
        )
    path, _, number = base.rpartition("#")
    forget_silence()
    if _is_file(base):
        path, number = base, ""
    if path == base or (path and _is_file(path)):
        if at:
            raise InputError(
                "inapplicable-definition",
                "'{source}': a tool's text has its own definition",
                "@ is for runs whose operations were recorded",
                source=text,
            )
        return _read_file_sides(path, number)
    place, _, run_id = (store, "", base) if store else base.rpartition(":")
    if not place:
        raise InputError(
            "no-such-file",
            "'{source}' is neither a file nor STORE:RUN",
            "name an existing file, or give {spell.store:DIR}",
            source=text,
        )
    return _read_store_sides(place, run_id, definition)


def _is_file(name: str) -> bool:
    try:
        return detect_path_kind(Path(name)) == "file"
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "{name}: {reason}",
            "name a file that you may read, or STORE:RUN",
            name=name,
            reason=error.strerror,
        ) from error


def _read_store_sides(place: str, run_id: str, definition: str) -> dict[str, Side]:
    store = Store.open(place)
    run = store.run(run_id)
    document = StoredRun(store.document(run_id))
    if document.n_operations:
        by_phase = _measure_phases(store, document, definition or "iosonde")
        if not by_phase:
            raise DataError(
                "no-matching-phase",
                "run {run_id} has no phase that {definition} would measure",
                "iosonde show STORE --as TOOL says why",
                run_id=run_id,
                definition=definition,
            )
        return by_phase
    if definition:
        raise DataError(
            "no-recorded-operations",
            "run {run_id} has no recorded operations: {definition}'s definition cannot be set on it",
            "name it without @: then its own numbers are taken",
            run_id=run_id,
            definition=definition,
        )
    return _read_stated_sides(run, str(run.factors.get("tool", "")), f"{run.source}, run {run_id}")


def _read_file_sides(name: str, number: str) -> dict[str, Side]:
    text = read_text(name)
    understood = understand(text)
    runs = [run for run in build_runs(understood, text, "parsed") if run.observations]
    if number:
        if not number.isdigit() or int(number) >= len(runs):
            raise InputError(
                "unknown-result",
                "{name} has no result #{number}",
                "there are #0 to #{last_number}",
                name=name,
                number=number,
                last_number=len(runs) - 1,
            )
        runs = [runs[int(number)]]
    if len(runs) != 1:
        what = "; ".join(f"#{i} {_format_last_factors(run)}" for i, run in enumerate(runs[:6])) or "none"
        raise InputError(
            "ambiguous-result",
            "{name} has {n_results} results: {results}",
            "choose one: '{name}#0'",
            name=name,
            n_results=len(runs),
            results=what,
        )
    tool = understood.format + (f" {understood.tool_version.split()[-1]}" if understood.tool_version else "")
    return _read_stated_sides(runs[0], understood.format, f"{tool}, {Path(name).name}")


def _format_last_factors(run: Run) -> str:
    return ", ".join(f"{name}={run.factors[name]}" for name in list(run.factors)[-2:])


# Recorded runs


def _measure_phases(store: Store, run: StoredRun, definition: str) -> dict[str, Side]:
    by_phase = {}
    for phase, work, _ in iterate_phase_work(store, run):
        if work is None:
            continue
        name = phase.name
        counted = mdtest.find_mdtest_operation(name, work) if phase.measures == "rate" else None
        clock = _select_clock(definition, phase, work, get_iozone_clock_parts(run))
        if clock is None or (counted is None and not work.list_data_directions()):
            continue
        done = work.count_of(counted[1]) if counted else work.get_bytes_by_operation(work.list_data_directions()[0])

        def at(other_clock: Clock, work: Work = work, done: Any = done) -> float | None:
            return compute_rate(work, done, other_clock)

        value = at(clock)
        if value is not None:
            by_phase[name] = Side(
                name=f"{DEFINITION_TITLES.get(definition, definition)}, run {run.id}",
                operation=name,
                value=value,
                unit="operations/s" if counted else "bytes/s",
                clock=clock,
                at=at,
                prefix=1 if counted else 2**20,
                settings=_collect_work_settings(run, phase, work),
                notes=tuple(map(build_incomplete_note, run.missing[:1])),
                work=(str(store.path), run.id, name),
            )
    return by_phase


def _select_clock(definition: str, phase: StoredPhase, work: Work, flags: frozenset[str]) -> Clock | None:
    tool, _, variant = definition.partition("/")
    if tool == "iosonde":
        return Clock(frozenset(PARTS), LAST_DONE)
    if tool == "mdtest":
        return mdtest.CLOCK if mdtest.find_mdtest_operation(phase.name, work) else None
    if not compute_tool_rows(tool, phase, work, flags)[0]:
        return None
    if tool == "iozone":
        return iozone.build_parent_clock(flags) if variant else Clock(flags, iozone.CLOCK.stops)
    if tool == "elbencho":
        return Clock(
            elbencho.INSIDE[elbencho.build_elbencho_rows(work, phase.shared)[0].target],
            FIRST_DONE if variant else LAST_DONE,
        )
    return ior.CLOCK if tool == "ior" else fio.CLOCK


def _collect_work_settings(run: StoredRun, phase: StoredPhase, work: Work) -> dict[str, Any]:
    settings: dict[str, Any] = {"threads": work.ranks, "shared file": phase.shared}
    factors = run.factors
    if factors.get("client_cache"):
        settings["client cache"] = "cold" if str(factors["client_cache"]).startswith("cold") else "warm"
    if "nodes" in factors:
        settings["nodes"] = factors["nodes"]
    run_settings = get_workload_settings(run)
    if "direct" in run_settings:
        settings["O_DIRECT"] = bool(run_settings["direct"])
    for way in work.list_data_directions()[:1]:
        moved = work.get_bytes_by_operation(way)
        settings["record order"] = work.order(way)
        settings["record size"] = int(work.size[moved > 0].max())
        settings["bytes of each"] = int(moved.sum()) // work.ranks
    return settings


# Numbers in a tool's text


def _read_stated_sides(run: Run, tool: str, name: str) -> dict[str, Side]:
    by_operation = stated_numbers.build_stated_sides(run, tool, name)
    if not by_operation:
        raise DataError(
            "no-rate", "{name} has no rate that could be explained", "'iosonde parse' shows what it has", name=name
        )
    return by_operation
