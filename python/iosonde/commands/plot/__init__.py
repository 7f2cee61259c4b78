"""``iosonde plot``: the figures of DATA as PNG, SVG or PDF."""

from iosonde.commands.about import About

ABOUT = About("Share", 4, "figures as PNG, SVG or PDF", ("plot",))
