"""``store.json``: marks a directory as a store of some version. From version 2 on it detects changes to itself."""

from pathlib import Path
from typing import Any

from iosonde.core.errors import DataError, InputError
from iosonde.core.schema import STORE_VERSION

from . import files
from .runfile import SELF_SHA256, build_too_new_error, decode, encode_sealed, is_sealed

_LAYOUT_VERSION = 1
_SEALED_SINCE = 2
_NO_STORE = "read a tool's files with 'iosonde import -r {store} --store DIR'; 'iosonde run --store DIR' makes a store"
_CURE = 'restore it from a copy, or write {{"iosonde_store": 1, "schema_version": 1}} into it'


def write_marker(disk: files.Disk, store: Path, created_at: str) -> None:
    """Make the directory ``store`` a store. Raises OSError."""
    marker = {"iosonde_store": _LAYOUT_VERSION, "schema_version": STORE_VERSION, "created_at": created_at}
    files.replace_file(disk, store / files.MARKER, encode_sealed(marker))


def check_marker(store: Path) -> None:
    """Check the marker of a store. Raises InputError if the directory is not a store, DataError if its marker is
    missing or damaged, SchemaTooNewError."""
    path = store / files.MARKER
    try:
        layout, schema = _read_versions(decode(files.read_plain(path)))
    except (FileNotFoundError, NotADirectoryError):
        if has_store_data(store):
            raise build_missing_marker_error(store) from None
        raise InputError("not-a-store", "{store} is not a store", _NO_STORE, store=store) from None
    except OSError as error:
        raise InputError(
            "unreadable-file",
            "cannot read the store {store}: {reason}",
            "check its permissions",
            store=store,
            reason=error.strerror,
        ) from error
    except (DataError, KeyError, TypeError, ValueError) as error:
        raise DataError("damaged-file", "{path} is damaged", _CURE, path=path) from error
    if layout > _LAYOUT_VERSION or schema > STORE_VERSION:
        raise build_too_new_error(f"the store {store}", max(layout, schema))


def is_marker_changed(store: Path) -> bool:
    """Return whether a marker that ``check_marker`` accepts was changed after it was written. Raises OSError,
    DataError."""
    text = files.read_plain(store / files.MARKER)
    marker = decode(text)
    return (marker["schema_version"] >= _SEALED_SINCE or SELF_SHA256 in marker) and not is_sealed(text, marker)


def build_missing_marker_error(store: Path) -> DataError:
    """Return the error for a store that lost its marker."""
    return DataError("no-such-file", "{path} is missing", _CURE, path=store / files.MARKER)


def has_store_data(store: Path) -> bool:
    """Return whether a directory without a marker has runs or experiments of a store."""
    return any(True for pattern in ("runs/*/run.json", "experiments/*.json") for _ in store.glob(pattern))


def _read_versions(marker: Any) -> tuple[int, int]:
    layout, schema = marker["iosonde_store"], marker["schema_version"]
    if not (type(layout) is type(schema) is int and min(layout, schema) >= 1):
        raise ValueError("versions are numbers from 1 on")
    return layout, schema
