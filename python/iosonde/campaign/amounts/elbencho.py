"""elbencho: threads × directories × files in a directory, or files that all threads share."""

from iosonde.campaign.forecast import TrialWork
from iosonde.core.message import Message

from .amount import Amount, CallContext, CallOptions, FileSpace, UnknownAmountError

_OTHER_TARGETS = "hdfs netbench treefile"
_ELSEWHERE = "hostsfile clients clientsfile c service quit"


def compute_amount(options: CallOptions, context: CallContext) -> Amount:
    """Return what one elbencho, with its services, writes. Raises UnknownAmountError."""
    options.refuse(_OTHER_TARGETS, "it does not work on plain files")
    options.refuse(_ELSEWHERE, "its workers are listed elsewhere")
    options.refuse("infloop", "it runs until a time limit")
    paths = [*options.arguments, *options.values.get("path", ())]
    if not paths or any("[" in path or "," in path for path in paths):
        raise UnknownAmountError(Message("unknown-amount", "its paths are not listed one by one"))
    hosts = [host for host in options.text("hosts").replace(",", " ").split() if host]
    if any("[" in host for host in hosts) or options.has("numhosts"):
        raise UnknownAmountError(Message("unknown-amount", "its hosts are not listed one by one"))
    threads = max(options.count("t", 1), 1) * max(len(hosts), 1)
    space = _compute_space(options, paths, threads, context)
    phases = options.has("w") + options.has("r")
    n_items = space.n_files * (phases + options.has("F") + options.has("stat"))
    work = TrialWork(space.n_bytes * phases, n_items, space.n_bytes * options.has("w"))
    is_writing = options.has("w") or options.has("d")
    remaining = space if options.has("w") else FileSpace(0, space.n_files)
    is_timed = options.has("timelimit", "limitread", "limitwrite", "randamount", "rwmixpct")
    repetitions = max(options.count("i", 1), 1)
    total = TrialWork(work.n_bytes * repetitions, work.n_files * repetitions, work.n_written * repetitions)
    spaces = {**dict.fromkeys(paths, FileSpace()), paths[0]: remaining if is_writing else FileSpace()}
    return Amount(spaces, None if is_timed else total, not options.has("F"))


def _compute_space(options: CallOptions, paths: list[str], threads: int, context: CallContext) -> FileSpace:
    n_bytes = options.size("s", 0)
    if _are_directories(options, paths, context):
        directories = options.count("n", 1)
        n_files = threads * max(directories, 1) * options.count("N", 1)
        return FileSpace(n_files * n_bytes, n_files + threads * directories)
    if not options.has("s"):
        raise UnknownAmountError(Message("unknown-amount", "the size of its files is not given"))
    if threads > 1 and not all(context.is_new(path) for path in paths):
        raise UnknownAmountError(Message("unknown-amount", "{path} may be a directory", path=paths[0]))
    return FileSpace(len(paths) * n_bytes, len(paths))


def _are_directories(options: CallOptions, paths: list[str], context: CallContext) -> bool:
    if options.has("d", "D", "n", "N"):
        return True
    directories = {context.trial_directory, *context.directories}
    return any(context.locate(path) in directories or path.endswith("/") for path in paths)
