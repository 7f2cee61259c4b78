"""Whatever the data, a command ends in an answer of finite numbers, or in one sentence that says what to do."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from degenerate_data import KNOWN, Trials, store_at, table_at, trials
from hypothesis import HealthCheck, Phase, example, given, settings
from wrong_output import wrong_in, wrong_with

from iosonde.core.errors import IosondeError
from iosonde.core.table import build_table
from iosonde.stats.overview.cells import TrialCell
from iosonde.stats.overview.story import estimate_cell_effects
from iosonde.stats.regression.anova import compute_anova
from iosonde.stats.regression.regress import regress

pytest.importorskip("iosonde.engine._native")

RESPONSE = "write (MB/s)"
few = settings(max_examples=5, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck))
many = settings(
    max_examples=40,
    derandomize=True,
    deadline=None,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def known(test: Any) -> Any:
    """With what was a fault once."""
    for made in KNOWN.values():
        test = example(made)(test)
    return test


def of_table(made: Trials, data: str) -> list[list[str]]:
    """The quick analyses of a table."""
    on, first = ",".join(made.names), made.names[0]
    asked = [data, "--response", RESPONSE]
    shared = [word for name in made.bring_up_names for word in ("--bring-up", name)]
    return [
        ["summary", *asked, "--by", on],
        ["compare", *asked, "--group", first],
        ["anova", *asked, "--on", "*".join(made.names), *shared],
        ["anova", *asked, "--on", on, "--type", "3"],
        ["regress", *asked, "--on", on],
    ]


def of_table_slow(made: Trials, data: str) -> list[list[str]]:
    """All others."""
    on, first, rest = ",".join(made.names), made.names[0], ",".join(made.names[1:])
    asked = [data, "--response", RESPONSE]
    figure = str(Path(data).with_name("o.svg"))
    levels = list(dict.fromkeys(str(cell[first]) for cell in made.cells))
    return [
        ["check", data],
        ["check", *asked, "--by", on],
        ["rank", *asked, "--on", on],
        ["diagnose", *asked],
        ["rank", *asked, "--on", on, "--fixed", first],
        ["regress", *asked, "--on", on, "--robust"],
        ["regress", *asked, "--on", f"C({first})"],
        ["regress", *asked, "--on", on, "--without", "influential"],
        ["regress", data, "--response", f"log({RESPONSE})", "--on", on],
        ["summary", *asked, "--by", first, "--quantiles"],
        ["anova", *asked, "--on", on, "--block", "repetition", "--weighted"],
        ["anova", *asked, "--on", on, "--contrast", f"{first}: {' - '.join(levels[:2])}"],
        ["compare", *asked, "--group", first, "--adjust", "none", "--level", "0.999"],
        ["compare", *asked, "--group", first, "--pair", "repetition", "--level", "0.999"],
        ["validate", *asked, "--on", on, "--family", "linear,tree"],
        ["validate", *asked, "--on", on, "--family", "linear,tree", "--curve"],
        ["fit", *asked, "--on", on, "--family", "linear,tree"],
        ["advise", *asked, "--choose", first],
        *([["advise", *asked, "--choose", first, "--given", rest]] if rest else []),
        ["scale", *asked, "--on", "nodes"],
        ["report", data, *asked[1:], "--on", on],
        ["report", data],
        ["plot", *asked, "--x", first, "-o", figure],
        ["plot", *asked, "--on", on, "-o", figure],
    ]


def of_store(made: Trials, data: str) -> list[list[str]]:
    """The quick analyses of a store."""
    first = made.names[0]
    return [
        ["summary", data, "--metric", "all"],
        ["compare", data, "--group", first],
        ["anova", data, "--response", "write", "--on", ",".join(made.names)],
    ]


def of_store_slow(made: Trials, data: str) -> list[list[str]]:
    """All others."""
    first = made.names[0]
    return [
        ["report", data],
        ["rank", data],
        ["check", data],
        ["scale", data],
        ["watch", data, "--min-segment", "3"],
        ["plot", data, "-o", str(Path(data).with_name("o.svg"))],
        ["summary", data, "--clock", "all"],
        ["advise", data, "--choose", first],
        ["show", data],
        ["verify", data],
        ["compare", data, data],
    ]


def found(commands: list[list[str]]) -> list[str]:
    return [f"{' '.join(words)}: {wrong}" for words in commands for wrong in wrong_with(words)]


@pytest.mark.filterwarnings("error::RuntimeWarning")
@settings(few, max_examples=100)
@known
@given(trials())
def test_shares_and_tests_of_terms_are_some_or_none(made):
    """Counted bytes, the same in every repetition, were a traceback on a page."""
    tested = estimate_cell_effects(cells_of(made), 0.95)
    for one in [*tested.tests, *([tested.joint] if tested.joint else [])]:
        assert one.p is None or 0 < one.p <= 1
        assert wrong_in({"share": one.explained.to_json()}) == []
    columns = {name: [cell[name] for cell in made.cells] for name in made.names}
    shared = dict(zip(made.bring_up_names, zip(*made.bring_ups, strict=True), strict=True))
    table = build_table({**columns, **{name: list(units) for name, units in shared.items()}, "y": made.values})
    for kind, on in ((2, ["*".join(made.names)]), (3, made.names)):
        with contextlib.suppress(IosondeError):
            assert wrong_in(compute_anova(table, "y", on, 0.95, kind=kind).to_json()) == []
    with contextlib.suppress(IosondeError):
        assert wrong_in(regress(table, "y", made.names, 0.95).to_json()) == []


def cells_of(made: Trials) -> list[TrialCell]:
    """The trials by setting, with their bring-ups, as a summary has them."""
    by: dict[tuple[object, ...], list[int]] = {}
    for place, cell in enumerate(made.cells):
        if made.values[place] is not None:
            by.setdefault(tuple(cell.values()), []).append(place)
    return [
        TrialCell(
            dict(zip(made.names, key, strict=True)),
            "network_sent",
            "bytes",
            np.array([made.values[place] for place in places]),
            "write",
            bring_ups=np.array([made.bring_ups[place] for place in places]) if made.bring_up_names else None,
        )
        for key, places in by.items()
    ]


@few
@known
@given(trials())
def test_a_table_is_answered(made):
    with tempfile.TemporaryDirectory() as place:
        assert found(of_table(made, table_at(Path(place) / "t.csv", made, RESPONSE))) == []


@pytest.mark.long
@few
@known
@given(trials())
def test_a_store_is_answered(made):
    with tempfile.TemporaryDirectory() as place:
        assert found(of_store(made, store_at(Path(place) / "s", made, "write", "network_sent", "bytes"))) == []


@pytest.mark.long
@many
@known
@given(trials())
def test_a_table_is_answered_by_every_command(made):
    with tempfile.TemporaryDirectory() as place:
        data = table_at(Path(place) / "t.csv", made, RESPONSE)
        assert found([*of_table(made, data), *of_table_slow(made, data)]) == []


@pytest.mark.long
@many
@known
@given(trials())
def test_a_store_is_answered_by_every_command(made):
    with tempfile.TemporaryDirectory() as place:
        data = store_at(Path(place) / "s", made, "write", "bandwidth_last_done", "bytes/s")
        assert found([*of_store(made, data), *of_store_slow(made, data)]) == []
