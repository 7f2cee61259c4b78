"""What is known to fail, (room, command) → why: such a test must fail, so that a line here goes with its defect."""

from __future__ import annotations

_READS = (
    "compare", "regress", "anova", "rank", "scale", "bound", "time-model", "fit", "validate", "advise", "predict",
    "upgrade", "plan",
)  # fmt: skip
_OPENS_STORE = (
    "check", "verify", "explain-difference", "summary", "corpus", "watch", "diagnose", "show", "store check",
    "store export", "store index", "store merge", "store note", "store prune", "store redact", "store tag", "report",
    "serve", "plot",
)  # fmt: skip

FAILING: dict[tuple[str, str], str] = {
    **{("hung", name): "its file is read by the process that Ctrl-C is to end" for name in _READS},
    **{("hung", name): "a store is opened by the process that Ctrl-C is to end" for name in _OPENS_STORE},
}
