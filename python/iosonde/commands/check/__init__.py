"""``iosonde check``: can this data be trusted?"""

from iosonde.commands.about import About

ABOUT = About("Believe", 0, "can this data be trusted? findings with their cures", ("check", "noise"))
