"""python docs/reproductions/table.py STORE FILE.csv: one row a trial with its settings, and a column a measured thing.

Of what was run the seconds, of the engine's phases the rate or bandwidth until the last rank was done (base units).
"""

from __future__ import annotations

import csv
import sys

from iosonde.store import Store

METRICS = ("seconds", "rate_last_done", "bandwidth_last_done")


def main(store: str, file: str) -> None:
    """Write the table of a store."""
    rows: dict[str, dict[str, object]] = {}
    opened = Store.open(store)
    factors = [factor.name for one in opened.experiments() for factor in one.factors if len(factor.levels) > 1]
    for one in opened.results().to_pylist():
        names = [name for name in (*factors, "repetition", "bring_up") if one.get(name) is not None]
        row = rows.setdefault(one["run"], {name: one[name] for name in names})
        native = any(word in one["metric"] for word in METRICS[1:])
        if one["rank"] is None and (native or one["metric"] == METRICS[0]):
            row[one["operation"]] = f"{one['value']:.6g}"
    columns = list(dict.fromkeys(name for row in rows.values() for name in row))
    with open(file, "w", newline="", encoding="utf-8") as out:
        writer = csv.DictWriter(out, columns, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


if __name__ == "__main__":
    main(*sys.argv[1:])
