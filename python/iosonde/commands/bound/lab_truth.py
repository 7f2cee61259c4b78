"""True values of the lab that a trial was measured in, as fields of a bound's system. Limits are taken as they were
configured; everything without a limit as measured at the bring-up. Trials of one store may have had different labs.
Each cell has its own lab, and trials of different labs never share a cell."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from iosonde.core.emulated import EmulatedRates, describe_off_rates, read_rates
from iosonde.core.message import Message
from iosonde.core.stored import StoredRun
from iosonde.core.table import Cell as Level
from iosonde.data.responses import Response
from iosonde.data.source import Source

from .bounded_cells import BoundCell, format_value
from .inputs import get_option_name

THE_LAB = "the lab"
_REDUNDANCY_BY_COPIER = {"client": "client", "servers": "chained"}
# A live option of a file system that says how many copies there are: it may change from trial to trial.
_COPIES = ("goal", "pool_size")


def read_lab_truth(run: StoredRun) -> dict[str, Any]:
    """Map fields to their values in the lab of this run; empty without a lab or without servers."""
    lab = (run.facts.get("machine") or {}).get("lab")
    if not isinstance(lab, Mapping) or "description" not in lab:
        return {}
    live = next((value for name in _COPIES if (value := run.live_options.get(name, "")).isdecimal()), None)
    return read_lab_fields(read_rates(lab["description"]), lab.get("emulated") or {}, lab.get("layout") or {}, live)


def read_lab_fields(
    rates: EmulatedRates, emulated: Mapping[str, Any], layout: Mapping[str, Any], copies: str | None = None
) -> dict[str, Any]:
    """Map fields to values, as requested from a lab and measured there; ``copies`` if that is set live."""
    if rates.file_system == "local":
        return {}
    links = [link["bytes_per_s"] for link in emulated.get("links") or ()]
    fields: dict[str, Any] = {
        "servers": rates.servers,
        "disks": rates.servers,
        "network": rates.goodput or min(links, default=None),
    }
    for kind, limit in (("read", rates.read_rate), ("write", rates.write_rate)):
        speeds = [disk[f"{kind}_bytes_per_s"] for disk in emulated.get("disks") or ()]
        fields[f"disk_{kind}"] = limit or min(speeds, default=None)
    return {name: value for name, value in fields.items() if value} | _read_redundancy(layout, copies)


def _read_redundancy(layout: Mapping[str, Any], live: str | None) -> dict[str, Any]:
    copies = int(live or layout.get("copies", 1))
    if layout.get("parity_parts"):
        return {
            "redundancy": "erasure",
            "data_chunks": int(layout["data_parts"]),
            "parity_chunks": int(layout["parity_parts"]),
        }
    return (
        {"redundancy": _REDUNDANCY_BY_COPIER[layout["copied_by"]], "replicas": copies}
        if copies > 1
        else {"replicas": 1}
    )


@dataclass(frozen=True)
class LabTruths:
    """True values of the labs of a source's runs, by run id."""

    by_run: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...] = ()

    @classmethod
    def from_source(cls, source: Source | None) -> LabTruths:
        """Collect the labs of all runs of a store; empty for a table."""
        runs = source.runs if source is not None else ()
        by_run = {run.id: truth for run in runs if (truth := read_lab_truth(run))}
        differences = {
            difference: None
            for run in runs
            if run.id in by_run
            for difference in describe_off_rates(run.facts["machine"]["lab"])
        }
        if not differences:
            return cls(by_run)
        more = f", and {len(differences) - 1} more (S118)" if len(differences) > 1 else ""
        template = "the lab is not as requested: {difference}{more}"
        return cls(by_run, (Message("lab-differs", template, difference=next(iter(differences)), more=more),))

    @property
    def names(self) -> frozenset[str]:
        """Return the fields that a lab sets."""
        return frozenset(name for truth in self.by_run.values() for name in truth)

    def truth(self, runs: Sequence[str]) -> dict[str, Any]:
        """Return the values of these runs, which all share one lab."""
        return dict(self.by_run.get(runs[0], {})) if runs else {}

    def apart(self, response: Response, cells: Iterable[BoundCell]) -> list[BoundCell]:
        """Split cells whose trials had different labs, by what differs."""
        every = list(cells)
        if not self.by_run or "run" not in response.rows.columns:
            return every
        ids = response.rows.columns["run"].values
        truths = [[self.by_run.get(str(ids[row]), {}) for row in cell.rows] for cell in every]
        differs = [
            name
            for name in sorted(self.names)
            if any(len(_collect_field_values(cell_truths, name)) > 1 for cell_truths in truths)
        ]
        if not differs:
            return every
        return [
            part
            for cell, cell_truths in zip(every, truths, strict=True)
            for part in _split_cell(cell, cell_truths, differs)
        ]


def _collect_field_values(truths: Collection[Mapping[str, Any]], name: str) -> set[Any]:
    return {truth.get(name) for truth in truths}


def _split_cell(cell: BoundCell, truths: Sequence[Mapping[str, Any]], names: Sequence[str]) -> list[BoundCell]:
    keys = [tuple(truth.get(name) for name in names) for truth in truths]
    parts = []
    for key in dict.fromkeys(keys):
        labels: dict[str, Level] = {
            f"lab_{get_option_name(name)}": "" if value is None else format_value(name, value)
            for name, value in zip(names, key, strict=True)
        }
        rows = [row for row, its in zip(cell.rows, keys, strict=True) if its == key]
        parts.append(BoundCell(cell.by | labels, np.array(rows, dtype=np.intp)))
    return parts
