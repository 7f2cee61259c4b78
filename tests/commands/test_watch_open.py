"""A regression that nobody repaired stays open; what its two sides are; the verdict of each series."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import history_sample
from iosonde.changes.find import BeforeAfter, Break, Search
from iosonde.commands.watch.answer import Watch, watch
from iosonde.commands.watch.change import SeriesChange, is_open
from iosonde.commands.watch.sentence import _describe_largest
from iosonde.commands.watch.series import WatchedSeries, determine_start
from iosonde.commands.watch.text import change_lines
from iosonde.core.contradiction import CONTRADICTIONS, Contradiction
from iosonde.core.stored import StoredRun
from iosonde.core.types import Better, Estimate, Experiment, Metric, Observation, Run
from iosonde.core.verdict import Direction, VerdictState
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.store import Store
from messages import raises

pytestmark = pytest.mark.slow  # stores of 100 nights are written
NIGHTS = 100


def history(tmp_path, *steps: tuple[int, float], since: str | None = None) -> Watch:
    """Nights with noise of 1 %; from each of the nights on the level is so many times the first one."""
    values = 1e8 * (1 + 0.01 * np.random.default_rng(5).standard_normal(NIGHTS))
    for (night, level), end in zip(steps, [*(night for night, _ in steps[1:]), NIGHTS], strict=True):
        values[night:end] *= level
    store = history_sample.write_values(tmp_path / "s", values)
    return watch(open_data(store), ResponseQuery(), since=since)


def test_an_old_regression_is_open_until_its_level_is_back(tmp_path):
    made = history(tmp_path, (50, 0.93))
    (change,) = made.changes
    assert change.open and not change.new and made.problem and not made.regressions
    assert made.sentence.startswith("1 ") and "since 2026-08-" in made.sentence
    assert made.verdicts[0].claim == "open" and made.verdicts[0].direction is Direction.DOWN
    assert made.to_dict()["changes"][0]["open"] and made.to_dict()["verdicts"][0]["state"] == "different"


@pytest.mark.parametrize(("level", "is_open"), [(1.0, False), (0.99, False), (0.965, True), (1.2, False)])
def test_it_is_back_within_what_counts(tmp_path, level, is_open):
    made = history(tmp_path, (40, 0.90), (70, level))
    assert [change.open for change in made.changes] == [False, is_open]
    assert made.problem is is_open and made.sentence.startswith("No ") is not is_open
    assert made.verdicts[1].claim == ("open" if is_open else "")


def test_a_new_regression_names_the_older_one(tmp_path):
    made = history(tmp_path, (40, 0.90), (90, 0.75))
    assert [change.new for change in made.changes] == [True, False] and "1 older" in made.sentence


def test_since_judges_later_changes_alone(tmp_path):
    made = history(tmp_path, (50, 0.93), since="2026-09-15")
    assert made.changes[0].open and not made.problem and "since 2026-09-15" in made.sentence
    assert made.sentence.startswith("No ")


def test_better_is_never_open_and_no_change_is_inconclusive(tmp_path):
    better = history(tmp_path / "a", (50, 1.1))
    assert not better.problem and not better.changes[0].open and better.verdicts[0].direction is Direction.UP
    quiet = history(tmp_path / "b", (0, 1.0))
    assert [verdict.state for verdict in quiet.verdicts] == [VerdictState.INCONCLUSIVE] and not quiet.problem


def test_a_change_compares_all_points_next_to_it_and_orders_its_places_by_likelihood(tmp_path):
    (repair, regression) = history(tmp_path, (30, 0.90), (70, 1.0)).changes
    assert (regression.levels.before.n, regression.levels.after.n) == (30, 40)
    assert regression.levels.ratio.low < 0.90 < regression.levels.ratio.high < 0.92
    assert (repair.levels.before.n, repair.levels.after.n) == (40, 30)
    for change, day in ((regression, 30), (repair, 70)):
        places = change.likely_places
        shares = [place.share for place in places]
        assert sum(shares) == pytest.approx(1) and shares == sorted(shares, reverse=True) and shares[0] > 0.5
        first = places[0]
        assert first.run.subject_commit == history_sample.commit_of(day)
        assert first.last_before.subject_commit == history_sample.commit_of(day - 1)
        entry = change.to_json()["places"][0]
        assert (entry["run"], entry["commit_before"]) == (first.run.id, history_sample.commit_of(day - 1))
        text = "\n".join(change_lines(change))
        assert history_sample.commit_of(day)[:10] in text and first.run.started_at[:10] in text


def test_a_fact_belongs_to_the_place_where_it_changed(tmp_path):
    values = 1e8 * (1 + 0.03 * np.random.default_rng(2).standard_normal(80))
    values[60:] *= 0.94

    def facts(day: int) -> dict:
        return {"machine": {"host": {"kernel": str(day >= 60)}, "mount": {"options": str(day >= 61)}}}

    store = history_sample.write_values(tmp_path / "s", values, facts=facts)
    (change,) = watch(open_data(store), ResponseQuery()).changes
    by_day = {place.run.started_at[:10]: [fact.name for fact in place.facts] for place in change.likely_places}
    assert len(by_day) > 2 and by_day["2026-08-30"] == ["host.kernel"] and by_day["2026-08-31"] == ["mount.options"]
    assert sum(map(len, by_day.values())) == 2


def change_of(
    before: float | None, after: float | None, better: Better = Better.HIGHER, name: str = "x"
) -> SeriesChange:
    numbers = (before, after, after / before if before else None)
    levels = BeforeAfter(*(Estimate(value, None, None, 0.95, 5) for value in numbers))
    runs = tuple(StoredRun({"id": f"r{i}", "experiment": "e", "started_at": f"2026-10-0{i}"}) for i in range(1, 3))
    series = WatchedSeries(name, Metric("m", "", better), {}, "", np.ones(2), runs, 2, False, {})
    split = Break(0, 2, 1, 0.01, 0.0, 1, 1, 3)
    return SeriesChange(series, *runs, *runs, levels, split, True, False, (0, 1, 2), ())


@pytest.mark.parametrize(
    ("before", "after", "rises"),
    [(2.0, 3.0, True), (3.0, 2.0, False), (3.0, 0.0, False), (0.0, 3.0, True), (-2.0, -3.0, False)],
)
def test_the_direction_is_that_of_the_levels_even_after_zero(before: float, after: float, rises: bool):
    higher, lower = (change_of(before, after, better) for better in (Better.HIGHER, Better.LOWER))
    assert (higher.verdict, lower.verdict) == (("better", "worse") if rises else ("worse", "better"))
    older = (replace(higher, new=False), replace(lower, new=False))
    answer = Watch("s", (), (higher, lower, *older), Search(), None, 5, 0, ())
    assert answer.regressions == ((lower,) if rises else (higher,))
    assert higher.claim.direction is lower.claim.direction is (Direction.UP if rises else Direction.DOWN)
    assert higher.word == lower.word == ("more" if rises else "less")


def test_the_largest_regression_is_that_by_ratio_and_a_fall_to_zero_is_the_largest():
    def find_largest(*changes: SeriesChange) -> str:
        return _describe_largest(changes).split()[0]

    tenth, third, gone = (change_of(10, after, name=name) for after, name in ((9, "a"), (3, "b"), (0, "c")))
    double, from_zero = change_of(10, 20, Better.LOWER, "d"), change_of(0, 20, Better.LOWER, "e")
    assert find_largest(tenth, third) == "b" and find_largest(tenth, double, third) == "b"
    assert find_largest(tenth, double) == "d" and find_largest(tenth, gone, third) == "c"
    assert find_largest(double, from_zero) == "e"
    assert [word for word in _describe_largest([gone]).split() if word[0].isdigit()] == ["100.0"]
    assert [word for word in _describe_largest([third]).split() if word[0].isdigit()] == ["70.0"]


@pytest.mark.parametrize(
    ("better", "before", "after", "newest", "still"),
    [
        (Better.HIGHER, 100, 90, [97.0, 97.0], True),
        (Better.HIGHER, 100, 90, [97.1, 97.1], False),
        (Better.HIGHER, 100, 110, [90.0, 90.0], False),
        (Better.LOWER, 100, 110, [103.0, 103.0], True),
        (Better.LOWER, 100, 110, [102.9, 102.9], False),
        (Better.LOWER, 100, 90, [110.0, 110.0], False),
        (Better.LOWER, 100, 100, [110.0, 110.0], False),
        (Better.LOWER, 100, 110, [50.0, 150.0], False),
    ],
)
def test_a_change_for_the_worse_is_open_while_the_newest_points_are_beyond_the_margin(
    better: Better, before: float, after: float, newest: list[float], still: bool
):
    change = change_of(before, after, better)
    series = replace(change.series, values=np.array([before] * 5 + newest))
    assert is_open(series, change.levels, 5, Search(share=0.03, newest=3)) is still
    assert is_open(series, change.levels, 2, Search(share=0.03, newest=2)) is still, "the newest points alone"


def test_a_row_of_a_table_holds_the_levels_and_both_commits():
    change = change_of(4, 2)
    surely = [StoredRun({"facts": {"subject_commit": commit}}) for commit in ("abc", "def")]
    series = replace(change.series, by={"nodes": 2, "operation": "x", "p": 3}, settings="s")
    changed = replace(change, series=series, surely_before=surely[0], surely_after=surely[1], open=True)
    row = changed.flat()
    none = {f"{side}_{end}": None for side in ("before", "after", "ratio") for end in ("low", "high")}
    assert {name: value for name, value in row.items() if name not in none} == {
        "operation": "x",
        "metric": "m",
        "unit": "",
        "nodes": 2,
        "p (factor)": 3,
        "settings": "s",
        "started_at": "2026-10-02",
        "run": "r2",
        "commit_before": "abc",
        "commit_after": "def",
        "before": 4,
        "after": 2,
        "ratio": 0.5,
        "p": 0.01,
        "seen_after": 3,
        "verdict": "worse",
        "new": True,
        "open": True,
        "id": changed.id,
        "state": "open",
    }


@pytest.mark.parametrize(
    ("since", "start"),
    [
        (None, ""),
        ("r2", "2026-10-02"),
        ("e", "2026-10-01"),
        ("abcd", "2026-10-01"),
        ("2026", "2026"),
        ("2026-11", "2026-11"),
    ],
)
def test_since_is_a_run_or_an_experiment_or_a_commit_or_a_date(since: str | None, start: str):
    runs = [
        StoredRun(
            {"id": f"r{i}", "experiment": "e", "started_at": f"2026-10-0{i}", "facts": {"subject_commit": "abcd9"}}
        )
        for i in (2, 1)
    ]
    assert determine_start(runs, since) == start


@pytest.mark.parametrize("since", ["abc", "bcd9", "20261", "202x"])
def test_since_is_refused_if_it_is_nothing_known(since: str):
    run = StoredRun({"id": "r", "experiment": "e", "started_at": "2026", "facts": {"subject_commit": "abcd9"}})
    with raises("unknown-run-or-date", reference=since):
        determine_start([run], since)


def test_a_headline_that_is_not_believed_is_named(tmp_path):
    """The latency of one size has no series, since it contradicts the rate; the query may still name it."""
    metrics = {"rate": "operations/s", "completion_latency_p99": "s"}
    store = Store.create(tmp_path / "s")
    store.save_experiment(Experiment("e", "x", [], {}, [], 0, "2026-11-21T10:00:00Z"))
    for number in range(12):
        doubtful = number % 2
        entry = Contradiction("S136", "read", ("completion_latency_p99", "latency_min"), "too many in flight").to_json()
        store.append(
            Run(
                f"r{number:02}",
                "e",
                "import",
                f"2026-11-21T10:{number:02}:00Z",
                1.0,
                {"block_size": 4096 * (1 + doubtful)},
                [Observation("read", name, 100.0 + number, unit) for name, unit in metrics.items()],
                facts={CONTRADICTIONS: [entry]} if doubtful else {},
                headlines={"read": ["rate"] if doubtful else list(metrics)},
            )
        )
    source = open_data(tmp_path / "s")
    usual = watch(source, ResponseQuery())
    [note] = usual.warnings
    assert (note.code, note.values["n"], note.values["codes"]) == ("doubtful-headline", 6, "S136")
    assert note.values["operation"] == "read" and len(usual.series) == 3
    named = watch(source, ResponseQuery(metric=("completion_latency_p99",)))
    assert len(named.series) == 2 and not named.warnings
