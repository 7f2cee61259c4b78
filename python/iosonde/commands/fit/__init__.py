"""``iosonde fit``: a model of a table, chosen by cross-validation, kept in a file that a person can read."""

from iosonde.commands.about import About

ABOUT = About("Decide", 0, "a model that predicts, chosen by cross-validation", ("fit",))
