"""The roll call says what would cost whole trials: here, that the first rank does not see where results are left."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from iosonde.ranks import rollcall
from iosonde.ranks.launch import local
from messages import raises


class Elsewhere(local.Local):
    """A launcher of a node on which paths below ``hidden`` are others."""

    def __init__(self, hidden: Path) -> None:
        self._hidden = str(hidden)

    def command(self, nodes: int, ranks_per_node: int, program: Sequence[str]) -> list[str]:
        """The program, as that node has its paths."""
        return super().command(nodes, ranks_per_node, [word.replace(self._hidden, "/no/such") for word in program])


def test_results_that_could_not_come_home_are_refused_with_the_place(tmp_path):
    with raises("spool-not-shared") as error:
        rollcall.call_roll(Elsewhere(tmp_path), 1, where=tmp_path, leave_results=True)
    assert "--spool" in error.value.hint and list(tmp_path.iterdir()) == []


def test_where_nothing_is_left_nobody_needs_to_see_it(tmp_path):
    here = (os.uname().nodename,)
    assert rollcall.call_roll(Elsewhere(tmp_path), 1, where=tmp_path) == here
    assert rollcall.call_roll(local.Local(), 1, where=tmp_path, leave_results=True) == here
