"""IOzone: a file for each process."""

from iosonde.campaign.forecast import TrialWork

from .amount import Amount, CallContext, CallOptions, FileSpace

_KIB = 1024
# Size of the largest file of the automatic mode.
_LARGEST = 512 << 20


def compute_amount(options: CallOptions, context: CallContext) -> Amount:
    """Return what one IOzone, with its processes, writes. Raises UnknownAmountError."""
    options.refuse("u l", "it runs with several numbers of processes")
    options.refuse("U", "it mounts the file system anew")
    processes = max(options.count("t", 1), 1)
    is_automatic = options.has("a", "A", "z")
    n_bytes = options.size("s", 0, _KIB) or (options.size("g", _LARGEST, _KIB) if is_automatic else 512 * _KIB)
    tests = options.values.get("i", ["0", "1"])
    space = FileSpace(n_bytes, 1).times(processes) if "0" in tests else FileSpace()
    n_written = space.n_bytes * 2  # write and rewrite
    others = len(set(tests) - {"0"}) * 2 * n_bytes * processes
    paths = (options.text("f") or options.text("F") or "iozone.tmp").split()
    work = None if is_automatic else TrialWork(n_written + others, processes * len(set(tests)), n_written)
    return Amount({**dict.fromkeys(paths, FileSpace()), paths[0]: space}, work, is_permanent=options.has("w"))
