"""Trials that depend on their neighbours: fewer independent trials, a larger p."""

from iosonde.core.message import Message

from ..estimate.distributions import normal_quantile, normal_two_sided_p


def discount_p(p: float, worth: float) -> float:
    """Return the p value if each trial is only ``worth`` a fraction of an independent one: the test statistic, as a
    standard score, shrinks by the root of it."""
    return p if p <= 0.0 or worth >= 1.0 else normal_two_sided_p(normal_quantile(p / 2) * worth**0.5)


def describe_dependence(worth: float) -> Message:
    """Describe trials that are each ``worth`` a fraction of an independent one."""
    template = "neighbouring trials resemble each other, so that each is worth {worth:.2g}"
    return Message("dependent-trials", template, worth=worth)
