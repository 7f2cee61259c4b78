"""How many operations a step is, and how many bytes: as the engine does it."""

from __future__ import annotations

import pytest
from engine_helpers import fake, phase

from iosonde.core.workload import Step

PATTERNS = [
    None,
    "seq",
    "reverse",
    "rnd",
    "shuffled",
    "off0",
    {"rnd_near": {"distance": 9999}},
    {"stride": {"hole": 3000}},
    {"stride": {"hole": 0}},
]


@pytest.mark.parametrize("offsets", PATTERNS)
@pytest.mark.parametrize("given", [{"size": 100_000}, {"size": 4096}, {"count": 7}, {"size": 100_000, "count": 60}])
def test_operations_and_bytes_are_those_that_the_engine_does(offsets, given):
    step = {"kind": "read", "transfer_size": 4096, **given} | ({"offsets": offsets} if offsets else {})
    one = Step(**step)
    [[record]] = fake(phase({"kind": "open"}, step, {"kind": "close"}))
    (reads,) = [entry for entry in record.totals if entry["bytes"]]
    assert one.operations == reads["count"]
    if given.get("count") is None:
        assert one.moved_bytes == reads["bytes"]
