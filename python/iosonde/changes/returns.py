"""The return of a series to the level before a change, which one look shows but not yet a year of looks.

The size of a change is that up to its return. A mean over both would be neither. As the change itself is significant,
its return is a second question about it: it is tested by one look. It changes what is estimated, not what is open.
"""

from dataclasses import replace

from iosonde.core.arrays import Array

from .find import Break, Search, find_break
from .places import locate

_LEAST = 3  # values on either side
_LOOKS = 2  # as of a suspicion: a look searches segments of several lengths


def find_return(values: Array, change: Break, begin: int, end: int, search: Search) -> Break:
    """Return a change with the place of its return among the values up to ``end``; ``begin``: of those before it."""
    look = replace(search, least=min(_LEAST, search.least), looks=_LOOKS)
    after = find_break(values, change.at, end, look)
    if after is None or after.p > search.rate:
        return change
    at = locate(values, after).at
    before, during, level = (
        float(part.mean()) for part in (values[begin : change.at], values[change.at : at], values[at:end])
    )
    is_back = abs(level - before) < search.share * abs(before) < abs(during - before)
    return replace(change, until=at) if is_back else change
