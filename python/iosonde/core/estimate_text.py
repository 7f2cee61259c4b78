"""An Estimate as text in one format everywhere, ``212 (205–219) MiB/s``: value, interval, unit.

It suits asymmetric intervals (a median, a percentile) as well as symmetric ones. An unknown interval is ``~``: ``212
(~) MiB/s``.
"""

import math

from .types import Estimate
from .units import choose_human_scale, format_percent, format_significant

CANNOT_TELL = "~"
_MOST_DIGITS = 6
_MOST_DECIMALS, _LARGEST = 9, 1e10  # beyond, numbers have an exponent
_EVEN = 0.02  # largest difference of the two halves of a symmetric interval, as a fraction of one
_MEANINGLESS = 100.0  # the upper limit of a positive quantity beyond this multiple of it says nothing
_LEAST_SHARE = 5e-4  # of a total; a smaller one is 0.0 % with one decimal
_HOPELESS = 200.0  # beyond this ratio of interval to value, two digits suffice


def format_estimate(estimate: Estimate, unit: str, scale: tuple[float, str] | None = None) -> str:
    """Format ``212 (205–219) MiB/s``. ``scale`` is a shared ``human_scale(...)``, by default that of the value."""
    if estimate.value is None:
        return CANNOT_TELL
    divisor, name = scale or choose_human_scale(estimate.value, unit)
    value, interval = format_estimate_parts(estimate, divisor)
    return f"{value} ({interval}) {name}".rstrip()


def format_value(estimate: Estimate, unit: str) -> str:
    """Format the value of an Estimate whose interval stands elsewhere: ``212 MiB/s``."""
    if estimate.value is None:
        return CANNOT_TELL
    divisor, name = choose_human_scale(estimate.value, unit)
    return f"{format_significant(estimate.value / divisor)} {name}".rstrip()


def format_estimate_parts(estimate: Estimate, divisor: float = 1.0) -> tuple[str, str]:
    """Format (value, interval) with enough decimals to distinguish the interval's ends: ``("212", "205–219")``."""
    if estimate.value is None:
        return CANNOT_TELL, CANNOT_TELL
    value = estimate.value / divisor
    if estimate.low is None or estimate.high is None:
        return _format_fixed(value, _count_decimals(value, 0.0)), CANNOT_TELL
    low, high = estimate.low / divisor, estimate.high / divisor
    if low >= 0 and high > _MEANINGLESS * value > 0:
        return _format_fixed(value, _count_decimals(value, 0.0)), CANNOT_TELL
    if value and high - low > _HOPELESS * abs(value):
        return _format_fixed(value, _count_decimals(value, 0.0)), _format_range(
            format_significant(low, 2), format_significant(high, 2)
        )
    decimals = _count_decimals(value, (high - low) / 2)
    return _format_fixed(value, decimals), _format_range(_format_fixed(low, decimals), _format_fixed(high, decimals))


def is_symmetric(estimate: Estimate) -> bool:
    """Return whether ``212 ± 7`` describes an interval; also if there is none."""
    if estimate.value is None or estimate.low is None or estimate.high is None:
        return True
    half = (estimate.high - estimate.low) / 2
    is_even = abs(estimate.high + estimate.low - 2 * estimate.value) <= _EVEN * half
    return is_even and half <= _HOPELESS * abs(estimate.value)


def format_short_estimate(estimate: Estimate, divisor: float = 1.0, symmetric: bool = True) -> str:
    """Format for narrow columns: ``212 ± 7`` if symmetric, ``212, 198–241`` if asymmetric, ``212 ~`` if unknown.
    ``symmetric``: False if a neighbour's interval is not."""
    value, interval = format_estimate_parts(estimate, divisor)
    if estimate.value is None or estimate.low is None or estimate.high is None or interval == CANNOT_TELL:
        return CANNOT_TELL if estimate.value is None else f"{value} {CANNOT_TELL}"
    if not symmetric or not is_symmetric(estimate):
        return f"{value}, {interval}"
    half = (estimate.high - estimate.low) / 2
    decimals = _count_decimals(estimate.value / divisor, half / divisor)
    return f"{value} ± {_format_fixed(half / divisor, decimals)}"


def format_estimate_or_end(estimate: Estimate, unit: str) -> str:
    """Format an Estimate with an unknown end by the other end: ``at least 8``."""
    if estimate.value is not None and estimate.low is not None and estimate.high is not None:
        return format_estimate(estimate, unit)
    bound = estimate.low if estimate.high is None else estimate.high
    if bound is None:
        return CANNOT_TELL
    divisor, name = choose_human_scale(bound, unit)
    return f"at {'least' if estimate.high is None else 'most'} {format_significant(bound / divisor)} {name}".rstrip()


def format_percent_estimate(share: Estimate) -> str:
    """Format a fraction in percent with its interval: ``85 % (71–92 %)``, ``2.5 % (1.9–3.3 %)``."""
    value, interval = format_explained_share(share)
    return f"{value} ({interval})" if interval not in ("", value) else value


def _format_range(low: str, high: str) -> str:
    """Join as ``205–219``; with "to" before a minus sign, which would merge with the dash."""
    return f"{low} to {high}" if high.startswith("-") else f"{low}–{high}"


def _count_decimals(value: float, half_width: float) -> int:
    """Return the decimals for three significant digits, or more (up to six) to show one digit of the half-width."""
    if value == 0 or not math.isfinite(value):
        return 2
    magnitude = math.floor(math.log10(abs(value)))
    decimals = 2 - magnitude
    if half_width > 0 and math.isfinite(half_width):
        decimals = max(decimals, -math.floor(math.log10(half_width)))
    most = _MOST_DIGITS - 1 - magnitude
    # No number of decimals shows a half-width that would need more: 64.0, not 64.0000.
    return decimals if decimals <= most else 2 - magnitude


def _format_fixed(value: float, decimals: int) -> str:
    if decimals > _MOST_DECIMALS or abs(value) >= _LARGEST:
        return f"{value:.{_MOST_DIGITS}g}"
    return f"{value:.{decimals}f}" if decimals > 0 else f"{round(value, decimals):.0f}"


def format_explained_share(share: Estimate) -> tuple[str, str]:
    """Format (share, interval): ``2.5 %``, ``1.9–3.3 %``; without an interval the second is empty."""
    value, low, high = share.value or 0.0, share.low, share.high
    if low is None or high is None:
        return format_percent(value), ""
    places = 0 if value >= 0.1 else 2 if value >= _LEAST_SHARE and high < 0.01 else 1
    fine = max(1, places) if 0 < low < 0.01 else places  # a positive limit is not shown as 0
    if low > 0 and high < _LEAST_SHARE:
        return "<0.1 %", "<0.1 %"
    least = f"{100 * low:.{fine}f}"
    least = f"<{10**-fine:g}" if low > 0 and float(least) == 0 else least
    tiny = "<0.1 %" if low > 0 else "0.0 %"
    return tiny if value < _LEAST_SHARE else format_percent(value), f"{least}–{100 * high:.{places}f} %"
