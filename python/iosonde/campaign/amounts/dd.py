"""dd: blocks of one size."""

from iosonde.campaign.forecast import TrialWork
from iosonde.core.message import Message

from .amount import Amount, CallContext, CallOptions, FileSpace, UnknownAmountError


def compute_amount(options: CallOptions, context: CallContext) -> Amount:
    """Return what one dd writes. Raises UnknownAmountError."""
    path = options.text("of")
    if path == "/dev/null":
        return Amount({}, TrialWork(options.size("count") * options.size("bs", 512)) if options.has("count") else None)
    if not path or path.startswith("/dev/"):
        raise UnknownAmountError(Message("unknown-amount", "it writes to no file"))
    options.refuse("ibs obs", "blocks of two sizes")
    if "count_bytes" in options.text("iflag"):
        raise UnknownAmountError(Message("unknown-amount", "it counts bytes"))
    n_bytes = options.size("count") * options.size("bs", 512)
    return Amount({path: FileSpace(n_bytes, 1)}, TrialWork(n_bytes, 1, n_bytes))
