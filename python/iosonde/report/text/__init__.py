"""Answers as text: under 80 columns, worth quoting. One file a command; nothing here computes.

What all of them are laid out with is in ``layout``, and can be had from here.
"""

from .layout import CANNOT_TELL, WIDTH, escape, estimate_parts, estimate_text, table, width, wrapped

__all__ = ["CANNOT_TELL", "WIDTH", "escape", "estimate_parts", "estimate_text", "table", "width", "wrapped"]
