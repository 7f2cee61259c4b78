"""MD-Workbench. It prints its number of objects, and its command line."""

from .tool import Vocabulary, count

MD_WORKBENCH = Vocabulary(
    "md-workbench",
    (
        count("data_sets", "D", is_read=True),
        count("objects_per_set", "I", is_read=True),
        count("precreate_per_set", "P", is_read=True),
        count("object_size", "S", is_read=True),
    ),
)
