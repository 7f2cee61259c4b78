"""`make test-faults`: hundreds of small campaigns of iosonde, each hit by a fault at random, and what held.

    FAULTS_OPTIONS='--campaigns 500 --seed 7'     how many, and which (the seed is printed; drawn if not given)
    FAULTS_OPTIONS='--seed 7 --only 123'          one campaign again, with all that it said
    FAULTS_OPTIONS='--rows "hangs|SIGSTOP"'       some kinds of faults alone
    FAULTS_OPTIONS='--nodes'                      only on two nodes with temporary directories of their own
    FAULTS_OPTIONS='--minutes 40'                 none is begun after so long, or after Ctrl-C or SIGTERM; the table
                                                  has those that were
    FAULTS_OPTIONS='--write-docs'                 the table goes into docs/reliability.md

Campaign N of a seed is always the same plan; when exactly a signal falls is up to the machine, so one that failed may
need a few tries. Ends with 1 if anything was breached. Results: build/faults/result.json and table.txt, and
SEED-N.json of each campaign with a breach, as soon as there is one.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import faultfs, plans, scene, table
from .plans import NODES, Plan, Row

ROOT = Path(__file__).parents[2]
OUT = ROOT / "build" / "faults"
LIMIT_S = 400
AT_ONCE = 2


def main() -> None:
    """Run what was asked for, print the table, write the results."""
    asked = _options()
    try:
        isolated = scene.isolation()
    except RuntimeError as error:
        sys.exit(f"test-faults: {error}")
    rows, not_run = _rows(asked)
    seed = random.SystemRandom().randrange(10**6) if asked.seed is None else asked.seed
    numbers = [asked.only] if asked.only is not None else range(asked.campaigns)
    print(f"seed {seed}, {len(numbers)} campaigns, {asked.at_once} at once", flush=True)
    for what, why in not_run.items():
        print(f"not run: {what}: {why}")
    begun = time.monotonic()
    drawn = [plans.draw(seed, number, rows) for number in numbers]
    results = _all(drawn, isolated, asked.at_once, 60 * asked.minutes)
    found = {
        "seed": seed,
        "seconds": time.monotonic() - begun,
        "not_run": not_run,
        "campaigns": results,
        "commit": _commit(),
        "cores": os.cpu_count(),
    }
    OUT.mkdir(parents=True, exist_ok=True)
    (OUT / "result.json").write_text(json.dumps(found, indent=1))
    (OUT / "table.txt").write_text(table.text(found))
    print(table.text(found))
    if asked.only is not None:
        print(json.dumps(results, indent=1))
    if asked.write_docs:
        table.into(ROOT / "docs" / "reliability.md", found)
    sys.exit(any(one["breaches"] for one in results))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=500)
    parser.add_argument("--minutes", type=float, default=math.inf)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--only", type=int, metavar="N")
    parser.add_argument("--rows", default="", help="a pattern of the table's rows or groups")
    parser.add_argument("--nodes", action="store_true")
    parser.add_argument("--at-once", type=int, default=AT_ONCE, choices=(1, 2))
    parser.add_argument("--write-docs", action="store_true")
    return parser.parse_args()


def _rows(asked: argparse.Namespace) -> tuple[tuple[Row, ...], dict[str, str]]:
    """The rows that can be tried here, and why others cannot."""
    rows, not_run = plans.ROWS, {}
    if why := faultfs.why_not():
        not_run["all that needs a FUSE target"] = why
        rows = tuple(row for row in rows if not row.backing)
    if why := _no_nodes():
        not_run["all that needs two nodes"] = why
        rows = tuple(replace(row, shapes=tuple(one for one in row.shapes if one != NODES)) for row in rows)
    if asked.nodes:
        rows = tuple(replace(row, shapes=(NODES,)) for row in rows if NODES in row.shapes)
    if asked.rows:
        rows = tuple(row for row in rows if re.search(asked.rows, f"{row.group}: {row.name}"))
    rows = tuple(row for row in rows if row.shapes)
    if not rows:
        sys.exit("test-faults: no such rows here")
    return rows, not_run


def _all(drawn: Sequence[Plan], isolated: list[str], at_once: int, limit_s: float) -> list[dict[str, Any]]:
    """Every campaign that was begun in time, to its end; an interrupt or SIGTERM is the end of the time.

    Two at once do not meet: each has its own process ids, temporary directories, shared memory and networks.
    """
    ends_at, stopped = time.monotonic() + limit_s, threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stopped.set())

    def one(plan: Plan) -> dict[str, Any] | None:
        return None if stopped.is_set() or time.monotonic() > ends_at else _one(plan, isolated)

    with ThreadPoolExecutor(at_once) as pool:
        return [found for found in pool.map(one, drawn) if found]


def _no_nodes() -> str:
    sys.path.insert(0, str(ROOT / "tests" / "mpi" / "nodes"))
    import cluster

    return cluster.why_not()


def _one(plan: Plan, isolated: list[str]) -> dict[str, Any]:
    """A campaign in name spaces of its own."""
    with tempfile.TemporaryDirectory(prefix="iosonde-faults-") as folder:
        result = Path(folder) / "result"
        # A shell is the first process there: it takes over who is left by a parent, as a machine's own first does.
        words = [*isolated, "sh", "-c", '"$@"; exit $?', "sh", sys.executable, "-m", "faults.worker"]
        env = {**os.environ, "PYTHONPATH": f"{ROOT / 'tests'}:{ROOT / 'python'}"}
        try:
            done = subprocess.run(
                [*words, json.dumps(plan.told()), str(result)],
                capture_output=True,
                text=True,
                check=False,
                timeout=LIMIT_S,
                env=env,
                start_new_session=True,
            )
            said = done.stderr
        except subprocess.TimeoutExpired:
            said = f"the harness itself had not ended after {LIMIT_S} s"
        found: dict[str, Any]
        if result.exists() and (content := result.read_text()):
            found = json.loads(content)
        else:
            found = {
                **plan.told(),
                "hit": False,
                "breaches": [f"the harness failed: {said.strip()[-1000:]}"],
                "seconds": 0,
            }
    mark = "held" if not found["breaches"] else "; ".join(found["breaches"])
    if found["breaches"]:
        OUT.mkdir(parents=True, exist_ok=True)
        (OUT / f"{plan.seed}-{plan.number}.json").write_text(json.dumps(found, indent=1))
    print(f"{plan.number:4d} {found['seconds']:5.1f} s  {plan.row} ({plan.shape}): {mark}", flush=True)
    return found


def _commit() -> str:
    words = ["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


if __name__ == "__main__":
    main()
