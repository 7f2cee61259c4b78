"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

NOT_ASKED = "truth A3: a setting that varies and was not asked about is pooled without a word"
EPISODE_UNSEEN = "a level that comes back after 20 nights is not found, or only as a change in the other direction"
WEIGHTS_ESTIMATED = "weights from 12 trials of a block count as known"

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("anova", "no effect; a block of days, weighted"): WEIGHTS_ESTIMATED,
    ("scale", "linear; requests are larger at few nodes, and not asked about"): NOT_ASKED,
    **{("watch", f"{ratio} × from night 20 to 40; cv 3 %"): EPISODE_UNSEEN for ratio in ("0.8", "1.25")},
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}
