"""Calls to the servers in a summary: of what was asked for."""

from __future__ import annotations

from types import SimpleNamespace

import sample_store
from iosonde.commands.summary import answer as room
from iosonde.data.query import ResponseQuery
from iosonde.data.source import open_data


def test_calls_are_those_of_the_operations_that_are_summarised(tmp_path, monkeypatch):
    """A question about opening is not answered by what a write costs."""
    sample_store.main(str(tmp_path / "s"))
    source = open_data(str(tmp_path / "s"))
    told = tuple(SimpleNamespace(operation=name) for name in ("read", "write"))
    monkeypatch.setattr(room, "estimate_phase_calls", lambda runs, level: told)
    assert room.summary(source, ResponseQuery()).calls == told
    assert [found.operation for found in room.summary(source, ResponseQuery(("read",))).calls] == ["read"]
