"""``iosonde lab``: an emulated cluster on this machine, with a real file system on it."""

from iosonde.commands.about import About

ABOUT = About("Measure", 5, "an emulated cluster here, with a real file system")
