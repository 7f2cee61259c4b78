"""How many operations a step is: as the engine does it, and as a plan says it."""

from __future__ import annotations

import pytest
from engine_helpers import MIB, fake, phase

from iosonde.core.workload import MixPart, Phase, Step
from iosonde.measure.workloads.phase_plan import PhasePlan
from iosonde.report.text.plan import _does

KIB = 1024


PATTERNS = [None, "seq", "reverse", "rnd", "shuffled", "off0", {"rnd_near": {"distance": 9999}},
            {"stride": {"hole": 3000}}, {"stride": {"hole": 0}}]  # fmt: skip


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


@pytest.mark.parametrize(
    ("step", "said"),
    [
        (Step("write", 2 * KIB, size=100 * MIB), "51,200 writes of 2 KiB, 100 MiB"),
        (Step("read", 2048 * KIB, size=100 * MIB), "50 reads of 2 MiB, 100 MiB"),
        (Step("read", 4 * KIB, size=MIB, offsets="rnd"), "256 reads of 4 KiB at offsets rnd, 1 MiB"),
        (Step("write", 64 * KIB, count=1), "1 write of 64 KiB, 64 KiB"),
        (Step("read", KIB, size=64 * KIB, offsets={"stride": {"hole": KIB}}, sieve={"buffer": 16 * KIB}),
         "32 reads of 1 KiB at offsets stride, 32 KiB, sieved by 16 KiB"),
        (Step("mix", count=9, of=(MixPart(7, Step("read", KIB)), MixPart(3, Step("write", KIB)))),
         "mix of 7 read : 3 write"),
        (Step("fsync"), "fsync"),
    ],
)  # fmt: skip
def test_a_plan_says_operations(step, said):
    assert _does(step) == said


def test_a_phase_that_writes_knows_it_of_a_mix():
    mixed = Step("mix", count=9, of=(MixPart(1, Step("write", KIB)),))
    assert PhasePlan("m", Phase("m", None, (mixed,))).writes
