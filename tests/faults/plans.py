"""What one campaign is: drawn from the seed and its number alone, so that `--only N` makes the same one again."""

from __future__ import annotations

import random
from dataclasses import asdict, dataclass, field
from typing import Any

ENVELOPE, ENVELOPE_2, PHASES, COMMANDS, NODES = "envelope", "envelope, 2 ranks", "phases", "commands", "2 nodes"
ONE_HOST = (ENVELOPE, ENVELOPE_2, PHASES, COMMANDS)
PLAIN, FUSE = "plain", "fuse"

# What a network file system says when it fails, and what its calls are.
ERRORS = ("EIO", "ENOSPC", "EDQUOT", "EROFS", "ESTALE", "ENOTCONN")
OPERATIONS = (
    "lookup",
    "getattr",
    "open",
    "read",
    "write",
    "create",
    "unlink",
    "rmdir",
    "mkdir",
    "readdir",
    "opendir",
    "flush",
    "fsync",
    "release",
    "statfs",
    "any",
)
BEFORE = ("statfs", "getattr", "lookup", "mkdir", "create", "write", "fsync", "any")
DURING = ("write", "read", "create", "open", "fsync", "flush", "mkdir", "lookup", "any")
REMOVAL = ("unlink", "rmdir", "readdir", "opendir", "lookup")
LIES = {
    "wrong size": {"on": ["getattr", "lookup"], "do": "lie", "shift": {"size": -1}},
    "size 0": {"on": ["getattr", "lookup"], "do": "lie", "values": {"size": 0}},
    "wrong times": {"on": ["getattr", "lookup", "setattr"], "do": "lie", "values": {"mtime": 9 * 10**18, "ctime": 0}},
    "a name that is not there": {"on": "readdir", "do": "lie", "values": {"names": ["ghost"]}},
    "unlink that does nothing": {"on": "unlink", "do": "drop"},
    "no space, by statfs": {"on": "statfs", "do": "lie", "values": {"bavail": 0, "bfree": 0}},
    "-1 free inodes": {"on": "statfs", "do": "lie", "values": {"ffree": -1}},
    "-1 free blocks": {"on": "statfs", "do": "lie", "values": {"bavail": -1}},
    "2^63 free blocks": {"on": "statfs", "do": "lie", "values": {"bavail": 2**63, "bfree": 2**63, "blocks": 2**63}},
}


@dataclass(frozen=True)
class Row:
    """One line of the table: a kind of fault, how often it is drawn, and where it can be."""

    name: str
    group: str
    weight: int
    shapes: tuple[str, ...] = ONE_HOST
    backing: str = ""
    short_idle: bool = False


ROWS = (
    Row("kill -9 of the main process", "killed", 6, (*ONE_HOST, NODES)),
    Row("kill -9 of a rank", "killed", 5, (*ONE_HOST, NODES)),
    Row("kill -9 of a launcher or proxy", "killed", 4, (ENVELOPE_2, NODES), short_idle=True),
    Row("kill -9 of any process of it", "killed", 4, (*ONE_HOST, NODES)),
    Row("kill -9 of a process group", "killed", 3),
    Row("kill -9 of everything", "killed", 5),
    Row("SIGTERM", "signals", 4, (*ONE_HOST, NODES)),
    Row("SIGTERM, twice", "signals", 3),
    Row("SIGINT", "signals", 4, (*ONE_HOST, NODES)),
    Row("SIGINT, twice", "signals", 3),
    Row("SIGSTOP of a rank", "hangs", 3, (*ONE_HOST, NODES), short_idle=True),
    Row("target hangs from the start", "hangs", 3, ONE_HOST, FUSE, short_idle=True),
    Row("target hangs in a trial", "hangs", 6, ONE_HOST, FUSE, short_idle=True),
    Row("target hangs in the removal", "hangs", 4, ONE_HOST, FUSE, short_idle=True),
    Row("SIGSTOP of the FUSE daemon", "hangs", 4, (*ONE_HOST, NODES), FUSE, short_idle=True),
    Row("target full", "full", 4),
    Row("target full (FUSE)", "full", 2, ONE_HOST, FUSE),
    Row("store full", "full", 3),
    Row("spool full", "full", 3),
    *(Row(f"{error} of an operation", "errors", 2, ONE_HOST, FUSE, short_idle=True) for error in ERRORS),
    Row("FUSE daemon killed", "gone", 4, (*ONE_HOST, NODES), FUSE, short_idle=True),
    Row("umount -l", "gone", 3, short_idle=True),
    Row("remounted read-only", "gone", 3),
    Row("server turns read-only", "gone", 2, ONE_HOST, FUSE),
    Row("workspace swapped for a link", "swapped", 5, (ENVELOPE, ENVELOPE_2, PHASES)),
    Row("trial swapped for a link", "swapped", 3, (ENVELOPE, ENVELOPE_2, PHASES)),
    Row("wrong data, with --verify", "lies", 4, (ENVELOPE, ENVELOPE_2), FUSE),
    Row("short reads", "lies", 3, (ENVELOPE, ENVELOPE_2, PHASES), FUSE),
    Row("wrong sizes, times, names, space", "lies", 4, ONE_HOST, FUSE),
    Row("link of a node cut", "nodes", 2, (NODES,), short_idle=True),
)
# Of the rows that have a part on two nodes, this share is made there.
SHARE_ON_NODES = 0.3


@dataclass(frozen=True)
class Plan:
    """One campaign. ``moment`` says when the fault comes: before the first trial (``start``), ``inside`` trial
    ``trial``, right after it (``between``), or at the ``end``; and ``delay_s`` later. ``details`` is the rest.
    """

    seed: int
    number: int
    row: str
    shape: str
    backing: str
    trials: int
    short_idle: bool
    moment: str
    trial: int
    delay_s: float
    details: dict[str, Any] = field(default_factory=dict)

    def told(self) -> dict[str, Any]:
        """As data."""
        return asdict(self)


def draw(seed: int, number: int, rows: tuple[Row, ...] = ROWS) -> Plan:
    """Campaign ``number`` of ``seed`` among ``rows``. The rows come round by their weights, the rest is random."""
    dice = random.Random(f"{seed}:{number}")
    row = _turn(seed, number, rows)
    shape = _shape(dice, row)
    trials = 3 if row.group == "swapped" else 2
    moment = dice.choices(("start", "inside", "between", "end"), (2, 8, 3, 1))[0]
    if row.group in ("swapped", "full", "gone"):
        moment = dice.choice(("inside", "between"))
    trial = dice.randrange(trials - (moment == "between"))
    backing = row.backing or PLAIN
    return Plan(
        seed,
        number,
        row.name,
        shape,
        backing,
        trials,
        row.short_idle,
        moment,
        trial,
        round(dice.uniform(0, 0.7), 3),
        _details(dice, row, trial),
    )


def _turn(seed: int, number: int, rows: tuple[Row, ...]) -> Row:
    """The rows in an order that the seed draws: first each once, then as often as they weigh, and so on in rounds."""
    once, more = list(rows), [row for row in rows for _ in range(row.weight - 1)]
    dice = random.Random(f"{seed}:round {number // (len(once) + len(more))}")
    dice.shuffle(once)
    dice.shuffle(more)
    return (once + more)[number % (len(once) + len(more))]


def _shape(dice: random.Random, row: Row) -> str:
    here = [shape for shape in row.shapes if shape != NODES]
    if NODES in row.shapes and (not here or dice.random() < SHARE_ON_NODES):
        return NODES
    return dice.choice(here)


def _details(dice: random.Random, row: Row, trial: int) -> dict[str, Any]:
    """What a row needs besides: rules for the FUSE daemon, which signal again when, what is corrupted."""
    inside = f"*/trial-{trial:04d}*"
    after = dice.choice((0, 0, 1, 3, 10, 25))
    if row.name == "target hangs from the start":
        return {"rule": {"on": dice.choice(BEFORE), "do": "hang", "after": dice.choice((0, 0, 0, 1, 2))}}
    if row.name == "target hangs in a trial":
        rule = {"on": dice.choice(DURING), "do": "hang", "after": after, "path": inside}
        return {"rule": rule | {"late": dice.random() < 0.3}}
    if row.name == "target hangs in the removal":
        whole = dice.random() < 0.3
        return {
            "rule": {"on": dice.choice(REMOVAL), "do": "hang", "path": "*" if whole else inside},
            "armed": "removal",
        }
    if row.group == "errors":
        times = dice.choice((1, None))
        rule = {"on": dice.choice(OPERATIONS), "do": "error", "errno": row.name.split()[0], "after": after}
        return {"rule": rule | {"path": dice.choice((inside, inside, "*")), "times": times}}
    if row.name == "wrong data, with --verify":
        on, kind = dice.choice((("read", "flip"), ("read", "zero"), ("write", "drop"), ("write", "zero")))
        return {"rule": {"on": on, "do": kind, "path": inside + "/*", "at": dice.randrange(64)}}
    if row.name == "short reads":
        return {"rule": {"on": "read", "do": "short", "path": inside + "/*", "after": after % 4}}
    if row.name == "wrong sizes, times, names, space":
        name = dice.choice(list(LIES))
        return {"lie": name, "rule": dict(LIES[name])}
    return {"again_s": round(dice.uniform(0, 0.3), 3), "marked": dice.random() < 0.5, "draw": dice.random()}
