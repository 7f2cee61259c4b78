"""``python tools/set_version.py 0.2.0``: write the version wherever it stands, and date its part of CHANGELOG.md."""

from __future__ import annotations

import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
PLACES = {
    "python/iosonde/core/version.py": r'(?<=^__version__ = ")[^"]+',
    "pyproject.toml": r'(?<=^version = ")[^"]+',
    "rust/Cargo.toml": r'(?<=^version = ")[^"]+',
    "packages/iosonde-lab/pyproject.toml": r'(?<=^version = ")[^"]+',
    "packages/iosonde-lab/nfs-mount/Cargo.toml": r'(?<=^version = ")[^"]+',
    "CITATION.cff": r"(?<=^version: ).+",
    **{
        path.relative_to(ROOT).as_posix(): r'(?:(?<=^version = ")|(?<="iosonde==))[^"]+'
        for path in sorted(ROOT.glob("packages/*/pyproject.toml"))
    },
}
"""File → where the version stands in it; a package requires iosonde of its own version."""
CHANGELOG = ROOT / "CHANGELOG.md"


def versions() -> dict[str, str]:
    """Return file → the version that it says; all of them, if they differ."""
    texts_by_name = {name: re.findall(pattern, _read(name), re.MULTILINE) for name, pattern in PLACES.items()}
    return {name: ", ".join(dict.fromkeys(texts)) for name, texts in texts_by_name.items()}


def set_version(version: str, date: str) -> None:
    """Write the version everywhere, and the date into the changelog. Raises SystemExit if that has no part for it."""
    if not re.fullmatch(r"\d+\.\d+\.\d+", version):
        raise SystemExit(f"{version} is not a version such as 0.2.0")
    heading, dated = f"## {version} (unreleased)\n", f"## {version} ({date})\n"
    changelog = _read(CHANGELOG.name)
    if changelog.count(heading) != 1:
        raise SystemExit(f"CHANGELOG.md has no part '{heading.strip()}'")
    CHANGELOG.write_text(changelog.replace(heading, dated), encoding="utf-8")
    for name, pattern in PLACES.items():
        text = re.sub(pattern, version, _read(name), flags=re.MULTILINE)
        (ROOT / name).write_text(text, encoding="utf-8")
    subprocess.run(["cargo", "update", "--quiet", "--workspace", "--offline"], cwd=ROOT, check=True)


def _read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


if __name__ == "__main__":
    set_version(sys.argv[1], datetime.now(UTC).date().isoformat())
