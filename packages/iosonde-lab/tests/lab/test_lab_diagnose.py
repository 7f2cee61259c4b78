"""Known machines on a real GlusterFS: ``diagnose`` names what was done to them. The whole table is in
docs/method/diagnosing.md, by ``python -m known_machines``."""

import json
import re
from pathlib import Path

import known_machines as machines
import numpy as np
import pytest
from lab_here import why_not

from iosonde.core.units import parse_rate

PAGE = Path(__file__).parents[4] / "docs" / "method" / "diagnosing.md"
SEED = 77


def test_a_trial_of_each_known_machine_is_read_right(lab_root, tmp_path):
    """A busy machine may hide one of them, and then nobody can tell; another cause is never named twice."""
    if why := why_not("glusterfs"):
        pytest.skip(why)
    found = machines.in_a_lab(SEED, 0, tmp_path, trials=1)
    assert {one.machine for one in found} == {*machines.RIGHT, *machines.HEALTHY}
    wrong = [(one.machine, one.said) for one in found if not one.right and one.said != machines.CANNOT_TELL]
    assert len(wrong) <= 1, wrong
    known = [one for one in found if one.machine in machines.RIGHT]
    assert sum(one.right for one in known) >= len(known) - 1, [(one.machine, one.said) for one in known]


def test_settings_are_those_of_their_seed_and_of_no_other():
    lab = machines.shape(np.random.default_rng([1, 0]))
    for name in (*machines.RIGHT, *machines.HEALTHY):
        made = machines.drawn(name, lab, 1, 0)
        assert made == machines.drawn(name, lab, 1, 0) != machines.drawn(name, lab, 2, 0)
        assert len({json.dumps(cell) for cell in made.cells}) == len(made.cells)


def test_a_fault_makes_what_it_hits_slower_than_the_lab_is():
    for seed in range(20):
        lab = machines.shape(np.random.default_rng([seed, 0]))
        kind, _, rate = machines.drawn("slow-disk", lab, seed, 0).fault
        assert kind == "slow-disk" and rate < lab.disk / 20
        kind, _, rate = machines.drawn("slow-server", lab, seed, 0).fault
        assert kind == "slow-link" and rate < 8 * lab.link / 2.5
        assert parse_rate(lab.words()["disk_read"]) == pytest.approx(lab.disk, rel=0.02)


def test_the_table_of_the_docs_adds_up():
    text = PAGE.read_text().partition("## On real machines")[2]
    rows = {
        name: [int(one) for one in row.split("|") if one.strip()]
        for name, row in re.findall(r"^\| ([a-z]+-[a-z-]+) \|(.*)\|$", text, re.MULTILINE)
    }
    assert {*machines.RIGHT} <= set(rows) <= {*machines.RIGHT, *machines.HEALTHY}
    told = re.search(r"Of (\d+): right (\d+) = .*?; cannot tell (\d+) = .*?; wrong (\d+) = ", text)
    known = sum(sum(rows[name]) for name in machines.RIGHT)
    assert told and int(told[1]) == known == sum(map(int, told.groups()[1:]))
    assert machines.percent_of(int(told[2]), int(told[1])) in text
