"""``iosonde diagnose``: why operations were slow, from nothing but what was recorded of each."""

from iosonde.commands.about import About

ABOUT = About("Understand", 10, "why operations were slow: classes, causes, costs", ("diagnose",), page="slow")
