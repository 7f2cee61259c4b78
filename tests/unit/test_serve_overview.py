"""The first page: headline numbers, states and changes of series, in order of their levels, from answers that are
computed once."""

from __future__ import annotations

import html
import json
import re
import threading
import time
from dataclasses import replace

import pytest

import history_sample
from iosonde.commands.watch.answer import watch
from iosonde.commands.watch.states import SeriesState, determine_state
from iosonde.core.errors import DataError
from iosonde.core.types import Experiment, Factor, Observation, Run, Trial
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from iosonde.serve import overview as overviews
from iosonde.serve import server as servers
from iosonde.serve.answer_cache import PROBLEM, AnswerCache
from iosonde.serve.guard import Doorkeeper
from iosonde.serve.overview import get_deadline, get_headlines, get_overview, sort_series
from iosonde.serve.pages import experiments as first_page
from iosonde.serve.shelf import open_shelf
from iosonde.serve.sparkline import HEIGHT, WIDTH, draw_sparkline
from iosonde.store import Store
from iosonde.store.index import Index

NODES, SIZES = (16, 1, 32, 4), ("1MiB", "64k")
NIGHTS, STEP = 40, 24
LONG = get_deadline(600)


def get_rate(night, trial, step):
    noise = 1 + 0.01 * ((7 * night + trial.index) % 10 - 5) / 5
    return 1e8 * trial.nodes * noise * (0.9 if night >= step else 1)


def write_nights(path, nights, step=STEP, nodes=NODES, sizes=()):
    """A night at each number of nodes, not in their order; from night ``step`` on writing is a tenth slower. ``sizes``
    of operations: their rate was measured, too."""
    store = Store.create(path)
    for night in range(nights):
        name = f"night-{night:03}"
        trials = [Trial(n, {"nodes": level}, n, n, n) for n, level in enumerate(nodes)]
        started = f"2026-{7 + night // 28:02}-{1 + night % 28:02}T22:{{:02}}:00Z"
        store.save_experiment(
            Experiment(name, name, [Factor("nodes", levels=nodes)], {"name": "night"}, trials, 1, started.format(0))
        )
        store.append_many(
            Run(
                id=f"{name}-{trial.index}",
                experiment=name,
                source="test",
                started_at=started.format(trial.index),
                seconds=1.0,
                factors={**trial.factors, "repetition": 0},
                facts={"subject_commit": history_sample.commit_of(night // 2)},
                observations=[
                    Observation("write", "bandwidth_last_done", get_rate(night, trial, step), "bytes/s"),
                    *(
                        Observation("write", "rate_last_done", get_rate(night, trial, step) / size, "operations/s")
                        for size in sizes
                    ),
                ],
            )
            for trial in trials
        )
    return store


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    return write_nights(tmp_path_factory.mktemp("nights") / "nights", NIGHTS)


@pytest.fixture(scope="module")
def shelf(store, tmp_path_factory):
    made = open_shelf([str(store.path)], Index(tmp_path_factory.mktemp("index") / "index.sqlite"))
    made.look(thorough=True)
    get_overview(made, made.stores[0], LONG)
    return made


def get_page(shelf, target="/"):
    answer = servers.answer_request(shelf, Doorkeeper("127.0.0.1", 1, None), target, {"Host": "127.0.0.1:1"})
    assert answer.status == 200, answer.body
    return answer.body.decode()


@pytest.fixture
def patient(monkeypatch):
    monkeypatch.setattr(first_page, "_PATIENCE_S", 600.0)


def test_series_are_in_the_order_of_their_levels(shelf):
    overview = get_overview(shelf, shelf.stores[0], LONG)
    assert [series.by["nodes"] for series in overview.series] == [1, 4, 16, 32]
    headlines = get_headlines(shelf, shelf.stores[0], "night-000", LONG)
    assert [headline.by["nodes"] for headline in headlines] == [1, 4, 16, 32]


def test_sizes_are_in_their_natural_order():
    def by(size, nodes):
        return {"block": size, "nodes": nodes}

    settings = [by(size, nodes) for size in ("1MiB", "64k", "4k", None) for nodes in (16, 2)]
    ranks = overviews._rank_levels(settings)
    assert [settings[at] for at in sorted(range(len(settings)), key=ranks.__getitem__)] == [
        by(size, nodes) for size in ("4k", "64k", "1MiB", None) for nodes in (2, 16)
    ]
    assert overviews._rank_levels([{}, {}]) == [(), ()]


def test_states_are_those_of_watch(store, shelf):
    seen = watch(open_data(str(store.path)), ResponseQuery())
    assert seen.problem
    for item, series in zip(sort_series(seen.series), get_overview(shelf, shelf.stores[0], LONG).series, strict=True):
        state = determine_state(seen, item)
        assert (series.state, series.since) == (state.state, state.since) == (SeriesState.OPEN, STEP)
        assert series.title == item.title and [point.value for point in series.points] == item.values.tolist()
        assert series.get_state_at(STEP) == SeriesState.OPEN and series.get_state_at(STEP - 1) == SeriesState.NO_CHANGE


def test_a_multiple_of_a_series_has_its_state_without_being_judged(tmp_path):
    store = write_nights(tmp_path / "s", NIGHTS, nodes=(1,), sizes=(4096,))
    query = ResponseQuery(metric=("bandwidth", "iops"))
    seen = watch(open_data(store), query)
    assert [series.metric.name for series in seen.series] == ["bandwidth_last_done"]
    ((rate, bandwidth),) = seen.copies
    overview = overviews._describe_series(seen, rate, bandwidth)
    assert overview.metric == "rate_last_done" and overview.state is SeriesState.OPEN and len(overview.changes) == 1
    assert overview.points[0].value == rate.values[0] != bandwidth.values[0]


@pytest.mark.parametrize(
    ("values", "state"),
    [
        ([1e8, 1.01e8, 0.99e8, 1e8], SeriesState.CANNOT_TELL),
        ([1e8, 1.01e8, 0.99e8, 0.8e8, 0.81e8, 0.79e8], SeriesState.SUSPECTED),
        ([1e8, 1.01e8, 0.99e8, 1.3e8, 1.31e8, 1.29e8], SeriesState.CANNOT_TELL),
        ([1e8 * (1 + 0.01 * (day % 3)) for day in range(30)], SeriesState.NO_CHANGE),
        ([1e8 * (1 + 0.01 * (day % 3)) * (1.2 if day > 20 else 1) for day in range(30)], SeriesState.IMPROVED),
        ([1e8 * (1 + 0.01 * (day % 3)) * (0.8 if day > 20 else 1) for day in range(30)], SeriesState.OPEN),
    ],
)
def test_every_state_has_its_history(tmp_path, values, state):
    history_sample.write_values(tmp_path / "s", values)
    seen = watch(open_data(str(tmp_path / "s")), ResponseQuery())
    assert determine_state(seen, seen.series[0]).state == state


def test_an_experiment_has_its_number_state_and_last_change(shelf, patient):
    page = get_page(shelf)
    rows = re.findall(r"<tr>.*?</tr>", page[page.index(">Experiments</h2>") :], re.DOTALL)[1:]
    by_name = {re.search(r"night-\d+", row)[0]: html.unescape(row) for row in rows}
    assert len(by_name) == NIGHTS
    before, after = by_name["night-010"], by_name["night-030"]
    assert "nodes=32" in before and "GiB/s" in before
    assert ">no change<" in before and ">open<" in after
    assert "/change?" not in before and "/change?" in after and "slower" in after
    assert before.count("<svg") == after.count("<svg") == 1 and 'class="worse"' in after


def test_a_series_has_its_newest_number_and_its_change_is_a_page(shelf, patient):
    page = get_page(shelf)
    table = page[page.index("Over time") : page.index(">Experiments</h2>")]
    assert table.count("<svg") == table.count(">open<") == 4
    assert re.findall(r"nodes=(\d+)\)</a>", table) == ["1", "4", "16", "32"]
    (address, *_) = re.findall(r'href="(/change[^"]*)"', table)
    assert "n 24+16" in " ".join(get_page(shelf, html.unescape(address)).split())


def test_nothing_is_computed_for_the_second_look(shelf, patient, monkeypatch):
    get_page(shelf)
    for name in ("_watch_runs", "_summarize_experiment"):
        monkeypatch.setattr(overviews, name, lambda *_: pytest.fail("computed again"))
    begin = time.process_time()
    get_page(shelf)
    assert time.process_time() - begin < 1.0
    again = open_shelf([str(shelf.stores[0].store.path)], shelf.index)  # after a restart
    assert ">open<" in get_page(again)


def test_a_new_night_is_computed_alone(tmp_path, patient, monkeypatch):
    store = write_nights(tmp_path / "s", 3, nodes=(1,))
    made = open_shelf([str(store.path)], Index(tmp_path / "index.sqlite"))
    made.look(thorough=True)
    get_page(made)
    computed, summarize = [], overviews._summarize_experiment
    monkeypatch.setattr(overviews, "_summarize_experiment", lambda *words: computed.append(words) or summarize(*words))
    store.append(
        Run(
            id="night-003-0",
            experiment="night-003",
            source="test",
            started_at="2026-09-01T00:00:00Z",
            seconds=1.0,
            factors={"nodes": 1, "repetition": 0},
            observations=[Observation("write", "bandwidth_last_done", 1e8, "bytes/s")],
        )
    )
    made.look(thorough=True)
    page = get_page(made)
    assert "night-003" in page and [words[1] for words in computed] == [["night-003-0"]]


def test_a_page_does_not_wait_for_what_takes_long(tmp_path, monkeypatch):
    store = write_nights(tmp_path / "s", 2, nodes=(1,))
    made = open_shelf([str(store.path)], Index())
    made.look()
    free, summarize = threading.Event(), overviews._summarize_experiment
    monkeypatch.setattr(overviews, "_summarize_experiment", lambda *words: free.wait(600) and summarize(*words))
    monkeypatch.setattr(first_page, "_PATIENCE_S", 0.05)
    page = get_page(made)
    assert 'http-equiv="refresh"' in page and "night-001" in page and "MiB/s" not in page
    free.set()
    monkeypatch.setattr(first_page, "_PATIENCE_S", 600.0)
    page = get_page(made)
    assert 'http-equiv="refresh"' not in page and "MiB/s" in page


def test_the_first_page_is_prepared_after_a_look(tmp_path):
    store = write_nights(tmp_path / "s", 2, nodes=(1,))
    made, prepared, ended = open_shelf([str(store.path)], Index()), [], threading.Event()
    made.look_until(made.stores[0], ended, lambda shelved: (prepared.append(shelved), ended.set()))
    assert prepared == [made.stores[0]]
    first_page.prepare_page(made, made.stores[0])
    with made.answers._lock:
        answers = list(made.answers._answers.values())
    assert len(answers) == 3 and all(answer.result(600) for answer in answers)


def test_an_experiment_without_numbers_says_so(tmp_path, patient):
    store = Store.create(tmp_path / "s")
    store.append(Run(id="r", experiment="e", source="x", started_at="", seconds=1.0, factors={}, observations=[]))
    made = open_shelf([str(store.path)], Index())
    made.look()
    assert get_headlines(made, made.stores[0], "e", LONG) == []
    assert get_overview(made, made.stores[0], LONG).problem
    assert ">e<" in get_page(made)


def test_the_worst_states_are_never_left_out(shelf, monkeypatch):
    (row, *_) = first_page.read_board(shelf, shelf.stores, [], 600).list_series_rows()
    rows = [replace(row, series=replace(row.series, state=state)) for state in ("no change", "open", "cannot tell") * 2]
    monkeypatch.setattr(first_page, "MOST_SERIES", 3)
    assert [item.series.state for item in first_page.select_series(rows)] == ["no change", "open", "open"]


def test_a_sparkline_stays_in_its_box(shelf):
    series = get_overview(shelf, shelf.stores[0], LONG).series[0]
    drawn = draw_sparkline(series, 3)
    points = [tuple(map(float, point.split(","))) for point in drawn.line.split()]
    assert len(points) == NIGHTS and drawn.mark == points[3]
    assert all(0 <= x <= WIDTH and 0 <= y <= HEIGHT for x, y in points)
    assert [is_worse for _, is_worse in drawn.changes] == [True]
    assert points[STEP - 1][0] < drawn.changes[0][0] < points[STEP][0]
    assert draw_sparkline(replace(series, points=series.points[:1])) is None
    flat = replace(series, points=[replace(point, value=0.0) for point in series.points])
    assert draw_sparkline(flat).line


def test_noise_is_drawn_small(shelf):
    series = get_overview(shelf, shelf.stores[0], LONG).series[0]
    quiet = [replace(point, value=1e8 + at % 2) for at, point in enumerate(series.points)]
    heights = {point.split(",")[1] for point in draw_sparkline(replace(series, points=quiet)).line.split()}
    assert len(heights) == 1


def test_an_answer_is_computed_once_and_read_from_its_file(tmp_path):
    computed = []

    def compute():
        computed.append(1)
        return {"x": 1}

    for cache in (AnswerCache(tmp_path / "a"), AnswerCache(tmp_path / "a"), AnswerCache(None)):
        assert cache.get(["k"], compute, LONG) == cache.get(["k"], compute, LONG) == {"x": 1}
    assert len(computed) == 2
    assert AnswerCache(tmp_path / "a").get(["other"], lambda: {"x": 2}, LONG) == {"x": 2}
    assert (tmp_path / "a").stat().st_mode & 0o077 == 0 and len(list((tmp_path / "a").iterdir())) == 2


def test_a_damaged_file_is_computed_again(tmp_path):
    AnswerCache(tmp_path).get(["k"], lambda: {"x": 1}, LONG)
    (file,) = tmp_path.glob("*.json")
    for content in (b"{", b"[]", b"\xff"):
        file.write_bytes(content)
        assert AnswerCache(tmp_path).get(["k"], lambda: {"x": 2}, LONG) == {"x": 2}
        assert json.loads(file.read_bytes()) == {"x": 2}


def test_a_problem_is_an_answer_and_a_fault_is_none(tmp_path):
    cache = AnswerCache(tmp_path)

    def refuse():
        raise DataError("no-data", "nothing", "measure")

    assert cache.get(["k"], refuse, LONG) == {PROBLEM: "nothing"}
    with pytest.raises(ZeroDivisionError):
        cache.get(["fault"], lambda: 1 / 0, LONG)
    assert cache.get(["fault"], lambda: {"x": 1}, LONG) == {"x": 1}, "asked again, it is computed again"


def test_history_has_all_nodes_in_one_figure_and_then_each_in_order(shelf):
    page = get_page(shelf, "/history")
    assert re.findall(r'id="(series-[\w-]+)-title"', page) == [
        "series-1-together",
        *(f"series-{n}" for n in range(1, 5)),
    ]
    assert re.findall(r"nodes=(\d+)\)</h3>", page) == ["1", "4", "16", "32"]
    assert "-together" not in get_page(shelf, "/history?together=none")
    assert history_sample.commit_of(3)[:10] in get_page(shelf, "/history?x=commit")
    assert "-together" not in get_page(shelf, "/history?together=%3Cb%3E")


def test_history_comes_in_parts_in_the_same_order(shelf, monkeypatch):
    monkeypatch.setattr("iosonde.serve.pages.history.ON_A_PAGE", 3)
    pages = [get_page(shelf, f"/history?page={number}") for number in (1, 2)]
    assert [re.findall(r"nodes=(\d+)\)</h3>", page) for page in pages] == [["1", "4", "16"], ["32"]]
    assert "-together" in pages[0] and "-together" not in pages[1]


def test_the_number_of_an_experiment_is_the_one_with_which_its_page_begins():
    kinds = [("file_creation", "rate_last_done"), ("write_large", "bandwidth_last_done"), ("step", "seconds")]
    headlines = [
        overviews.Headline(*kind, "", {"nodes": nodes}, "", 1.0, None, None, 0.95, 3)
        for kind in kinds
        for nodes in (1, 2)
    ]
    chosen = first_page.choose_headline(headlines)
    assert (chosen.operation, chosen.by["nodes"]) == ("write_large", 2)
    assert first_page.choose_headline(headlines[:2] + headlines[4:]).operation == "file_creation"
    assert first_page.choose_headline([]) is None
