"""A campaign lab by lab: one that cannot be measured in costs its own trials, and is said; a mistake ends it."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from iosonde.campaign.in_lab import LabBudget, LabSetting
from iosonde.campaign.lab_by_lab import measure_lab_by_lab
from iosonde.core.errors import SystemFaultError
from messages import assert_problem, codes, raises

DOWN = SystemFaultError("not-mounted", "client1: nothing is mounted")


@dataclass
class Begun:
    """A campaign of so many labs; each that is measured in keeps a run."""

    n: int
    runs: int = 0
    seen: list = field(default_factory=list)

    def budget(self):
        return LabBudget(None)

    def count_runs(self):
        return self.runs

    def next_setting(self, seen):
        some = [LabSetting({}, {}, 0, {"servers": number}, 1, "e") for number in range(self.n)]
        return next((one for one in some if one not in seen), None)

    def ends(self, *codes):
        """Measure in one after another: its exit code, or the fault that it did not come up by."""

        def in_one(setting, words):
            code = codes[setting.levels["servers"]]
            self.seen.append(setting.levels["servers"])
            if isinstance(code, SystemFaultError):
                raise code
            self.runs += code in (0, 1)
            return code

        return in_one


def measured(*codes):
    begun, said = Begun(len(codes)), []
    return measure_lab_by_lab(begun, begun.ends(*codes), said.append), begun.seen, said


@pytest.mark.parametrize(("codes", "code"), [((0, 0), 0), ((0, 1), 1), ((1, 0), 1)])
def test_an_incomplete_trial_is_that_of_all(codes, code):
    assert measured(*codes) == (code, [0, 1], [])


def test_a_lab_whose_nodes_cannot_be_used_is_left_out_and_the_others_are_measured_in():
    code, seen, said = measured(0, 3, DOWN, 0)
    assert (code, seen) == (1, [0, 1, 2, 3])
    assert codes(said) == ["lab-excluded", "lab-excluded", "labs-excluded"]
    one, two, both = said
    assert all(f"servers={n}," in lab.values["lab"] for n, lab in ((1, one), (2, two)))
    assert DOWN.message not in one and two.values["reason"] == DOWN.message
    assert_problem(both, "labs-excluded", labs="2 labs", n=4, names=f"{one.values['lab']}; {two.values['lab']}")


def test_where_none_can_be_measured_in_the_fault_is_that_of_the_campaign():
    assert measured(3) == (3, [0], [])
    with raises("not-mounted", SystemFaultError):
        measured(DOWN)


def test_three_in_a_row_are_no_chance():
    code, seen, said = measured(0, 3, 3, 3, 0)
    assert (code, seen, len(said)) == (3, [0, 1, 2, 3], 2)
    assert measured(3, 3, 0, 3, 3)[:2] == (1, [0, 1, 2, 3, 4])


@pytest.mark.parametrize("code", [2, 130])
def test_a_mistake_or_an_interrupt_ends_it(code):
    assert measured(0, code, 0)[:2] == (code, [0, 1])


def test_a_lab_of_which_nothing_was_kept_was_not_measured_in():
    begun, said = Begun(2), []

    def in_one(setting, words):
        begun.runs += setting.levels["servers"]
        return 0

    assert measure_lab_by_lab(begun, in_one, said.append) == 1
    assert codes(said) == ["lab-excluded", "labs-excluded"]
    assert said[0].values["reason"].code == "no-lab-trials"
