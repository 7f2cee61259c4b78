"""Whether files of a lab lie as chance would have it: that depends on who chooses their servers."""

from types import SimpleNamespace

import pytest

from iosonde_lab.api import Placement
from iosonde_lab.command import spread as lab_spread

ABCD = ("a", "b", "c", "d")


@pytest.mark.parametrize(("file_system", "n_places", "uneven"), [("glusterfs", 2, True), ("moosefs", 4, False)])
def test_what_a_lab_is_decides_whether_seven_files_on_two_of_four_servers_are_chance(file_system, n_places, uneven):
    """One of two groups got all: 2 in 2⁷. One of four servers has a copy of all, of pairs chosen freely: 4 in 2⁷."""
    lab = SimpleNamespace(
        servers=[SimpleNamespace(name=one) for one in ABCD], description=SimpleNamespace(file_system=file_system)
    )
    placed = [Placement(f"f{n}", {"a": 4096, "b": 4096, "c": 0, "d": 0}) for n in range(7)]
    found = lab_spread.answer(lab, "d", placed, 0.95)
    files, _ = found.spread
    assert [one["share"] for one in found.content()["servers"].values()] == [0.5, 0.5, 0.0, 0.0]
    assert (files.n_places, files.uneven) == (n_places, uneven)
