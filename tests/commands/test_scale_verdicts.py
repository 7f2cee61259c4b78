"""The verdicts of ``scale``: the state of each series, what doubts it, and that its sentence says the same."""

from __future__ import annotations

import pytest

from iosonde.commands.scale.answer import ScalingLaws, scale
from iosonde.core.table import build_table
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data

FACTORS = (0.98, 1.0, 1.02)


def made(rates: dict[int, float], factors=FACTORS, by: tuple[str, ...] = (), **columns) -> ScalingLaws:
    """Trials at each number of nodes; ``columns`` are functions (nodes, place of the trial) → cell."""
    rows = [(n, rate * factor, k) for n, rate in rates.items() for k, factor in enumerate(factors)]
    table = build_table(
        {
            "nodes": [n for n, _, _ in rows],
            "MBps": [rate for _, rate, _ in rows],
            **{name: [cell(n, k) for n, _, k in rows] for name, cell in columns.items()},
        }
    )
    return scale(open_data(table), ResponseQuery(("MBps",)), by=by)


NO_LIMIT = "no limit"


@pytest.mark.parametrize(
    ("rates", "factors", "state", "said"),
    [
        ({n: 100 * n for n in (1, 2, 4, 8)}, FACTORS, VerdictState.EQUAL, NO_LIMIT),
        ({n: 100 * n for n in (1, 2, 4, 8)}, (1.0,), VerdictState.INCONCLUSIVE, "too little"),
        ({1: 100, 2: 190, 4: 195, 8: 196}, (1.0,), VerdictState.DIFFERENT, "limit"),
        ({1: 100, 2: 200, 4: 400, 8: 240}, FACTORS, VerdictState.DIFFERENT, "beyond 4"),
        ({n: min(100 * n, 400) for n in (1, 2, 4, 8, 16)}, FACTORS, VerdictState.DIFFERENT, "A ceiling"),
    ],
)
def test_state_and_sentence_agree(rates, factors, state, said):
    answer = made(rates, factors)
    (verdict,) = answer.verdicts
    assert (verdict.question, verdict.state) == ("limit", state)
    sentence = " ".join(answer.items[0].sentences)
    assert said in sentence and (NO_LIMIT in sentence) is (state is VerdictState.EQUAL)
    assert answer.to_dict()["verdicts"][0]["state"] == str(state)


def test_a_fall_and_a_cliff_have_a_direction():
    fall = made({1: 100, 2: 200, 4: 400, 8: 240}).verdicts[0]
    cliff = made({n: (100 if n < 16 else 30) * n for n in (1, 2, 4, 8, 16, 32, 64)}).verdicts[0]
    assert fall.direction is cliff.direction is Direction.DOWN and cliff.state is VerdictState.DIFFERENT
    assert cliff.claim and cliff.claim != fall.claim
    assert made({n: min(100 * n, 400) for n in (1, 2, 4, 8, 16)}).verdicts[0].direction is None


def test_the_efficiency_is_the_number_behind_it():
    verdict = made({1: 100, 2: 190, 4: 195, 8: 196}).verdicts[0]
    assert verdict.estimate.low < 0.245 < verdict.estimate.high < 1


def test_a_column_that_varies_within_a_size_is_named_and_doubted():
    rates = {n: 100 * n for n in (1, 2, 4, 8)}
    pooled = made(rates, block_size=lambda n, k: k % 2)
    assert pooled.verdicts[0].doubts == ("varies-besides",) and any("block_size" in said for said in pooled.warnings)
    apart = made(rates, by=("block_size",), block_size=lambda n, k: k % 2)
    beside = made(rates, run=lambda n, k: 10 * n + k, servers=lambda n, k: 2 * n)
    for answer in (apart, beside):
        assert not answer.warnings and not any("varies-besides" in verdict.doubts for verdict in answer.verdicts)


def test_single_trials_and_laws_that_do_not_fit_are_doubts():
    assert made({1: 100, 2: 190, 4: 195, 8: 196}, (1.0,)).verdicts[0].doubts == ("few-trials",)
    odd = made({1: 100, 2: 180, 4: 260, 8: 300}, (0.999, 1.0, 1.001))
    assert odd.verdicts[0].doubts == ("lack-of-fit",) and odd.verdicts[0].state is VerdictState.DIFFERENT
