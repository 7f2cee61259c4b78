"""The forms of one tool's output (text, JSON, CSV) name the same settings with the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from iosonde.core.types import FactorValue
from iosonde.importers import Text, understand

FIXTURES = Path(__file__).parent.parent / "golden" / "fixtures"
PAIRS = (
    ("ior/gen-ior400-fpp-3reps.txt", "ior/gen-ior400-json-3reps.json"),
    ("elbencho/gen-eb3110-randread-3iter.csv", "elbencho/gen-eb3110-randread-3iter.json"),
)


def read_settings(name: str) -> dict[str, FactorValue]:
    """Read the settings of a capture's first run."""
    return understand(Text((FIXTURES / name).read_bytes(), name)).runs[0].factors


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_forms_have_the_same_settings(first, second):
    settings, others = read_settings(first), read_settings(second)
    assert settings == others and {type(value) for value in settings.values()} == {type(v) for v in others.values()}


def test_the_rows_of_ranks_have_settings_of_the_text():
    assert read_settings("mdtest/gen-mdtest410-rankperf.csv").items() <= (
        read_settings("mdtest/gen-mdtest410-rankcsv-stdout.txt").items()
    )


@pytest.mark.parametrize(
    ("name", "total"), [("ior/gen-ior400-fpp-3reps.txt", "aggregate_size"), ("mdtest/gen-mdtest410-3iter.txt", "items")]
)
def test_totals_that_follow_from_other_settings_are_facts(name, total):
    (run,) = understand(Text((FIXTURES / name).read_bytes(), name)).runs
    assert total in run.facts and total not in run.factors
