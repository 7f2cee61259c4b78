"""``iosonde store``: check, tag, annotate, merge, redact and prune stores."""

from iosonde.commands.about import About

ABOUT = About(
    "Share",
    1,
    "check, tag, annotate, merge and redact stores",
    ("check_store", "tag_run", "note_run", "merge_stores", "redact_store", "prune_store", "change_factors"),
)
