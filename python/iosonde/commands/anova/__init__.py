"""``iosonde anova``: how much of the variation each factor explains."""

from iosonde.commands.about import About

ABOUT = About("Understand", 3, "how much of the variation each factor explains", ("anova",))
