"""``iosonde watch``: what changed over a history, and is it a regression?"""

from iosonde.commands.about import About

ABOUT = About("Understand", 9, "what changed over the history, and is it a regression", ("watch",), page="history")
