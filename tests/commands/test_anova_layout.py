"""Spreads and differences of an analysis of variance, in a unit that can be read."""

from __future__ import annotations

import pytest

from iosonde.commands.anova.text import _format_estimates

MIB = 2.0**20
WHY = "one trial"


@pytest.mark.parametrize(
    ("numbers", "unit", "said"),
    [
        ([3.5 * MIB, 0.0, 9.25 * MIB], "bytes/s", "3.50 (0 to 9.25) MiB/s"),
        ([-0.002, -0.003, 0.001], "s", "-2.00 (-3.00 to 1.00) ms"),
        ([12.0, 1.0, 30.0], "", "12.0 (1.00 to 30.0)"),
        ([4 * MIB], "bytes", f"4.00 MiB ~ {WHY}"),
    ],
)
def test_a_value_and_its_interval_have_one_unit(numbers, unit, said):
    assert _format_estimates(numbers, unit, 3, [WHY]) == said
