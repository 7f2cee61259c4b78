"""``python -m history_sample DIR [DAYS]``: a store with a history of nightly runs, for the examples in docs.

One benchmark at 1 and 2 nodes, two trials a night, noise of 3 %. In the night of the day 45 the kernel was changed and
creating files became 9 % faster; ten days before the end a commit made writing 8 % slower.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from hashlib import sha1
from pathlib import Path
from typing import Any

import numpy as np

from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.store import Store

BEGIN = datetime(2026, 7, 1, 2, tzinfo=UTC)
DAYS, NODES, REPETITIONS, KERNEL_DAY, BEFORE_END = 90, (1, 2), 2, 45, 10
STEPS = [{"command": "bench ${target}", "on": "all", "parse": "auto"}]


def commit_of(day: int) -> str:
    """A commit each day."""
    return sha1(str(day).encode(), usedforsecurity=False).hexdigest()


def level(operation: str, nodes: int, day: int, slower_from: int, slower: float) -> float:
    """The mean of a night."""
    value = {"write": 400e6, "create": 2000.0}[operation] * nodes**0.9
    if operation == "create":
        return value * (1.09 if day >= KERNEL_DAY else 1)
    return value * ((1 - slower) if day >= slower_from else 1)


def night(day: int, rng: np.random.Generator, slower_from: int, slower: float) -> tuple[Experiment, list[Run]]:
    """One experiment of a night with its runs."""
    begin = BEGIN + timedelta(days=day)
    name = f"nightly-{begin:%Y%m%d}"
    trials = [
        Trial(n, {"nodes": nodes}, n // len(NODES), n // len(NODES), n) for n, nodes in enumerate(NODES * REPETITIONS)
    ]
    runs = []
    for trial in trials:
        values = [("write", "bandwidth_last_done", "bytes/s"), ("create", "rate_last_done", "operations/s")]
        nodes = trial.nodes
        runs.append(
            Run(
                id=f"{name}-{trial.index:04}",
                experiment=name,
                source="iosonde commands",
                started_at=f"{begin + timedelta(minutes=trial.index):%Y-%m-%dT%H:%M:%SZ}",
                seconds=30.0,
                factors={"nodes": nodes, "repetition": trial.repetition},
                observations=[
                    Observation(
                        operation,
                        metric,
                        level(operation, nodes, day, slower_from, slower) * (1 + 0.03 * rng.standard_normal()),
                        unit,
                        count=1000,
                    )
                    for operation, metric, unit in values
                ],
                facts={
                    "hosts": ["node01", "node02"],
                    "target": "/mnt/zeus",
                    "subject_commit": commit_of(day),
                    "machine": {
                        "host": {"kernel": f"6.1.0-{18 if day < KERNEL_DAY else 21}", "uptime_s": day * 9.0},
                        "mount": {"type": "zeusfs", "options": "rw,relatime"},
                    },
                },
                seed=trial.seed,
            )
        )
    settings = {"steps": STEPS, "name": name, "repetitions": REPETITIONS, "nodes": list(NODES)}
    made = Experiment(name, name, [Factor("nodes", levels=NODES)], settings, trials, 7, f"{begin:%Y-%m-%dT%H:%M:%SZ}")
    return made, runs


def write(path: str, days: int = DAYS, slower: float = 0.08) -> Store:
    """The whole history."""
    store, rng = Store.create(path), np.random.default_rng(2026)
    for day in range(days):
        experiment, runs = night(day, rng, days - BEFORE_END, slower)
        store.save_experiment(experiment)
        for run in runs:
            store.append(run)
    return store


def write_values(path: Path, values: Sequence[float], settings: Any = None, **changes: Any) -> Store:
    """A store with an experiment for each value, one trial each. ``settings``, and ``changes`` of the runs, are
    functions of its number."""
    store = Store.create(path)
    for day, value in enumerate(values):
        experiment, runs = night(day, np.random.default_rng(day), 10**6, 0.0)
        run: Run = replace(
            runs[0],
            factors={"nodes": 1, "repetition": 0},
            observations=[Observation("write", "bandwidth_last_done", float(value), "bytes/s")],
            **{name: make(day) for name, make in changes.items()},
        )
        made = settings(day) if settings else experiment.settings
        store.save_experiment(replace(experiment, settings=made, factors=[Factor("nodes", levels=(1,))]))
        store.append(run)
    return store


if __name__ == "__main__":
    write(sys.argv[1], *(int(word) for word in sys.argv[2:]))
