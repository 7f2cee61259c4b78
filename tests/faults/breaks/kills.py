"""Commands that change a store are ended between any two of their changes, or at a random moment; then given again.

What was stored stays as it was, no half run and no half file is seen, and the same command afterwards gives what it
gives when nobody ends it, with nothing left of the first attempt. An interrupt leaves nothing either, and is said.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

from . import samples
from .case import Case, damage_of_run, dice, digest, judge, last_line
from .warm import ROOT, Ended, warm

OLD = "old content\n"
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)


@dataclass(frozen=True)
class Command:
    """Its words; ``store``: what it changes or makes; ``output``: a file that it replaces."""

    words: tuple[str, ...]
    store: str = "st"
    output: str = ""


_IMPORT = (
    "import",
    "--jobs",
    "1",
    "--store",
    "st",
    *(
        str(samples.FIXTURES / name)
        for name in (
            "ior/gen-ior410-readonly.txt",
            "ior/gen-ior330-shared-3reps-verbose1.txt",
            "mdtest/gen-mdtest410-3iter.txt",
            "iozone/gen-v489-t2-ops.txt",
        )
    ),
)
COMMANDS = {
    "merge": Command(("store", "merge", "all", "st", "other"), store="all"),
    "merge into": Command(("store", "merge", "st", "other")),
    "prune": Command(("store", "prune", "st", "--keep-last", "1", "--remove")),
    "export csv": Command(("show", "st", "--export", "csv", "-o", "out"), output="out"),
    "export parquet": Command(("store", "export", "st", "--as", "parquet", "-o", "out"), output="out"),
    "redact": Command(("store", "redact", "st", "copy"), store="copy"),
    "index": Command(("store", "index", "st")),
    "tag": Command(("store", "tag", "st", "envelope-7f3a-0001", "slow", "odd")),
    "note": Command(("store", "note", "st", "envelope-7f3a-0001", "a switch failed")),
    "import": Command(_IMPORT),
}


def cases(seed: int, quick: bool) -> Iterator[Case]:
    """Each command ended before drawn changes, and each at random moments by whoever starts it."""
    for place, name in enumerate(COMMANDS):
        for number in range(2 if quick else 12):
            chosen = SIGNALS[(place + number) % 3]
            title = f"{name}, {chosen.name}, between changes #{number}"
            yield Case("store: killed, then again", title, partial(_attack_between_changes, seed, name, chosen, title))
        for number in range(0 if quick else 4):
            title = f"{name}, SIGKILL of its group, at a moment #{number}"
            yield Case("store: killed, then again", title, partial(_attack_at_a_moment, seed, name, title))


@dataclass(frozen=True)
class Undisturbed:
    """What a command does when nobody ends it: changes, files left, seconds of a cold start."""

    changes: int
    runs: frozenset[str]
    output: bytes
    seconds: float


@cache
def _run_undisturbed(name: str) -> Undisturbed:
    with tempfile.TemporaryDirectory(prefix="iosonde-breaks-", dir="/var/tmp") as directory:
        folder, command = Path(directory), COMMANDS[name]
        _prepare(folder)
        ended = warm().call("faults.breaks.warm:count_changes", folder, words=list(command.words), kill=(0, 0))
        if ended.answer is None:
            raise RuntimeError(f"{name} itself fails: {last_line(ended.err)}")
        runs = frozenset(run.name for run in _runs(folder / command.store))
        output = (folder / command.output).read_bytes() if command.output else b""
        return Undisturbed(ended.answer, runs, output, (ended.seconds or 1) + 0.3)


def _prepare(folder: Path) -> None:
    samples.copy(samples.store(), folder / "st")
    samples.copy(samples.unlike_stores() / "a", folder / "other")
    (folder / "out").write_text(OLD)


def _attack_between_changes(seed: int, name: str, number: signal.Signals, title: str, folder: Path) -> list[str]:
    undisturbed = _run_undisturbed(name)
    _prepare(folder)
    before = digest(folder / "st")
    change = dice(seed, title).randint(1, max(1, undisturbed.changes))
    ended = warm().command(list(COMMANDS[name].words), folder, kill=(int(number), change))
    breaches = _check_words(ended, number) + _check_after_kill(folder, name, before, undisturbed, number)
    moment = f"killed before change {change} of {undisturbed.changes}"
    return [f"{moment}: {breach}" for breach in breaches] + _check_again(folder, name, undisturbed)


def _attack_at_a_moment(seed: int, name: str, title: str, folder: Path) -> list[str]:
    undisturbed = _run_undisturbed(name)
    _prepare(folder)
    before = digest(folder / "st")
    moment = dice(seed, title).uniform(0.2, 1.2) * undisturbed.seconds
    env = {
        **os.environ,
        "PYTHONPATH": str(ROOT / "python"),
        "HOME": str(folder),
        "TMPDIR": str(folder),
        "IOSONDE_LOCK_DIR": str(folder),
    }
    words = [sys.executable, "-m", "iosonde.cli.main", *COMMANDS[name].words]
    started = subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    time.sleep(moment)
    os.killpg(started.pid, signal.SIGKILL)
    started.wait()
    breaches = [
        f"killed after {moment:.2f} s: {breach}"
        for breach in _check_after_kill(folder, name, before, undisturbed, signal.SIGKILL)
    ]
    return [*breaches, *_check_again(folder, name, undisturbed)]


def _check_words(ended: Ended, number: signal.Signals) -> list[str]:
    if number == signal.SIGKILL:
        return []
    return judge(ended, codes=(0, 1, 130)) + ["ended with 130 and no word"] * (
        ended.code == 130 and not ended.err.strip()
    )


def _runs(store: Path) -> list[Path]:
    runs = store / "runs"
    return [run for run in runs.iterdir() if not run.name.startswith(".")] if runs.is_dir() else []


def _check_after_kill(
    folder: Path, name: str, before: dict[str, str], undisturbed: Undisturbed, number: signal.Signals
) -> list[str]:
    """What is there after a kill."""
    command, breaches = COMMANDS[name], []
    for store in {"st", command.store}:
        breaches += [f"{store}: {damage}" for run in _runs(folder / store) if (damage := damage_of_run(run))]
    after, visible = digest(folder / "st"), {run.name for run in _runs(folder / "st")}
    for path, content in before.items():
        words = path.split("/")
        if (
            words[0] == "runs"
            and len(words) > 2
            and words[1] in visible
            and not {"tags.json", "notes.json"} & set(words)
        ):
            breaches += [f"changed: {path}"] * (after.get(path) != content)
    if command.output and (folder / command.output).read_bytes() not in (OLD.encode(), undisturbed.output):
        breaches.append("a half file is seen in place of the old one")
    if number != signal.SIGKILL:
        breaches += [f"left after an interrupt: {path}" for path in _leftovers(folder)]
    return list(dict.fromkeys(breaches))[:3]


def _leftovers(folder: Path) -> list[str]:
    """Hidden and temporary files, of the stores and beside them."""
    return [
        path
        for path in digest(folder)
        if any(part.startswith(".") or part.endswith(".tmp") for part in path.split("/")) or (path.startswith("tmp/"))
    ]


def _check_again(folder: Path, name: str, undisturbed: Undisturbed) -> list[str]:
    """What is there after the same command once more."""
    command = COMMANDS[name]
    ended = warm().command(list(command.words), folder)
    breaches = judge(ended, codes=(0,))
    breaches += [f"again: left: {path}" for path in _leftovers(folder)][:2]
    runs = {run.name for run in _runs(folder / command.store)}
    if runs != undisturbed.runs:
        breaches.append(f"again: {len(runs)} runs, {len(undisturbed.runs)} where nobody ended it")
    if command.output and (folder / command.output).read_bytes() != undisturbed.output:
        breaches.append("again: another output than where nobody ended it")
    checked = warm().command(["store", "check", command.store], folder)
    if checked.code == 2 or " 0 damaged or foreign" not in checked.err and checked.code:
        breaches.append(f"again: store check: {last_line(checked.err)}")
    return breaches
