"""OpenAFS in a lab: one server, all of whose processes are killed and come back."""

from __future__ import annotations

import short_life

from iosonde.lab.status import status


def test_its_life():
    with short_life.a_lab("openafs", servers=1) as lab:
        found = status(lab.name)
        assert found.layout["copies"] == 1 and not found.problem
        written = short_life.each_sees_the_others_file(lab)
        short_life.dies_and_comes_back(lab, lab.servers[0])
        short_life.each_still_reads(lab, written)
        short_life.each_sees_the_others_file(lab)
