"""Stores whose factors are declared, for the tests of answers: two experiments over nodes and file systems, and one of
imported runs with a tool's own iterations."""

from __future__ import annotations

from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.store import Store

NODES, FILE_SYSTEMS, REPETITIONS = (1, 2, 4), ("nfs", "afs"), 4
MIB = 2**20


def rate(nodes: int, fs: str, repetition: int) -> float:
    """bytes/s of a write: 100 MiB/s a node on nfs, half of it on afs, ± 2 %."""
    return 100 * MIB * nodes * (1 if fs == "nfs" else 0.5) * (1 + 0.01 * (repetition - 1.5))


def store(path) -> Store:
    """``old``, and ``new`` that is ten times as fast; the first run is on afs, which is declared last; ``servers``
    always changes with ``nodes``."""
    made = Store.create(path)
    for name, factor, hour in (("old", 1.0, 10), ("new", 10.0, 11)):
        cells = [(n, fs, r) for r in range(REPETITIONS) for fs in reversed(FILE_SYSTEMS) for n in NODES]
        made.save_experiment(
            Experiment(
                id=name,
                name=name,
                settings={},
                seed=1,
                created_at=f"2026-11-21T{hour}:00:00Z",
                factors=[
                    Factor("nodes", levels=NODES),
                    Factor("fs", levels=FILE_SYSTEMS),
                    Factor("servers", levels=[10 * n for n in NODES]),
                ],
                trials=[
                    Trial(i, {"nodes": n, "fs": fs, "servers": 10 * n}, r, r, i) for i, (n, fs, r) in enumerate(cells)
                ],
            )
        )
        for number, (n, fs, r) in enumerate(cells):
            value = factor * rate(n, fs, r)
            made.append(
                _run(
                    name,
                    number,
                    hour,
                    {"nodes": n, "fs": fs, "servers": 10 * n, "repetition": r},
                    [
                        Observation("write", "bandwidth_last_done", value, "bytes/s"),
                        Observation("write", "bandwidth_sum_of_ranks", 1.5 * value, "bytes/s"),
                        Observation("read", "bandwidth_last_done", 3 * value, "bytes/s"),
                        Observation("copy", "seconds", 1e9 / value, "s"),
                    ],
                )
            )
    return made


def imported(path, runs_each: int = 1) -> Store:
    """Runs of a tool with four iterations each, on 1 and 2 nodes."""
    made = Store.create(path)
    for number in range(2 * runs_each):
        nodes = 1 + number % 2
        rows = [
            Observation(
                "write", "bandwidth_last_done", 100 * MIB * nodes * (1 + 0.01 * i + 0.05 * number), "bytes/s", None, i
            )
            for i in range(4)
        ]
        made.append(_run("ior", number, 12, {"nodes": nodes}, rows, facts={"import": {"file": "ior.txt"}}))
    return made


def _run(experiment: str, number: int, hour: int, factors: dict, observations: list, facts: dict | None = None) -> Run:
    return Run(
        id=f"{experiment}-{number:02}",
        experiment=experiment,
        source="test",
        seconds=1.0,
        factors=factors,
        started_at=f"2026-11-21T{hour}:{number:02}:00.000Z",
        observations=observations,
        facts=facts or {},
    )
