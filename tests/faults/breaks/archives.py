"""Archives that are hostile or damaged: nothing outside their place, no number that was not packed, and the rest of an
import goes on."""

from __future__ import annotations

import csv
import io
import os
import random
import subprocess
import tempfile
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from . import archive_files, samples
from .case import Case, NotTriedError, dice, digest, judge
from .warm import Ended, warm

SECRET = "not-for-you-4711"
CPU_S, WALL_S = 30, 60.0
ROOM = "96m"  # of TMPDIR, where a bomb is tried
_NOT_PACKED = ("tgz", "stored.zip")  # here half of the flips hit a digit
GOOD = "mdtest/gen-mdtest330-3iter.txt"


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Each hostile one; single bits flipped, and cuts, of each form; no room to unpack."""
    for place, name in enumerate(archive_files.HOSTILE):
        if not quick or place % 3 == 0 or "twice" in name:
            yield Case("import: hostile archive", name, partial(_attack_hostile, name))
    for form in archive_files.FORMS:
        for number in range(3 if quick else 60):
            yield Case("import: archive, a bit flipped", f"{form} #{number}", partial(_attack_bit, seed, form, number))
        for number in range(1 if quick else 8):
            yield Case("import: archive, cut", f"{form} #{number}", partial(_attack_cut, seed, form, number))
    yield Case("import: archive, TMPDIR full", "tar.gz", _attack_full_tmpdir)


def _attack_hostile(name: str, folder: Path) -> list[str]:
    archive = archive_files.HOSTILE[name](folder)
    if "bomb" in name:
        _tmpfs(folder / "tmp", ROOM)
    return _check_import(folder, archive, is_whole=False)


def _attack_bit(seed: int, form: str, number: int, folder: Path) -> list[str]:
    raw = bytearray(archive_files.pack(archive_files.text(), form))
    rng = dice(seed, f"{form} {number}")
    bit = (
        8 * _draw_digit(raw, rng) + rng.randrange(3)
        if form in _NOT_PACKED and number % 2
        else rng.randrange(8 * len(raw))
    )
    raw[bit // 8] ^= 1 << bit % 8
    (folder / f"bad.{form}").write_bytes(raw)
    return [f"bit {bit} of {8 * len(raw)}: {breach}" for breach in _check_import(folder, folder / f"bad.{form}")]


def _draw_digit(raw: bytearray, rng: random.Random) -> int:
    """Where one of the text's digits is, in a form that has it as it is."""
    text = archive_files.text()
    begin = raw.index(text[:100])
    return begin + rng.choice([place for place, byte in enumerate(text) if 48 <= byte <= 57])


def _attack_cut(seed: int, form: str, number: int, folder: Path) -> list[str]:
    raw = archive_files.pack(archive_files.text(), form)
    length = dice(seed, f"{form} {number}").randrange(len(raw))
    (folder / f"bad.{form}").write_bytes(raw[:length])
    return [f"cut at {length} of {len(raw)}: {breach}" for breach in _check_import(folder, folder / f"bad.{form}")]


def _attack_full_tmpdir(folder: Path) -> list[str]:
    (folder / "bad.tar.gz").write_bytes(archive_files.pack(archive_files.text() * 4000, "tar.gz"))
    _tmpfs(folder / "tmp", "1m")
    return _check_import(folder, folder / "bad.tar.gz")


def _tmpfs(place: Path, size: str) -> None:
    if os.geteuid():
        raise NotTriedError("needs root, to mount a small TMPDIR")
    place.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "iosonde-breaks", str(place)], check=True)


def _check_import(folder: Path, archive: Path, is_whole: bool = True) -> list[str]:
    """What is wrong after the import of the archive and, beside it, of a good file."""
    (folder / "secret").write_text(f"{SECRET}\n")
    good = samples.FIXTURES / GOOD
    before = _list_surroundings(folder)
    ended = warm().command(
        ["import", "--jobs", "1", "--store", "st", archive.name, good], folder, cpu_s=CPU_S, wall_s=WALL_S
    )
    breaches = judge(ended, deadline_s=WALL_S)
    text = ended.out + ended.err
    breaches += [f"{place} was directory or changed" for place in sorted(before ^ _list_surroundings(folder))][:3]
    breaches += ["left in TMPDIR"] * bool(list((folder / "tmp").iterdir()))
    breaches += ["a file outside is shown"] * (SECRET in text)
    breaches += ["a name steers the terminal"] * ("\x1b" in text)
    breaches += ["names a temporary directory, which is gone"] * ("iosonde-import-" in text)
    if "Traceback" not in text and ended.seconds is not None:
        breaches += ["does not name the archive"] * (ended.code != 0 and archive.name not in text)
        breaches += _find_wrong_numbers(folder, ended, is_whole)
    return breaches


def _list_surroundings(folder: Path) -> set[tuple[str, str]]:
    """All but the store and the HOME; and where an absolute name would lead."""
    tree = {item for item in digest(folder).items() if item[0].split("/")[0] not in ("st", "home", "tmp")}
    return tree | {(str(path), "") for path in Path("/var/tmp").glob("*evil*")}


def _find_wrong_numbers(folder: Path, ended: Ended, is_whole: bool) -> list[str]:
    stored = _read_numbers(folder / "st", folder)
    if not _numbers_of_file(GOOD) <= stored and ended.code != 2:  # wrong words on the command line: nothing is done
        return ["the rest of the import was not done"]
    if not (folder / "st").exists():
        return []
    known = _numbers_of_file("ior/gen-ior301-shared-2reps.txt") | _numbers_of_file("ior/gen-ior321-fpp-3reps.txt")
    breaches = [f"another number: {' '.join(row)}" for row in sorted(stored - known - _numbers_of_file(GOOD))][:2]
    runs = len(list((folder / "st" / "runs").iterdir()))
    if is_whole and runs < 2 and "bad." not in ended.out + ended.err:
        breaches.append("nothing of it is stored, and nothing is said")
    return breaches


def _read_numbers(store: Path, folder: Path) -> set[tuple[str, ...]]:
    """(operation, metric, value, unit) of all complete runs."""
    if not store.exists():
        return set()
    ended = warm().command(["show", store, "--export", "csv"], folder)
    rows = csv.DictReader(io.StringIO(ended.out))
    return {(row["operation"], row["metric"], row["value"], row["unit"]) for row in rows}


@cache
def _numbers_of_file(name: str) -> frozenset[tuple[str, ...]]:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as directory:
        warm().command(["import", "--jobs", "1", "--store", "st", samples.FIXTURES / name], Path(directory))
        return frozenset(_read_numbers(Path(directory, "st"), Path(directory)))
