"""What is known to be beyond its limits, and by which review: the list may only become shorter.

A cell that is listed here and keeps its limits fails the test, as one does that is not listed and does not.
"""

from __future__ import annotations

# (command, truth) → the review that describes it.
PENDING: dict[tuple[str, str], str] = {
    ("compare", "regression to the mean"): "truth.md, ten traps: 52 of 60 nodes have one round, and nothing says so",
}

# (command, trap) whose sentence claims what no verdict holds.
PENDING_WORDS: dict[tuple[str, str], str] = {
    ("compare", "host goes with fs"): "the sentence is 'ceph is faster', the verdict not separable",
}
