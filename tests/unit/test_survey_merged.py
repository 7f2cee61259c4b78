"""A tree that several processes walk: together they say exactly what one says."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import survey_tree
from iosonde.survey.merged import WalkedPart, merge_parts
from iosonde.survey.walk import DrawnFiles, Walked, WalkOptions, walk_tree


@pytest.fixture(scope="module")
def tree(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("tree")
    survey_tree.make(root, files=900)
    (root / "project1" / "link").symlink_to("nowhere")
    (root / "project2" / ".snapshot").mkdir()
    return root


def together(asked: WalkOptions, processes: int) -> Walked:
    device = os.stat(asked.path).st_dev
    return merge_parts(
        [WalkedPart(walk_tree(asked.shared(one, processes)), device) for one in range(processes)], asked.draws
    )


def same_files(one: DrawnFiles, other: DrawnFiles) -> bool:
    columns = all(np.array_equal(one.columns[name], other.columns[name]) for name in one.columns)
    return one.paths == other.paths and one.threshold == other.threshold and columns


@pytest.mark.parametrize("processes", [1, 2, 3, 7])
@pytest.mark.parametrize("draws", [5, 100, 5000])
def test_parts_are_the_whole_to_the_last_draw(tree, processes, draws):
    asked = WalkOptions(str(tree), 3, draws, by_depth=1)
    whole, parts = walk_tree(asked), together(replace(asked), processes)
    assert same_files(whole.by_count, parts.by_count) and same_files(whole.by_size, parts.by_size)
    assert list(whole.strata) == list(parts.strata)
    for name, one in whole.strata.items():
        assert one.counts == parts.strata[name].counts
        assert same_files(one.by_count, parts.strata[name].by_count)
        assert same_files(one.by_size, parts.strata[name].by_size)
    for name, value in whole.counts.items():
        if isinstance(value, np.ndarray):
            assert np.array_equal(value, parts.counts[name]), name
        elif name == "owners":
            assert {who: list(row) for who, row in value.items()} == {
                who: list(row) for who, row in parts.counts[name].items()
            }
        else:
            assert value == parts.counts[name], name


def test_a_device_that_another_node_numbers_differently_is_the_same_file_system(tree):
    asked = WalkOptions(str(tree), 3, 50)
    device = os.stat(tree).st_dev
    parts = [WalkedPart(walk_tree(asked.shared(one, 2)), device) for one in range(2)]
    for sample in (parts[1].walked.by_count, parts[1].walked.by_size):
        sample.columns["device"] = np.where(sample.columns["device"] == device, 77, 0)
    found = merge_parts([parts[0], replace(parts[1], device=77)], asked.draws)
    assert same_files(found.by_count, walk_tree(asked).by_count) and same_files(found.by_size, walk_tree(asked).by_size)


def test_a_name_in_two_parts_may_count_twice_and_that_is_said(tmp_path):
    for name in range(12):
        (tmp_path / "top" / str(name)).mkdir(parents=True)
    (tmp_path / "top" / "0" / "file").write_text("text")
    for name in range(1, 12):
        os.link(tmp_path / "top" / "0" / "file", tmp_path / "top" / str(name) / "file")
    found = together(WalkOptions(str(tmp_path), 0, 5), 2).counts
    assert found["files"] == 2 and found["hard_links"] == 10
    assert (found["linked_elsewhere"], found["links_unchecked"]) == (0, 2)
