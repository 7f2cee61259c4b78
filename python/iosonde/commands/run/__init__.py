"""``iosonde run``: measure, keep every trial, show the outcome."""

from iosonde.commands.about import About

ABOUT = About("Measure", 0, "an experiment file, a command, or the MTC envelope", ("run",))
