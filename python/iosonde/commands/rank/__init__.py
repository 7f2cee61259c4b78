"""``iosonde rank``: which factor matters."""

from iosonde.commands.about import About

ABOUT = About("Understand", 5, "which factor matters: shares of the variance", ("rank",))
