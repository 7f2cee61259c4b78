"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

EPISODE_UNSEEN = "a level that comes back after 20 nights is not found, or only as a change in the other direction"

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    **{("watch", f"{ratio} × from night 20 to 40; cv 3 %"): EPISODE_UNSEEN for ratio in ("0.8", "1.25")},
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}
