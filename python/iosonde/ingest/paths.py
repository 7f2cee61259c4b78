"""Factors in the path of a file, or in a manifest: ``site={}/nodes={}/…`` and a CSV of names.

A pattern is matched against the end of the path, part by part. ``{}`` captures the text there, ``name={}`` or
``{name}`` also name it. ``*`` matches anything in one part, ``**`` any number of parts, ``…`` or ``...`` at the end any
rest. A manifest is a CSV with a column ``file`` (a path relative to it, or a pattern with ``*``) and one for each
factor.
"""

import csv
import io
import re
from collections.abc import Callable
from fnmatch import fnmatchcase
from pathlib import Path, PurePath

from iosonde.core.errors import InputError
from iosonde.core.schema import PLACES_IN_DESIGN, is_setting_name
from iosonde.core.types import FactorValue
from iosonde.foreign.guarded import open_checked
from iosonde.importers.reading import parse_factor_value

# Of a path relative to the imported directory, and the name of that directory, which may be left out.
Factors = Callable[..., dict[str, FactorValue]]
_PLACE = re.compile(r"(?<![A-Za-z_])([A-Za-z_]\w*+)=\{\}|\{([A-Za-z_]\w*)\}|(\{\})|(\*)")


def factors_from_pattern(pattern: str) -> Factors:
    """Return the factors that ``pattern`` finds in a path relative to the imported directory; none if it does not
    match. The name of that directory is a part of the path for a pattern that begins with it.

    Raises InputError for a pattern without a named place, with a duplicate name, or with the name of no setting.
    """
    regex, names = _compile_pattern(pattern)

    first = pattern.strip("/").partition("/")[0]

    def match_factors(path: PurePath, root: str = "") -> dict[str, FactorValue]:
        match = regex.search("/" + path.as_posix())
        if match is None and root == first:
            match = regex.match(f"/{root}/{path.as_posix()}")
        return {} if match is None else {name: parse_factor_value(text) for name, text in match.groupdict().items()}

    if not names:
        raise InputError(
            "pattern-without-factor",
            "'{pattern}' names no factor",
            "write it like 'site={{}}/nodes={{}}/...' or '{{site}}/{{nodes}}/*'",
            pattern=pattern,
        )
    return match_factors


def _compile_pattern(pattern: str) -> tuple[re.Pattern[str], list[str]]:
    open_end = pattern.rstrip("/").endswith(("…", "..."))
    parts = pattern.rstrip("/").removesuffix("…").removesuffix("...").strip("/").split("/")
    names: list[str] = []
    regex = "".join(r"(?:/[^/]+)*" if part == "**" else "/" + _compile_part(part, names, pattern) for part in parts)
    return re.compile(regex + (r"(?:/|$)" if open_end else r"$")), names


def _compile_part(part: str, names: list[str], pattern: str) -> str:
    regex, at = "", 0
    for match in _PLACE.finditer(part):
        regex += re.escape(part[at : match.start()])
        at = match.end()
        name = match.group(1) or match.group(2)
        if match.group(4):
            regex += r"[^/]*"
        elif not name:
            raise InputError(
                "unnamed-placeholder",
                "'{{}}' in '{pattern}' has no name",
                "write name={{}} or {{name}}",
                pattern=pattern,
            )
        elif name in names:
            raise InputError(
                "duplicate-name",
                "duplicate '{name}' in '{pattern}'",
                "give each place its own name",
                name=name,
                pattern=pattern,
            )
        elif name not in PLACES_IN_DESIGN and not is_setting_name(name):
            raise InputError(
                "invalid-name",
                "'{name}' in '{pattern}' is a fact of one execution, whose levels are pooled",
                "write * for it, or another name, such as {name}_of_path",
                name=name,
                pattern=pattern,
            )
        else:
            names.append(name)
            regex += (re.escape(f"{name}=") if match.group(1) else "") + rf"(?P<{name}>[^/]+?)"
    return regex + re.escape(part[at:])


def factors_from_manifest(path: Path) -> Factors:
    """Return the factors in a manifest. Raises InputError if it is unreadable or has no column ``file``."""
    try:
        with open_checked(path) as file:
            rows = list(csv.DictReader(io.StringIO(file.read().decode("utf-8-sig"), newline="")))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(
            "unreadable-file",
            "cannot read the manifest {path}: {error}",
            "give a CSV in UTF-8",
            path=path,
            error=error,
        ) from error
    if not rows or "file" not in rows[0]:
        raise InputError(
            "missing-column",
            "the manifest {path} has no column 'file'",
            "its first line must name it: file,site,nodes",
            path=path,
        )

    def lookup_factors(place: PurePath, root: str = "") -> dict[str, FactorValue]:
        name, factors = place.as_posix(), dict[str, FactorValue]()
        for row in rows:
            pattern = (row.get("file") or "").strip()
            if pattern and (fnmatchcase(name, pattern) or name == pattern or place.name == pattern):
                factors |= {
                    key: parse_factor_value(text) for key, text in row.items() if key and key != "file" and text
                }
        return factors

    return lookup_factors


def join_factors(*sources: Factors) -> Factors:
    """Return all of them combined; later ones win."""
    return lambda path, root="": {name: value for source in sources for name, value in source(path, root).items()}
