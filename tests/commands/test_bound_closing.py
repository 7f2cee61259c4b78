"""What the sentence on a bound says where some, or all, of what was measured is above it."""

import re
from types import SimpleNamespace

from iosonde.commands.bound.answer import ABOVE, describe_shares


def measured(share, above):
    return SimpleNamespace(
        verdict=ABOVE if above else "",
        share=SimpleNamespace(value=share),
        used=dict,
        ceiling=SimpleNamespace(limit=("disks",), missing=()),
    )


def test_the_share_is_of_those_that_are_not_above_and_says_of_how_many():
    said = describe_shares([measured(0.4, False), measured(0.9, False), measured(3.0, True)], 0.95)
    assert said.startswith("40 to 90 %") and re.findall(r"\d of \d", said) == ["2 of 3", "1 of 3"] and "disks" in said
    alone = describe_shares([measured(0.4, False)], 0.95)
    assert alone.startswith("40 %") and not re.findall(r"\d of \d", alone) and "disks" in alone


def test_what_sets_the_bound_is_said_where_everything_is_above_it():
    said = describe_shares([measured(3.0, True)], 0.95)
    first, second, *_ = said.split(". ")
    assert first.endswith("disks") and "%" not in first and second.startswith("1 of 1")
