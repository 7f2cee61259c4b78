"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# Commands whose answers hold no verdicts yet.
WITHOUT_VERDICTS = frozenset({
    "anova", "watch",
})  # fmt: skip

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("summary", "simpson"): "truth.md",
    ("compare", "lord"): "truth.md",
    ("summary", "survivorship"): "truth.md",
    ("compare", "regression to the mean"): "truth.md",
    ("summary", "drift with times"): "truth.md",
    ("rank", "drift with times"): "truth.md",
    ("plot", "drift with times"): "truth.md",
    ("report", "drift with times"): "truth.md",
    ("summary", "drift by rows"): "truth.md",
    ("rank", "drift by rows"): "truth.md",
    ("plot", "drift by rows"): "truth.md",
    ("report", "drift by rows"): "truth.md",
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {
    ("compare", "host goes with fs"): "truth.md: the verdict 'B is more' stays",
}


def is_pending(key: tuple[str, str]) -> bool:
    """Whether a cell is known to be beyond its limits."""
    return key[0] in WITHOUT_VERDICTS or key in PENDING
