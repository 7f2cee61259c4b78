"""``iosonde monitor``: a quiet look at a mount in production, every few minutes, for weeks."""

from iosonde.commands.about import About

ABOUT = About("Measure", 8, "a quiet look at a mount in production, for weeks", ("monitor",))
