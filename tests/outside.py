"""Files that are not part of this repository: data and captures that are too large, or not ours to give away.

They lie below ``$IOSONDE_SHARED``, or in ``shared`` beside the checkout. No test reads them in another way, and where
they are absent a test is skipped with their name.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[1]


def find(*names: str) -> Path | None:
    """The first of these paths that exists, None where none does."""
    root = Path(os.environ.get("IOSONDE_SHARED") or CHECKOUT.parent / "shared")
    return next((root / name for name in names if (root / name).exists()), None)


def needed(*names: str) -> Path:
    """The first of these paths that exists; the test is skipped where none does."""
    path = find(*names)
    if path is None:
        pytest.skip(f"{names[0]} is outside this checkout, and not on this machine (set IOSONDE_SHARED)")
    return path


def published_table() -> Path:
    """774 times of non-contiguous access, with their copies: the data behind a publication."""
    name = "wr-noncontiguous/input_clean_774.csv"
    return needed(f"data/{name}", name)
