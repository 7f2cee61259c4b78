"""``iosonde explain``: the manual page of a finding."""

from iosonde.commands.about import About

ABOUT = About("Believe", 2, "the manual page of a finding", ("explain_finding",))
