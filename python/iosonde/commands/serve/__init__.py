"""``iosonde serve``: stores in the browser."""

from iosonde.commands.about import About

ABOUT = About("Share", 3, "a dashboard of stores in the browser")
