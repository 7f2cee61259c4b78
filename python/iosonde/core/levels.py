"""The confidence level: one check and one warning for every command and function."""

from .errors import InputError
from .message import Message

LEAST, USUAL, MOST = 0.01, 0.9, 0.999_999


def check_level(level: float) -> float:
    """Return ``level`` if it is a valid confidence level. Raises InputError."""
    if not 0.0 < level < 1.0:
        raise InputError(
            "out-of-range",
            "the confidence level {level:g} is not between 0 and 1",
            "write {fraction:g}" if 50 <= level < 100 else "use a fraction such as 0.95",
            level=level,
            fraction=level / 100,
        )
    if not LEAST <= level <= MOST:
        raise InputError(
            "out-of-range",
            "the confidence level {level!r} is not between {minimum} and {maximum}",
            "use a usual one: 0.9, 0.95 or 0.99",
            level=level,
            minimum=LEAST,
            maximum=MOST,
        )
    return level


def build_low_level_warning(level: float) -> Message | None:
    """Return a warning for a level below 0.9."""
    if level >= USUAL:
        return None
    return Message(
        "low-confidence-level",
        "at level {level:g} one interval in {n_intervals:.2g} misses the true value; 0.9 or more is usual",
        level=level,
        n_intervals=1 / (1 - level),
    )
