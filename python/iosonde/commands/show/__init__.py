"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from iosonde.commands.about import About

ABOUT = About(
    "Share",
    0,
    "runs of a store, columns of a table; export",
    ("show", "show_run", "show_as", "slowest", "printed", "export", "profile"),
)
