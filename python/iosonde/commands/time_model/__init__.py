"""``iosonde time-model``: where the time of one operation goes."""

from iosonde.commands.about import About

ABOUT = About("Understand", 8, "where the time of one operation goes", ("time_model",))
