"""CPU time of a control group, as counted by the kernel."""

from contextlib import suppress


def parse_cpu_seconds(text: str) -> float | None:
    """Parse a group's ``cpu.stat`` (version 2, µs) or ``cpuacct.usage`` (version 1, ns) to seconds; None if neither is
    there."""
    words = text.split()
    with suppress(ValueError, IndexError):
        return int(words[words.index("usage_usec") + 1]) / 1e6 if "usage_usec" in words else int(words[0]) / 1e9
    return None
