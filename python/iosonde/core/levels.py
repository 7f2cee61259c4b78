"""The confidence level: one check, and one warning, for every command and function."""

from __future__ import annotations

from .errors import InputError

LEAST, USUAL, MOST = 0.01, 0.9, 0.999_999


def check_level(level: float) -> float:
    """``level`` if it can be a confidence level. Raises InputError."""
    if not 0.0 < level < 1.0:
        hint = f"write {level / 100:g}" if 1 < level < 100 else "use a fraction such as 0.95"
        raise InputError(
            "out-of-range", "the confidence level {level:g} is not between 0 and 1", "{hint}", level=level, hint=hint
        )
    if not LEAST <= level <= MOST:
        hint = "use a usual one: 0.9, 0.95 or 0.99"
        raise InputError(
            "out-of-range",
            "the confidence level {level!r} is not from {minimum} to {maximum}",
            "{hint}",
            level=level,
            minimum=LEAST,
            maximum=MOST,
            hint=hint,
        )
    return level


def warning(level: float) -> str:
    """What to say of a level below 0.9; '' of the others."""
    if level >= USUAL:
        return ""
    return f"warning: at level {level:g} one interval in {1 / (1 - level):.2g} misses; 0.9 or more is usual"
