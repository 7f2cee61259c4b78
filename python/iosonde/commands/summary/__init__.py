"""``iosonde summary``: every number with its interval, how many trials are behind it, and what looks wrong."""

from iosonde.commands.about import About

ABOUT = About("Understand", 0, "every metric with its interval", ("summary",))
