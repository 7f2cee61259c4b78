"""``python -m corpus_sample STORE``: a made-up corpus with a known answer: twenty-four systems, of which one handed in
nine times; the API decides the hard phase, nodes decide nothing per node."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from iosonde.core.types import Observation, Run
from iosonde.store import Store

SYSTEMS, MANY = 24, 9
GIB = 1024.0**3


def rows(nodes: int, easy: float, hard: float, create: float) -> list[Observation]:
    """The numbers of one run, of all nodes together."""
    return [
        Observation("ior_easy_write", "bandwidth_last_done", easy * nodes * GIB, "bytes/s"),
        Observation("ior_hard_write", "bandwidth_last_done", hard * nodes * GIB, "bytes/s"),
        Observation("mdtest_easy_write", "rate_last_done", create * nodes * 1e3, "operations/s"),
        Observation("score", "bandwidth", np.sqrt(easy * hard) * nodes * GIB, "bytes/s"),
        Observation("score", "rate", create * nodes * 1e3, "operations/s"),
    ]


def run(name: str, institution: str, system: str, year: int, observations: list[Observation], **factors: object) -> Run:
    """One run as an importer makes it."""
    settings = {"tool": "io500", "institution": institution, "system": system, "submission": name} | factors
    operations = {row.operation: ["bandwidth", "rate"] for row in observations}
    return Run(
        id=name,
        experiment="imported",
        source="io500",
        started_at=f"{year}-06-01T12:00:00Z",
        seconds=1.0,
        factors=settings,
        observations=observations,
        facts={"date": f"{year}-06-01", "import": {}},
        headlines=operations,
    )


def corpus(systems: int = SYSTEMS, many: int = MANY) -> list[Run]:
    """So many systems, the first of which handed in ``many`` times. Systems of two institutions have the same name."""
    rng, made = np.random.default_rng(17), []
    for place in range(systems):
        nodes, api, year = int(rng.choice([4, 10, 32, 96])), "MPIIO" if place % 2 else "POSIX", 2019 + place % 6
        easy, create = np.exp(rng.normal(0.5, 0.8)), np.exp(rng.normal(2.0, 0.7))
        hard = 0.1 * np.exp(rng.normal(0.0, 0.4)) * (8 if api == "MPIIO" else 1)
        for again in range(many if place == 0 else 1):
            name = f"s{place:02}-{again}"
            noise = np.exp(rng.normal(0.0, 0.05, 3))
            values = rows(nodes, easy * noise[0], hard * noise[1], create * noise[2])
            institution, system = (
                f"site{place // 2:02}",
                "scratch" if place < 4 and place % 2 == 0 else f"sys{place:02}",
            )
            made.append(run(name, institution, system, year, values, nodes=nodes, api=api))
    return made


def write(path: str | Path, runs: list[Run]) -> Path:
    """A store of these runs."""
    store = Store.create(Path(path))
    for one in runs:
        store.append(one)
    return Path(path)


if __name__ == "__main__":
    write(sys.argv[1], corpus())
