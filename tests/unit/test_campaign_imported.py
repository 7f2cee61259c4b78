"""The answer of an import: counts, files, and what it ends with."""

from __future__ import annotations

import pytest

from iosonde.campaign.import_files import FileOutcome, Imported
from iosonde.core.errors import DataError, PartialInputError, SystemFaultError

GOOD = FileOutcome("a", "ior", runs=3, incomplete=1, warnings=2)
STORED = FileOutcome("b", "ior", there=True)
OTHER = FileOutcome("c", "fio", runs=1)
JOINED = FileOutcome("d", "fio", joined=True)
QUOTED = FileOutcome("e", "ior", quoted=True)
UNKNOWN = FileOutcome("f", reason="not known")
BROKEN = FileOutcome("g", reason="input/output error", fault=True)


def test_the_answer_counts_and_names_every_file():
    found = Imported((GOOD, STORED, OTHER, JOINED, QUOTED, UNKNOWN), ("no such factor",))
    assert found.to_dict() == {
        "schema": 1,
        "files": 6,
        "runs": 4,
        "incomplete": 1,
        "already_there": 1,
        "joined": 1,
        "by_format": [
            {"format": "fio", "files": 2, "runs": 1, "incomplete": 0, "already_there": 0},
            {"format": "ior", "files": 2, "runs": 3, "incomplete": 1, "already_there": 1},
        ],
        "imported": [
            {"file": "a", "format": "ior", "runs": 3, "incomplete": 1, "warnings": 2},
            {"file": "c", "format": "fio", "runs": 1, "incomplete": 0, "warnings": 0},
            {"file": "d", "format": "fio", "runs": 0, "incomplete": 0, "warnings": 0},
        ],
        "quoted": [{"file": "e", "format": "ior"}],
        "unknown": [{"file": "f", "reason": "not known"}],
        "warnings": ["no such factor"],
    }
    assert [row["file"] for row in found.records()] == list("abcdef")
    assert found.records()[0] == {
        "file": "a",
        "format": "ior",
        "runs": 3,
        "incomplete": 1,
        "warnings": 2,
        "there": False,
        "reason": "",
        "quoted": False,
        "joined": False,
        "fault": False,
    }


@pytest.mark.parametrize(
    ("outcomes", "individually", "error"),
    [
        ((GOOD,), True, None),
        ((), True, None),
        ((GOOD, QUOTED), True, None),
        ((GOOD, UNKNOWN), False, None),
        ((GOOD, UNKNOWN), True, PartialInputError),
        ((STORED, UNKNOWN), True, PartialInputError),
        ((UNKNOWN,), False, DataError),
        ((UNKNOWN, QUOTED), False, DataError),
        ((QUOTED,), False, DataError),
        ((GOOD, BROKEN), False, SystemFaultError),
        ((UNKNOWN, BROKEN), True, SystemFaultError),
    ],
)
def test_an_import_ends_with_the_worst_that_happened(outcomes, individually, error):
    found = Imported(outcomes).build_error(individually)
    assert type(found) is (error or type(None))
