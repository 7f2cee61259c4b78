"""``iosonde validate``: an honest error, on rows that a model has not seen."""

from iosonde.commands.about import About

ABOUT = About("Decide", 2, "the error of models on rows they have not seen", ("validate", "held_out"))
