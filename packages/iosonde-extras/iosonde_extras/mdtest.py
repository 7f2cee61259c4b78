"""``mdtest …`` as phases: create, stat, read and remove of directories and files in mdtest's tree.

As in src/mdtest.c: item i of a task lies in directory i ÷ (items per directory) of a tree of ``branches`` (-b) and
``depth`` (-z). With ``-u`` each task has its own tree. With ``-N`` stat, read and removal use the items of the 1st, 2nd
and 3rd neighbour at that distance. The tree itself is made outside the clock.
"""

from dataclasses import asdict, dataclass
from typing import Any

from iosonde.core.errors import InputError
from iosonde.core.message import Message
from iosonde.core.vocabulary import MDTEST
from iosonde.core.workload import FileNames, Files, Phase, Step
from iosonde.measure.workloads.phase_plan import RATE, PhasePlan
from iosonde.measure.workloads.translation import Translation

from .command_options import Support, read
from .workload_settings import check_words, read_settings

PHASES = ("create", "stat", "read", "remove")
MOST_NAMES = 1_000_000


@dataclass(frozen=True)
class Settings:
    """Settings of one run of mdtest. Items per task, sizes in bytes; ``phases`` are the timed ones.

    ``cache`` is ``warm`` (left as it is, as in mdtest) or ``cold`` (data is dropped before files are read).
    """

    items: int = 100
    files: bool = True
    directories: bool = True
    unique_directories: bool = False
    branches: int = 1
    depth: int = 0
    leaf_only: bool = False
    write_bytes: int = 0
    read_bytes: int = 0
    fsync: bool = False
    stride: int = 0
    random_stat: bool = False
    verify: bool = False
    cache: str = "warm"
    phases: tuple[str, ...] = PHASES

    def __post_init__(self) -> None:
        read_settings(self)
        check_words("phases", self.phases, PHASES)
        if self.branches < 1:
            raise InputError("out-of-range", "mdtest: a tree has at least one branch", "give -b 1 or more")
        if self.items < 1:
            raise InputError("missing-option", "mdtest: no items", "give the number of items per task: -n 1000")
        if self.items // self._leaves < 1:
            raise InputError(
                "too-few-items",
                "mdtest: {items} items in {directories} directories leave some of them empty",
                "raise -n, or lower -b and -z",
                items=self.items,
                directories=self._leaves,
            )
        if self.items > MOST_NAMES and self._leaves > 1:
            raise InputError(
                "too-many-items",
                "mdtest: more than {limit} items of a task in a tree",
                "lower -n or -I",
                limit=MOST_NAMES,
            )
        if self.cache == "cold" and self._leaves > 1:
            raise InputError(
                "conflicting-options",
                "mdtest: cold reads of a tree of directories are not supported",
                "leave out -b and -z",
            )
        if self.read_bytes > self.write_bytes:
            raise InputError(
                "read-exceeds-write",
                "mdtest: -e {read_bytes} reads more than -w {write_bytes} writes",
                "choose -e not above -w",
                read_bytes=self.read_bytes,
                write_bytes=self.write_bytes,
            )

    @property
    def tree(self) -> int:
        """Number of directories of one tree."""
        return _count_directories(self.branches, self.depth, leaf_only=False)

    @property
    def _leaves(self) -> int:
        """Number of directories of one tree that hold items."""
        return _count_directories(self.branches, self.depth, self.leaf_only)

    @property
    def per_directory(self) -> int:
        """Items in each directory that holds any."""
        return self.items // self._leaves

    @property
    def item_count(self) -> int:
        """Items of one task: as many as fill the directories evenly."""
        return self.per_directory * self._leaves

    def to_json(self) -> dict[str, Any]:
        """Return plain values, for run.json and for the ranks."""
        return asdict(self) | {"phases": list(self.phases)}


def bytes_needed(settings: Settings, ranks: int) -> int:
    """Return the bytes of one trial on the target at once."""
    return settings.item_count * settings.write_bytes * ranks if settings.files else 0


def files_needed(settings: Settings, ranks: int) -> int:
    """Return the files and directories at once: those of one kind are removed before the next are made."""
    kinds = 1 if "remove" in settings.phases else settings.files + settings.directories
    return kinds * settings.item_count * ranks + settings.tree * (ranks if settings.unique_directories else 1) + 4


def bytes_moved(settings: Settings, ranks: int) -> int:
    """Return the bytes written and read by one trial."""
    each = settings.write_bytes + (settings.read_bytes if "read" in settings.phases else 0)
    return settings.item_count * each * ranks if settings.files else 0


def bytes_written(settings: Settings, ranks: int) -> int:
    """Return the bytes written by one trial."""
    return settings.item_count * settings.write_bytes * ranks if settings.files else 0


def files_touched(settings: Settings, ranks: int) -> int:
    """Return how often a trial creates, opens, stats or removes an item."""
    return ranks * settings.item_count * (settings.files * 4 + settings.directories * 3)


def plan(settings: Settings, rank: int, ranks: int, shift: int) -> list[PhasePlan]:
    """Return the phases of ``rank``; every rank has the same number of them. ``shift`` reaches the next node."""
    neighbour = settings.stride * max(shift, 1)
    plans = []
    for what, is_included in (("directory", settings.directories), ("file", settings.files)):
        if not is_included:
            continue
        for name, steps in _build_steps(settings, what):
            if name != "create" and name not in settings.phases:
                continue
            owner = (rank + PHASES.index(name) * neighbour) % ranks
            title = f"{what}_{_TITLES[name]}"
            order = "shuffled" if settings.random_stat and name in ("stat", "read") else "listed"
            items = _build_items(settings, what, owner)
            phase = Phase(title, items, steps, order=order, verify=settings.verify)
            reads = (items,) if name == "read" and isinstance(items, Files) else ()
            plans.append(PhasePlan(title, phase, RATE, steps[0].kind, name in settings.phases, reads))
    return plans


_TITLES = {"create": "creation", "stat": "stat", "read": "read", "remove": "removal"}


def _build_steps(settings: Settings, what: str) -> list[tuple[str, tuple[Step, ...]]]:
    if what == "directory":
        return [("create", (Step("mkdir"),)), ("stat", (Step("stat"),)), ("remove", (Step("rmdir"),))]
    written, got = settings.write_bytes, settings.read_bytes
    write = (Step("write", written, size=written, offsets="seq"),) if written else ()
    fsync = (Step("fsync"),) if settings.fsync and written else ()
    fetch = (Step("read", got, size=got, offsets="seq"),) if got else ()
    return [
        ("create", (Step("create"), *write, *fsync, Step("close"))),
        ("stat", (Step("stat"),)),
        ("read", (Step("open"), *fetch, Step("close"))),
        ("remove", (Step("unlink"),)),
    ]


def _build_items(settings: Settings, what: str, owner: int) -> Files | FileNames:
    base = f"mdtest/mdtest_tree.{owner}.0" if settings.unique_directories else "mdtest/mdtest_tree.0"
    stem = f"{'dir' if what == 'directory' else 'file'}.mdtest.{owner}."
    if settings._leaves == 1:
        return Files(
            f"{base}/{_build_path(settings, settings.tree - 1 if settings.leaf_only else 0)}{stem}", settings.item_count
        )
    first = settings.tree - settings._leaves if settings.leaf_only else 0
    return FileNames(
        tuple(
            f"{base}/{_build_path(settings, first + directory)}{stem}{directory * settings.per_directory + item}"
            for directory in range(settings._leaves)
            for item in range(settings.per_directory)
        )
    )


def _build_path(settings: Settings, number: int) -> str:
    """Return the path of a directory below the tree's own (number 0): its parent is (number − 1) ÷ branches."""
    path = ""
    while number > 0:
        path = f"mdtest_tree.{number}/{path}"
        number = (number - 1) // settings.branches
    return path


_TEXT = "it changes mdtest's output, not its work"
_TASKS = "{spell.nodes} and {spell.ranks_per_node} set the number of tasks"
_SUPPORT = Support(
    names="a b d e i I n N w z C D E F L r R T u X verify-read y",
    ignored={
        **dict.fromkeys(("P", "v", "Z", "print-all-procs", "showRankStatistics"), _TEXT),
        **dict.fromkeys(("V", "saveRankPerformanceDetails", "savePerOpDataCSV"), _TEXT),
        "random-seed": "the order is drawn from the experiment's seed",
        "G": "written data is incompressible here",
        "t": "the tree is made outside the clock, and its time is not in a rate",
    },
    cannot={
        **dict.fromkeys("fls", _TASKS),
        **dict.fromkeys(("run-cmd-before-phase", "run-cmd-after-phase"), "an experiment file has steps for commands"),
        "B": "between phases there is always a barrier",
        "c": "every task makes its own items",
        "k": "files are made by open, not by mknod",
        "p": "trials follow each other without a fixed delay",
        "S": "every task has its own files",
        "U": "directories are not renamed",
        "W": "a time limit would leave tasks with different numbers of items",
        "x": "without a stonewall its state has no file",
        "Y": "phases do not end with a sync of the whole node; -y syncs each file",
        "verify-write": "written data is checked when it is read: --verify-read",
    },
)


def translate(words: list[str]) -> Translation:
    """Translate mdtest's options. Raises InputError."""
    options = read(MDTEST, words, _SUPPORT)
    if options.text("-a", "POSIX").upper() != "POSIX":
        options.refuse("-a", "the engine does POSIX calls, not {api}", api=options.text("-a"))
    if options.has("-n") and options.has("-I"):
        options.refuse("-n -I", "several test directories; give one of them")
    if "@" in options.text("-d"):
        options.refuse("-d", "there is one target")
    options.check()
    flags = {"-C": "create", "-T": "stat", "-E": "read", "-r": "remove"}
    branches, depth = options.number("-b", 1), options.number("-z", 0)
    files_only, directories_only = options.has("-F"), options.has("-D")
    leaf_only = options.has("-L")
    settings = Settings(
        items=options.size("-n", 0) or options.size("-I", 0) * _count_directories(max(branches, 1), depth, leaf_only),
        files=files_only or not directories_only,
        directories=directories_only or not files_only,
        unique_directories=options.has("-u"),
        branches=max(branches, 1),
        depth=depth,
        leaf_only=leaf_only,
        write_bytes=options.size("-w", 0),
        read_bytes=options.size("-e", 0),
        fsync=options.has("-y"),
        stride=options.number("-N", 0),
        random_stat=options.has("-R"),
        verify=options.has("-X") or options.has("--verify-read"),
        phases=tuple(name for flag, name in flags.items() if options.has(flag)) or PHASES,
    )
    return Translation(
        workload="mdtest",
        settings=settings,
        repetitions=options.number("-i", 1) if options.has("-i") else None,
        target=options.text("-d") or None,
        ignored=tuple(options.ignored.items()),
        notes=_list_notes(settings),
    )


def _count_directories(branches: int, depth: int, leaf_only: bool) -> int:
    """Return the number of directories that hold items."""
    return branches**depth if leaf_only else sum(branches**level for level in range(depth + 1))


def _list_notes(settings: Settings) -> tuple[str, ...]:
    notes = [Message("untimed-tree", "Tree creation and Tree removal are not timed")]
    if "create" not in settings.phases:
        notes.append(Message("untimed-creation", "the items are made before, outside the clock"))
    return tuple(notes)
