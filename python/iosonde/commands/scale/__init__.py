"""``iosonde scale``: how a rate grows with the number of nodes, and what limits it."""

from iosonde.commands.about import About

ABOUT = About("Understand", 6, "how a rate grows with nodes, and what limits it", ("scale", "queue"))
