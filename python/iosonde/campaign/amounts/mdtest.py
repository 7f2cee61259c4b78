"""mdtest: items × tasks, in trees of directories."""

from iosonde.campaign.forecast import TrialWork

from .amount import Amount, CallContext, CallOptions, FileSpace
from .ior import check_api

_PHASES = {"C": "create", "T": "stat", "E": "read", "r": "remove"}


def compute_amount(options: CallOptions, context: CallContext) -> Amount:
    """Return what a job of mdtest makes. Raises UnknownAmountError."""
    check_api(options)
    options.refuse("W", "a time limit ends it")
    options.refuse("f l s", "it runs with several numbers of tasks")
    options.refuse("run-cmd-before-phase run-cmd-after-phase", "it runs other commands")
    phases = [name for letter, name in _PHASES.items() if options.has(letter)] or list(_PHASES.values())
    ranks = context.ranks
    directories = _count_directories(options)
    items = options.count("n") or options.count("I") * directories
    kinds = ("directory",) * (not options.has("F")) + ("file",) * (not options.has("D") or options.has("F"))
    n_items = items if options.has("S") else items * ranks
    n_bytes = n_items * options.size("w", 0) if "file" in kinds else 0
    trees = directories * (ranks if options.has("u") else 1)
    at_once = 1 if "remove" in phases else len(kinds)
    space = FileSpace(n_bytes, at_once * n_items + trees) if "create" in phases else FileSpace()
    n_read = n_items * options.size("e", 0) if "file" in kinds and "read" in phases else 0
    n_written = n_bytes if "create" in phases else 0
    repetitions = max(options.count("i", 1), 1)
    work = TrialWork(
        repetitions * (n_written + n_read), repetitions * n_items * len(phases) * len(kinds), repetitions * n_written
    )
    return Amount({options.text("d", "out"): space}, work, is_permanent="remove" not in phases)


def _count_directories(options: CallOptions) -> int:
    branches, depth = max(options.count("b", 1), 1), min(options.count("z"), 64)
    return sum(branches**level for level in range(depth + 1))
