"""Scripted machines of settings that nothing was tuned on: ``diagnose`` names their cause (the whole table is in
docs/method/diagnosing.md, by tests/machine_matrix.py)."""

from __future__ import annotations

import re

import pytest

import machine_matrix as matrix

SEED = 77
COUNT = 3


@pytest.mark.parametrize("name", matrix.RIGHT)
def test_the_cause_of_a_machine_is_named(name):
    said = [case.said for case in matrix.cases(name, COUNT, SEED, operations=5000)]
    wrong = [one for one in said if one not in (matrix.RIGHT[name], matrix.CANNOT_TELL)]
    assert not wrong and said.count(matrix.RIGHT[name]) >= COUNT - 1, said


def test_a_draw_in_which_nothing_can_be_seen_is_drawn_again():
    [case] = matrix.cases("two-components", 1, SEED, operations=2000)
    assert case.group.n == 2000 or case.drawn[1]["access_size"] > 2**19
    assert min(one.n for one in case.group.classes) > 0


def test_the_table_of_the_docs_is_one_that_the_script_makes():
    """Every row of 40 settings, and the shares below it of as many."""
    text = matrix.PAGE.read_text()
    for name in matrix.RIGHT:
        [row] = re.findall(rf"^\| {name} \|(.*)\|$", text, re.MULTILINE)
        counts = [int(cell) for cell in row.split("|") if cell.strip()]
        assert sum(counts) == matrix.COUNT, name
    told = re.search(r"Of (\d+): right (\d+) = .*?; cannot tell (\d+) = .*?; wrong (\d+) = ([\d.]+) %", text)
    assert told and int(told[1]) == matrix.COUNT * len(matrix.RIGHT) == sum(int(told[k]) for k in (2, 3, 4))
    assert float(told[5]) <= 5
    low, high = matrix.wilson(int(told[2]), int(told[1]))
    assert f"({100 * low:.1f} to {100 * high:.1f})" in text
