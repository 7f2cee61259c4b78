"""``python -m compare_sample OLD NEW``: two small stores of two versions, for the examples in docs and for tests."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from iosonde.core.types import Experiment, Factor, Observation, Run
from iosonde.store import Store


def speeds(path, day: int, speed: float, nodes=(1, 2), operations=("write", "read"), version=1) -> Store:
    """Five trials a node count, all operations of a trial in one mood; times of ``copy`` are their inverse."""
    made = Store.create(path)
    name, rng = f"e{day}", np.random.default_rng(day)
    made.save_experiment(
        Experiment(
            id=name,
            name=name,
            settings={},
            seed=1,
            created_at=f"2026-11-{day}T10:00:00Z",
            trials=[],
            factors=[Factor("nodes", levels=nodes), Factor("version", levels=[version])],
        )
    )
    for number, (r, n) in enumerate((r, n) for r in range(5) for n in nodes):
        mood = np.exp(0.03 * rng.standard_normal())
        rows = []
        for operation in operations:
            value = 1e8 * n * speed * mood * np.exp(0.01 * rng.standard_normal())
            times = operation == "copy"
            metric, unit = ("seconds", "s") if times else ("bandwidth_last_done", "bytes/s")
            rows.append(Observation(operation, metric, 1e9 / value if times else value, unit))
        made.append(
            Run(
                id=f"{name}-{number:02}",
                experiment=name,
                source="test",
                seconds=1.0,
                observations=rows,
                facts={},
                factors={"nodes": n, "version": version, "repetition": r},
                started_at=f"2026-11-{day}T10:{number:02}:00Z",
            )
        )
    return made


def main(old: str, new: str) -> None:
    """The new one has four fifths of the speed; either has a node count and an operation of its own."""
    speeds(Path(old), 20, 1.0, (1, 2, 4), ("write", "copy", "stat"))
    speeds(Path(new), 21, 0.8, (1, 2, 8), ("write", "copy", "delete"), version=2)


if __name__ == "__main__":
    main(*sys.argv[1:3])
