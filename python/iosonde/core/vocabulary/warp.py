"""warp, of object stores. Its JSON has its command line."""

from .tool import Vocabulary, size

WARP = Vocabulary(
    "warp",
    (
        size("concurrency", "concurrent", is_read=True),
        size("objects", "objects", is_read=True),
        size("object_size", "obj.size", is_read=True),
        size("batch", "batch", is_read=True),
        size("part_size", "part.size", is_read=True),
        size("parts", "parts", is_read=True),
    ),
)
