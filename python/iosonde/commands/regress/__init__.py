"""``iosonde regress``: least squares on raw repeats, with everything that says whether to believe it."""

from iosonde.commands.about import About

ABOUT = About("Understand", 2, "least squares, and whether to believe it", ("regress",))
