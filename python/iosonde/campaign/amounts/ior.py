"""IOR: blocks × segments × tasks."""

from iosonde.campaign.forecast import TrialWork
from iosonde.core.message import Message

from .amount import Amount, CallContext, CallOptions, FileSpace, UnknownAmountError

# APIs whose files are on a mounted file system.
MOUNTED_APIS = ("POSIX", "MPIIO", "MMAP", "HDF5", "NCMPI", "AIO")
# Directives that change nothing but the output.
_QUIET = ("summaryformat", "summaryfile", "saverankperformancedetailscsv", "saveperopdatacsv", "verbose")


def compute_amount(options: CallOptions, context: CallContext) -> Amount:
    """Return what a job of IOR writes. Raises UnknownAmountError."""
    check_api(options)
    options.refuse("D T", "a time limit ends it")
    options.refuse("f", "a script says what it does")
    options.refuse("y", "it writes to two mounts")
    for directive in ",".join(options.values.get("O", ())).split(","):
        if directive and directive.partition("=")[0].lower() not in _QUIET:
            raise UnknownAmountError(Message("unknown-amount", "the directive {option} is unknown", option=directive))
    has_operation = options.has("w", "r", "R", "W")
    is_writing, n_reads = options.has("w") or not has_operation, options.has("r", "R") or not has_operation
    ranks = min(options.count("N", context.ranks), context.ranks) or context.ranks
    repetitions = max(options.count("i", 1), 1)
    n_bytes = options.size("b", 1 << 20) * options.count("s", 1) * ranks
    n_files = ranks if options.has("F") else 1
    space = FileSpace(n_bytes, n_files * (2 if options.has("u") else 1)).times(repetitions if options.has("m") else 1)
    if options.has("dryRun"):
        return Amount({}, TrialWork(0))
    phases = is_writing + n_reads + options.has("W")
    work = TrialWork(
        n_bytes * phases * repetitions, ranks * (phases + is_writing) * repetitions, n_bytes * is_writing * repetitions
    )
    path = options.text("o", "testFile")
    return Amount({path: space if is_writing else FileSpace()}, work, is_permanent=options.has("k"))


def check_api(options: CallOptions) -> None:
    """Raise UnknownAmountError for an API that bypasses mounted file systems."""
    if options.text("a", "POSIX").upper() not in MOUNTED_APIS:
        raise UnknownAmountError(
            Message("unknown-amount", "files of the API {api} are on no mount", api=options.text("a"))
        )
