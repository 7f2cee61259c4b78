"""A program for the ranks of test_noncontiguous_mpi.py: all phases of the workload, and what came of them as JSON."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from iosonde.engine import _native
from iosonde.measure.rank import phases
from iosonde.measure.workloads.noncontiguous import Settings, plan
from iosonde.ranks import mpi


def run(one, root, ranks):
    session = phases.open_session(one, root, 5, ranks, 10_000)
    session.prepare(0)
    (record,) = session.run(0, 0)
    session.close()
    return {
        "errors": record.errors,
        "extra_bytes": record.extra_bytes,
        "totals": {_native.KINDS[total["kind"]]: total for total in record.totals},
        "hints": phases.list_hints(one, session),
    }


def main() -> None:
    root, settings, size, spoil = sys.argv[1], Settings(**json.loads(sys.argv[2])), int(sys.argv[3]), sys.argv[4:]
    ranks = mpi.connect_ranks(size)
    told = {}
    for one in plan(settings, ranks.rank, ranks.size, 0):
        ranks.wait_for_all()
        if one.phase is not None:
            told[one.operation] = run(one, root, ranks)
        ranks.wait_for_all()
        if ranks.rank == 0 and one.operation in spoil:
            path = Path(root) / "shared" / f"{one.operation.split('_')[1]}000000"
            path.write_bytes(bytes(path.stat().st_size))
    found = ranks.gather(told)
    if ranks.rank == 0:
        (Path(root) / "told.json").write_text(json.dumps(found))


main()
