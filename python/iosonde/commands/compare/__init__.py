"""``iosonde compare``: is B different from A, by how much, and are the data sufficient?"""

from iosonde.commands.about import About

ABOUT = About("Understand", 1, "is B different from A, and by how much", ("compare",))
