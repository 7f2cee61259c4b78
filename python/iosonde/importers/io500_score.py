"""IO500's score, checked against its phases.

It is the root of bandwidth × IOPS, each of them the geometric mean over its phases (Kunkel, Bent, Lofstead,
Markomanolis: Establishing the IO-500 benchmark, 2016). Lists of 2017 and 2018 print the product, under the same word.
"""

import math
from collections.abc import Iterable

from iosonde.core.message import Message

from .parsed import Parsed, Row

BANDWIDTH = ("ior_easy_write", "ior_hard_write", "ior_easy_read", "ior_hard_read")
RATE = (
    "mdtest_easy_write",
    "mdtest_hard_write",
    "find",
    "mdtest_easy_stat",
    "mdtest_hard_stat",
    "mdtest_easy_delete",
    "mdtest_hard_read",
    "mdtest_hard_delete",
)
# Older names for these.
NAMES = {"mdtest_easy_create": "mdtest_easy_write", "mdtest_hard_create": "mdtest_hard_write"}
# Scores are printed with six digits; the phases of 2019 with three decimals, whose last one may be off by half.
TOLERANCE = 0.002
HALF_OF_THE_LAST_DECIMAL = {"bandwidth_last_done": 0.0005 * 1024.0**3, "rate_last_done": 0.5}


def put_score_first(run: Parsed) -> None:
    """Move the score before its phases, its total first: that is what users of IO500 read first."""
    places = {"total": 0, "bandwidth": 1, "rate": 2}
    run.rows.sort(key=lambda row: places[row.metric] if row.operation == "score" else len(places))


def check_score(run: Parsed) -> None:
    """Note contradictions to the score: a missing phase, a damaged line. A total that is the product becomes the
    root."""
    put_score_first(run)
    total = _find_row(run.rows, "score", "total")
    if total is None:
        return
    parts = []
    for name, phases, metric in (("bandwidth", BANDWIDTH, "bandwidth_last_done"), ("rate", RATE, "rate_last_done")):
        if (score_row := _find_row(run.rows, "score", name)) is not None:
            parts.append(score_row.value)
            _check_part(run, score_row, phases, metric)
    if len(parts) == 2:
        _check_total(run, total, parts[0] / 1024.0**3 * parts[1] / 1e3)


def _check_part(run: Parsed, score_row: Row, phases: Iterable[str], metric: str) -> None:
    row_by_phase = {name: row for name in phases if (row := _find_row(run.rows, name, metric))}
    if absent := [name for name in phases if name not in row_by_phase]:
        run.lacks(
            score_row.line,
            Message(
                "missing-phases",
                "the score lacks {phases}: it belongs to other phases, or they were lost",
                phases=", ".join(absent),
            ),
        )
        return
    values = [row.value for row in row_by_phase.values()]
    mean = math.exp(sum(map(math.log, values)) / len(values))
    tolerance = TOLERANCE + sum(HALF_OF_THE_LAST_DECIMAL[metric] / value for value in values) / len(values)
    if abs(score_row.value / mean - 1) > tolerance:
        run.lacks(
            score_row.line,
            Message(
                "score-mismatch",
                "the score's {metric} is {percent:.4g} % of the geometric mean of its phases: a line is "
                "damaged, or the formula differs",
                metric=score_row.metric,
                percent=100 * score_row.value / mean,
            ),
        )


def _check_total(run: Parsed, total: Row, product: float) -> None:
    if product <= 0 or abs(total.value / math.sqrt(product) - 1) <= TOLERANCE:
        return
    if abs(total.value / product - 1) <= TOLERANCE:
        run.warn(
            total.line,
            Message(
                "score-formula",
                "TOTAL {total:g} is bandwidth × IOPS, as in lists of 2017 and 2018: {root:.6g}, the root, was stored",
                total=total.value,
                root=math.sqrt(product),
            ),
        )
        total.value = math.sqrt(product)
    else:
        run.lacks(
            total.line,
            Message(
                "score-mismatch",
                "TOTAL {total:g} is not the root of bandwidth × IOPS ({root:.6g}): the line is damaged, or the "
                "formula differs",
                total=total.value,
                root=math.sqrt(product),
            ),
        )


def _find_row(rows: Iterable[Row], operation: str, metric: str) -> Row | None:
    return next((row for row in rows if (row.operation, row.metric) == (operation, metric)), None)
