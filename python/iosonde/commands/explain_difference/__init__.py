"""``iosonde explain-difference``: why two tools, or two definitions on one run, give different numbers."""

from iosonde.commands.about import About

ABOUT = About("Believe", 3, "why two numbers disagree, in named parts", ("explain_difference",))
