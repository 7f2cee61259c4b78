"""Analysis of variance of a store's operations, of computed responses, by clock and experiment."""

from __future__ import annotations

from itertools import product

import declared_sample
import numpy as np
import pytest

import iosonde
from iosonde.commands.anova.answer import AnalysisOfVariance, anova
from iosonde.commands.rank.answer import rank
from iosonde.core.errors import InputError
from iosonde.core.table import build_table
from iosonde.core.verdict import VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.stats.regression.anova import compute_anova as allocated
from iosonde.stats.regression.rounding import NO_ERROR
from messages import assert_problem, codes, raises, with_code

pytest.importorskip("iosonde.engine._native")


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    path = tmp_path_factory.mktemp("anova") / "s"
    declared_sample.store(path)
    return path


FACTORS = ("nodes", "fs")


def shares(made: AnalysisOfVariance) -> dict[str, float]:
    return {row["name"]: row["share"] for row in made.records()}


def test_an_operation_of_a_store_by_the_terms_asked_for(place):
    made = anova(open_data(place, (), "old"), ResponseQuery(("write",), ("nodes*fs",)))
    assert list(shares(made)) == [*FACTORS, ":".join(FACTORS)] and made.anova.balanced
    assert sum(shares(made).values()) == pytest.approx(1, abs=0.01) and made.to_dict()["n"] == 24
    assert (
        f"({100 * shares(made)['nodes']:.0f} %)" in made.sentence.partition("nodes")[2]
        and made.to_dict()["schema"] == 1
    )


def test_without_on_a_store_is_explained_by_its_factors_and_a_block_is_one_of_them(place):
    made = anova(open_data(place, (), "old"), ResponseQuery(("write",)), block="fs")
    assert [(s.name, s.block) for s in made.anova.sources] == [("fs", True), ("nodes", False)]
    assert_problem(with_code(made.anova.warnings, "confounded"), "confounded", factor="servers", twin="nodes")


def test_experiment_and_clock_choose(place):
    asked = ResponseQuery(("write",), ("nodes",))
    old, new = (anova(open_data(place, ["fs=nfs"], name), asked).anova.ss_total for name in ("old", "new"))
    assert new == pytest.approx(100 * old)
    summed = anova(open_data(place, ["fs=nfs"], "old"), ResponseQuery(("write",), ("nodes",), "sum_of_ranks"))
    assert summed.anova.ss_total == pytest.approx(1.5**2 * old)
    assert summed.anova.response == "write bandwidth_sum_of_ranks"


def test_computed_responses_of_a_store_and_of_a_table(place):
    source = open_data(place, (), "old")
    logs = anova(source, ResponseQuery(("log(write)",), ("nodes*fs",)))
    assert shares(logs)[":".join(FACTORS)] < 1e-6  # the two factors multiply
    each = anova(source, ResponseQuery(("write/nodes",), ("nodes", "fs")))
    assert shares(each)["nodes"] < 1e-6 < 0.9 < shares(each)["fs"]
    table = build_table({"a": ["x", "x", "y", "y"], "work": [4, 4, 4, 4], "s": [1, 2, 4, 5]})
    assert anova(open_data(table), ResponseQuery(("work/s",), ("a",))).anova.response == "work/s"


def test_iterations_of_one_run_are_said_to_be_that(tmp_path):
    declared_sample.imported(tmp_path / "s")
    made = anova(open_data(tmp_path / "s"), ResponseQuery(("write",), ("nodes",)))
    assert made.anova.n == 8 and codes(made.anova.warnings)[0] == "within-run"


@pytest.mark.parametrize(
    ("asked", "how", "code", "values"),
    [
        (ResponseQuery(("fs",), ("fs",)), {}, "conflicting-roles", {"title": "fs"}),
        (ResponseQuery(("log(write)",), ("nodes",)), {"block": "nope"}, "unknown-column", {"column": "nope"}),
        (ResponseQuery(("write",), ("nodes",)), {"kind": 4}, "unknown-option-value", {"kind": 4}),
    ],
)
def test_what_cannot_be_is_one_sentence(place, asked, how, code, values):
    with raises(code, InputError, **values):
        anova(open_data(place, ["operation=write", "metric=bandwidth_last_done"], "old"), asked, **how)


def test_a_table_knows_its_response_and_its_factors():
    table = build_table({"fs": list("aabb"), "n": [1, 2, 1, 2], "trial": [1, 2, 3, 4], "y": [1.5, 2.5, 3.5, 4.75]})
    made = anova(open_data(table), ResponseQuery())
    assert (made.anova.response, [source.name for source in made.anova.sources]) == ("y", ["fs", "n"])
    assert [one.values["factors"] for one in made.anova.warnings if one.code == "assumed-factors"] == ["fs, n"]
    with raises("nothing-varies", InputError):
        anova(open_data(build_table({"a": [1, 1], "y": [1.5, 2.5]})), ResponseQuery(("y",)))


def test_a_response_that_leaves_no_error_is_not_said_to_lack_bring_ups():
    y = [824.1, 824.1, 1647.0, 1647.0, 842.7, 842.7, 1666.0, 1666.0]
    table = build_table({"fs": list("aaaabbbb"), "nodes": list("11221122"), "y": y})
    made = allocated(table, "y", ["fs*nodes"], 0.95)
    assert made.warnings == (NO_ERROR,) and "bring-ups" not in AnalysisOfVariance(made).sentence


def test_every_command_says_one_verdict_of_one_family(tmp_path):
    """A response named without its unit was counted twice: a family of six tests instead of four."""
    rng = np.random.default_rng(7)
    rows = [
        f"{fs},{nodes},{rng.normal(100 + 9 * (fs == 'a'), 8 if fs == 'n' else 2):.3f},{rng.normal(10 + nodes, 1):.4f}"
        for fs in ("n", "a")
        for nodes in (1, 2)
        for _ in range(int(rng.integers(3, 8)))
    ]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["fs,nodes,bw (MB/s),seconds", *rows]) + "\n", encoding="utf-8")
    by_anova = anova(open_data(path), ResponseQuery(("bw",), FACTORS)).verdicts
    by_rank = rank(open_data(path), ResponseQuery(("bw",), FACTORS)).verdicts
    whole = [verdict for verdict in rank(open_data(path), ResponseQuery()).verdicts if verdict.response == "bw (MB/s)"]
    first = {verdict.subject: verdict for verdict in by_rank}
    for verdict in (*by_anova, *whole):
        same = first[verdict.subject]
        assert (verdict.state, verdict.family) == (same.state, 4)
        numbers = [(each.p, each.estimate.value, each.estimate.low, each.estimate.high) for each in (verdict, same)]
        assert numbers[0] == pytest.approx(numbers[1], rel=1e-9)
    assert len(by_anova) == len(whole) == len(first) == 2


def test_the_sentence_has_the_shares_of_the_table_with_its_interaction():
    rng = np.random.default_rng(8)
    rows = [
        (f"fs{fs}", f"net{net}", f"c{clients}", 100 * fs + 40 * net + 60 * clients + 300 * fs * net + rng.normal(0, 3))
        for fs in (0, 1)
        for net in (0, 1)
        for clients in (1, 2, 4)
        for _ in range(2 if (fs + net) % 2 else 2 * clients + 1)
    ]
    columns = dict(zip(["fs", "net", "clients", "mb_s"], map(list, zip(*rows, strict=True)), strict=True))
    query = ResponseQuery(response=("mb_s",), on=("fs*net", "clients"))
    answer = anova(open_data(build_table(columns)), query)
    for source in answer.anova.sources:
        if source.share >= 0.1:
            assert f"{source.name} ({100 * source.share:.0f} %)" in answer.sentence


def test_the_sentence_names_the_largest_interaction_and_no_dead_factor():
    rng = np.random.default_rng(5)
    cells = [cell for cell in np.ndindex(2, 2, 2, 2) for _ in range(4)]
    levels = {name: [f"{name}{cell[place]}" for cell in cells] for place, name in enumerate("abcz")}
    acts = np.array([(-1) ** (a + b + c) for a, b, c, _ in cells])
    table = build_table({**levels, "iops": 5000 + 600 * acts + rng.normal(0, 130, len(cells))}, "t.csv")
    answer = anova(open_data(table), ResponseQuery(("iops",), ("a*b*c", "z")))
    (largest, *_), sentence = sorted(answer.records(), key=lambda row: -row["share"]), answer.sentence
    assert largest["name"] == "a:b:c" and "a × b × c (9" in sentence and "z" not in sentence
    without = anova(open_data(table), ResponseQuery(("iops",), ("a", "b", "c", "z"))).effects
    assert without.joint_factors == {"a", "b", "c"}


def test_without_repetitions_the_terms_that_are_asked_for_decide(tmp_path):
    rng = np.random.default_rng(8)
    cells = list(product("pq", "uv", (1, 2, 4, 8, 16, 32)))
    means = [50 + 6 * ((c == "p") == (d == "u")) + 3 * np.log2(n) for c, d, n in cells]
    rows = [f"{c},{d},{n},{mean + rng.normal(0, 1):.3f}" for (c, d, n), mean in zip(cells, means, strict=True)]
    (tmp_path / "t.csv").write_text("\n".join(["c,d,clients,kiops", *rows]))
    verdicts = iosonde.anova(str(tmp_path / "t.csv"), "kiops", "c*d,clients").answer.verdicts
    assert {verdict.subject for verdict in verdicts if verdict.state is VerdictState.DIFFERENT} == {
        ("clients",),
        ("c:d",),
    }
