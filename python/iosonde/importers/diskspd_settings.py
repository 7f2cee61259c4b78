"""Settings and completeness of a timespan of diskspd, in both of its forms."""

import re

from iosonde.core.message import Message
from iosonde.core.types import FactorValue

from .parsed import Parsed

_SHORTEST_SHARE = 0.95  # of the requested duration


def share_target_settings(run: Parsed, targets: list[dict[str, FactorValue]]) -> None:
    """Take over the settings that all targets share: the numbers are of all of them."""
    names = dict.fromkeys(name for target in targets for name in target)
    mixed = [name for name in names if len({target.get(name) for target in targets}) > 1]
    run.factors |= {name: targets[0][name] for name in names if name not in mixed}
    if mixed:
        run.warn(
            0,
            Message(
                "mixed-settings",
                "{n_targets} targets differ in {settings}: these are no settings of the sum over them",
                n_targets=len(targets),
                settings=", ".join(mixed),
            ),
        )


def check_end(run: Parsed, at: int, is_complete: bool, time: tuple[int, float] | None, count: float) -> None:
    """Note what a timespan lacks: sections, operations, or a part of its duration. ``time``: line and seconds."""
    run.facts["standard_deviation"] = "population"
    run.seconds = time[1] if time else 0.0
    requested = run.factors.get("runtime")
    if not is_complete:
        if not run.missing:
            run.lacks(at, Message("ended-early", "the output ends before the results"))
    elif not count:
        run.lacks(at, Message("no-results", "no operation was completed"))
    elif time and isinstance(requested, int) and time[1] < requested * _SHORTEST_SHARE:
        run.lacks(
            time[0],
            Message(
                "stopped-early", "it ran {seconds:g} s of {requested} s: stopped", seconds=time[1], requested=requested
            ),
        )


def parse_moment(words: str) -> str:
    """Return ``2019/10/17 05:58:46 UTC`` in ISO 8601; '' if it is none."""
    match = re.match(r"(\d{4})/(\d\d)/(\d\d) (\d\d:\d\d:\d\d)( UTC)?\s*$", words.strip())
    if match is None:
        return ""
    return f"{match[1]}-{match[2]}-{match[3]}T{match[4]}{'+00:00' if match[5] else ''}"
