"""Small campaigns on a real GlusterFS, each hit by a fault of the lab at random, some also ended from outside.

    python -m random_faults --campaigns 200 --seed 7        which is printed; drawn if not given
    python -m random_faults --seed 7 --only 12              one again, with all that it said
    python -m random_faults --minutes 4                     none is begun after so long

Campaign N of a seed is always the same plan; when exactly a signal falls is up to the machine. Of each must hold: it
ends in time; what was a finished trial stays one, and the same command completes the rest; each trial has its fault, or
says what it lacks; what was acknowledged is read back as it was written; the lab is whole afterwards, and files of
others on it are untouched. Ends with 1 if anything was breached.
"""

import argparse
import json
import math
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from queue import Empty, SimpleQueue

from lab_here import Leftovers, noting, why_not

from iosonde.core.stored import StoredRun
from iosonde.store import Store
from iosonde.store.store import MARKER
from iosonde_lab import api as labs
from iosonde_lab import place

KINDS = ("kill-server", "stop", "cut-link", "slow-link 20mbit", "slow-disk 5MB/s", "fill-disk")
HOSTS = ("server1", "server2")
LIMIT_S = 150.0
LABS = 2
FOREIGN = b"not ours\n" * 1000
FILE = """
lab: {{file_system: glusterfs, name: random}}
repetitions: {trials}
seed: {seed}
faults: [{{fault: {kind}, on: {host}, at: {at}, for: {lasts}, during: {during}{rate}}}]
idle_timeout: 40s
steps:
  - workload: phases
    phases:
      - {{name: write, files: f, verify: true, steps: [create, {{kind: write, transfer_size: 64KiB, size: 12MiB}},
         fsync, close]}}
      - {{name: read, files: f, verify: true, steps: [open, {{kind: read, transfer_size: 64KiB, size: 12MiB}}, close]}}
"""


@dataclass(frozen=True)
class Planned:
    """One campaign: its fault, and the signal that ends it once, ``after_s`` after its start (None: nothing does)."""

    number: int
    seed: int
    kind: str
    host: str
    at_s: float
    for_s: float
    during: str
    signal: signal.Signals | None
    after_s: float

    @property
    def trials(self) -> int:
        """Two where it is ended from outside: the first may be kept by then."""
        return 2 if self.signal else 1

    def text(self) -> str:
        """Its experiment."""
        kind, _, rate = self.kind.partition(" ")
        rate = f", rate: {rate}" if rate else ""
        return FILE.format(
            trials=self.trials,
            seed=self.seed,
            kind=kind,
            host=self.host,
            at=self.at_s,
            lasts=self.for_s,
            during=self.during,
            rate=rate,
        )

    def __str__(self) -> str:
        ended = f", {self.signal.name} after {self.after_s} s" if self.signal else ""
        return f"{self.kind} on {self.host} {self.at_s} s into {self.during}, for {self.for_s} s{ended}"


def draw(seed: int, number: int) -> Planned:
    """Always the same one for a seed and a number."""
    chance = random.Random(f"{seed}-{number}")
    ended = chance.choice((None, None, None, signal.SIGINT, signal.SIGTERM, signal.SIGKILL))
    return Planned(
        number,
        chance.randrange(10**6),
        chance.choice(KINDS),
        chance.choice(HOSTS),
        chance.choice((0, 0.1, 0.3)),
        chance.choice((0.5, 1, 2)),
        chance.choice(("write", "write", "read")),
        ended,
        round(chance.uniform(0.5, 6), 1),
    )


def breaches(lab: labs.Lab, plan: Planned, folder: Path) -> Iterator[str]:
    """Everything that did not hold, in words; the campaign is run, ended if that is planned, and run to its end."""
    (folder / "e.yaml").write_text(plan.text())
    foreign = lab.servers[0], lab.mount_point / f"foreign-{plan.number}"
    _put(lab, foreign[1])
    before = dict[str, StoredRun]()
    if plan.signal:
        _, code = _run(lab, folder, plan)
        before = _finished(folder)
        labs.heal(lab, limit_s=60)  # whoever ends a campaign from outside takes its lab down, or heals it
        if code is None:
            yield f"it had not ended {LIMIT_S:g} s after it was told to"
    said, code = _run(lab, folder, None)
    if code not in (0, 1):
        yield f"it ended with {code}: {said[-400:]}"
    after = _finished(folder)
    if lost := set(before) - set(after):
        yield f"finished trials are gone: {', '.join(sorted(lost))}"
    for run in after.values():
        if run.complete and not run.faults:
            yield f"{run.id} is complete, and has no fault"
        for why in run.missing:
            if "not what was written" in why or (" bytes (read" in why):
                yield f"{run.id}: data was lost: {why}"
    whole = sum(run.complete for run in after.values())
    if (code == 0) is not (whole == plan.trials):
        yield f"it ended with {code}, and {whole} of {plan.trials} trials are complete"
    if left := labs.in_force(lab):
        yield f"in force after its end: {', '.join(f'{one.kind} on {one.host}' for one in left)}"
        labs.heal(lab)
    if (health := labs.heal(lab, limit_s=60).health) and plan.signal != signal.SIGKILL:
        yield f"not well a minute after its end: {'; '.join(health)}"
    there = lab.clients[0].run("sh", "-c", f"ls {lab.mount_point}; md5sum < {foreign[1]}").split()
    if any(one.startswith("iosonde-") for one in there):
        yield f"files are left on the target: {there}"
    if there[-2] != _digest():
        yield "a foreign file was changed"


def _put(lab: labs.Lab, file: Path) -> None:
    lab.clients[0].run("sh", "-c", f"cat > {file}", stdin_text=FOREIGN.decode())


def _digest() -> str:
    import hashlib

    return hashlib.md5(FOREIGN).hexdigest()


def _run(lab: labs.Lab, folder: Path, plan: Planned | None) -> tuple[str, int | None]:
    """(what it said, exit code; None: it did not end). Faults are attended to as `iosonde lab run` does it."""
    inside = lab.clients[0]
    words = labs.run_words(lab, ("e.yaml", "--store", str(folder / "s")))
    alone = inside.environment() | {"IOSONDE_LOCK_DIR": str(folder)}  # the other lab stands for another machine
    with (folder / "said").open("w+") as said:
        with labs.FaultService(lab.directory, labs.hands_of(lab)):
            child = subprocess.Popen(
                inside.words(*words, directory=str(folder)),
                env=alone,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
            )
            try:
                if plan and plan.signal:
                    time.sleep(plan.after_s)
                    _end(lab, plan.signal)
                code: int | None = child.wait(LIMIT_S)
            except subprocess.TimeoutExpired:
                code = None
                _end(lab, signal.SIGKILL)
                child.wait(20)
        said.seek(0)
        return said.read(), code


def _end(lab: labs.Lab, number: signal.Signals) -> None:
    """A signal to the campaign on the client, as its user, or an out-of-memory killer, would send it."""
    host = lab.clients[0]
    for entry in host.resolve_path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (entry / "cmdline").read_bytes().split(bytes(1))
            if words[1:4] == [b"-m", b"iosonde.cli.main", b"run"]:
                host.run("sh", "-c", f"kill -{int(number)} {entry.name} || :")


def _finished(folder: Path) -> dict[str, StoredRun]:
    if not (folder / "s" / MARKER).exists():
        return {}  # what was killed before its store was one has finished nothing
    return {run["id"]: StoredRun(run) for run in Store.open(folder / "s").runs()}


@dataclass(frozen=True)
class Held:
    """What became of a campaign: its breaches, and in how many of its trials the fault was in force."""

    breaches: list[str]
    hit: int


def campaigns(numbers: Iterable[int], seed: int, limit_s: float = math.inf) -> dict[str, Held]:
    """What became of each, of those that were begun within ``limit_s``; on labs side by side, since a campaign mostly
    waits: for a disk, a link, or for copies to agree."""
    waiting, until = SimpleQueue[int](), time.monotonic() + limit_s
    for number in numbers:
        waiting.put(number)
    with ThreadPoolExecutor(LABS) as pool:
        parts = pool.map(lambda which: _on_a_lab(f"random{which}", waiting, seed, until), range(LABS))
        return {name: held for part in parts for name, held in part.items()}


def _on_a_lab(name: str, waiting: SimpleQueue[int], seed: int, until: float) -> dict[str, Held]:
    """What became of those that this lab took; it is taken down at the end."""
    found: dict[str, Held] = {}
    given = {
        "file_system": "glusterfs",
        "name": noting(name),
        "servers": 2,
        "clients": 1,
        "disk_size": "320MiB",
        "net": "200mbit",
    }
    lab = labs.up(labs.described(given, {"replica": "2", "network.ping-timeout": "2"}), measured=False)
    try:
        while time.monotonic() < until:
            try:
                number = waiting.get_nowait()
            except Empty:
                break
            plan, started = draw(seed, number), time.monotonic()
            with tempfile.TemporaryDirectory(prefix="iosonde-random-", dir=place.root()) as folder:
                said = list(breaches(lab, plan, Path(folder)))
                runs = _finished(Path(folder)).values()
                hit = sum(any(one.in_force_ns for one in run.faults) for run in runs)
            found[f"{number}: {plan}"] = Held(said, hit)
            held = "; ".join(said) or "held"
            sys.stderr.write(f"{number:4d} {time.monotonic() - started:5.1f} s  hit {hit}  {plan}: {held}\n")
    finally:
        labs.down(lab.name)
    return found


def main() -> None:
    """What was asked for; the labs in a directory of their own."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--campaigns", type=int, default=200)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    parser.add_argument("--only", type=int)
    parser.add_argument("--minutes", type=float, default=math.inf)
    asked = parser.parse_args()
    # A shell starts what runs in its background with SIGINT ignored, and the campaigns would inherit that.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if why := why_not("glusterfs"):
        sys.exit(f"random faults in a lab are not tried: {why}")
    root = Path(tempfile.mkdtemp(prefix="iosonde-lab-", dir="/var/tmp")).resolve()
    os.environ[place.ROOT] = str(root)
    numbers = range(asked.campaigns) if asked.only is None else [asked.only]
    sys.stdout.write(f"seed {asked.seed}\n")
    found = campaigns(numbers, asked.seed, 60 * asked.minutes)
    left = Leftovers(root).found()
    root.rmdir() if not left else None
    breached = {name: one.breaches for name, one in found.items() if one.breaches} | ({"left": left} if left else {})
    hit = sum(one.hit > 0 for one in found.values())
    sys.stdout.write(json.dumps({"campaigns": len(found), "hit": hit, "breached": breached}, indent=1) + "\n")
    sys.exit(bool(breached))


if __name__ == "__main__":
    main()
