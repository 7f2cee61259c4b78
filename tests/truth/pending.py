"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}
