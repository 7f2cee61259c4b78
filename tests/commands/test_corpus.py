"""A corpus: each system counts once, what explains the differences, what stands out, one's own result placed."""

import re
from dataclasses import replace

import numpy as np
import pytest

import corpus_sample as sample
from iosonde.commands.corpus.answer import HowCorpus, corpus
from iosonde.commands.corpus.for_page import CorpusPage
from iosonde.commands.corpus.text import lines
from iosonde.commands.rank.answer import rank
from iosonde.commands.report.answer import report
from iosonde.commands.report.query import ReportQuery
from iosonde.core.errors import DataError, InputError
from iosonde.core.types import Observation
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data
from messages import assert_problem, raises, with_code


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return sample.write(tmp_path_factory.mktemp("corpus") / "s", sample.corpus())


def asked(place, how=None, **words):
    return corpus(open_data(place), ResponseQuery(**words), how)


def phase(made, operation="ior_hard_write"):
    return next(one for one in made.phases if one.operation == operation)


def test_each_system_counts_once_and_names_of_two_institutions_are_two(place):
    made = asked(place)
    assert made.systems == sample.SYSTEMS and made.runs == sample.SYSTEMS + sample.MANY - 1
    assert made.clusters == ("institution", "system") and {one.mean.n for one in made.phases} == {sample.SYSTEMS}
    by_name = asked(place, HowCorpus(clusters=("system",)))
    assert by_name.systems == sample.SYSTEMS - 1  # two are called scratch


def test_a_rare_metric_is_listed_only_if_all_are_asked_for(tmp_path):
    runs = sample.corpus()
    for run in runs[:3]:
        run.observations.append(Observation("rare", "rate_last_done", 1.0, "operations/s"))
    store = sample.write(tmp_path / "s", runs)
    made, every = asked(store), asked(store, HowCorpus(every=True))
    assert (made.rare, every.rare) == (1, 0)
    assert len(every.phases) == len(made.phases) + 1 and phase(every, "rare").operation == "rare"


def test_handing_in_again_does_not_move_the_corpus(tmp_path, place):
    once = asked(sample.write(tmp_path / "s", sample.corpus(many=1)))
    many = asked(place)
    assert phase(once).quantiles[0.5].low == pytest.approx(phase(many).quantiles[0.5].low, rel=0.3)
    assert phase(once).systems == phase(many).systems


def test_rates_are_per_node_and_an_index_is_not(place):
    made = asked(place)
    assert phase(made).per == "node"
    whole = asked(place, HowCorpus(per="none"))
    assert phase(whole).per == "" and phase(whole).mean.value > 4 * phase(made).mean.value


def test_what_explains_is_found_and_a_year_only_if_asked_for(place):
    made = asked(place)
    assert "year" not in made.on and set(made.on) == {"nodes", "api"}
    assert phase(made).explained["api"].share.low > 0.5
    assert phase(made).explained["nodes"].share.low == pytest.approx(0.0, abs=0.05)
    assert "api" in made.sentence and "nodes" not in made.sentence
    assert "year" in asked(place, on=("year",)).on


def test_your_own_result_is_placed_and_not_part_of_it(place, tmp_path):
    made = asked(place, HowCorpus(mine="submission=s05-0"))
    assert made.systems == sample.SYSTEMS - 1
    mine, others = phase(made).placed, phase(made)
    means = {}
    for value, name in zip(others.values, others.names, strict=True):
        means.setdefault(name, []).append(value < mine.value)
    assert mine.share.value == pytest.approx(np.mean([np.mean(one) for one in means.values()]))
    assert mine.share.low < mine.share.value < mine.share.high and others.title in made.sentence
    own = sample.write(tmp_path / "own", [run for run in sample.corpus() if run.id == "s05-0"])
    assert phase(asked(place, HowCorpus(mine=str(own)))).placed.value == pytest.approx(mine.value)


def test_a_system_that_stands_out_is_named(tmp_path):
    runs = sample.corpus()
    runs.append(sample.run("far", "elsewhere", "huge", 2024, sample.rows(4, 9000.0, 1.0, 7.0), nodes=4, api="POSIX"))
    made = asked(sample.write(tmp_path / "s", runs))
    far = phase(made, "ior_easy_write").standing_out
    assert [set(one.system.split(", ")) for one in far] == [{"huge", "elsewhere"}] and far[0].times > 1000


@pytest.mark.parametrize("runs", [sample.corpus(1, 1), sample.corpus(1, 5), sample.corpus(2, 1), sample.corpus(5, 1)])
def test_few_systems_answer_without_an_interval(tmp_path, runs):
    made = asked(sample.write(tmp_path / "s", runs))
    text = "\n".join(lines(made))
    assert made.phases and phase(made).quantiles[0.5].low is None and "~" in text
    assert max(map(len, text.splitlines())) < 80
    made.to_dict()


def test_a_phase_without_a_number_is_left_out(tmp_path):
    runs = sample.corpus(6, 1)
    for run in runs:
        run.observations.append(Observation("find", "rate_last_done", 0.0, "operations/s"))
        run.headlines["find"] = ["rate"]
    runs[0].observations[0] = Observation("ior_easy_write", "bandwidth_last_done", 0.0, "bytes/s")
    made = asked(sample.write(tmp_path / "s", runs))
    assert "find" not in {one.operation for one in made.phases}
    assert phase(made, "ior_easy_write").without == 1 and phase(made, "ior_easy_write").systems == 5


def test_runs_that_do_not_say_their_nodes_are_counted(tmp_path):
    runs = sample.corpus()
    for run in runs[-3:]:
        del run.factors["nodes"]
    made = asked(sample.write(tmp_path / "s", runs))
    assert phase(made).systems == sample.SYSTEMS - 3
    assert_problem(with_code(made.warnings, "missing-size"), "missing-size", runs="3 runs", n_runs=32, per="nodes")


@pytest.mark.long
def test_a_ranking_of_a_corpus_with_a_rare_phase_answers(tmp_path):
    runs = sample.corpus()
    for place, run in enumerate(runs):
        if place % 3 == 0:
            run.factors["network"] = f"net{place % 2}"  # most do not say it
    for run in runs[:2]:
        run.observations.append(Observation("rare", "rate_last_done", 1.0, "operations/s"))
        run.headlines["rare"] = ["rate"]
    made = rank(open_data(sample.write(tmp_path / "s", runs)), ResponseQuery())
    hard = next(one for one in made.rankings if one.response.startswith("ior_hard_write"))
    assert "network" not in {one.name for one in hard.factors} and any("network" in one for one in hard.warnings)
    assert hard.n == len(runs) and [one for one in made.exclusions if one.split()[0] == "rare"]
    with pytest.raises(DataError):
        rank(open_data(tmp_path / "s"), ResponseQuery(("rare",)))


def test_a_report_of_many_systems_is_their_page_and_of_a_campaign_it_is_not(place, tmp_path, monkeypatch):
    page = report(ReportQuery(str(place)))
    assert isinstance(page, CorpusPage) and page.corpus.systems == sample.SYSTEMS
    assert re.findall(r"\d+", page.headline.rpartition(": ")[2]) == ["32", str(sample.SYSTEMS), "2019", "2024"]
    assert [one.name for one in page.by] == ["api"] and page.by[0].phase.operation == "ior_hard_write"
    assert len(page.every.rows) == sum(len(one.values) for one in page.corpus.phases)
    campaigns = object()
    monkeypatch.setattr("iosonde.commands.report.answer._build_store_page", lambda *_: campaigns)
    assert report(ReportQuery(str(place), by=("api",))) is campaigns
    few = sample.write(tmp_path / "few", sample.corpus(9, 1))
    repeated = sample.corpus(12, 1)
    for number in range(40):  # four of most: repetitions of a campaign
        run = replace(repeated[number % 10], id=f"again{number}")
        repeated.append(run)
    for other in (few, sample.write(tmp_path / "repeated", repeated)):
        assert report(ReportQuery(str(other))) is campaigns


def test_medians_by_level_are_those_of_its_systems(place):
    one = phase(asked(place))
    setting = one.settings["api"]
    for level, median in setting.medians.items():
        means = {}
        for value, name, at in zip(one.values, one.names, setting.levels, strict=True):
            means.setdefault(name, []).append(value) if at == level else None
        middle = np.sort([np.median(values) for values in means.values()])[(len(means) - 1) // 2]
        assert median.n == len(means) and median.value == pytest.approx(middle, rel=0.1)
    assert one.settings["nodes"].medians and one.settings["nodes"].doublings


def test_what_cannot_be_asked_says_what_can(place, tmp_path):
    for how, words, code in (
        (HowCorpus(clusters=("nowhere",)), {}, "unknown-column"),
        (HowCorpus(mine="submission=none"), {}, "not-a-store"),
        (None, {"response": ("nothing",)}, "unknown-operation"),
        (HowCorpus(per="api"), {}, "not-a-number"),
    ):
        with raises(code, InputError):
            asked(place, how, **words)
    runs = sample.corpus(3, 1)
    for run in runs:
        del run.factors["institution"], run.factors["system"]
    with raises("missing-option"):
        asked(sample.write(tmp_path / "s", runs))


def test_one_system_far_out_is_said_to_decide_and_is_not_what_explains(tmp_path):
    *others, last = sample.corpus()
    far = replace(last, factors={**last.factors, "nodes": 10**6})
    made = asked(sample.write(tmp_path / "s", [*others, far]), HowCorpus(per="none"))
    (found,) = [one for one in made.single_system_effects if one[1] == "nodes"]
    assert found[2].leverage > 0.5 and found[2].without is not None
    assert found[2].far == ", ".join(str(far.factors[name]) for name in ("system", "institution"))
    text = "\n".join(lines(made)).replace("\n  ", " ")
    assert "~ nodes: " in text and "nodes" not in made.sentence and max(map(len, lines(made))) < 80


def test_the_verdicts_are_those_of_the_sentence(place):
    made = asked(place)
    effects = {(one.response, one.subject): one for one in made.verdicts if one.question == "effect"}
    api = effects[f"{phase(made).operation} {phase(made).metric}", ("api",)]
    assert api.state == "different" and api.estimate == phase(made).explained["api"].share
    assert effects[f"{phase(made).operation} {phase(made).metric}", ("nodes",)].state == "inconclusive"
    assert all("not-corrected" in one.doubts for one in effects.values())


def test_one_system_far_out_makes_no_effect(tmp_path):
    *others, last = sample.corpus()
    far = replace(last, factors={**last.factors, "nodes": 10**6})
    made = asked(sample.write(tmp_path / "s", [*others, far]), HowCorpus(per="none"))
    decided = [one for one in made.verdicts if one.subject == ("nodes",) and "leverage" in one.doubts]
    assert decided and all(one.state == "inconclusive" for one in decided)


def test_ones_own_result_has_a_verdict_for_each_number(place):
    made = asked(place, HowCorpus(mine="submission=s05-0"))
    own = [one for one in made.verdicts if one.question == "difference"]
    assert len(own) == sum(one.placed is not None for one in made.phases)
    for one, verdict in zip([one for one in made.phases if one.placed], own, strict=True):
        low, high = one.placed.share.low, one.placed.share.high
        assert (verdict.state == "different") == (low > 0.5 or high < 0.5)
