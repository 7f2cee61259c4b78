"""Terms that ``anova`` and ``regress`` take by themselves: columns that go together, and the order of loops."""

from __future__ import annotations

import pandas as pd
import pytest

import iosonde
from iosonde.core.errors import DataError
from iosonde.core.verdict import VerdictState
from iosonde.data.roles import guess_roles
from iosonde.data.tables import table_from_memory
from messages import codes, raises


def aliased(**more: list[object]) -> pd.DataFrame:
    rates = [101.0, 102.0, 103.0, 104.0, 901.0, 903.0, 902.0, 904.0]
    return pd.DataFrame({"device": ["disk"] * 4 + ["flash"] * 4, **more, "mbs": rates})


TWIN = ["p1"] * 4 + ["p2"] * 4
NESTED = ["p1", "p1", "p2", "p2", "p3", "p3", "p4", "p4"]


@pytest.mark.parametrize("pool", [TWIN, NESTED])
def test_columns_that_go_together_have_the_verdicts_of_rank(pool):
    rows = aliased(pool=pool)
    anova, rank = (
        {tuple(verdict["subject"]): verdict["state"] for verdict in command(rows).to_dict()["verdicts"]}
        for command in (iosonde.anova, iosonde.rank)
    )
    assert anova == rank and anova["device", "pool"] == "different"
    assert "confounded" in codes(iosonde.anova(rows).to_dict()["warnings"])


def test_the_slope_of_a_column_that_always_changes_with_another_is_not_claimed():
    answer = iosonde.regress(aliased(pool=TWIN)).to_dict()
    (verdict,) = answer["verdicts"]
    assert verdict["subject"][0].startswith("device") and verdict["state"] == str(VerdictState.NOT_SEPARABLE)
    assert "goes-together" in verdict["doubts"] and "confounded" in codes(answer["warnings"])


def test_the_slope_of_a_column_that_follows_from_a_finer_one_is_left_out():
    answer = iosonde.regress(aliased(pool=NESTED)).to_dict()
    assert {name.partition("[")[0] for verdict in answer["verdicts"] for name in verdict["subject"]} == {"pool"}
    assert "confounded" in codes(answer["warnings"])


@pytest.mark.parametrize(("pool", "term"), [(TWIN, "device"), (NESTED, "pool")])
def test_named_columns_that_go_together_are_answered_for_as_the_default_is(pool, term):
    rows = aliased(pool=pool)
    for command in (iosonde.anova, iosonde.regress):
        asked, default = (command(rows, on=on).to_dict() for on in (["device", "pool"], None))
        states = [{tuple(one["subject"]): one["state"] for one in answer["verdicts"]} for answer in (asked, default)]
        assert states[0] == states[1] and "confounded" in codes(asked["warnings"])
    assert list(iosonde.regress(rows, on=["device", "pool"]).answer.regression.terms) == [term]


def test_terms_that_follow_from_each_other_otherwise_are_refused():
    rows = aliased(n=[1, 2] * 4, double=[2, 4] * 4)
    with raises("aliased-terms", DataError):
        iosonde.regress(rows, on=["log2(n)", "log2(double)"])


def test_anova_takes_numbers_that_correspond_by_their_levels():
    answer = iosonde.anova(aliased(n=[1, 2, 4, 8] * 2, square=[1, 4, 16, 64] * 2), on=["n", "square"])
    assert [source.name for source in answer.answer.anova.sources] == ["n"]
    assert {verdict["subject"][0] for verdict in answer.to_dict()["verdicts"]} == {"n", "square"}


def test_a_number_and_its_square_are_kept_where_other_columns_go_together():
    answer = iosonde.regress(
        aliased(pool=TWIN, n=[1, 2, 3, 4] * 2, square=[1, 4, 9, 16] * 2), on=["pool", "device", "n", "square"]
    )
    assert list(answer.answer.regression.terms) == ["pool", "n", "square"]


def test_one_or_both_of_two_columns_that_go_together_have_an_effect():
    answers = [iosonde.regress(aliased(pool=TWIN[:4] + pools)) for pools in (TWIN[4:], ["p2"] * 3 + ["p1"])]
    assert ["both" in answer.answer.sentence.split() for answer in answers] == [True, False]


def looped() -> pd.DataFrame:
    """Clients are an outer loop: rates rise with them, and with nothing else."""
    settings = [(clients, fs) for clients in (1, 4, 16) for _ in range(4) for fs in ("a", "b")]
    noise = [0.99, 1.01, 1.0, 1.02, 0.98, 1.0]
    rates = [100 * clients * noise[place % 6] for place, (clients, _) in enumerate(settings)]
    return pd.DataFrame({"fs": [fs for _, fs in settings], "clients": [n for n, _ in settings], "mbs": rates})


def test_the_order_of_a_loop_is_no_drift():
    (verdict,) = iosonde.anova(looped(), on="fs").to_dict()["verdicts"]
    assert not {"drift", "order", "dependent"} & set(verdict["doubts"])
    found = [finding["code"] for finding in iosonde.check(looped(), by="fs").to_dict()["findings"]]
    assert "S110" in found and not {"S103", "S124"} & set(found)


def test_a_constant_column_is_no_setting_where_others_vary():
    table = table_from_memory(looped().assign(room=1))
    assert guess_roles(table).without_constants().settings == ("fs", "clients")
    alone = guess_roles(table_from_memory(pd.DataFrame({"room": [1, 1, 1], "mbs": [1.0, 2.5, 3.7]})))
    assert alone.without_constants().settings == alone.settings == ("room",)
