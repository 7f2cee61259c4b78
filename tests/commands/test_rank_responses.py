"""Which factors and responses of DATA are ranked, and which are left out with a reason."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from iosonde.answers.besides import Besides
from iosonde.commands.rank import answer as rank_answer
from iosonde.commands.rank.answer import Ranked, _create_reporter, _rank_responses, _select_complete_factors
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.data.query import ResponseQuery


def select(**columns: list[Any]) -> tuple[list[str], list[tuple[str, str]]]:
    response: Any = SimpleNamespace(rows=build_table(columns), names=tuple(columns))
    names, remarks = _select_complete_factors(response)
    return names, [(remark.code, remark.values["factors"]) for remark in remarks]


def test_factors_vary_over_the_trials_that_have_them_all():
    assert select(a=[1, 1, 2, 2], b=[1, 2, 1, 2], c=[5, 5, 5, 5]) == (["a", "b"], [])
    assert select(a=[1, 1, 2, 2], b=[1, 2, None, None]) == (["b"], [("single-level", "a")])
    assert select(a=[1, 1, 2, 2], b=[1, None, None, 2]) == (["a", "b"], []), "half of the trials are enough"
    rare = [1, 2, None, None, None]
    assert select(a=[1, 1, 2, 2, 2], b=rare, c=rare) == (["a"], [("rare-factor", "b, c")])
    both = select(a=[1, 1, 2, 2, 2], b=rare, c=[1, 2, 1, None, None], d=[1, 1, 1, 2, 2])
    assert both == (["a", "c"], [("rare-factor", "b"), ("single-level", "d")])
    assert select(b=rare) == (["b"], []), "of rare ones alone all are named"
    assert select(c=[5, 5]) == ([], [])


def rank_titles(
    monkeypatch: pytest.MonkeyPatch, failing: dict[str, DataError], *titles: str, named: bool = False
) -> Any:
    def rank_response(response: Any, *_: Any) -> str:
        if response.title in failing:
            raise failing[response.title]
        return str(response.title)

    monkeypatch.setattr(rank_answer, "adjust_for_stated_columns", lambda *_: Besides())
    monkeypatch.setattr(rank_answer, "add_other_columns", lambda ranking, rest: ranking)
    monkeypatch.setattr(rank_answer, "_rank_response", rank_response)
    responses: Any = [SimpleNamespace(title=title, names=()) for title in titles]
    source: Any = None
    query = ResponseQuery(("x",) if named else ())
    return _rank_responses(source, responses, {}, False, query, Ranked())


def test_responses_that_cannot_be_ranked_are_left_out_with_a_reason(monkeypatch):
    about = DataError("nothing-varies", "{title}: no factor", "measure", title="b")
    other = DataError("equal-values", "all values are equal", "measure")
    rankings, besides, exclusions = rank_titles(monkeypatch, {"b": about, "d": other}, "a", "b", "c", "d")
    assert rankings == ("a", "c") and [type(rest) for rest in besides] == [Besides, Besides]
    assert [message.split(":")[0] for message in exclusions] == ["b", "d"]
    assert exclusions[0] == about.message != exclusions[1] == other.message.prefixed("d")
    for titles, named in ((("b",), False), (("a", "b"), True), (("b", "d"), False)):
        with pytest.raises(DataError) as refused:
            rank_titles(monkeypatch, {"b": about, "d": other}, *titles, named=named)
        assert refused.value is about


def test_many_rows_are_reported_while_they_are_ranked():
    heard: list[str] = []
    response: Any = SimpleNamespace(title="write")
    _create_reporter(response, 19_999, 3, Ranked(progress=heard.append))("shares")
    assert heard == []
    _create_reporter(response, 20_000, 3, Ranked(progress=heard.append))("shares")
    (line,) = heard
    assert line.startswith("write:") and [word for word in line.split() if word.isdigit()] == ["20000", "3"]
