"""dd. It prints none of its settings."""

import re
from collections.abc import Sequence

from iosonde.core.types import FactorValue

from .sizes import BINARY
from .tool import Style, ValueKind, Vocabulary, declare_others, path, size

DD = Vocabulary(
    "dd",
    (
        path("of"),
        size("", "bs"),
        *declare_others("count seek skip ibs obs cbs", ValueKind.SIZE),
        *declare_others("if conv iflag oflag status"),
    ),
    Style.OPERANDS,
)
_DEFAULT_SIZE = "512"
_SIZE = re.compile(r"(\d{1,15})([kmgtp]?)(b?|ib)", re.IGNORECASE)
_FLUSHES = {"fsync", "fdatasync"}
_FLUSHES_EACH = {"sync", "dsync"}
# No files of a file system.
_NO_FILES = ("/dev/null", "/dev/zero", "/dev/stdout")


def read_dd_settings(words: Sequence[str]) -> dict[str, FactorValue]:
    """Return the settings in the words of dd's command line: the size of its blocks, whether it goes around the cache,
    and whether it flushes at the end. A size that is unclear is left out."""
    values = {word.name: word.value for word in DD.split(words) if word.value}
    size_in_bytes = None if {"ibs", "obs"} & values.keys() else _parse_size(values.get("bs", _DEFAULT_SIZE))
    flags = {flag for name in ("iflag", "oflag") for flag in values.get(name, "").split(",")}
    settings: dict[str, FactorValue] = {} if size_in_bytes is None else {"block_size": size_in_bytes}
    settings["direct"] = "direct" in flags
    if _FLUSHES & set(values.get("conv", "").split(",")):
        settings["fsync"] = True
    if _FLUSHES_EACH & set(values.get("oflag", "").split(",")):
        settings["fsync_per_write"] = True
    return settings


def is_dd_unflushed(words: Sequence[str]) -> bool:
    """Return whether the words of dd's command line let what it writes to a file stay in the page cache."""
    output = next((word.value for word in DD.split(words) if word.name == "of"), "")
    settings = read_dd_settings(words)
    is_flushed = any(settings.get(name) for name in ("direct", "fsync", "fsync_per_write"))
    return bool(output) and output not in _NO_FILES and not is_flushed


def _parse_size(text: str) -> int | None:
    """Return the bytes of ``1M`` and ``1MiB`` (1024²) and ``1MB`` (1000²)."""
    if not (match := _SIZE.fullmatch(text)):
        return None
    number, letter, end = int(match[1]), match[2].lower(), match[3]
    if letter and end.upper() == "B":
        return int(number * 10 ** (3 * "kmgtp".index(letter) + 3))
    return number * 512 if end == "b" else number * BINARY[letter]
