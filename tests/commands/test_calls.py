"""Calls to servers as text."""

from __future__ import annotations

import re

from iosonde.commands.summary import text_faults as text
from iosonde.core.types import Estimate
from iosonde.stats.overview.calls import PhaseCalls


def one(value):
    return Estimate(value, None, None, 0.95, 1)


def test_the_clients_operations_stand_beside_the_calls():
    found = PhaseCalls(
        "read",
        "",
        "read",
        {"read": one(1.0), "open": one(1.0)},
        {"lookup": one(1.0), "read": one(1.0), "statfs": one(0.001)},
        one(2.0),
        Estimate(2.0, 1.9, 2.1, 0.95, 3),
    )
    told = list(text.format_server_calls([found] * 9))
    assert told[0].endswith(": read")
    assert [line.split() for line in told[1:5]] == [
        ["for", "each", "read", "client", "interval", "servers", "interval"],
        ["lookup", "1.00", "~"],
        ["read", "1.00", "~", "1.00", "~"],
        ["open", "1.00", "~"],
    ]
    assert re.findall(r"\d[\d.]*", " ".join(told[5:7])) == ["2.00", "2.00", "1.90", "2.10", "1."]
    assert "~" in told[5]
    assert "1" in told[-1].split() and "--json" in told[-1]
