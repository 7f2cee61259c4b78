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
    ("device", "steps", "keys", "words"),
    [
        ("zero", [WRITE], {}, ("/dev/zero", "read")),
        ("null", [READ], {}, ("/dev/null", "write")),
        ("null", [{"kind": "unlink"}], {}, ("/dev/null", "write")),
        ("null", [{"kind": "truncate"}], {}, ("/dev/null", "write")),
        ("zero", [{"kind": "create"}, READ], {}, ("/dev/zero", "read")),
        ("zero", [READ], {"open_flags": ["sync"]}, ("/dev/zero", "flags")),
        ("sda", [READ], {}, ("files.device", "sda")),
        ("/dev/zero", [READ], {}, ("files.device", "/dev/zero")),
    ],
)
def test_a_device_is_for_one_direction_and_for_nothing_else(tmp_path, device, steps, keys, words):
    with pytest.raises(_native.EngineError) as error:
        run(tmp_path, phase(*steps, files={"device": device}, **keys))
    place, _, said = str(error.value).partition(": ")
    assert place.startswith("workers[0].phases[0]") and all(word in str(error.value) for word in words) and said
