"""``iosonde show``: what a store holds, one run in detail, and the way out to other tools."""

from iosonde.commands.about import About

ABOUT = About(
    "Share",
    0,
    "runs and results of a store; export; what the columns of DATA are",
    ("show", "show_run", "show_as", "slowest", "printed", "export", "profile"),
)
