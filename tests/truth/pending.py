"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("regress", "no slope; normal, cv 10 %; 4 × 4"): "issue 29, silence: leverage is doubted in 5 % of clean data",
    ("regress", "a slope; normal, cv 3 %; 4 × 4"): "issue 29, silence: leverage is doubted in 5 % of clean data",
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {}
