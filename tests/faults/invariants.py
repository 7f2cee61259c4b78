"""What must hold afterwards, looked at from outside: files by their digests, processes by /proc, a store by its JSON.

Only `iosonde store check`, `show` and `verify` are the product's own word. Each breach is one sentence.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import signal
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from . import scene
from .scene import Scene

GONE_S = 10.0
# What has to be said, in stderr or by the runs that were kept, when a fault of this kind ended a trial or the campaign.
_IDLE = r"no progress|idle|watchdog|does not answer|hang|hung|no answer|not respond|\bwait"
_SPACE = r"no space|\bfull\b|space that is left|free"
_TRUE_WORDS = {
    "kill -9 of a rank": r"signal|killed|ended|exit",
    "kill -9 of a launcher or proxy": rf"signal|killed|ended|exit|{_IDLE}",
    "kill -9 of any process of it": rf"signal|killed|ended|exit|{_IDLE}",
    "kill -9 of a process group": r"signal|killed|ended|exit",
    "SIGTERM": r"interrupted|terminated|ended",
    "SIGTERM, twice": r"interrupted|terminated|ended",
    "SIGINT": r"interrupted",
    "SIGINT, twice": r"interrupted",
    "SIGSTOP of a rank": _IDLE,
    "target hangs from the start": _IDLE,
    "target hangs in a trial": _IDLE,
    "target hangs in the removal": _IDLE,
    "SIGSTOP of the FUSE daemon": _IDLE,
    "target full": _SPACE,
    "target full (FUSE)": _SPACE,
    "store full": _SPACE,
    "spool full": _SPACE,
    "EIO of an operation": r"input/output|i/o error",
    "ENOSPC of an operation": _SPACE,
    "EDQUOT of an operation": r"quota",
    "EROFS of an operation": r"read-only",
    "ESTALE of an operation": r"stale",
    "ENOTCONN of an operation": r"not connected|gone|connection",
    "FUSE daemon killed": r"not connected|connection|aborted|gone|does not answer",
    "umount -l": r"mount|gone|no longer|another|not there|vanished|disappeared",
    "remounted read-only": r"read-only",
    "server turns read-only": r"read-only",
    "workspace swapped for a link": r"link|no longer|another|not made|replaced|moved",
    "trial swapped for a link": r"link|no longer|another|not made|replaced|moved",
    "wrong data, with --verify": r"not what was written|\d+ of \d+ bytes|wrong|differ|stamp|expected|corrupt",
    "short reads": r"short|fewer|read|end of file|ended early",
    "link of a node cut": rf"signal|killed|ended|exit|{_IDLE}",
}
_MUST_BE_NOTICED = ("wrong data, with --verify", "short reads")
# Incomplete runs are kept, and `store check` counts them; a store of commands has no rates to compute again.
_FINE_WITH_1 = (" 0 damaged or foreign, ", "Nothing could be recomputed")
_ON_NODE = " on "
_UNTRUE = r"was not created by this experiment"
_REPR = re.compile(r"\b[A-Z]\w*(Error|Exception)\(")


class Witness:
    """Remembers what it saw: each run when it was first in the store, foreign files, mounts."""

    def __init__(self, place: Scene) -> None:
        self.scene = place
        self.seen: dict[str, dict[str, str]] = {}
        self.foreign = self._foreign_now()
        self.victim = scene.digest(place.victim)
        self.mounts = _mounts()
        self.there_before = set(scene.listed(scene.PRIVATE))
        self.breaches: list[str] = []
        self.named_before = ""  # by the first attempt: what the second is not asked to remove

    def look(self) -> None:
        """Remember the runs that are new."""
        for run in self.scene.runs():
            if run.name not in self.seen:
                self.seen[run.name] = scene.digest(run)

    def blame(self, condition: object, sentence: str) -> None:
        """A breach, if the condition holds."""
        if condition and sentence not in self.breaches:
            self.breaches.append(sentence)

    def text(self) -> str:
        """What the command has said of what happened: on stderr, and in the runs that it kept."""
        said = [self.scene.said("stderr").read_text(errors="replace")]
        for run in self.scene.runs():
            with suppress(OSError, ValueError):
                document = json.loads((run / "run.json").read_text())
                said += map(str, document["missing"] + document.get("findings", []))
        return "\n".join(said)

    def check_end(self, ended_s: float | None, limit_s: float, hit: bool) -> None:
        """After the command has ended with the fault in place (or was ended by us: ``ended_s`` is None)."""
        main, row = self.scene.main, self.scene.plan.row
        assert main
        self.blame(ended_s is None, f"had not ended {limit_s:.0f} s after the fault")
        text, errors = self.text(), self.scene.said("stderr").read_text(errors="replace")
        self.blame("Traceback" in text, f"a traceback: {_last_line(errors)}")
        self.blame(_REPR.search(text), f"Python's words instead of a sentence: {_line_with(_REPR, text)}")
        # A SIGTERM before anything has begun has its default action, and the shell says so.
        failed = main.returncode and main.returncode not in (-signal.SIGKILL, -signal.SIGTERM)
        self.blame(failed and ended_s is not None and not errors.strip(), f"ended with {main.returncode} and no word")
        self.blame(
            _UNTRUE in text and self.scene.plan.row not in ("workspace swapped for a link",),
            f'says what is not true: "{_UNTRUE}"',
        )
        if failed and hit and errors.strip() and ended_s is not None and (pattern := _TRUE_WORDS.get(row)):
            self.blame(not re.search(pattern, text, re.I), f"does not say what happened: {_last_line(errors)}")
        if main.returncode == 0:
            self.blame(hit and row in _MUST_BE_NOTICED, "wrong data was not noticed")
            whole = len(self.complete()) == self.scene.plan.trials
            self.blame(not whole, "ended with 0 and trials are missing")
        self.check_store()

    def check_left(self, killed: bool) -> None:
        """Nobody and nothing is left that was not named; a main process that was killed leaves files to the resume."""
        named = self.text()
        give_up = time.monotonic() + GONE_S
        while (left := self._unnamed(named)) and time.monotonic() < give_up:
            time.sleep(0.05)
        for words in left.values():
            self.blame(True, f"a process is left and not named: {_short(words)}")
        now = _mounts()
        self.blame(now - self.mounts, f"mounts are left: {', '.join(now - self.mounts)}")
        if not killed:
            for left_file in self.leftovers():
                path = left_file.partition(_ON_NODE)[0]  # who names it says that it is on a node, not always on which
                missing = path not in named and Path(path).name not in named
                self.blame(missing, f"left and not named: {_general(left_file)}")

    def check_target(self, killed: bool) -> None:
        """After the fault was lifted: foreign files as they were, and nothing of ours that was not named."""
        self.blame(scene.digest(self.scene.victim) != self.victim, "FOREIGN FILES CHANGED: the victim of the link")
        self.blame(self.scene.underlying, f"written below the mount point: {', '.join(self.scene.underlying)}")
        self.blame(self._foreign_now() != self.foreign, "FOREIGN FILES CHANGED in the target")
        if not killed:
            named = self.text()
            for path in self.scene.workspaces():
                self.blame(path.name not in named, "the workspace is left in the target and not named")

    def check_store(self) -> None:
        """What was finished is as it was, and there is no half run."""
        for name, files in self.seen.items():
            path = self.scene.store / "runs" / name
            self.blame(not path.exists(), "A FINISHED RUN IS LOST")
            self.blame(path.exists() and scene.digest(path) != files, "A FINISHED RUN CHANGED")
        for run in self.scene.runs():
            self.blame(_damage(run), f"half a run: {_damage(run)}")

    def check_resumed(self) -> None:
        """After the same command once more."""
        main, plan = self.scene.main, self.scene.plan
        assert main
        errors = self.scene.said("stderr").read_text(errors="replace")
        self.blame(main.returncode, f"the same command again ended with {main.returncode}: {_last_line(errors)}")
        by_experiment: dict[str, list[int]] = {}
        for document in self.complete():
            by_experiment.setdefault(document["experiment"], []).append(document["facts"]["order"])
        for orders in by_experiment.values():
            self.blame(len(orders) != len(set(orders)), "a trial is there twice")
        whole = any(sorted(set(orders)) == list(range(plan.trials)) for orders in by_experiment.values())
        self.blame(not whole and not main.returncode, "resumed, and trials are missing")
        self.check_store()
        if not main.returncode:
            hidden = [str(path) for path in self.scene.store.rglob(".*")]
            self.blame(hidden, f"left in the store: {', '.join(map(_general, hidden))}")
            for path in self.leftovers():
                self.blame(Path(path).name not in self.named_before, f"left after the resume: {_general(path)}")
            unnamed = [path for path in self.scene.workspaces() if path.name not in self.named_before]
            self.blame(unnamed, "a workspace is left in the target after the resume")
            self.blame(self._foreign_now() != self.foreign, "FOREIGN FILES CHANGED in the target")

    def check_by_product(self, commands: tuple[str, ...]) -> None:
        """What iosonde itself says of the store."""
        if not (self.scene.store / "store.json").exists():
            return
        for name in commands:
            words = ["store", "check"] if name == "store check" else [name]
            code, text = _in_a_fork([*words, str(self.scene.store)])
            wrong = code and not any(words in text for words in _FINE_WITH_1)
            self.blame(wrong or "Traceback" in text, f"iosonde {name} ends with {code}: {_last_line(text)}")

    def complete(self) -> list[dict[str, Any]]:
        """The runs that lack nothing."""
        found = []
        for run in self.scene.runs():
            with suppress(OSError, ValueError):
                document = json.loads((run / "run.json").read_text())
                if not document["missing"]:
                    found.append(document)
        return found

    def leftovers(self) -> list[str]:
        """Files of ours outside the target and the store."""
        found = [path for path in scene.listed(scene.PRIVATE) if path not in self.there_before]
        if self.scene.cluster:
            for name in self.scene.cluster.names:
                done = self.scene.cluster.run(
                    name, "find", str(self.scene.cluster.local), "-mindepth", "1", "-maxdepth", "1"
                )
                found += [f"{path}{_ON_NODE}{name}" for path in done.stdout.split()]
        return found + [str(path) for path in self.scene.spool.iterdir() if path.name != "ballast"]

    def _unnamed(self, named: str) -> dict[int, bytes]:
        main = self.scene.main and self.scene.main.pid
        there = self.scene.processes()
        unknown = self._on_silent_nodes(named)
        return {
            pid: there[pid]
            for pid in there
            if pid != main and pid not in unknown and not re.search(rf"\b{pid}\b", named)
        }

    def _on_silent_nodes(self, named: str) -> set[int]:
        """Processes of other nodes, where it is said that some may be left there: nobody could ask for their ids."""
        if not self.scene.cluster or not re.search(r"processes may be left on nodes that did not answer", named):
            return set()
        _, *others = self.scene.cluster.names
        return {pid for name in others for pid in self.scene.cluster.pids(name)}

    def _foreign_now(self) -> dict[str, Any]:
        place = self.scene
        if place.fuse:
            everything: dict[str, Any] = place.fuse.tree()
        else:
            everything = {f"/{path}": what for path, what in scene.digest(place.target).items()}
        return {path: what for path, what in everything.items() if not re.match(r"/(iosonde-|$)", path)}


def _damage(run: Path) -> str:
    """What is wrong with a run's files, judged by the digests in run.json; empty if nothing is."""
    try:
        document = json.loads((run / "run.json").read_text())
        for name, told in document["files"].items():
            content = (run / name).read_bytes()
            if len(content) != told["bytes"] or hashlib.sha256(content).hexdigest() != told["sha256"]:
                return f"{name} is not as run.json says"
    except (OSError, ValueError, KeyError) as error:
        return f"{type(error).__name__}"
    return ""


def _mounts() -> set[str]:
    return {line.split()[4] for line in Path("/proc/self/mountinfo").read_text().splitlines()}


def _in_a_fork(words: list[str]) -> tuple[int, str]:
    """Run `iosonde …` in a copy of this process, which has imported it already: exit code and what it said."""
    from iosonde.cli import main

    said = scene.HOME / "forked.txt"
    child = os.fork()
    if not child:
        with said.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        sys.argv = ["iosonde", *words]
        code = 99
        try:
            main.main()
            code = 0
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(bool(end.code))
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status), said.read_text(errors="replace")


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("hint:")]
    return _general(lines[-1])[:160] if lines else "(nothing)"


def _line_with(pattern: re.Pattern[str], text: str) -> str:
    return next((_general(line.strip())[:160] for line in text.splitlines() if pattern.search(line)), "")


def _general(text: str) -> str:
    """Without what is different each time, so that the same breach reads the same."""
    text = re.sub(r"\d{8}-[0-9a-f]{8}(-\d{4})?", "<id>", text)
    return re.sub(r"(xmlfile_|spool-<id>-|mpich_shm_)\S+", r"\1…", text.replace(str(scene.HOME), ""))


def _short(words: bytes) -> str:
    found = re.search(rb"(iosonde\.[\w.]+|sleep \d+|mpiexec|hydra_pmi_proxy)", words)
    return (found[1] if found else words[:60]).decode(errors="replace")
