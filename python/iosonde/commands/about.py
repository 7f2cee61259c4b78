"""What the list of commands says of a folder."""

from typing import NamedTuple

GROUPS = ("Measure", "Believe", "Understand", "Decide", "Share")
"""What one wants, in the order of the list."""


class About(NamedTuple):
    """What is known of a folder before its options are loaded.

    ``group``: the title it stands under; ``place``: its place there; ``brief``: its line; ``functions``: what the
    package ``iosonde`` has of it; ``page``: the key of its section of the page, '' for none (``report/parts.py``).
    """

    group: str
    place: int
    brief: str
    functions: tuple[str, ...] = ()
    page: str = ""
