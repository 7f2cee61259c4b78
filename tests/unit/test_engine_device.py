"""Phases on /dev/zero and /dev/null: data from and to nowhere, and no other way out of the root."""

from __future__ import annotations

import pytest
from engine_helpers import clean, phase, rows, run

from iosonde.engine import _native

READ = {"kind": "read", "transfer_size": 4096, "size": 1 << 20, "offsets": "rnd", "count": 50, "memory": "seq"}
WRITE = READ | {"kind": "write"}


def test_what_is_read_comes_from_zero_and_what_is_written_goes_to_null(tmp_path):
    results = run(tmp_path, phase(READ, files={"device": "zero"}), phase(WRITE, files={"device": "null"}))
    assert clean(results)
    for [record], kind in zip(results, ("read", "write"), strict=True):
        assert list(rows(record)["kind"]) == [kind] * 50 and set(rows(record)["size"]) == {4096}
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("device", "steps", "keys", "said"),
    [
        ("zero", [WRITE], {}, "on /dev/zero there is read and compute only"),
        ("null", [READ], {}, "on /dev/null there is write and compute only"),
        ("null", [{"kind": "unlink"}], {}, "on /dev/null there is write and compute only"),
        ("null", [{"kind": "truncate"}], {}, "on /dev/null there is write and compute only"),
        ("zero", [{"kind": "create"}, READ], {}, "on /dev/zero there is read and compute only"),
        ("zero", [READ], {"open_flags": ["sync"]}, "/dev/zero is opened without flags"),
        ("sda", [READ], {}, '"sda" is neither zero nor null'),
        ("/dev/zero", [READ], {}, "is neither zero nor null"),
    ],
)
def test_a_device_is_for_one_direction_and_for_nothing_else(tmp_path, device, steps, keys, said):
    with pytest.raises(_native.EngineError, match=said):
        run(tmp_path, phase(*steps, files={"device": device}, **keys))
