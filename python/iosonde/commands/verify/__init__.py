"""``iosonde verify``: every stored number computed again, from the operations up."""

from iosonde.commands.about import About

ABOUT = About("Believe", 1, "compute every stored number again from the operations", ("verify",))
