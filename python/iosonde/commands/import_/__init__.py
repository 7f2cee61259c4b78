"""``iosonde import``: other tools' results into a store; a file that is there already is left alone."""

from iosonde.commands.about import About

ABOUT = About("Measure", 7, "other tools' results into a store", ("import_files",))
