"""The JavaScript that draws a page's figures: Vega, Vega-Lite and Vega-Embed, from the installed package.
Building the script takes seconds, so it is cached per user, one file per version. Cached files become a script of every
page: a file that is incomplete, or that somebody else could write, is rebuilt.
"""

import hashlib
import os
import re
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from importlib import metadata
from pathlib import Path

from iosonde.core.cache_folder import find_cache_folder
from iosonde.core.message import Message

_SNIPPET = "window.vegaEmbed = vegaEmbed;"
# XML namespaces look like addresses, but nothing fetches them.
_ADDRESS = re.compile(r"https?://(?!www\.w3\.org/)(?=[\w$])")
_MARK = "\n// sha256 "


def load_vega_script(say: Callable[[str], None]) -> str:
    """Return the script. ``say`` reports why it could not be cached for the next page."""
    place = _find_cache_path()
    stored = _read_cached(place) if place else None
    if stored is not None:
        return stored
    script = _build_script()
    why = _store_script(place, script) if place else Message("no-home-directory", "no home directory")
    if why:
        say(why.prefixed("cannot cache the page's drawing library; building it takes a few seconds each time"))
    return script


def _build_script() -> str:
    """Build the script without addresses of content networks, unable to close the element around it."""
    import vl_convert

    text = _ADDRESS.sub("", vl_convert.javascript_bundle(_SNIPPET))
    return text.replace("</script", "<\\/script").replace("<!--", "<\\!--")


def _find_cache_path() -> Path | None:
    folder = find_cache_folder()
    if folder is None:
        return None
    what = hashlib.sha256(f"{_SNIPPET}{_ADDRESS.pattern}".encode()).hexdigest()[:8]
    return folder / f"vega-{metadata.version('vl-convert-python')}-{what}.js"


def _read_cached(place: Path) -> str | None:
    """Return the cached text if it is complete and only we can have written it, else None."""
    try:
        with place.open("rb") as file:
            about = os.fstat(file.fileno())
            if about.st_uid != os.geteuid() or about.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
                return None
            content = file.read().decode()
    except (OSError, UnicodeDecodeError):
        return None
    text, _, digest = content.rpartition(_MARK)
    return text if digest == hashlib.sha256(text.encode()).hexdigest() else None


def _store_script(place: Path, text: str) -> Message | None:
    """Cache the script. Return why that failed, or None."""
    content = f"{text}{_MARK}{hashlib.sha256(text.encode()).hexdigest()}".encode()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".vega-", dir=place.parent)  # mode 0600
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(content)
            Path(temporary).replace(place)
        finally:
            with suppress(FileNotFoundError):
                Path(temporary).unlink()
    except OSError as error:
        return Message("io-error", "cannot write {path}: {reason}", path=place, reason=error.strerror)
    return None
