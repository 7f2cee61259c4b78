"""The results file of "Benchmarking Distributed Filesystems for Many-Task Computing" (Dobrescu-Balau 2014, section
4.1): ``{node count: {"total": {metric: value}, "individual": [{metric: value}, …]}}``.

Ours has two more keys in each entry: ``units``, and ``repetitions`` where a cell was measured more than once; total and
individual are then their means. Bandwidths are in kB/s of 1024 bytes, as IOzone prints them.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError
from iosonde.core.schema import BRING_UPS, OBSERVED_FACTORS
from iosonde.core.stored import StoredRun

from .show import ChosenRuns

KB_PER_S = "kB/s"
# What IOzone calls its reports (-R), by our names.
IOZONE_NAMES = {
    "write": "writer", "rewrite": "re-writer", "read": "reader", "reread": "re-reader", "random_read": "random read",
    "random_write": "random write", "backward_read": "backward read", "record_rewrite": "record rewrite",
    "stride_read": "stride read", "fwrite": "fwrite", "refwrite": "re-fwrite", "fread": "fread",
    "refread": "re-fread",
}  # fmt: skip
_TOTAL, _OWN = "_sum_of_ranks", "_own"
# Of a command that ran once for all nodes, its own number is the total.
_SINGLE = ("_last_done", "_mean")


def of_store(chosen: ChosenRuns) -> dict[str, Any]:
    """The chosen runs of a store, of the newest experiment unless one is named. Raises DataError where there are
    none."""
    store, runs = chosen.store, chosen.runs
    if not runs:
        raise DataError(f"{store.path} has no such runs", f"'iosonde show {store.path}' lists what it has")
    experiment = chosen.experiment or runs[-1].experiment
    runs = [run for run in runs if run.experiment == experiment]
    results = store.results(experiment=experiment, where=chosen.conditions).to_pylist()
    iozone = [run.id for run in runs if any("iozone" in phase.tools for phase in run.phases)]
    found = document(_of_operations(results, runs), iozone, _varying(runs))
    if not found:
        raise DataError(
            f"experiment {experiment} of {store.path} has no rates by node count",
            "a step gives them with parse:, or a native workload; incomplete runs are left out",
        )
    return found


def _of_operations(rows: Sequence[Mapping[str, Any]], runs: Sequence[StoredRun]) -> list[Mapping[str, Any]]:
    """Without what stands under the name of a whole step: the tool's own operations are beside it."""
    steps = {(run.id, phase.operation) for run in runs for phase in run.phases if phase.read_from_each}
    return [
        row
        for row in rows
        if (row["run"], row["operation"]) not in steps or not str(row["metric"]).endswith("_last_done")
    ]


def _varying(runs: Sequence[StoredRun]) -> list[str]:
    """Set factors besides the node count that have several levels."""
    never = {"nodes", "ranks", "repetition", "block", *BRING_UPS, *OBSERVED_FACTORS}
    names = dict.fromkeys(name for run in runs for name in run.factors if name not in never)
    return [name for name in names if len({str(run.factors.get(name)) for run in runs}) > 1]


def document(rows: Sequence[Mapping[str, Any]], iozone: Iterable[str], varying: Sequence[str]) -> dict[str, Any]:
    """The file's content from rows of results (with ``run``, ``nodes`` and the other factors as columns).

    ``iozone`` are the runs whose output IOzone made; ``varying`` the factors besides ``nodes`` whose levels have to be
    in a metric's name.
    """
    by_run: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    names = set(iozone)
    entries: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for run, of_run in by_run.items():
        first = of_run[0]
        apart = "".join(f" {name}={first[name]}" for name in varying if first.get(name) is not None)
        entry = _entry(of_run, IOZONE_NAMES if run in names else {}, apart)
        if entry["total"]:
            entries.setdefault(int(first["nodes"]), {}).setdefault(apart, []).append(entry)
    return {str(nodes): _merged(list(entries[nodes].values())) for nodes in sorted(entries)}


def _entry(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], apart: str) -> dict[str, Any]:
    """One trial: totals, and one dict for each rank that has numbers of its own."""
    chosen = _chosen(rows)
    kinds: dict[str, set[str]] = {}
    for operation, kind, _, _, _ in chosen:
        kinds.setdefault(operation, set()).add(kind)
    total: dict[str, float] = {}
    units: dict[str, str] = {}
    own: dict[int, dict[str, float]] = {}
    for operation, kind, rank, value, unit in chosen:
        name = names.get(operation, operation) + (f" {kind}" if len(kinds[operation]) > 1 else "") + apart
        plain, plain_unit = _in_thesis_unit(value, unit)
        if rank is None:
            total[name], units[name] = plain, plain_unit
        else:
            own.setdefault(rank, {})[name] = plain
    return {"total": total, "individual": [own[rank] for rank in sorted(own)], "units": units}


def _chosen(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, str, int | None, float, str]]:
    """(operation, kind, rank, value, unit) of sums and of ranks' own rates; where an operation has none, of its one
    number."""
    rates = [row for row in rows if row["unit"].endswith("/s")]
    of_ranks = {row["operation"] for row in rates if row["metric"].endswith((_TOTAL, _OWN))}
    found = []
    for row in rates:
        suffixes = (_TOTAL, _OWN) if row["operation"] in of_ranks else _SINGLE
        suffix = next((one for one in suffixes if row["metric"].endswith(one)), None)
        if suffix is not None and (row["rank"] is None) is (suffix != _OWN):
            kind = row["metric"].removesuffix(suffix)
            found.append((row["operation"], kind, row["rank"], row["value"], row["unit"]))
    return found


def _in_thesis_unit(value: float, unit: str) -> tuple[float, str]:
    if unit != "bytes/s":
        return _plain(value), unit
    return _plain(value / 1024), KB_PER_S


def _plain(value: float) -> float:
    """A whole number as one: 1433371, not 1433371.0."""
    return int(value) if float(value).is_integer() else value


def _merged(cells: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """One node count: the means over the repetitions of each cell, all cells side by side, and the repetitions."""
    most = max(len(cell) for cell in cells)
    repetitions = [_side_by_side([cell[turn] for cell in cells if turn < len(cell)]) for turn in range(most)]
    if most == 1:
        return repetitions[0]
    whole = _side_by_side([_mean(cell) for cell in cells])
    return {**whole, "repetitions": [{key: one[key] for key in ("total", "individual")} for one in repetitions]}


def _side_by_side(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ranks = max(len(entry["individual"]) for entry in entries)
    found: dict[str, Any] = {"total": {}, "individual": [{} for _ in range(ranks)], "units": {}}
    for entry in entries:
        found["total"] |= entry["total"]
        found["units"] |= entry["units"]
        for rank, values in enumerate(entry["individual"]):
            found["individual"][rank] |= values
    return found


def _mean(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ranks = max(len(entry["individual"]) for entry in entries)
    individual = [
        _means([entry["individual"][rank] for entry in entries if rank < len(entry["individual"])])
        for rank in range(ranks)
    ]
    units = {name: unit for entry in entries for name, unit in entry["units"].items()}
    return {"total": _means([entry["total"] for entry in entries]), "individual": individual, "units": units}


def _means(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for one in several for name in one)
    values = {name: [one[name] for one in several if name in one] for name in names}
    return {name: _plain(sum(found) / len(found)) for name, found in values.items()}


def read(path: Path) -> dict[int, dict[str, Any]]:
    """A results file, ours or the thesis's, by node count. Raises DataError that says where it is none."""
    try:
        content = json.loads(path.read_text("utf-8"))
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}", "name a results file or a store") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{path} is not JSON: {error}", "iosonde show STORE --thesis-json writes one") from error
    if isinstance(content, dict) and isinstance(content.get("results"), dict):
        content = content["results"]
    if not isinstance(content, dict) or not content:
        raise DataError(f"{path} holds no results by node count", "iosonde show STORE --thesis-json writes such a file")
    return {_count(path, key): _checked(path, key, entry) for key, entry in content.items()}


def _count(path: Path, key: str) -> int:
    if not key.isdecimal() or int(key) < 1:
        raise DataError(f"{path}: '{key}' is not a number of nodes", "the keys are node counts: 1, 2, 4, …")
    return int(key)


def _checked(path: Path, key: str, entry: Any) -> dict[str, Any]:
    totals = [entry] if isinstance(entry, dict) else []
    totals += entry.get("repetitions", []) if totals and isinstance(entry.get("repetitions", []), list) else []
    well = bool(totals)
    for one in totals:
        total = one.get("total") if isinstance(one, dict) else None
        well = well and isinstance(total, dict) and all(_is_number(value) for value in total.values())
    if not well or not isinstance(entry, dict):
        raise DataError(f"{path}: {key}: there is no 'total' of numbers", 'write {"total": {"reader": 123}, …}')
    return entry


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and abs(value) < float("inf")


def totals(results: Mapping[int, Mapping[str, Any]]) -> dict[str, dict[int, list[float]]]:
    """metric → node count → its totals, one for each repetition."""
    found: dict[str, dict[int, list[float]]] = {}
    for nodes, entry in sorted(results.items()):
        for one in entry.get("repetitions") or [entry]:
            for name, value in one["total"].items():
                found.setdefault(name, {}).setdefault(nodes, []).append(float(value))
    return found


def units(results: Mapping[int, Mapping[str, Any]]) -> dict[str, str]:
    """metric → its unit: as the file says, kB/s for IOzone's names, else none."""
    known = dict.fromkeys(IOZONE_NAMES.values(), KB_PER_S)
    for entry in results.values():
        given = entry.get("units")
        known |= {str(name): str(unit) for name, unit in given.items()} if isinstance(given, dict) else {}
    return known
