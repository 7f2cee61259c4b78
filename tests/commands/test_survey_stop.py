"""Ending a survey by its intervals or by time: the sample is the begin of a random order, and intervals still hold."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import survey_tree
from iosonde.commands.survey import reading as survey_reading
from iosonde.commands.survey.answer import SurveyQuery, survey
from iosonde.commands.survey.reading import ALL, PRECISE, TIME, read_in_order
from iosonde.core.errors import InputError
from iosonde.survey.contents import Contents
from iosonde.survey.sampling.population import CAPACITY, COUNT, Population
from iosonde.survey.sampling.shares import estimate_share, sample_by_count, sample_by_size
from iosonde.survey.sampling.stopping import StopRule
from iosonde.survey.scan import TreeScan
from iosonde.survey.walk import DrawnFiles


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=1500)
    return root


def test_a_survey_ends_when_all_shares_are_known_so_well_and_reads_no_more_than_its_precision_would(tree):
    fixed = survey(SurveyQuery(str(tree), precision=0.04, codecs=()))
    made = survey(SurveyQuery(str(tree), until=0.04, codecs=()))
    assert made.stopped == PRECISE and fixed.stopped == ALL
    widths = [one.inference.estimate.high - one.inference.estimate.low for one in made.estimates]
    assert 0 < max(widths) <= 0.08
    assert made.files_read < fixed.files_read


def test_what_was_read_is_the_sample_of_the_same_seed_for_that_number(tree):
    made = survey(SurveyQuery(str(tree), until=0.06, codecs=()))
    draws = made.samples[1].drawn
    again = survey(SurveyQuery(str(tree), files=2 * draws, codecs=()))
    by_size, same = ([one.to_json() for one in of.of("type", "capacity")] for of in (again, made))
    assert by_size == same


class Clock:
    """Each look at it costs so much."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def monotonic(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.long
def test_time_ends_a_survey_after_a_whole_step(tree, monkeypatch):
    monkeypatch.setattr(survey_reading, "time", Clock(10.0))
    made = survey(SurveyQuery(str(tree), seconds=25.0, codecs=()))
    assert made.stopped == TIME and [one.drawn for one in made.samples] == [96, 96]
    again = survey(SurveyQuery(str(tree), files=192, codecs=()))
    assert [one.to_json() for one in again.estimates] == [one.to_json() for one in made.estimates]
    whole = survey(SurveyQuery(str(tree), seconds=1e9, codecs=()))
    assert whole.stopped == ALL and whole.files_read == 1501


def test_files_that_cannot_be_looked_at_end_nothing(tmp_path):
    for number in range(300):
        (tmp_path / f"hole{number}").touch()
        os.truncate(tmp_path / f"hole{number}", 5000)
    made = survey(SurveyQuery(str(tmp_path), until=0.05))
    assert made.stopped == ALL and made.no_answer == {"released": 300}


def test_a_tree_without_a_file(tmp_path):
    assert survey(SurveyQuery(str(tmp_path), until=0.05, seconds=5)).files_read == 0


@pytest.mark.parametrize("asked", [{"until": 0.0}, {"until": 1.5}, {"seconds": 0.0}, {"seconds": -1.0}])
def test_what_cannot_be_asked(tree, asked):
    with pytest.raises(InputError) as error:
        survey(SurveyQuery(str(tree), **asked))
    assert error.value.hint


def until(whole: Population, margin: float, seed: int, most: int):
    """What a survey of this population says that ends by itself: (of, kind, estimate) and how many it read of each."""
    random = np.random.default_rng(seed).random(len(whole.sizes))
    keys = {COUNT: random, CAPACITY: random / np.where(whole.sizes > 0, whole.sizes, np.nan)}
    drawn = {}
    for by, key in keys.items():
        order = np.argsort(key)[: most + 1]
        order = order[np.isfinite(key[order])]
        columns = {"key": key[order], "at": order, "inode": order}
        columns |= {name: np.zeros(len(order), int) for name in ("allocated", "device", "modified_ns")}
        columns["size"] = whole.sizes[order]
        drawn[by, ""] = DrawnFiles((b"",) * len(order), columns, None).first(most)

    def shares(some, contents):
        for (by, _), one in some.items():
            sample = (
                sample_by_count(len(one), len(whole.sizes))
                if by == COUNT
                else sample_by_size(one.columns["size"], one.threshold, float(whole.sizes.sum()))
            )
            for kind in whole.kinds:
                yield by, kind, estimate_share(sample, whole.has(kind, one.columns["at"]), 0.95).estimate

    found = read_in_order(
        drawn,
        StopRule(margin, None),
        lambda files, before, seconds: [Contents("text")] * len(files),
        lambda some, contents: (one for _, _, one in shares(some, contents)),
    )
    return list(shares(found.drawn, found.contents)), len(found.drawn[COUNT, ""])


def population(files: int = 20_000) -> Population:
    """Sizes with a heavy tail; what is large is mostly of one kind."""
    random = np.random.default_rng(5)
    sizes = np.ceil(random.lognormal(9, 2.5, files))
    kind = np.where(random.random(files) < np.clip(np.log(sizes) / 20, 0.05, 0.95), 0, random.integers(1, 3, files))
    zeros = np.zeros(files, np.int64)
    return Population(TreeScan(sizes, zeros.astype(float), ("0", "1", "2"), kind, 1, zeros, 0))


@pytest.mark.long
@pytest.mark.slow
def test_intervals_hold_though_they_decide_when_to_stop():
    whole, held, read = population(), {}, []
    truth = {(one.of, one.name): one.truth for of in (COUNT, CAPACITY) for one in whole.list_true_numbers(of)}
    for seed in range(200):
        shares, drawn = until(whole, 0.05, seed, 385)
        read.append(drawn)
        for by, kind, one in shares:
            held.setdefault((by, kind), []).append(one.low <= truth[by, kind] <= one.high)
    assert max(read) <= 385
    assert min(np.mean(one) for one in held.values()) > 0.89, {of: np.mean(one) for of, one in held.items()}
