"""n counts bring-ups in every answer, of a table and of a store; who does not know them says so."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from iosonde.answers.learned import select_examples
from iosonde.commands.anova.answer import anova
from iosonde.commands.compare.answer import compare
from iosonde.commands.compare.sides import Sides
from iosonde.commands.rank.answer import rank
from iosonde.commands.regress.answer import regress
from iosonde.commands.summary.answer import summary
from iosonde.core.errors import DataError
from iosonde.core.table import build_table
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.model.fit.folds import group_inseparable_rows
from iosonde.store import Store
from messages import assert_problem, codes, raises, with_code

pytest.importorskip("iosonde.engine._native")

SIZES = (1, 8, 64)


def rows(repetitions=4, seed=2):
    """(repetition, copies, size, bring-up, rate): bring-ups differ by 20 %, trials of one by 1 %; copies do nothing."""
    rng = np.random.default_rng(seed)
    for number, (repetition, copies) in enumerate((r, c) for r in range(repetitions) for c in (1, 3)):
        shared = np.exp(0.2 * rng.normal())
        for size in SIZES:
            yield repetition, copies, size, number, 100 * size * shared * np.exp(0.01 * rng.normal())


NAMES = ("repetition", "copies", "size", "bring_up", "rate")


def of_rows(every, names=NAMES):
    return open_data(build_table(dict(zip(names, map(list, zip(*every, strict=True)), strict=True))))


def of_table(**more):
    return of_rows(rows(**more))


def store(path):
    """Two operations of these trials."""
    made, every = Store.create(path), list(rows())
    made.save_experiment(
        Experiment(
            "e",
            "e",
            [Factor("copies", levels=(1, 3)), Factor("size", levels=SIZES)],
            {},
            [Trial(i, {"copies": c, "size": s}, r, r, i) for i, (r, c, s, _, _) in enumerate(every)],
            1,
            "2026-11-21T10:00:00Z",
        )
    )
    for i, (r, c, s, up, rate) in enumerate(every):
        made.append(
            Run(
                f"e-{i:02}",
                "e",
                "test",
                f"2026-11-21T10:00:{i:02}.000Z",
                1.0,
                {"copies": c, "size": s, "repetition": r, "bring_up": up},
                [
                    Observation("write", "rate_last_done", rate, "operations/s"),
                    Observation("read", "rate_last_done", 3 * rate, "operations/s"),
                ],
            )
        )
    return path


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return store(tmp_path_factory.mktemp("strata") / "s")


def test_bring_ups_are_no_factor_of_a_store(place):
    assert open_data(place).varying_factors.names == ["copies", "size"]


def test_a_store_knows_its_strata(place):
    made = anova(open_data(place), ResponseQuery(("log(write)",))).anova
    copies, size = made.sources
    assert (copies.stratum, copies.df_error, size.stratum) == (0, 6, 1)
    assert copies.p > 0.05 and size.p < 1e-9


def test_columns_of_a_table_number_bring_ups_where_they_are_named():
    source = of_rows(rows(), ("repetition", "copies", "size", "up", "rate"))
    asked = ResponseQuery(("log(rate)",), ("copies", "size"))
    named = anova(source, asked, bring_ups=("up",)).anova
    for mine, other in zip(named.sources, anova(of_table(), asked).anova.sources, strict=True):
        assert (mine.name, mine.stratum, mine.p, mine.f, mine.ss) == (
            other.name,
            other.stratum,
            other.p,
            other.f,
            other.ss,
        )
        assert mine.explained.flat("share") == pytest.approx(other.explained.flat("share"), rel=1e-12)
    assert anova(source, asked).anova.strata == ()
    with raises("conflicting-roles"):
        anova(source, ResponseQuery(("rate",), ("copies", "up")), bring_ups=("up",))


@pytest.mark.parametrize("by", [("copies",), ("copies", "size")])
def test_a_summary_counts_bring_ups(place, by):
    for source, response in ((of_table(), ("rate",)), (open_data(place), ("write",))):
        made, counted = (
            summary(source, ResponseQuery(response), by).overview,
            "bring-ups" if by == ("copies",) else "trials",
        )
        assert {row.n for row in made.rows} == {4} and {row.mean.n for row in made.rows} == {4}
        assert made.to_json()["n_counts"] == counted
        assert ("bring-ups" in " ".join(made.warnings)) == (by == ("copies",))
        assert made.counted == ("bring-up" if by == ("copies",) else "trial")


def test_a_column_of_one_level_explains_nothing_and_breaks_nothing(place):
    wanted = ResponseQuery(("value",), ())
    made = summary(open_data(str(place), ["operation=write"]), wanted, ("size", "operation", "metric"))
    assert {row.by["operation"] for row in made.overview.rows} == {"write"}


def test_the_mean_of_bring_ups_has_their_spread():
    (row, _) = summary(of_table(), ResponseQuery(("rate",)), ("copies",)).overview.rows
    means = [np.mean([r[4] for r in rows() if r[3] == up]) for up in (0, 2, 4, 6)]
    assert row.mean.value == pytest.approx(np.mean(means)) and row.sd == pytest.approx(np.std(means, ddof=1))


def test_a_comparison_of_what_is_set_once_has_as_many_repetitions_as_bring_ups(place):
    for source, asked in ((of_table(), ResponseQuery(("rate",))), (open_data(place), ResponseQuery(("write",)))):
        by = ("operation",) if source.knows_factors else ()
        made = compare(source, asked, Sides(group="copies", by=by))
        (one,) = [item.comparison for item in made.items]
        logs = {
            c: [np.mean([np.log(r[4]) for r in rows() if r[3] == up]) for up in range(c == 3, 8, 2)] for c in (1, 3)
        }
        a, b = (np.array(logs[c]) for c in (1, 3))
        welch = stats.ttest_ind(b, a, equal_var=False)
        assert (one.a.side.n, one.b.side.n, one.df) == (4, 4, pytest.approx(welch.df, rel=1e-3))
        assert np.log([one.ratio.low, one.ratio.high]) == pytest.approx(tuple(welch.confidence_interval()), abs=1e-3)
        assert any("bring-ups" in said for said in made.warnings)
        values = [r[4] for r in rows() if r[1] == 1]
        assert one.a.side.mean == pytest.approx(np.mean(values))  # what is shown is the mean of trials


def test_all_operations_together_count_bring_ups_over_the_settings(place):
    made = compare(open_data(place), ResponseQuery(), Sides(group="copies"))
    assert len(made.overall) == 2
    for overall in made.overall:
        ratio = overall.comparison
        assert (ratio.a.side.n, ratio.b.side.n) == (4, 4) and ratio.decided.low < 1 < ratio.decided.high
        assert overall.exclusions == (), "trials that share a bring-up are averaged, and none is left out"


def test_what_changes_inside_bring_ups_is_compared_by_trials(place):
    made = compare(open_data(place), ResponseQuery(("write",)), Sides(group="size", levels=("1", "8")))
    assert {(one.comparison.a.side.n, one.comparison.b.side.n) for one in made.items} == {(4, 4)}


def test_pairs_of_the_same_bring_ups_are_one_pair():
    (one,) = compare(of_table(), ResponseQuery(("rate",)), Sides(group="copies", pair=("repetition", "size"))).items
    assert one.comparison.a.side.n == 4


def test_a_trial_that_is_missing_shifts_no_bring_up():
    every = [r for r in rows() if not (r[3] == 0 and r[2] == 64)]
    source = of_rows(every)
    whole, less = (
        compare(one, ResponseQuery(("rate",)), Sides(group="copies")).items[0].comparison.ratio.value
        for one in (of_table(), source)
    )
    assert less == pytest.approx(whole, rel=0.01)


def test_of_one_bring_up_a_side_nothing_is_compared():
    with raises("confounded-with-bring-up", DataError):
        compare(of_table(repetitions=1), ResponseQuery(("rate",)), Sides(group="copies"))


def test_of_one_bring_up_a_level_a_summary_says_so_and_names_no_effect(place):
    made = summary(open_data(place, ("repetition=0",)), ResponseQuery(("write",))).overview
    (found,) = [one for one in made.findings if one.code == "S119"]
    assert found.evidence == {"levels": {"copies": ["1", "3"]}} and not [one for one in made.verdicts if one.direction]
    assert not [one for one in summary(open_data(place), ResponseQuery()).overview.findings if one.code == "S119"]


def test_analyses_of_single_trials_say_that_they_are(place):
    source, asked = open_data(place), ResponseQuery(("write",))
    assert "S311" in [one.code for one in regress(source, asked).regression.findings]
    found = select_examples(source, asked)
    apart, together = (
        found.add_single_trial_warning(group_inseparable_rows(found.examples, one)).warnings
        for one in ("rows", "twins")
    )
    for said in (rank(source, asked).rankings[0].warnings, apart):
        shared = with_code(said, "shared-bring-ups")
        assert_problem(shared, "shared-bring-ups", finding="S311")
        assert "copies" in shared and "24 in 8 bring-ups" in shared
    assert "shared-bring-ups" not in codes(together), "no bring-up is on both sides of a fold"
    assert "shared-bring-ups" not in codes(rank(source, ResponseQuery(("write",), ("size",))).rankings[0].warnings)


def test_two_stores_share_no_bring_up(place):
    made = compare(open_data(place), ResponseQuery(("write",)), Sides(other=open_data(place), by=("operation",)))
    assert {(one.comparison.a.side.n, one.comparison.b.side.n) for one in made.items} == {(8, 8)}


def test_two_experiments_of_one_table_share_no_bring_up():
    columns = {
        "experiment": ["x"] * 4 + ["y"] * 4,
        "bring_up": [0.0, 0, 1, 1] * 2,
        "a": list("mnmnmnmn"),
        "y": [1.0, 2, 3, 5, 4, 6, 8, 7],
    }
    from iosonde.stats.regression import strata

    (units,) = strata.list_nested_units(build_table(columns))
    assert int(units.max()) + 1 == 4
