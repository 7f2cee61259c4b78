"""Plain users: any HOME or none, any umask, the stores and trees of others. No command is a traceback for them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from . import plain, samples
from .case import Case, judge, last_line
from .plain import ALICE, BOB, GROUP, User

TINY = ("--repetitions", "1", "--small-files", "2", "--large-size", "64KiB", "--transfer-size", "32KiB", "--seed", "1")
# Words → exit codes that are right; 2 of a lab: it needs root, and says so.
COMMANDS: dict[tuple[str, ...], tuple[int, ...]] = {
    ("run", "--target", "T", "--store", "new", *TINY): (0,),
    ("survey", "./T", "--page", "p.html"): (0,),
    ("lab", "up", "local"): (2,),
    ("lab", "list"): (0,),
    ("lab", "down", "--all"): (0, 2),
    ("lab", "exec", "x", "y"): (2,),
    ("import", "--store", "new", str(samples.IOR)): (0,),
    ("lab", "run", "local", "--", "--repetitions", "1"): (2,),
    ("report", "st", "-o", "r.html"): (0,),
    ("lab", "status", "x"): (2,),
    ("lab", "down", "x"): (2,),
    ("lab", "fault", "x", "stop", "server1"): (2,),
    ("lab", "mount", "x"): (2,),
    ("store", "index", "st"): (0, 1),
    ("show", "st"): (0,),
    ("show", "st", "--export", "csv", "-o", "o.csv"): (0,),
    ("check", "st"): (0, 1),
    ("verify", "st"): (0, 1),
    ("summary", "st"): (0,),
    ("watch", "st"): (0, 1),
    ("compare", "st", "--response", "read", "--group", "nodes", "1", "2"): (0, 1, 2),
    ("store", "redact", "st", "copy"): (0,),
    ("store", "tag", "st", samples.FIRST_RUN, "odd"): (0,),
    ("store", "note", "st", samples.FIRST_RUN, "odd"): (0,),
    ("store", "merge", "all", "st"): (0,),
    ("store", "export", "st", "-o", "h.csv"): (0,),
    ("parse", str(samples.IOR)): (0,),
    ("survey", "./T"): (0,),
    ("plot", "st", "-o", "f.svg"): (0, 2),
    ("doctor",): (0, 1),
    ("explain", "S101"): (0,),
    ("probe", "--help"): (0,),
}
HOMES = ("fresh", "unset", "unwritable", "missing", "a file", "empty word")


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Every command in every kind of HOME; umasks; stores of others."""
    for place, words in enumerate(COMMANDS):
        homes = HOMES if not quick else HOMES[place % len(HOMES) :][: place < 7]
        for home in homes:
            yield Case("users: HOME", f"{' '.join(words[:2])} {place}, {home}", partial(_attack_home, words, home))
    for umask in (0o077, 0o000, 0o027) if not quick else ():
        yield Case("users: umask", f"{umask:03o}", partial(_attack_umask, umask))
    for name, attack in OTHERS.items() if not quick else list(OTHERS.items())[:1]:
        yield Case("users: another's store or tree", name, attack)


def _give(path: Path, uid: int, gid: int, mode: int | None = None) -> None:
    for place in (path, *path.rglob("*")):
        os.chown(place, uid, gid, follow_symlinks=False)
        if mode is not None and not place.is_symlink():
            place.chmod(mode if place.is_dir() else mode & 0o6666)


def _prepare_desk(folder: Path, home: str = "fresh") -> tuple[Path, dict[str, str]]:
    """A directory of a user's, with a store and a tree, and the environment."""
    if why := plain.why_not():
        raise plain.NotTriedError(why)
    desk, homes = folder / "desk", folder / "home"
    desk.mkdir()
    samples.copy(samples.store(), desk / "st")
    (desk / "T").mkdir()
    for number in range(12):
        (desk / "T" / f"f{number}").write_text("some words " * 50 * (number + 1))
    homes.mkdir()
    _give(desk, ALICE, ALICE)
    locks = folder / "locks"
    locks.mkdir()
    locks.chmod(0o1777)
    env = {"IOSONDE_LOCK_DIR": str(locks), "HOME": str(homes)}
    if home == "fresh":
        os.chown(homes, ALICE, ALICE)
    elif home == "unset":
        del env["HOME"]
    elif home == "missing":
        env["HOME"] = str(folder / "nowhere")
    elif home == "a file":
        (folder / "file").write_text("")
        env["HOME"] = str(folder / "file")
    elif home == "empty word":
        env["HOME"] = ""
    return desk, env


def _attack_home(words: tuple[str, ...], home: str, folder: Path) -> list[str]:
    desk, env = _prepare_desk(folder, home)
    ended = plain.command(list(words), desk, User(), env)
    breaches = judge(ended, codes=COMMANDS[words])
    if words[0] == "lab" and ended.code == 2 and words[1] == "up":
        breaches += ["does not say that root is needed"] * ("root" not in ended.err)
    return breaches


def _attack_umask(umask: int, folder: Path) -> list[str]:
    desk, env = _prepare_desk(folder)
    user = User(umask=umask)
    ended = plain.command(["run", "--target", "T", "--store", "new", *TINY], desk, user, env)
    breaches = judge(ended, codes=(0,))
    for words in (
        ["import", "--store", "new", str(samples.IOR)],
        ["report", "new", "-o", "new/page.html"],
        ["show", "new", "--export", "csv", "-o", "new/o.csv"],
    ):
        breaches += judge(plain.command(words, desk, user, env), codes=(0,))
    for path in (desk / "new").rglob("*"):
        if not path.is_symlink() and path.stat().st_mode & umask:
            breaches.append(f"{path.relative_to(desk)}: mode {path.stat().st_mode & 0o777:03o} with umask {umask:03o}")
    if umask == 0:
        closed = [
            path for path in (desk / "new").rglob("*") if not path.stat().st_mode & 0o044 and "locks" not in path.parts
        ]
        breaches += [f"{path.relative_to(desk)}: closed with umask 000" for path in closed[:2]]
    return breaches


def _attack_group_store(folder: Path) -> list[str]:
    """Two users write, tag, resume in one store of a group."""
    desk, env = _prepare_desk(folder)
    shared = desk / "shared"
    shared.mkdir()
    (desk / "T").chmod(0o777)
    os.chown(shared, ALICE, GROUP)
    shared.chmod(0o2775)
    run = ["run", "--target", "T", "--store", "shared/st", *TINY]
    breaches = []
    for uid, words in (
        (ALICE, run),
        (BOB, ["import", "--store", "shared/st", str(samples.IOR)]),
        (BOB, run),
        (ALICE, ["store", "check", "shared/st"]),
        (BOB, ["store", "check", "shared/st"]),
    ):
        user = User(uid, uid, 0o002, (GROUP,))
        breaches += [f"uid {uid}: {breach}" for breach in judge(plain.command(words, desk, user, env), codes=(0,))]
    for uid, word in ((ALICE, "one"), (BOB, "two")):
        for run_id in sorted(os.listdir(shared / "st" / "runs"))[:2] if (shared / "st" / "runs").is_dir() else []:
            words = ["store", "tag", "shared/st", run_id, word]
            breaches += judge(plain.command(words, desk, User(uid, uid, 0o002, (GROUP,)), env), codes=(0,))
    return breaches


def _attack_foreign_store(folder: Path) -> list[str]:
    """Another's store can be read, and is not changed; that it cannot be is said with its path."""
    desk, env = _prepare_desk(folder)
    breaches, bob = [], User(BOB, BOB)
    for words in (["show", "st"], ["summary", "st"], ["store", "check", "st"], ["verify", "st"]):
        breaches += judge(plain.command(words, desk, bob, env), codes=(0, 1))
    for words in (
        ["store", "tag", "st", samples.FIRST_RUN, "mine"],
        ["store", "note", "st", samples.FIRST_RUN, "mine"],
        ["import", "--store", "st", str(samples.IOR)],
        ["store", "merge", "st", "st"],
        ["store", "prune", "st", "--keep-last", "1", "--remove"],
    ):
        ended = plain.command(words, desk, bob, env)
        breaches += judge(ended, codes=(0, 2, 3) if "merge" in words or "import" in words else (2, 3))
        if ended.code and "st" not in ended.err:
            breaches.append(f"{ended.command}: does not name the store: {last_line(ended.err)}")
    return breaches


def _attack_closed_tree(folder: Path) -> list[str]:
    """A tree that one may not enter, and one with a directory that one may not."""
    desk, env = _prepare_desk(folder)
    (desk / "T" / "secret").mkdir()
    (desk / "T" / "secret" / "f").write_text("x")
    _give(desk / "T" / "secret", BOB, BOB, 0o700)
    breaches = judge(plain.command(["survey", "./T"], desk, User(), env), codes=(0,))
    ended = plain.command(["survey", "./T/secret"], desk, User(), env)
    breaches += judge(ended, codes=(2, 3))
    breaches += [f"names {word}, not the tree: {last_line(ended.err)}" for word in ("/proc/self",) if word in ended.err]
    for words in (["import", "-r", "T", "--store", "new"], ["parse", "T/secret/f"], ["show", "T/secret"]):
        breaches += judge(plain.command(words, desk, User(), env))
    return breaches


OTHERS = {
    "a tree that is closed": _attack_closed_tree,
    "a store of a group": _attack_group_store,
    "a store of another user": _attack_foreign_store,
}
