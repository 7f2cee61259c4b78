"""``iosonde advise``: which setting for which workload, what it gains, as sentences and as files."""

from iosonde.commands.about import About

ABOUT = About("Decide", 3, "which setting for which workload, and its gain", ("advise",))
