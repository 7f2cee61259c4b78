"""``iosonde doctor``: what this machine can do, and what to install for the rest."""

from iosonde.commands.about import About

ABOUT = About("Measure", 4, "what this machine can do, and what to install", ("doctor",))
