"""The bandwidth of the density, as an option says it."""

from iosonde.core.errors import InputError
from iosonde.stats.density import kernel


def parse_bandwidth(text: str | float) -> str | float:
    """Parse a rule's name, or a number of natural logarithms. Raises InputError."""
    if text in kernel.RULES:
        return text
    try:
        bandwidth = float(text)
    except ValueError:
        bandwidth = -1.0
    if not 0.001 <= bandwidth <= 2:
        raise InputError(
            "invalid-option-value",
            "'{bandwidth}' is not a bandwidth",
            "one of {rules}, or a number, as 0.05 for 5 %",
            bandwidth=text,
            rules=", ".join(kernel.RULES),
        )
    return bandwidth
