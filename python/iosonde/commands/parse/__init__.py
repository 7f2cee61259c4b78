"""``iosonde parse``: what an importer understands of other tools' output, without storing it."""

from iosonde.commands.about import About

ABOUT = About("Measure", 6, "what another tool's output says, without storing it", ("parse",))
