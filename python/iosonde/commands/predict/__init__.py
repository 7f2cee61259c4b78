"""``iosonde predict``: a what-if with an interval for one new trial."""

from iosonde.commands.about import About

ABOUT = About("Decide", 1, "what a model predicts for a setting, with an interval", ("predict", "describe"))
