"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

POOLED_SPREAD = "truth A5: one variance is pooled over settings with unequal counts and spread; compare has Welch's"
NOT_ASKED = "truth A3: a setting that varies and was not asked about is pooled without a word"
EPISODE_UNSEEN = "a level that comes back after 20 nights is not found, or only as a change in the other direction"
NOT_CORRECTED = "a slope is different by its own interval, although the family says how many tests there are"
WEIGHTS_ESTIMATED = "weights from 12 trials of a block count as known"

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("regress", "no slope; cv 20 and 5 %, n = 4 and 16"): POOLED_SPREAD,
    ("anova", "no effect; a block of days, weighted"): WEIGHTS_ESTIMATED,
    ("advise", "none is better; cv 20 and 5 %, n = 4 and 16"): POOLED_SPREAD,
    ("regress", "x rises by 0; terms that correlate 0"): NOT_CORRECTED,
    ("scale", "linear; requests are larger at few nodes, and not asked about"): NOT_ASKED,
    **{("watch", f"{ratio} × from night 20 to 40; cv 3 %"): EPISODE_UNSEEN for ratio in ("0.8", "1.25")},
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}

TWO_TESTS = "compare decides by the interval of a ratio of few trials, on logarithms; the others by p of the difference"
TWO_MARGINS = "compare says equal by its margin where the others say different by p"

# (kind of DATA, question) on which commands disagree → the cause.
PENDING_AGREEMENT: dict[tuple[str, str], str] = {
    ("interaction", "cells"): TWO_MARGINS,
    ("measured in turn", "sides"): TWO_TESTS,
    ("two responses", "sides"): TWO_TESTS,
}
