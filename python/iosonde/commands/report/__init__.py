"""``iosonde report``: one self-contained HTML page about a store or a table."""

from iosonde.commands.about import About

ABOUT = About("Share", 2, "one self-contained HTML page", ("write_report",))
