"""``iosonde rank``: which factor matters."""

from iosonde.commands.about import About

ABOUT = About("Understand", 4, "which factor matters: shares of the variance", ("rank",))
