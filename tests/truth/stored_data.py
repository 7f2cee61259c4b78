"""Stores of what was drawn: runs with the factors of their rows, of an experiment or of another tool."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.store import Store

if TYPE_CHECKING:
    from .drawn_data import DrawnData

Writer = Callable[["DrawnData", Path], Path]
UNITS = {"bandwidth": "bytes/s", "rate": "operations/s"}
CREATED = "2026-03-01T10:00:00Z"
CUT = 0.6  # of the trials of a campaign that ended early


def build_settings(data: DrawnData) -> list[dict[str, Any]]:
    """The factors of each row, with its repetition."""
    columns = {name: np.asarray(data.columns[name]).tolist() for name in data.factors}
    settings: list[dict[str, Any]] = []
    seen: dict[tuple[Any, ...], int] = {}
    for levels in zip(*columns.values(), strict=True):
        repetition = seen[levels] = seen.get(levels, -1) + 1
        settings.append({**dict(zip(columns, levels, strict=True)), "repetition": repetition})
    return settings


def build_run(
    number: int, experiment: str, source: str, factors: Mapping[str, Any], values: Mapping[str, float]
) -> Run:
    """A run with one observation for each ``operation metric`` of ``values``."""
    rows, headlines = [], dict[str, list[str]]()
    for name, value in values.items():
        operation, metric = name.split()
        rows.append(Observation(operation, f"{metric}_last_done", value, UNITS[metric]))
        headlines.setdefault(operation, []).append(metric)
    started = f"2026-03-01T{10 + number // 60:02}:{number % 60:02}:00Z"
    facts: dict[str, Any] = {"order": number} if experiment != "imported" else {"import": {}}
    return Run(
        f"{experiment}-{number:04}", experiment, source, started, 1.0, dict(factors), rows, facts, headlines=headlines
    )


def _write(data: DrawnData, path: Path, metrics: Mapping[str, str], share: float = 1.0) -> Path:
    """Store the first ``share`` of the rows as runs of an experiment that plans all; ``metrics``: name → column."""
    settings = build_settings(data)
    store = Store.create(path)
    factors = [Factor(name, levels=tuple(dict.fromkeys(row[name] for row in settings))) for name in data.factors]
    trials = [
        Trial(number, {name: row[name] for name in data.factors}, row["repetition"], row["repetition"], number)
        for number, row in enumerate(settings)
    ]
    store.save_experiment(Experiment("drawn-0001", "drawn", factors, {}, trials, 7, CREATED))
    for number, row in enumerate(settings[: max(round(share * len(settings)), 2)]):
        values = {name: float(data.columns[column][number]) for name, column in metrics.items()}
        store.append(build_run(number, "drawn-0001", "iosonde commands", row, values))
    return path


def write_runs(data: DrawnData, path: Path) -> Path:
    """One operation with one metric."""
    return _write(data, path, {"write bandwidth": "v"})


def write_operations(data: DrawnData, path: Path) -> Path:
    """A metric for each column that is no factor."""
    return _write(data, path, {name: name for name in data.columns if name not in data.factors})


def write_cut_campaign(data: DrawnData, path: Path) -> Path:
    """The first trials of the campaign."""
    return _write(data, path, {"write bandwidth": "v"}, CUT)


def write_import(data: DrawnData, path: Path) -> Path:
    """Runs without an experiment, with a setting that is constant and one that follows from another."""
    store = Store.create(path)
    for number, row in enumerate(build_settings(data)):
        value = {"write bandwidth": float(data.columns["v"][number])}
        follows = {"tool": "ior", "api": "POSIX", "option_a": f"-a {row[data.factors[0]]}"}
        store.append(build_run(number, "imported", "ior", {**row, **follows}, value))
    return path
