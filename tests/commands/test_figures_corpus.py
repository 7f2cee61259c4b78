"""The figure of a corpus: each run, the median of systems, one's own result; a panel for each unit."""

import corpus_sample as sample
from iosonde.commands.corpus.answer import HowCorpus, corpus
from iosonde.commands.corpus.figure import figure
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data


def test_each_run_is_drawn_once_and_yours_is_marked(tmp_path):
    source = open_data(sample.write(tmp_path / "s", sample.corpus()))
    made = corpus(source, ResponseQuery(), HowCorpus(mine="submission=s05-0"))
    bandwidth, rate = figure(made).spec["concat"]
    assert [panel["title"]["text"][0].split()[0] for panel in (bandwidth, rate)] == ["Bandwidth", "Rate"]
    runs = bandwidth["layer"][0]["data"]["values"]
    assert len([row for row in runs if row["y"] == "ior_easy_write"]) == made.runs
    assert [row["y"] for row in bandwidth["layer"][-1]["data"]["values"]] == [
        "ior_easy_write",
        "ior_hard_write",
        " ".join(("score", "bandwidth")),
    ]
    assert bandwidth["layer"][-1]["mark"]["shape"] == "diamond"


def test_one_submission_is_drawn_without_an_interval(tmp_path):
    made = corpus(open_data(sample.write(tmp_path / "s", sample.corpus(1, 1))), ResponseQuery())
    assert b"<svg" in figure(made).image("svg")
