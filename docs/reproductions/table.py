"""python docs/reproductions/table.py STORE FILE.csv|FILE.parquet [received|calls]: one row a trial, a column a thing.

Each row has the trial's settings. Of what was run the seconds, of the engine's phases the rate or bandwidth until the
last rank was done (base units). A Parquet file names units, as ``write (bytes/s)``, leaves out what writes are before
close, and has with ``received`` what the clients received while they read, as ``read_received (bytes)``. ``heal`` is
how long what a server missed took to be there. With ``calls`` it has only what operations cost the servers in calls.
"""

from __future__ import annotations

import csv
import sys
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from iosonde.store import Store

UNITS = {"seconds": "s", "rate_last_done": "op/s", "bandwidth_last_done": "bytes/s"}
SAID = ("bytes", "s")  # units of factors that are named
RECEIVED, HEAL, CALLS = "network_received", "heal", "server_calls_per_operation"
CALLED = "calls"  # asked for: these alone


def main(store: str, file: str, also: str = "") -> None:
    """Write the table of a store."""
    opened, named = Store.open(store), file.endswith(".parquet")
    factors = {one.name: one.unit for two in opened.experiments() for one in two.factors if len(one.levels) > 1}
    rows: dict[str, dict[str, object]] = {}
    for one in opened.results().to_pylist():
        if one["rank"] is not None:
            continue
        known = [name for name in (*factors, "repetition", "bring_up") if one.get(name) is not None]
        row = rows.setdefault(one["run"], {})
        row |= {_with(name, factors.get(name) if factors.get(name) in SAID else "", named): one[name] for name in known}
        if (title := _title(one, named, also)) is not None:
            row[title] = float(f"{one['value']:.9g}")
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    if named:
        pq.write_table(pa.table({name: [row.get(name) for row in rows.values()] for name in columns}), file)
        return
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def _title(one: dict[str, Any], named: bool, also: str) -> str | None:
    """The column of a result; None of one that is left out."""
    operation, metric = str(one["operation"]), str(one["metric"])
    if also == CALLED:
        return f"{operation}_calls" if metric == CALLS else None
    if metric == HEAL:
        return _with(HEAL, "s", named)
    if metric == RECEIVED:
        return _with(f"{operation}_received", "bytes", named) if also == "received" and "read" in operation else None
    unit = next((unit for word, unit in UNITS.items() if word == metric or word in metric.split(" ")), None)
    if unit is None or (named and "_buffered" in operation):
        return None
    return _with(operation, unit, named)


def _with(name: str, unit: str | None, named: bool) -> str:
    return f"{name} ({unit})" if unit and unit != name and named else name


if __name__ == "__main__":
    main(*sys.argv[1:])
