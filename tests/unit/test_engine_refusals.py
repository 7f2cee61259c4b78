"""A workload that cannot be run is refused by the name of its key; nothing that it says makes the engine panic."""

from __future__ import annotations

import errno

import pytest
from engine_helpers import READS, phase, session
from hypothesis import given, settings
from hypothesis import strategies as st

from iosonde.engine import _native


@pytest.mark.parametrize(
    ("change", "key", "why"),
    [
        ({"size": "4k"}, "workers[0].phases[0].steps[0].size", "whole number"),
        ({"transfer_size": 0}, "workers[0].phases[0].steps[0].transfer_size", "from 1 to"),
        ({"size": 100}, "workers[0].phases[0].steps[0].transfer_size", "larger than"),
        ({"kind": "reed"}, "workers[0].phases[0].steps[0].kind", "reed"),
        ({"offsets": "random"}, "workers[0].phases[0].steps[0].offsets", "rnd"),
        ({"offsets": {"rnd_near": {"distance": 5}}}, "offsets.rnd_near.distance", "transfer size"),
        ({"sise": 4096}, "workers[0].phases[0].steps[0]", "sise"),
    ],
)
def test_a_wrong_step_is_refused_by_name(change, key, why):
    with pytest.raises(_native.EngineError) as error:
        session("/nowhere", phase({**READS, **change}))
    assert key in str(error.value) and why in str(error.value)


@pytest.mark.parametrize("name", ["/etc/passwd", "../x", "a/../../x", "a//b", ".", ""])
def test_a_name_that_leaves_the_root_is_refused(name):
    with pytest.raises(_native.EngineError) as error:
        session("/nowhere", phase(READS, files={"names": [name]}))
    assert "phases[0].files.names[0]" in str(error.value)


@pytest.mark.parametrize(
    ("keys", "place", "word"),
    [
        ({"passes": 0}, "", '"passes"'),
        ({"alignment": 3}, "", '"alignment"'),
        ({"order": "sorted"}, ".order", "sorted"),
        ({"open_flags": ["fast"]}, ".open_flags[0]", "fast"),
        ({"files": {"template": "../f"}}, ".files.template", '"../f'),
        ({"content": {"compressible": 2}}, ".content.compressible", ""),
        ({"arrival": {"rate_per_s": 0}}, ".arrival.rate_per_s", "more than 0"),
        ({"arrival": {"rate_per_s": 1, "burst": 2}}, ".arrival.burst", "unknown"),
        ({"files": {"template": "f", "names": ["a"]}}, ".files", "one of"),
        ({"files": {"names": ["a"], "count": 2}}, ".files", "one of"),
        ({"memory_size": 4095}, ".memory_size", "4096"),
        ({"steps": []}, ".steps", "at least one"),
    ],
)
def test_a_wrong_phase_is_refused(keys, place, word):
    with pytest.raises(_native.EngineError) as error:
        session("/nowhere", phase(READS, **keys))
    where, _, said = str(error.value).partition(": ")
    assert where == f"workers[0].phases[0]{place}" and word in said


def test_no_json_and_no_such_phase():
    said = []

    def refused(call, *words):
        with pytest.raises(_native.EngineError) as error:
            call(*words)
        said.append(str(error.value))

    refused(_native.Session, "{", 10)
    opened = session("/nowhere", phase(READS), backend={"name": "fake"})
    refused(opened.prepare, 1)
    refused(opened.run, 0)
    opened.close()
    refused(opened.prepare, 0)
    assert len(set(said)) == 4 and "JSON" in said[0] and "1" in said[1] and "0" in said[2]


def test_more_memory_than_there_is_is_an_error_and_no_crash():
    for keys, budget in [({"memory_size": 1 << 40}, 1), ({}, 1 << 60)]:
        opened = session(
            "/nowhere", phase({**READS, "count": 1 << 50}, **keys), backend={"name": "fake"}, budget=budget
        )
        with pytest.raises(OSError) as error:
            opened.prepare(0)
        assert error.value.errno == errno.ENOMEM
        opened.close()


ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
PHASE_KEYS = ["files", "order", "passes", "steps", "time_limit_ns", "max_operations", "on_error", "arrival"]
PHASE_KEYS += ["open_flags", "content", "verify", "alignment"]
STEP_KEYS = ["kind", "transfer_size", "base", "size", "count", "offsets", "memory", "to", "ns", "ns_per_byte", "of"]


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(
    phase_keys=st.dictionaries(st.sampled_from(PHASE_KEYS), ANYTHING, max_size=2),
    step_keys=st.dictionaries(st.sampled_from(STEP_KEYS), ANYTHING, max_size=3),
    kind=st.sampled_from([*_native.KINDS, "mix"]),
)
def test_whatever_a_workload_says_it_runs_or_is_refused(phase_keys, step_keys, kind):
    step = {"kind": kind, "transfer_size": 8, "size": 100, "to": ".x", "ns": 5, **step_keys}
    if step["kind"] not in ("compute", "mix", "dontneed") and not str(step["kind"]).endswith(
        ("read", "write", "append")
    ):
        step = {key: step[key] for key in ("kind", "to", *step_keys) if key in step}
    keys = {"max_operations": 50, **{key: value for key, value in phase_keys.items() if key != "max_operations"}}
    try:
        opened = session("/nowhere", {**phase(step), **keys}, backend={"name": "fake"})
        opened.prepare(0)
    except (_native.EngineError, OSError):
        return
    [record] = opened.run(0)
    opened.close()
    assert len(record.operations) <= 50
