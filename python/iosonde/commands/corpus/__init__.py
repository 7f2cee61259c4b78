"""``iosonde corpus``: many people's results, and one's own among them."""

from iosonde.commands.about import About

ABOUT = About("Understand", 5, "many systems' results, and yours among them", ("corpus",))
