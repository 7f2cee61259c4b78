"""Stores and trees that are attacked: made once, copied for each case."""

from __future__ import annotations

import atexit
import hashlib
import json
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from .warm import ROOT, warm

FIXTURES = ROOT / "tests" / "golden" / "fixtures"
IOR = FIXTURES / "ior" / "gen-ior301-shared-2reps.txt"
IMPORTED = ("ior/gen-ior301-shared-2reps.txt", "mdtest/gen-mdtest330-3iter.txt", "iozone/gen-v489-directio-ext4.txt")
FIRST_RUN, EXPERIMENT = "envelope-7f3a-0000", "envelope-7f3a"


@cache
def store() -> Path:
    """Six runs that were measured, of a preregistered experiment; three imported ones; a tag and a note."""
    return _build("store_of_runs")


@cache
def unlike_stores() -> Path:
    """A directory with ``a``: experiments that have no factor in common; and ``b``: an experiment without runs."""
    return _build("unlike")


def copy(source: Path, place: Path) -> Path:
    """A copy that a case may break."""
    shutil.copytree(source, place, symlinks=True)
    return place


def _build(what: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="iosonde-breaks-", dir="/var/tmp"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    ended = warm().call("faults.breaks.samples:make", folder, what=what)
    if ended.code:
        raise RuntimeError(f"the sample store cannot be made: {ended.err}")
    return folder / "st"


def make(what: str) -> None:
    """Make one in the working directory, to be called in a fork."""
    globals()[f"make_{what}"](Path("st"))


def make_store_of_runs(path: Path) -> None:
    """See ``store``."""
    import sample_store
    from iosonde.cli.group import cli

    sample_store.main(str(path))
    cli.main(
        ["import", "--jobs", "1", "--store", str(path), *(str(FIXTURES / name) for name in IMPORTED)],
        standalone_mode=False,
    )
    for words in (["tag", str(path), FIRST_RUN, "baseline"], ["note", str(path), FIRST_RUN, "a quiet night"]):
        cli.main(["store", *words], standalone_mode=False)


def make_unlike(path: Path) -> None:
    """See ``unlike_stores``."""
    from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
    from iosonde.store import Store

    path.mkdir()
    factors: dict[str, list[Any]] = {
        "plain": [],
        "bytes": [("bs", (4096, 65536))],
        "words": [("fs", ("nfs", "lustre"))],
        "fraction": [("share", (0.25, 0.5))],
        "truth": [("direct", (True, False))],
        "none": [("bs", (None, 4096))],
    }
    store = Store.create(path / "a")
    for number, (name, levels) in enumerate(factors.items()):
        settings = [{key: values[n] for key, values in levels} for n in (0, 1)]
        trials = [Trial(n, settings[n % 2], n // 2, n // 2, n) for n in range(6)]
        declared = [Factor(key, levels=values) for key, values in levels]
        store.save_experiment(Experiment(name, f"is {name} a factor?", declared, {}, trials, 1, "2026-11-21T10:00:00Z"))
        store.append_many(
            [
                Run(
                    id=f"{name}-{n}",
                    experiment=name,
                    source="iosonde envelope",
                    seconds=1.0,
                    seed=n,
                    started_at=f"2026-11-{number + 1:02}T{n:02}:00:00Z",
                    factors={**settings[n % 2], "repetition": n // 2},
                    observations=[Observation("write", "bandwidth_last_done", 1e8 + n * 1e6, "bytes/s")],
                )
                for n in range(6)
            ]
        )
    Store.create(path / "b").save_experiment(
        Experiment("empty", "nothing yet", [Factor("nodes")], {}, [], 1, "2026-11-21T10:00:00Z")
    )


def seal_forgery(document: dict[str, Any]) -> bytes:
    """A run.json with a digest that is right, whatever it says."""
    zeros = "0" * 64
    document["self_sha256"] = zeros
    text = (json.dumps(document, indent=2, sort_keys=True) + "\n").encode()
    digest = hashlib.sha256(text).hexdigest()
    return text.replace(f'\n  "self_sha256": "{zeros}"'.encode(), f'\n  "self_sha256": "{digest}"'.encode(), 1)
