"""``iosonde plan``: the trials, before anything starts."""

from iosonde.commands.about import About

ABOUT = About("Measure", 1, "the trials, their order, and how long they will take", ("plan",))
