"""``iosonde bound``: the most that the hardware can deliver, and what limits it."""

from iosonde.commands.about import About

ABOUT = About("Understand", 7, "the most the hardware can deliver, and what limits it", ("bound",))
