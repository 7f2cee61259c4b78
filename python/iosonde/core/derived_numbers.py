"""Numbers that a tool computes from others of its own: they are no further evidence.

A mean over operations, and the headlines that are tested together, leave them out. IO500's score is the root of its
bandwidth and its rate, which are geometric means over the phases. A phase of IOR has a rate that is its bandwidth ÷
transfer size. What the tools print about the details of a phase (``mdtest_easy_write_tree_creation``) belongs to it.
"""

from collections.abc import Collection

Number = tuple[str, str]  # operation, kind of metric (core.headlines)

# The bytes of several operations, or of one at several settings (fio's jobs), over the time of the whole command.
ALL_OPERATIONS = "all operations"
_SCORES = ("score", "extended_score")
_PHASES = {"bandwidth": ("ior_",), "rate": ("mdtest_", "find", "mdworkbench_")}


def list_sources(number: Number, others: Collection[Number]) -> tuple[Number, ...]:
    """Return those of ``others`` that a number is computed from or belongs to; none if it stands for itself."""
    operation, kind = number
    if operation in _SCORES:
        parts = {"total": [(operation, part) for part in _PHASES]}
        phases = [other for other in others if other[1] == kind and other[0].startswith(_PHASES.get(kind, ()))]
        return tuple(part for part in parts.get(kind, phases) if part in others)
    if operation.endswith(ALL_OPERATIONS):
        return tuple(other for other in others if other != number and other[1] == kind)
    if operation.startswith("ior_") and kind == "rate":
        return tuple(other for other in others if other == (operation, "bandwidth"))
    if operation.startswith(("ior_", "mdtest_")):
        return tuple(other for other in others if operation.startswith(f"{other[0]}_") and other[1] in _PHASES)
    return ()
