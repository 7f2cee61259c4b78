"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("summary", "survivorship"): "truth.md A8: values that are missing on one side",
    ("regress", "drift with times"): "truth.md A7",
    ("summary", "drift with times"): "truth.md A7",
    ("rank", "drift with times"): "truth.md A7",
    ("plot", "drift with times"): "truth.md A7",
    ("report", "drift with times"): "truth.md A7",
    ("anova", "drift with times"): "truth.md A7",
    ("regress", "drift by rows"): "truth.md A7",
    ("summary", "drift by rows"): "truth.md A7",
    ("rank", "drift by rows"): "truth.md A7",
    ("plot", "drift by rows"): "truth.md A7",
    ("report", "drift by rows"): "truth.md A7",
    ("anova", "drift by rows"): "truth.md A7",
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {
    ("rank", "simpson"): "the sentence is 'fs first', the verdict inconclusive",
    ("regress", "simpson"): "the sentence is 'effects that can be told from 0: fs[B]', the verdict inconclusive",
    ("regress", "host goes with fs"): "the sentence is 'effects that can be told from 0', the verdict not separable",
}
