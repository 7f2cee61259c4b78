"""A user's script, which mypy reads and nobody runs (test_typed_script.py).

Each `type: ignore` is a mistake that mypy must find: `--strict` refuses one that is not needed.
"""

from __future__ import annotations

from typing import Any, assert_type

import pandas as pd

import iosonde
from iosonde.commands.compare.against import PairVerdicts
from iosonde.commands.compare.answer import Comparisons
from iosonde.commands.compare.published import PublishedVerdicts
from iosonde.commands.rank.answer import Rankings
from iosonde.commands.regress.answer import LeastSquares
from iosonde.core.types import Estimate
from iosonde.data.source import Source
from iosonde.layout.figure import Figure

source = iosonde.open("results", where=["nodes>=2"])
assert_type(source, Source)

ranking = iosonde.rank("x.csv", response="y", on=["a"], level=0.9)
assert_type(ranking.answer, Rankings)
assert_type(str(ranking), str)
assert_type(ranking.to_dict(), dict[str, Any])
assert_type(ranking.to_frame(), pd.DataFrame)
assert_type(ranking.plot(), Figure)

assert_type(iosonde.regress(source, "y", ["a", "b"]).answer, LeastSquares)
compared = iosonde.compare(source, "fs", ["nfs", "afs"], response="write").answer
assert_type(compared, Comparisons | PairVerdicts | PublishedVerdicts)
assert isinstance(compared, Comparisons)  # pairs: `run(…, against=…)`; the others: a document
for item in compared.items:
    assert_type(item.comparison.ratio, Estimate | None)

try:
    iosonde.run("sweep.yaml", target="/mnt/x", store="results")
except iosonde.IosondeError as error:
    assert_type(error.hint, str)

iosonde.rank("x.csv", on=3)  # type: ignore[arg-type]
iosonde.rank("x.csv", responses="y")  # type: ignore[call-arg]
iosonde.rang("x.csv")  # type: ignore[attr-defined]
print(ranking.answer.rows)  # type: ignore[attr-defined]
