"""Loads of devices in the time of stored runs: ``loads.json``, separate from the runs, which never change.

They come from logs of other tools (iostat, sar) that an import reads next to the runs. A reader of the store sees them
among the facts of each run (``core.device_loads``).
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from iosonde.core.device_loads import DEVICE_LOADS, DeviceLoad
from iosonde.core.errors import DataError

from .files import Disk
from .side_document import SideDocument

FILE = "loads.json"
LoadsByRun = Mapping[str, Sequence[DeviceLoad]]


@dataclass(frozen=True)
class LoadsDocument:
    """Content of ``loads.json``: id of a run → its loads, one for each device of a host."""

    by_run: LoadsByRun = field(default_factory=dict)

    def merged(self, other: LoadsByRun, run_ids: set[str] | None = None) -> LoadsDocument:
        """Return both, of ``run_ids`` only if given. Of one device the load that was sampled for longer is kept; of
        equal ones the other's."""
        by_run = dict(self.by_run)
        for run, loads in other.items():
            if run_ids is None or run in run_ids:
                by_run[run] = _merge_loads(by_run.get(run, ()), loads)
        return LoadsDocument(by_run)


def _merge_loads(old: Sequence[DeviceLoad], new: Sequence[DeviceLoad]) -> list[DeviceLoad]:
    loads = {(load.host, load.kind, load.device): load for load in old}
    for load in new:
        key = (load.host, load.kind, load.device)
        if key not in loads or load.seconds.get("during", 0.0) >= loads[key].seconds.get("during", 0.0):
            loads[key] = load
    return list(loads.values())


class AddedLoads(SideDocument[LoadsDocument]):
    """The loads of a store's runs."""

    FILE = FILE
    LOST = "the loads of devices during the runs are unknown"

    def __init__(self, store: Path, disk: Disk) -> None:
        super().__init__(store, disk)
        self._cached_state: object = ()
        self._plain: dict[str, list[dict[str, Any]]] = {}

    def build_empty(self) -> LoadsDocument:
        """Return no loads."""
        return LoadsDocument()

    def decode_content(self, content: dict[str, Any]) -> LoadsDocument:
        """Return the loads of a decoded file."""
        loads = content["loads"].items()
        return LoadsDocument({run: [DeviceLoad.from_json(item) for item in items] for run, items in loads})

    def encode_content(self, content: LoadsDocument) -> dict[str, Any]:
        """Return the loads as plain data."""
        return {"loads": {run: [load.to_json() for load in loads] for run, loads in content.by_run.items()}}

    def apply(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return the content of a run.json with the loads of its run among its facts."""
        loads = self._read_plain().get(document["id"])
        return {**document, "facts": {**document["facts"], DEVICE_LOADS: loads}} if loads else document

    def _read_plain(self) -> dict[str, list[dict[str, Any]]]:
        """Return run → its loads; none if the file is damaged, which ``Store.problems`` reports."""
        state = self.state
        if state != self._cached_state:
            self._plain = {}
            with contextlib.suppress(DataError):
                self._plain = self.encode_content(self.read())["loads"]
            self._cached_state = state
        return self._plain
