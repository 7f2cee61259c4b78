"""The assumptions that must be checked before a verdict on each question."""

REQUIRED: dict[str, frozenset[str]] = {
    question: frozenset()
    for question in ("difference", "effect", "slope", "limit", "best", "model", "change", "cause", "gate")
}
