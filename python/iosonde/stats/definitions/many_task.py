"""Content of the results file described in ``core/many_task.py``, by its own definition: totals are sums of the ranks'
own rates, repetitions are averaged."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from iosonde.core.headlines import COMMAND
from iosonde.core.many_task import IOZONE_NAMES, KB_PER_S

_TOTAL, _OWN = "_sum_of_ranks", "_own"
# For a command that ran once for all nodes, its own number is the total.
_SINGLE = ("_last_done", "_mean")


def build_document(rows: Sequence[Mapping[str, Any]], iozone: Iterable[str], varying: Sequence[str]) -> dict[str, Any]:
    """Return the file's content from rows of results (with ``run``, ``nodes`` and the other factors as columns).

    ``iozone`` are the runs with output of IOzone; ``varying`` the factors except ``nodes`` whose levels must be in a
    metric's name.
    """
    by_run: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_run.setdefault(row["run"], []).append(row)
    names = set(iozone)
    entries: dict[int, dict[str, list[dict[str, Any]]]] = {}
    for run, run_rows in by_run.items():
        first = run_rows[0]
        apart = "".join(f" {name}={first[name]}" for name in varying if first.get(name) is not None)
        entry = _build_entry(run_rows, IOZONE_NAMES if run in names else {}, apart)
        if entry["total"]:
            entries.setdefault(int(first["nodes"]), {}).setdefault(apart, []).append(entry)
    return {str(nodes): _merge_cells(list(entries[nodes].values())) for nodes in sorted(entries)}


def _build_entry(rows: Sequence[Mapping[str, Any]], names: Mapping[str, str], apart: str) -> dict[str, Any]:
    chosen = list(_select_rates(rows))
    kinds: dict[str, set[str]] = {}
    for operation, kind, _, _, _ in chosen:
        kinds.setdefault(operation, set()).add(kind)
    total: dict[str, float] = {}
    units: dict[str, str] = {}
    own: dict[int, dict[str, float]] = {}
    for operation, kind, rank, value, unit in chosen:
        name = names.get(operation, operation) + (f" {kind}" if len(kinds[operation]) > 1 else "") + apart
        plain = _shorten_number(value / 1024 if unit == "bytes/s" else value)
        plain_unit = KB_PER_S if unit == "bytes/s" else unit
        if rank is None:
            total[name], units[name] = plain, plain_unit
        else:
            own.setdefault(rank, {})[name] = plain
    return {"total": total, "individual": [own[rank] for rank in sorted(own)], "units": units}


def _select_rates(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, str, int | None, float, str]]:
    """Return (operation, kind, rank, value, unit) of sums and of ranks' own rates; else of the single number of an
    operation. A single rank has the tool's own number, and no sum."""
    rates = [row for row in rows if row["unit"].endswith("/s") and row.get("includes") != COMMAND]
    summed = {row["operation"] for row in rates if row["metric"].endswith(_TOTAL)}
    kinds = {(row["operation"], row["metric"].removesuffix(_OWN)) for row in rates if row["metric"].endswith(_OWN)}
    for row in rates:
        operation, metric = row["operation"], row["metric"]
        endings = (_TOTAL,) if operation in summed else (*_SINGLE, *([""] if (operation, metric) in kinds else []))
        suffixes = endings if row["rank"] is None else (_OWN,)
        suffix = next((ending for ending in suffixes if metric.endswith(ending)), None)
        if suffix is not None:
            yield operation, metric.removesuffix(suffix), row["rank"], row["value"], row["unit"]


def _shorten_number(value: float) -> float:
    """Return a whole number as int: 1433371, not 1433371.0."""
    return int(value) if float(value).is_integer() else value


def _merge_cells(cells: list[list[dict[str, Any]]]) -> dict[str, Any]:
    """Merge the cells of a node count: the means over the repetitions of each cell, all cells side by side, and the
    repetitions."""
    most = max(len(cell) for cell in cells)
    repetitions = [_merge_entries([cell[turn] for cell in cells if turn < len(cell)]) for turn in range(most)]
    return (
        repetitions[0]
        if most == 1
        else {
            **_merge_entries([_average_entries(cell) for cell in cells]),
            "repetitions": [{key: repetition[key] for key in ("total", "individual")} for repetition in repetitions],
        }
    )


def _merge_entries(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ranks = max(len(entry["individual"]) for entry in entries)
    merged: dict[str, Any] = {"total": {}, "individual": [{} for _ in range(ranks)], "units": {}}
    for entry in entries:
        merged["total"] |= entry["total"]
        merged["units"] |= entry["units"]
        for rank, values in enumerate(entry["individual"]):
            merged["individual"][rank] |= values
    return merged


def _average_entries(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    ranks = max(len(entry["individual"]) for entry in entries)
    return {
        "total": _average_values([entry["total"] for entry in entries]),
        "individual": [
            _average_values([entry["individual"][rank] for entry in entries if rank < len(entry["individual"])])
            for rank in range(ranks)
        ],
        "units": {name: unit for entry in entries for name, unit in entry["units"].items()},
    }


def _average_values(several: Sequence[Mapping[str, float]]) -> dict[str, float]:
    names = dict.fromkeys(name for numbers in several for name in numbers)
    values = {name: [numbers[name] for numbers in several if name in numbers] for name in names}
    return {name: _shorten_number(sum(samples) / len(samples)) for name, samples in values.items()}
