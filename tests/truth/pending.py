"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# Commands whose answers hold no verdicts yet.
WITHOUT_VERDICTS = frozenset({
    "anova", "regress", "fit", "advise", "scale",
    "watch", "corpus",
})  # fmt: skip

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("summary", "simpson"): "truth.md",
    ("rank", "simpson"): "truth.md",
    ("compare", "lord"): "truth.md",
    ("compare", "survivorship"): "truth.md",
    ("summary", "survivorship"): "truth.md",
    ("compare", "regression to the mean"): "truth.md",
    ("compare", "drift with times"): "truth.md",
    ("gate", "drift with times"): "truth.md",
    ("summary", "drift with times"): "truth.md",
    ("rank", "drift with times"): "truth.md",
    ("plot", "drift with times"): "truth.md",
    ("report", "drift with times"): "truth.md",
    ("compare", "drift by rows"): "truth.md",
    ("gate", "drift by rows"): "truth.md",
    ("summary", "drift by rows"): "truth.md",
    ("rank", "drift by rows"): "truth.md",
    ("plot", "drift by rows"): "truth.md",
    ("report", "drift by rows"): "truth.md",
    ("compare", "ranks taken for trials"): "truth.md",
    ("gate", "ranks taken for trials"): "truth.md",
    ("summary", "ranks taken for trials"): "truth.md",
    ("rank", "ranks taken for trials"): "truth.md",
    ("plot", "ranks taken for trials"): "truth.md",
    ("report", "ranks taken for trials"): "truth.md",
    ("compare", "ranks without their trials"): "truth.md",
    ("compare", "equal; 4 trials of 8 ranks, columns trial, rank"): "truth.md A4",
    ("compare", "equal; 4 trials of 8 ranks, columns trial"): "truth.md A4",
    ("compare", "equal; 6 trials of 8 ranks, columns trial, rank"): "truth.md A4",
    ("compare", "equal; 6 trials of 8 ranks, columns trial"): "truth.md A4",
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {
    ("compare", "host goes with fs"): "truth.md: the verdict 'B is more' stays",
}


def is_pending(key: tuple[str, str]) -> bool:
    """Whether a cell is known to be beyond its limits."""
    return key[0] in WITHOUT_VERDICTS or key in PENDING
