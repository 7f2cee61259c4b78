"""What the sentence on a bound says where some, or all, of what was measured is above it."""

from types import SimpleNamespace

from iosonde.answers.bound.answer import ABOVE, closing


def measured(share, above):
    return SimpleNamespace(verdict=ABOVE if above else "", share=SimpleNamespace(value=share), used=dict,
                           ceiling=SimpleNamespace(limit=("disks",), missing=()))  # fmt: skip


def test_the_share_is_of_those_that_are_not_above_and_says_of_how_many():
    said = closing([measured(0.4, False), measured(0.9, False), measured(3.0, True)], 0.95)
    assert said.startswith("40 to 90 % of the bound was delivered in 2 of 3; it is set by the disks.")
    assert closing([measured(0.4, False)], 0.95).startswith("40 % of the bound was delivered; it is set by the disks.")


def test_what_sets_the_bound_is_said_where_everything_is_above_it():
    assert closing([measured(3.0, True)], 0.95).startswith("The bound is set by the disks. 1 of 1 is above the bound")
