"""The user's cache folder, for files that can be recreated at any time."""

import os
import stat
from pathlib import Path


def find_cache_folder() -> Path | None:
    """``$XDG_CACHE_HOME/iosonde``; None without a home directory."""
    cache_home = os.environ.get("XDG_CACHE_HOME", "")
    try:
        root = Path(cache_home) if os.path.isabs(cache_home) else Path.home() / ".cache"
    except RuntimeError:
        return None
    return root / "iosonde"


def create_private_cache_folder() -> Path | None:
    """Return ``find_cache_folder()``, created if missing; None if it cannot be created or somebody else could write
    to it."""
    folder = find_cache_folder()
    if folder is None:
        return None
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        about = folder.lstat()
    except OSError:
        return None
    ours = stat.S_ISDIR(about.st_mode) and about.st_uid == os.geteuid()
    return folder if ours and not about.st_mode & (stat.S_IWGRP | stat.S_IWOTH) else None
